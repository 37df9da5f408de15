// LargeCommitTests.swift — commits of very many events: stored once when the map must grow in the
// middle, not at all when it may not, and the same whatever threads made them.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `a commit of five thousand events` {
    private static let count = 5000

    @Test func `is stored once when the map has to grow in the middle of it`() throws {
        try Self.withJournal(mapBytesMax: 1 << 30) { journal in
            let small = try journal.environment.info().mapBytes
            var runs = 0
            try Self.write(Self.count, to: journal) { runs += 1 }

            #expect(runs >= 2, "it fitted at once")
            #expect(try journal.environment.info().mapBytes > small)
            #expect(try journal.read { $0.last } == Position(UInt64(Self.count + 1)))
            #expect(try Self.entities(journal) == Self.count + 1)
            #expect(try journal.verify(.deep).findings == [])
        }
    }

    @Test func `is refused whole when the map may not grow, and writing goes on`() throws {
        try Self.withJournal(mapBytesMax: 1 << 20) { journal in
            let before = try Self.contents(journal)
            let error = Result { try Self.write(Self.count, to: journal) }.storeFailure

            #expect(error?.code == .mapFull || error?.code == .storeFull, "\(error as Any)")
            #expect(try Self.contents(journal) == before)
            try Self.write(10, to: journal)
            #expect(try journal.read { $0.last } == Position(11))
            #expect(try Self.entities(journal) == 11)
            #expect(try journal.verify(.deep).findings == [])
        }
    }

    @Test func `is folded anew up to the quota, and what that replaced makes room`() throws {
        try Self.withDirectory { path in
            let stored = try Self.open(path)
            try Self.write(Self.count, to: stored)
            let usedBytes = try stored.environment.usedBytes()
            try stored.close()

            // The old rows and the new ones together take more.
            #expect(usedBytes > 4 * 100_000, "else both have room within the quota")
            let quotaBytes = usedBytes + 100_000
            let journal = try Self.open(path, quotaBytes: quotaBytes)
            try journal.rebuild()
            #expect(try journal.environment.usedBytes() < quotaBytes)
            try Self.write(1, to: journal)
            #expect(try journal.verify(.deep).findings == [])
            try journal.close()
        }
    }

    /// A store with one event and a small map.
    private static func withJournal(mapBytesMax: Int, _ body: (Journal) throws -> Void) throws {
        try withDirectory { path in
            let journal = try open(path, mapBytesMax: mapBytesMax)
            defer { try? journal.close() }
            try write(1, to: journal)
            try body(journal)
        }
    }

    private static func open(
        _ path: String, mapBytesMax: Int = 1 << 30, quotaBytes: Int? = nil
    ) throws -> Journal {
        let options = Environment.Options(
            tables: Journal.tableNames, mapBytes: 1 << 20, mapBytesMax: mapBytesMax,
            quotaBytes: quotaBytes)
        return Journal(try Environment.open(at: path, options))
    }

    private static func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-large-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    private static func write(
        _ count: Int, to journal: Journal, _ ran: () -> Void = {}
    ) throws {
        try journal.write(at: Timestamp(rawValue: 1)) { draft in
            ran()
            for _ in 0..<count {
                let position = draft.nextPosition
                let filling = String(repeating: "x", count: 200)
                try draft.append(
                    .about(
                        .serverUpserted, "tasks/\(position)", #"{"text":"\#(filling)"}"#,
                        asOf: position.rawValue, revision: "1"))
            }
        }
    }

    private static func entities(_ journal: Journal) throws -> Int {
        try journal.read { views in
            var count = 0
            try views.forEachEntity { _, _ in
                count += 1
                return true
            }
            return count
        }
    }

    /// The log's edge, its last position and the rows of entities.
    private static func contents(_ journal: Journal) throws -> [[UInt8]] {
        try journal.environment.read { transaction in
            var contents = try [
                journal.log.edge(transaction).encoded,
                journal.log.lastPosition(transaction).bigEndianBytes,
            ]
            for tree in Tree.allCases {
                try journal.views.scan(tree, .a, transaction) { key, value in
                    contents += [key, value]
                    return true
                }
            }
            return contents
        }
    }
}

@Suite struct `events in one large commit` {
    @Test(arguments: [127, 128, 129, 700])
    func `give the same root and the same rows as one by one`(_ count: Int) throws {
        let made = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_0B11, isHostile: true)
        try maker.write(about: count + 100, to: made.journal)
        var events: [Event] = []
        let damaged = try made.journal.dump(EventFilter()) { events.append($1) }
        #expect(damaged == [])
        try #require(events.count >= count)
        events = Array(events.prefix(count))
        let (large, single) = (try ScratchStore(), try ScratchStore())

        try large.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for event in events { try draft.append(checked: event) }
        }
        for event in events {
            try single.journal.write(at: Timestamp(rawValue: 1)) { draft in
                _ = try draft.append(checked: event)
            }
        }

        #expect(try large.commits().count == 1)
        #expect(try single.commits().count == count)
        #expect(try large.commits().last?.root == single.commits().last?.root)
        #expect(try large.rows() == single.rows())
        #expect(try large.journal.verify(.deep).findings == [])
        #expect(try single.journal.verify(.deep).findings == [])
    }
}

@Suite struct `the rows that a fold wrote` {
    @Test func `are walked over in the order of their keys, each once`() throws {
        var random = SplitMix64(seed: 0x5EED_0B12)
        for round in 0..<30 {
            let fold = MemoryFold().fold
            for number in 1...60 {
                let key = EntityKey(
                    CollectionName(random.pick(["a", "tasks", "z"])), "\(random.below(20))")
                let kind = random.pick([
                    EventKind.localCreated, .localUpdated, .localDeleted, .serverUpserted,
                    .syncStarted, .modelRegistered,
                ])
                let json = kind == .localUpdated ? #"{"set":{"n":1},"unset":[]}"# : #"{"n":2}"#
                var event = Event(
                    kind, recordedAt: Timestamp(rawValue: 1), key: key, json: Array(json.utf8))
                if number % 7 == 0 { event.idempotencyKey = random.bytes(16) }
                try fold.apply(event.checked, at: Position(UInt64(number)))
            }

            let keys = fold.sortedChanges.map(\.key)

            #expect(keys == Set(keys).sorted(), "round \(round)")
            #expect(keys.contains { $0.view == .outbox } && keys.contains { $0.tree == .rows })
        }
    }
}

extension Result {
    fileprivate var storeFailure: StoreError? {
        if case .failure(let error) = self { error as? StoreError } else { nil }
    }
}
