// SnapshotSupport.swift — snapshots as they lie in a store, and the past as rows.

import Foundation
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

extension ScratchStore {
    /// Writes about so many events, with a snapshot after each of some parts, of small chunks.
    func make(_ events: Int, snapshots: Int) throws {
        let last = try journal.read { $0.last.rawValue }
        var maker = LogMaker(seed: 0x5EED_5AF0 + last, isHostile: false)
        for _ in 0..<max(snapshots, 1) {
            try maker.write(about: events / max(snapshots, 1), to: journal)
            if snapshots > 0 { try journal.takeSnapshot(chunkBytes: snapshots > 1 ? 1500 : nil) }
        }
    }

    func snapshots() throws -> [SnapshotManifest] {
        try journal.environment.read { try journal.snapshots.manifests($0) }
    }

    func snapshotRecords() throws -> [(key: [UInt8], value: [UInt8])] {
        try journal.environment.read { transaction in
            var records: [(key: [UInt8], value: [UInt8])] = []
            try transaction.scan(journal.snapshots.table, from: nil, prefix: [], reversed: false) {
                records.append(($0.copied(), $1.copied()))
                return true
            }
            return records
        }
    }

    func snapshotKeys() throws -> [[UInt8]] { try snapshotRecords().map(\.key) }

    func setSnapshotRecord(_ key: [UInt8], _ value: [UInt8]) throws {
        try journal.environment.write { transaction in
            try transaction.put(journal.snapshots.table, key, value)
        }
    }

    /// Exchanges the places of the first two records on each page that has a record of a snapshot.
    func exchangeSnapshotKeys() throws {
        let first = try snapshotKeys()[0]
        let file = try FileHandle(forUpdating: URL(filePath: path + "/data.mdb"))
        defer { try? file.close() }
        let data = Array(try file.readToEnd() ?? Data())
        for start in stride(from: 8192, to: data.count - 4095, by: 4096) {
            let page = PageImage(Array(data[start..<start + 4096]))
            guard page.kind == .leaf, let nodes = page.nodes(of: .leaf), nodes.count > 1,
                page.bytes[nodes[0].key].elementsEqual(first)
            else { continue }
            try file.seek(toOffset: UInt64(start + 16))
            try file.write(contentsOf: page.bytes[18..<20] + page.bytes[16..<18])
        }
    }

    func withScratch<R>(_ body: (String) throws -> R) throws -> R {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-rebuilt-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        return try body(scratch.path)
    }

    /// The rows as they were at a position, from the nearest snapshot on.
    func pastRows(_ position: Position) throws -> [Row] {
        try withScratch { scratch in
            let past = try PastViews(of: journal, at: position, in: scratch)
            defer { try? past.close() }
            return try past.rows()
        }
    }

    /// The rows after each event, folded one by one from the first.
    func foldedRows() throws -> [Position: [Row]] {
        let fold = MemoryFold()
        var rows: [Position: [Row]] = [:]
        try journal.environment.read { transaction in
            try journal.log.forEach(transaction) { position, event in
                try fold.apply([event])
                rows[position] = fold.rows.map { Row(key: $0.key, value: $0.value) }
                    .sorted { $0.key < $1.key }
                return true
            }
        }
        return rows
    }

    /// Whether at some positions, the last among them, the past is what a fold makes.
    func pastRowsAreThoseOfAFold() throws -> Bool {
        let folded = try foldedRows()
        let last = try journal.read { $0.last.rawValue }
        return try [1, last / 2, last - 1, last].allSatisfy {
            try pastRows(Position($0)) == folded[Position($0)]
        }
    }
}

extension PastViews {
    func rows() throws -> [Row] {
        var rows: [Row] = []
        for tree in Tree.allCases {
            try walk(tree) { key, value in
                rows.append(Row(key: RowKey(tree, key), value: value))
                return true
            }
        }
        return rows
    }
}
