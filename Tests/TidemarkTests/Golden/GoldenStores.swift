// GoldenStores.swift — makes the golden stores. Runs only when it is asked to; see
// Tests/Fixtures/v1/README.md.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

enum GoldenStores {
    /// An open-and-shut store: a model, and nothing else.
    static func makeEmpty(in folder: URL) throws {
        let replica = try Replica.temporary(
            model: SyncWorld.usualModel, dependencies: .seeded(1, clock: ManualClock()))
        try save(replica, as: "empty", in: folder)
    }

    /// Nine events in six commits, one of them with its payload by reference.
    static func makeSmall(in folder: URL) throws {
        let clock = ManualClock()
        let replica = try Replica.temporary(
            model: SyncWorld.usualModel, dependencies: .seeded(2, clock: clock))
        func put(_ documents: [(String, String)]) throws {
            clock.advance(by: .seconds(1))
            try replica.write { tx in
                for (id, json) in documents { try tx.put(EntityKey("tasks", id), Array(json.utf8)) }
            }
        }
        try put([("t1", #"{"title":"tea"}"#), ("t2", #"{"title":"milk"}"#)])
        try put([("t1", #"{"title":"green tea"}"#)])
        try put([("t3", #"{"title":"long","notes":"\#(notes(3_000))"}"#)])
        try put([("t2", #"{"title":"oat milk"}"#), ("t4", "{}")])
        try replica.write { tx in _ = try tx.delete(EntityKey("tasks", "t4")) }
        try save(replica, as: "small", in: folder)
    }

    /// Text that does not compress to nothing.
    private static func notes(_ count: Int) -> String {
        let letters = Array("abcdefghij klmnop")
        return String((0..<count).map { letters[($0 * $0 / 7 + $0) % letters.count] })
    }

    // MARK: Every kind of event

    /// What a device and a server bring about, then what newer versions might.
    static func makeWhole(in folder: URL) async throws {
        let world = SyncWorld(goldenFaults)
        let device = try SyncDevice.make(world, seed: 3)
        try await sync(world, device)
        let journal = device.replica.journal
        try appendOfNewerVersions(to: journal, at: world.clock.now)
        try appendOfNewerHeader(to: journal)
        try save(device.replica, as: "whole", in: folder)
    }

    /// Once each: a refusal, a lost connection, and twice a gateway's long page.
    private static let goldenFaults = [
        FaultRule(
            .answer(
                status: 400,
                body: Array(#"{"code":400,"errno":107,"message":"title: too plain"}"#.utf8)),
            method: .put, occurrences: 1...2, recordID: { $0 == "bad" }),
        FaultRule(.dropBeforeHandling, method: .put, occurrences: 1...1, recordID: { $0 == "t5" }),
        FaultRule(
            .answer(status: 502, body: Array("<p>\(notes(2_500))</p>".utf8)), method: .put,
            occurrences: 1...2, recordID: { $0 == "t6" }),
    ]

    private static func sync(_ world: SyncWorld, _ device: SyncDevice) async throws {
        func sync() async throws {
            world.clock.advance(by: .seconds(60))
            try await device.sync()
        }
        world.rivalPuts("lists/l1", #"{"title":"Home","notes":"\#(notes(5_000))"}"#)
        world.rivalPuts("lists/l2", #"{"title":"Bureau é 🎉"}"#)
        try device.put("tasks/t1", #"{"title":"tea","list":"l1"}"#)
        try device.put("tasks/t2", #"{"title":"long","notes":"\#(notes(2_200))"}"#)
        try device.put("tasks/t3", "{\n  \"title\": \"gone\"\n}")
        try await sync()
        world.rivalPuts("tasks/t1", #"{"title":"coffee","list":"l1"}"#)
        try device.patch("tasks/t1", #"{"title":"mate"}"#)
        try device.delete("tasks/t3")
        world.rivalDeletes("lists/l2")
        try await sync()
        try device.put("lists/bad", #"{"title":"x"}"#)
        try await sync()
        try device.retry("lists/bad")
        try await sync()
        try device.discard("lists/bad")
        for id in ["t5", "t6"] {
            try device.put("tasks/\(id)", #"{"title":"\#(id)"}"#)
            for _ in 1...3 { try await sync() }
        }
        for _ in 1...2 { try await sync() }
        try device.put("tasks/t7", #"{"title":"never sent"}"#)
    }

    /// A kind that has no name, a payload of a later shape, an idempotency key, and bytes.
    private static func appendOfNewerVersions(to journal: Journal, at now: Timestamp) throws {
        var named = Event(
            .localUpdated, recordedAt: now, key: EntityKey("tasks", "t7"),
            json: Array(#"{"set":{"title":"named"},"unset":[]}"#.utf8))
        named.idempotencyKey = Array("2026-11-21/7".utf8) + [0, 0xFF]
        var later = named
        later.schemaVersion = 7
        later.payload = Array(#"{"patch":[["title","later"]]}"#.utf8)
        later.idempotencyKey = nil
        var unknown = Event(
            EventKind(rawValue: 9999), recordedAt: now, key: EntityKey("tasks", "t1"),
            cause: Position(3))
        unknown.payloadType = .opaque
        unknown.payload = (0..<2_100).map { UInt8(truncatingIfNeeded: $0 * $0 >> 3) }
        let events = [named, later, unknown]
        try journal.write(at: now) { draft in
            for event in events { try draft.append(event) }
        }
    }

    /// An event with a header field that this version doesn't know; no call of ours writes one.
    private static func appendOfNewerHeader(to journal: Journal) throws {
        try journal.environment.write { transaction in
            var edge = try journal.log.edge(transaction)
            let position = Position(edge.size + 1)
            var newer = ProtoWriter()
            newer.varint(200, 5)
            var frame = EventFrame(
                Event(EventKind(rawValue: 110), recordedAt: Timestamp(milliseconds: 1)))
            frame.header += newer.bytes
            edge.append(
                leaf: MerkleEdge.leaf(
                    position: position, header: frame.header, payloadHash: frame.payload.hash))
            let record = CommitRecord(first: position, last: position, root: edge.root, views: [])
            try transaction.append(journal.log.log, position.bigEndianBytes, frame.encoded)
            try transaction.append(journal.log.log, CommitRecord.key(position), record.framed)
            edge.commits += 1
            try journal.log.catalog.set(.edge, edge.encoded, transaction)
        }
    }

    // MARK: Files

    /// Closes a store, and saves a compact copy of it and what is to be found in it.
    static func save(_ replica: Replica, as name: String, in folder: URL) throws {
        let target = folder.appending(path: name)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let (dump, state) = (
            try replica.journal.goldenDump(), try replica.journal.goldenState()
        )
        try replica.close()
        try copy(replica.directory, to: target)
        try dump.write(
            to: target.appending(path: "dump.jsonl"), atomically: false, encoding: .utf8)
        try state.write(to: target.appending(path: "state.txt"), atomically: false, encoding: .utf8)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    /// Copies a closed store: every table into a new data file, page after page, and what lies
    /// beside it.
    static func copy(
        _ directory: String, to folder: URL,
        _ damage: (EventLog, borrowing WriteTransaction) throws -> Void = { _, _ in }
    ) throws {
        var options = Journal.options(readOnly: true, create: false)
        options.checkedTables = []
        var rows: [(table: String, key: [UInt8], value: [UInt8])] = []
        var values: [(key: CatalogKey, value: [UInt8])] = []
        let source = try Environment.open(at: directory, options)
        try source.read { transaction in
            for key in CatalogKey.allCases {
                guard let value = try Catalog(source).value(key, transaction) else { continue }
                values.append((key, value))
            }
            for table in source.tables {
                try transaction.scan(table, from: nil, prefix: [], reversed: false) {
                    rows.append((table.name, $0.copied(), $1.copied()))
                    return true
                }
            }
        }
        try source.close()
        let target = try Environment.open(
            at: folder.path,
            Environment.Options(tables: Journal.tableNames, mapBytes: 16 << 20))
        try target.write { transaction in
            for (key, value) in values { try Catalog(target).set(key, value, transaction) }
            for row in rows { try transaction.append(target.table(row.table), row.key, row.value) }
            try damage(EventLog(target), transaction)
        }
        try target.close()
        try FileManager.default.removeItem(at: folder.appending(path: "lock.mdb"))
        try copyIdentity(directory, to: folder)
    }

    static func copyIdentity(_ directory: String, to folder: URL) throws {
        let identity = URL(filePath: directory).appending(path: "identity.json")
        guard FileManager.default.fileExists(atPath: identity.path) else { return }
        try FileManager.default.copyItem(
            at: identity, to: folder.appending(path: "identity.json"))
    }
}
