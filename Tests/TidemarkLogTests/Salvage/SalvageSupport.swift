// SalvageSupport.swift — a closed log whose file is damaged, and what is salvaged from it.

import Foundation
import TestSupport
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

/// A log in a file, to be damaged in copies.
final class DamagedLog {
    static let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// The file as it was written.
    let file: [UInt8]
    /// The events as they were appended, and the last of each commit.
    let events: [Event]
    let ends: [Position]
    let edge: MerkleEdge
    private let directory: URL

    /// - Parameters:
    ///   - commits: how many commits there are, of one to `eventsMax` events each.
    ///   - bodyEvery: how often an event has a payload that is a body.
    ///   - bodyBytesMax: how long such a payload is at most.
    ///   - unsealed: how many events at the end are not sealed; nil where none is.
    ///   - isKept: which of the sealed events stay in "log" as well; the file is shrunk then.
    init(
        commits: Int = 60, eventsMax: Int = 5, bodyEvery: Int = 7, bodyBytesMax: Int = 11_000,
        seed: UInt64 = 1, unsealed: UInt64? = nil, isKept: ((Position) -> Bool)? = nil
    ) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-salvage-\(UUID().uuidString)")
        let environment = try Environment.open(
            at: directory.path, Environment.Options(tables: EventLog.tableNames))
        let log = EventLog(environment)
        let identity = StoreIdentity(storeID: "store", isInitialised: true)
        try environment.write { transaction in try log.setIdentity(identity, transaction) }
        var random = SplitMix64(seed: seed)
        var (all, ends, edge): ([Event], [Position], MerkleEdge) = ([], [], MerkleEdge())
        for _ in 0..<commits {
            let events = (0..<1 + random.below(eventsMax)).map { _ in
                var event = sampleEvent(all.count + 1)
                if random.once(in: bodyEvery) {
                    event.payloadType = .opaque
                    event.payload = random.bytes(2_001 + random.below(bodyBytesMax - 2_000))
                }
                all.append(event)
                return event
            }
            let before = edge
            edge = try environment.write { transaction in
                var edge = before
                _ = try log.append(events, views: [], edge: &edge, transaction)
                return edge
            }
            ends.append(Position(edge.size))
        }
        if let unsealed {
            let last = Position(edge.size - unsealed)
            while try environment.write({ transaction in
                try log.seal(through: last, transaction) { _, end in
                    Set((1...end.rawValue).map { Position($0) }.filter { isKept?($0) ?? false })
                }
            }) != nil {}
            edge = try environment.read { try log.edge($0) }
        }
        if isKept != nil { try Self.shrink(environment, directory) }
        try environment.close()
        (self.events, self.ends, self.edge) = (all, ends, edge)
        file = Array(try Data(contentsOf: directory.appendingPathComponent("data.mdb")))
    }

    /// Leaves a file without free pages.
    private static func shrink(_ environment: Environment, _ directory: URL) throws {
        let copied = directory.appendingPathComponent("copy")
        let copy = try Environment.open(
            at: copied.path, Environment.Options(tables: EventLog.tableNames))
        _ = try environment.copyRecords(to: copy) { _ in }
        try copy.close()
        let file = directory.appendingPathComponent("data.mdb")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: copied.appendingPathComponent("data.mdb"), to: file)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var last: Position { Position(edge.size) }

    /// What is salvaged from the file once it is damaged.
    func salvage(_ damage: (inout [UInt8]) throws -> Void) throws -> SalvagedLog {
        var bytes = file
        try damage(&bytes)
        let path = directory.appendingPathComponent("data.mdb")
        try Data(bytes).write(to: path)
        let salvaged = try SalvagedLog(in: directory.path)
        let after = Array(try Data(contentsOf: path))
        guard after == bytes else { throw Touched() }
        return salvaged
    }

    /// Salvaging changed the file.
    struct Touched: Error {}

    /// The pages that hold frames, in the order of the file.
    var framePages: [Int] {
        pages.filter { number, page in
            guard page.kind == .leaf, let count = page.nodeCount else { return false }
            return (0..<count).contains { index in
                guard let node = page.node(index, of: .leaf), let data = node.data else {
                    return false
                }
                return node.key.count == 8 && page.bytes[data.lowerBound] == EventFrame.format
            }
        }.map(\.0)
    }

    /// Removes what pages still hold of frames that were sealed since, as later writes would.
    func removeFreed(_ bytes: inout [UInt8], before first: Position) {
        for (number, page) in pages where page.kind == .leaf {
            let isFreed = (0..<(page.nodeCount ?? 0)).contains { index in
                guard let node = page.node(index, of: .leaf), node.key.count == 8,
                    let position = Position(bigEndianBytes: page.bytes[node.key])
                else { return false }
                return position > .start && position < first
            }
            guard isFreed else { continue }
            for index in 0..<Self.pageBytes { bytes[number * Self.pageBytes + index] = 0 }
        }
    }

    /// Where the data of the records of the first blocks begin, by block.
    var sealedData: [[Int]] {
        var found: [[UInt8]: [Int: Int]] = [:]
        for (number, page) in pages where page.kind == .leaf {
            for index in 0..<(page.nodeCount ?? 0) {
                guard let node = page.node(index, of: .leaf), node.key.count == 12 else { continue }
                let key = Array(page.bytes[node.key])
                let data =
                    node.data.map { number * Self.pageBytes + $0.lowerBound }
                    ?? node.page.map { Int($0) * Self.pageBytes + PageImage.headerBytes }
                found[Array(key.prefix(8)), default: [:]][Int(key[11])] = data
            }
        }
        return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { block in
            block.value.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// The pages that lead to bodies, which lie on overflow pages.
    var bodyPages: [Int] {
        pages.filter { number, page in
            guard page.kind == .leaf, let count = page.nodeCount else { return false }
            return (0..<count).contains { page.node($0, of: .leaf)?.key.count == 36 }
        }.map(\.0)
    }

    private var pages: [(Int, PageImage)] {
        (2..<file.count / Self.pageBytes).map { number in
            let start = number * Self.pageBytes
            return (number, PageImage(Array(file[start..<start + Self.pageBytes])))
        }
    }
}

extension SalvagedLog {
    /// Whether everything that is proven is a beginning of a log, and ends with a commit of it.
    func isBeginning(of log: DamagedLog) throws -> Bool {
        guard proven == .start || log.ends.contains(proven) else { return false }
        for number in 0..<Int(proven.rawValue) {
            let event = try event(at: Position(UInt64(number + 1))).event
            if event != log.events[number] { return false }
        }
        return commits(withUnproven: false).last?.last ?? .start == proven
    }
}
