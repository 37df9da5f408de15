// GoldenTwins.swift — makes the damaged twins of the golden store "small": one damage each.

import Foundation
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

enum GoldenTwins {
    typealias Damage = @Sendable (EventLog, borrowing WriteTransaction) throws -> Void

    private static func key(_ position: UInt64) -> [UInt8] { Position(position).bigEndianBytes }

    /// A change of one event's frame.
    private static func frame(
        _ position: UInt64, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Damage {
        { log, transaction in
            var bytes = try transaction.get(log.log, key(position)) ?? []
            change(&bytes)
            try transaction.put(log.log, key(position), bytes)
        }
    }

    /// A changed frame with a checksum that fits.
    private static func sealed(
        _ position: UInt64, _ change: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> Damage {
        frame(position) { bytes in
            change(&bytes)
            let crc = CRC32C.checksum(of: Array(bytes[..<4]) + Array(bytes[8...]))
            for index in 0..<4 { bytes[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
        }
    }

    /// What is damaged in the tables, by the twin's name.
    ///
    /// The event with a body is `@6`.
    static let inTables: [(name: String, damage: Damage)] = [
        ("payload-flipped", frame(4) { $0[$0.count - 2] ^= 1 }),
        ("header-flipped", frame(4) { $0[10] ^= 1 }),
        ("checksum-flipped", frame(4) { $0[5] ^= 1 }),
        ("reference-flipped", frame(6) { $0[$0.count - 1] ^= 1 }),
        ("frame-format-2", sealed(5) { $0[0] = 2 }),
        ("frame-flags-2", sealed(5) { $0[1] = 2 }),
        ("header-not-canonical", sealed(5) { $0[9] = 0 }),
        ("payload-exchanged", sealed(4) { $0[$0.count - 3] ^= 1 }),
        ("event-missing", { log, transaction in try transaction.delete(log.log, key(5)) }),
        (
            "events-swapped",
            { log, transaction in
                let (third, fifth) = (
                    try transaction.get(log.log, key(3)) ?? [],
                    try transaction.get(log.log, key(5)) ?? []
                )
                try transaction.put(log.log, key(3), fifth)
                try transaction.put(log.log, key(5), third)
            }
        ),
        (
            "root-wrong",
            { log, transaction in
                let name = CommitRecord.key(Position(5))
                let bytes = try transaction.get(log.log, name) ?? []
                var record = try CommitRecord(framed: bytes.span, last: Position(5))
                record.root[8] ^= 1
                try transaction.put(log.log, name, record.framed)
            }
        ),
        (
            "commit-missing",
            { log, transaction in
                try transaction.delete(log.log, CommitRecord.key(Position(5)))
            }
        ),
        (
            "edge-wrong",
            { log, transaction in
                var bytes = try log.catalog.value(.edge, transaction) ?? []
                bytes[10] ^= 1
                try log.catalog.set(.edge, bytes, transaction)
            }
        ),
        ("body-missing", { log, transaction in try transaction.clear(log.bodies) }),
        (
            "body-corrupt",
            { log, transaction in
                guard var record = try transaction.first(log.bodies) else { return }
                record.value[record.value.count - 1] ^= 1
                try transaction.put(log.bodies, record.key, record.value)
            }
        ),
        (
            "body-format-2",
            { log, transaction in
                guard var record = try transaction.first(log.bodies) else { return }
                record.value[0] = 2
                try transaction.put(log.bodies, record.key, record.value)
            }
        ),
    ]

    /// What is damaged in the file itself.
    static let inFile: [(name: String, damage: @Sendable (inout Data) -> Void)] = [
        ("file-cut", { $0.removeLast($0.count / 2) }),
        ("meta-pages-zeroed", { $0.resetBytes(in: 0..<8_192) }),
    ]

    static var names: [String] { inTables.map(\.name) + inFile.map(\.name) }

    /// Makes every twin of the store `small`, and the manifest of what is to be found in them.
    static func make(in folder: URL) throws {
        let small = folder.appending(path: "small")
        var manifest: Manifest = [:]
        for name in names {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        for (name, damage) in inTables {
            try GoldenStores.copy(small.path, to: folder.appending(path: name), damage)
        }
        for (name, damage) in inFile {
            let twin = folder.appending(path: name)
            var data = try Data(contentsOf: small.appending(path: "data.mdb"))
            damage(&data)
            try data.write(to: twin.appending(path: "data.mdb"))
            try GoldenStores.copyIdentity(small.path, to: twin)
        }
        for name in names {
            manifest[name] = try Finding(of: folder.appending(path: name).path)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(manifest) + Data("\n".utf8)).write(
            to: folder.appending(path: "manifest.json"))
    }
}
