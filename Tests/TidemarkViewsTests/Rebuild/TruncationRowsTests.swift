// TruncationRowsTests.swift — the views over a log whose first events were dropped.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `views over a truncated log` {
    private static let now = Timestamp(microseconds: 1)

    // Of others, edits that wait from the beginning keep everything.
    @Test(
        arguments: (TestRun.isWhole ? [1, 2, 3, 9, 5, 6, 7, 8] : [1, 5, 9]).map {
            ($0, $0 > 4 && $0 < 9)
        } as [(UInt64, Bool)])
    func `are those that they were but for what is over, also made again and in the past`(
        _ seed: UInt64, _ isHostile: Bool
    ) throws {
        let place = Comment("seed 0x7_2C00\(seed), hostile: \(isHostile)")
        var random = SplitMix64(seed: 0x72C00 + seed)
        let store = try ScratchStore()
        var maker = LogMaker(seed: 0x72C00 + seed, isHostile: isHostile)
        // They keep everything, too.
        maker.writesNewer = false
        var truncations = 0
        let fold = MemoryFold()
        var folded: [Position: [Row]] = [:]
        for round in 0..<4 {
            try maker.write(about: 80 + random.below(200), to: store.journal)
            try store.journal.seal(keeping: UInt64(1 + random.below(30)))
            if random.once(in: 2) { try store.journal.takeSnapshot() }
            try store.fold(into: fold) { folded[$0] = $1 }
            let rows = try store.rows()
            guard let last = try store.placeToTruncate(&random) else { continue }

            let made = try store.truncate(through: last)
            truncations += 1
            try store.fold(into: fold) { folded[$0] = $1 }

            #expect(made.last == last, place)
            let left = try store.rows()
            let dropped = try store.journal.read { try $0.droppedRows() }
            let others = rows.filter { $0.key != .dropped && dropped?.takes($0.key) != true }
            #expect(left.filter { $0.key != .dropped } == others, place)
            #expect(try store.differences() == [], place)
            let end = try store.journal.read { $0.last }
            #expect(folded[end] == left, place)
            for position in [last, last.next, end] {
                #expect(try store.pastRows(position) == folded[position], "\(position)")
            }
            let error = #expect(throws: LogError.self) {
                try store.pastRows(Position(last.rawValue - 1))
            }
            #expect(error?.code == .dropped, place)
            let findings = try store.journal.verify(.deep).findings
            #expect(findings == [], "\(findings) \(place)")
            if round % 2 == 0 { try store.reopen() }
            try store.journal.rebuild()
            #expect(try store.rows() == left, place)
            #expect(try store.journal.verify(.deep).findings == [], place)
        }
        // Mutations that wait for ever keep it from a second one.
        #expect(truncations >= 1, place)
    }

    /// A store with documents long enough to be named by rows, sealed up to its last events.
    private func makeStore(_ count: Int = 300) throws -> ScratchStore {
        let store = try ScratchStore()
        let notes = String(repeating: "n", count: 200)
        for number in 0..<count {
            try store.write(
                Event(
                    .serverUpserted, recordedAt: Self.now,
                    key: EntityKey("tasks", "t\(number % 100)"),
                    json: Array(#"{"id":"t\#(number % 100)","notes":"\#(notes)\#(number)"}"#.utf8)))
        }
        try store.journal.seal(keeping: 10)
        return store
    }

    @Test func `tell of it in the log, with the root and the digest of what is left`() throws {
        let store = try makeStore()
        let root = try store.commits()[199].root

        try store.truncate(through: Position(200))

        let last = try store.journal.read { $0.last }
        let event = try #require(try store.journal.read { try $0.event(at: last) })
        #expect(event.kind == .logTruncated)
        let told = try #require(event.read(LogTruncated.self))
        #expect(told.last == Position(200) && told.root == Hexadecimal.encode(root))
        let base = try store.journal.environment.read { try store.journal.snapshots.base($0) }
        #expect(told.views == Hexadecimal.encode(try #require(base).digest))
    }

    @Test func `are not made anew of what is left where the base is gone`() throws {
        let store = try makeStore()
        try store.truncate(through: Position(200))
        let rows = try store.rows()
        let chunks = try store.snapshotKeys()
        try #require(!chunks.isEmpty)
        try store.journal.environment.write { transaction in
            let catalog = store.journal.log.catalog
            _ = try transaction.delete(catalog.table, CatalogKey.base.bytes)
        }
        let last = try store.journal.read { $0.last }

        let refused: [() throws -> Void] = [
            { try store.journal.takeSnapshot() },
            { try store.journal.rebuild() },
            { _ = try store.pastRows(Position(last.rawValue - 1)) },
        ]
        for refused in refused {
            let error = #expect(throws: LogError.self) { try refused() }
            #expect(error?.code == .corruptBase)
        }
        store.journal.keepSnapshots()
        #expect(try store.snapshotKeys() == chunks)
        #expect(try store.rows() == rows)
        try store.journal.close()
        let error = #expect(throws: LogError.self) { try store.reopen(isClosed: true) }
        #expect(error?.code == .corruptBase)
    }

    @Test func `read what they name of it, until they name something else`() throws {
        let store = try makeStore(150)
        let rows = try store.rows()

        // Entities t50 to t99 were heard of last at @51 to @100.
        try store.truncate(through: Position(100))

        #expect(try store.rows() == rows)
        let key = EntityKey("tasks", "t70")
        #expect(try store.entity(key)?.base.count ?? 0 > 200)
        try store.reopen()
        #expect(try store.entity(key)?.base.count ?? 0 > 200)
        try store.write(Event(.serverDeleted, recordedAt: Self.now, key: key))
        #expect(try store.journal.verify(.deep).findings == [])
        try store.journal.rebuild()
        #expect(try store.entity(EntityKey("tasks", "t71"))?.base.count ?? 0 > 200)
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `let go of what only rows of before a rebuild name`() throws {
        let store = try makeStore(150)
        try store.truncate(through: Position(100))
        try store.journal.rebuild()
        let notes = String(repeating: "m", count: 200)
        // What was said of t70 before is named by no row any more.
        for id in ["t70"] + (0..<30).map({ "u\($0)" }) {
            try store.write(
                Event(
                    .serverUpserted, recordedAt: Self.now, key: EntityKey("tasks", id),
                    json: Array(#"{"id":"\#(id)","notes":"\#(notes)"}"#.utf8)))
        }
        try store.journal.seal(keeping: 10)
        let rows = try store.rows()

        try store.truncate(through: Position(140))

        #expect(try store.rows() == rows)
        #expect(try store.entity(EntityKey("tasks", "t70"))?.base.count ?? 0 > 200)
        #expect(try store.journal.verify(.deep).findings == [])
        try store.journal.rebuild()
        #expect(try store.rows() == rows)
    }

    @Test func `ask nothing of rows that are not live, which may be no rows of today's`() throws {
        let store = try makeStore()
        let other = store.journal.views.table(.rows, try store.generation.other)
        try store.journal.environment.write { transaction in
            // The mark of a row that names events, and a number that is cut off.
            try transaction.put(other, Array("tasks\u{0}t1".utf8), [0, 0x80])
        }
        let rows = try store.rows()

        try store.truncate(through: Position(200))

        #expect(try store.rows() == rows)
        #expect(try store.journal.read { $0.mendings } == 0)
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `keep what waits, what is at issue and what was asked from being dropped`() throws {
        let store = try makeStore()
        let edit = Array(#"{"set":{"title":"a"}}"#.utf8)
        try store.write(
            Event(.localUpdated, recordedAt: Self.now, key: EntityKey("tasks", "t3"), json: edit))
        let waiting = try store.journal.read { $0.last }
        for number in 0..<50 {
            try store.write(
                Event(
                    .serverUpserted, recordedAt: Self.now, key: EntityKey("tasks", "u\(number)"),
                    json: Array("{}".utf8)))
        }
        try store.journal.seal(keeping: 1)

        let limit = try store.journal.truncationLimit(withRuns: false)
        #expect(limit.first == waiting && limit.reason.contains("tasks/t3"))
        let error = #expect(throws: LogError.self) {
            try store.truncate(through: waiting)
        }
        #expect(error?.detail.contains("outbox") == true)
        try store.truncate(through: Position(waiting.rawValue - 1))
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `keep nothing for a list that was cut off: how it goes on they say themselves`()
        throws
    {
        let store = try makeStore()
        let run = try store.journal.write(at: Self.now) { draft in
            try draft.append(Event(.syncStarted, recordedAt: Self.now, json: Array("{}".utf8)))
        }
        let list = #"{"page":2,"asOf":300,"next":"3","same":["t1"]}"#
        let page = #"{"scope":"","ids":[],"at":[],"list":\#(list)}"#
        try store.write(
            Event(
                .pullPage, recordedAt: Self.now, collection: "tasks", sync: run,
                json: Array(page.utf8)))
        for number in 0..<50 {
            try store.write(
                Event(
                    .serverUpserted, recordedAt: Self.now, key: EntityKey("tasks", "u\(number)"),
                    json: Array("{}".utf8)))
        }
        try store.journal.seal(keeping: 1)
        let rows = try store.rows()
        let end = try store.journal.read { $0.last }

        #expect(try store.journal.truncationLimit(withRuns: false).first == end.next)
        try store.truncate(through: Position(run.rawValue + 10))

        #expect(try store.rows() == rows)
        try store.journal.rebuild()
        #expect(try store.rows() == rows)
        let state = try store.journal.read { try $0.listing("tasks") }
        #expect(state?.next == "3")
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `go on over rows that an earlier version made`() throws {
        let store = try makeStore()
        try store.truncate(through: Position(200))
        let rows = try store.rows()
        try store.rewriteBase { $0.replaceSubrange(0..<4, with: View.entities.earlierFingerprint) }

        try store.reopen()
        try store.journal.rebuild()
        #expect(try store.rows() == rows)
        try store.rewriteBase { $0.replaceSubrange(0..<4, with: [1, 2, 3, 4]) }
        let error = #expect(throws: LogError.self) { try store.journal.rebuild() }
        #expect(error?.code == .newerFormat)
        #expect(try store.rows() == rows)
    }

    @Test func `are not taken from a base that is not what was written`() throws {
        let store = try makeStore()
        try store.truncate(through: Position(200))
        let table = store.journal.snapshots.table
        let key = Position(200).bigEndianBytes + [0, 0, 0, 0]
        try store.journal.environment.write { transaction in
            var chunk = try transaction.get(table, key) ?? []
            chunk[chunk.count / 2] ^= 1
            try transaction.put(table, key, chunk)
        }

        #expect(try store.journal.verify(.full).problems.map(\.code) == [.corruptBase])
        let error = #expect(throws: LogError.self) { try store.journal.rebuild() }
        #expect(error?.code == .corruptBase)
        #expect(throws: LogError.self) { try store.pastRows(Position(250)) }
    }

    @Test func `survive a store that closes behind its identity`() throws {
        let store = try makeStore()
        try store.truncate(through: Position(200))
        try store.journal.close()
        let path = store.path
        var identity = try #require(try StoreIdentity.find(in: path).identity)
        #expect(identity.position > Position(200))
        // An older copy of it tells of an event that is gone.
        (identity.position, identity.root) = (Position(3), [UInt8](repeating: 9, count: 32))
        try identity.write(to: path, isDurable: true)

        try store.reopen(isClosed: true)

        #expect(try store.journal.verify(.deep).findings == [])
    }
}

extension View {
    fileprivate var earlierFingerprint: [UInt8] {
        let bytes = Array(SHA256Digest.of(Array("\(self)/\(version - 1)".utf8)).prefix(4))
        precondition(isFingerprint(bytes), "a fingerprint is made otherwise")
        return bytes
    }
}

extension ScratchStore {
    /// Drops events; folds in a directory of its own where it has to.
    @discardableResult
    func truncate(through last: Position) throws -> Truncation {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-truncated-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        return try journal.truncate(
            through: last, at: Timestamp(microseconds: 1), in: { scratch.path })
    }

    /// Folds the events that a fold does not know, one by one, and hands over the rows after each.
    fileprivate func fold(into fold: MemoryFold, _ rows: (Position, [Row]) -> Void) throws {
        try journal.environment.read { transaction in
            try journal.log.forEach(from: fold.last.next, transaction) { position, event in
                try fold.apply([event])
                let sorted = fold.rows.map { Row(key: $0.key, value: $0.value) }
                rows(position, sorted.sorted { $0.key < $1.key })
                return true
            }
        }
    }

    /// The end of a commit that may be dropped; nil for none.
    fileprivate func placeToTruncate(_ random: inout SplitMix64) throws -> Position? {
        let limit = try journal.truncationLimit(withRuns: false).last
        return try journal.environment.read { transaction in
            let sealed = try journal.log.sealed.last(transaction)
            let base = try journal.log.base(transaction)?.position ?? .start
            let most = min(limit.rawValue, sealed.rawValue - 1)
            guard most > base.rawValue + 2 else { return nil }
            let wanted = base.rawValue + 2 + UInt64(random.below(Int(most - base.rawValue - 1)))
            let end = try journal.log.commitEnd(
                from: Position(wanted), reversed: true, transaction)
            return end.flatMap { $0 > base ? $0 : nil }
        }
    }

    /// Writes the base anew with other fingerprints, past the journal.
    fileprivate func rewriteBase(_ change: (inout [UInt8]) -> Void) throws {
        try journal.environment.write { transaction in
            guard var base = try journal.log.base(transaction) else { return }
            var manifest = try SnapshotManifest(parsing: base.views, position: base.position)
            change(&manifest.fingerprints)
            base.views = manifest.encoded
            try journal.log.catalog.set(.base, base.encoded, transaction)
        }
    }
}
