// BisectTests.swift — where an answer turns.

import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkStore
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `bisecting a log` {
    /// A store with other things, and in its middle a commit of three edits.
    private func store() throws -> (HistoryStore, third: Position) {
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: 5)
        try maker.write(50, to: store)
        let key = EntityKey.task("x")
        let third = try store.commit(
            .of(.localCreated, key, #"{"id":"x","n":1}"#),
            .of(.localUpdated, key, #"{"set":{"n":2},"unset":[]}"#),
            .of(.localUpdated, key, #"{"set":{"n":3},"unset":[]}"#))
        try maker.write(50, to: store)
        return (store, third)
    }

    private func turn(_ outcome: Bisect.Outcome) throws -> Bisect.Turn {
        guard case .turn(let turn) = outcome else {
            Issue.record("\(outcome)")
            throw CancellationError()
        }
        return turn
    }

    @Test func `names the event within its commit`() throws {
        let (store, third) = try store()
        let bisect = try Bisect(of: store.journal)
        let second = Position(third.rawValue - 1)
        for (text, position) in [
            ("tasks/x exists", Position(third.rawValue - 2)), ("tasks/x.n >= 2", second),
            ("tasks/x.n == 3", third),
        ] {
            let turn = try turn(try bisect.run(try StatePredicate(text)))
            #expect(turn.position == position, "\(text)")
            #expect(turn.before == Position(position.rawValue - 1))
            #expect(turn.commit == Position(third.rawValue - 2)...third)
            #expect(turn.becomes)
            #expect(turn.asked < 14)
        }
        let changes = try bisect.changes(after: second, to: third)
        #expect(changes.entities.map(\.key) == [.task("x")])
        #expect(changes.entities.first?.fields.map(\.name) == ["n"])
        #expect(changes.mutations.compactMap(\.after?.position) == [third])
    }

    @Test func `finds where something ceases to be true`() throws {
        let (store, third) = try store()
        let turn = try turn(
            try Bisect(of: store.journal).run(try StatePredicate("tasks/x missing")))
        #expect(turn.position == Position(third.rawValue - 2))
        #expect(!turn.becomes)
    }

    @Test func `begins and ends where it is told to`() throws {
        let (store, third) = try store()
        let predicate = try StatePredicate("tasks/x exists")
        let after = try Bisect(of: store.journal, from: third).run(predicate)
        let before = try Bisect(of: store.journal, to: Position(third.rawValue - 3)).run(predicate)
        let within = try Bisect(of: store.journal, from: Position(third.rawValue - 3), to: third)

        guard case .same(true, from: third, to: _) = after, case .same(false, _, _) = before else {
            Issue.record("\(after) \(before)")
            return
        }
        #expect(within.count == 1)
        #expect(try turn(try within.run(predicate)).position == Position(third.rawValue - 2))
    }

    @Test func `a snapshot changes nothing but the time`() throws {
        let (store, third) = try store()
        let predicate = try StatePredicate("tasks/x.n == 3")
        let before = try Bisect(of: store.journal).run(predicate)
        for position in [third.rawValue - 20, third.rawValue - 1, third.rawValue + 9] {
            let past = try PastViews(
                of: store.journal, at: Position(position), in: store.scratch("p\(position)"))
            var rows: [SnapshotRow] = []
            for tree in Tree.allCases {
                try past.walk(tree) { key, value in
                    rows.append(SnapshotRow(key: RowKey(tree, key), value: value))
                    return true
                }
            }
            try past.close()
            let all = rows
            try store.journal.environment.write { transaction in
                try store.journal.snapshots.write(
                    at: Position(position), fingerprints: View.allFingerprints, transaction
                ) { write in for row in all { try write(row.key, row.value) } }
            }
        }
        #expect(try Bisect(of: store.journal).run(predicate) == before)
    }

    @Test func `works on what is unpacked of a capsule`() throws {
        let (store, third) = try store()
        let whole = try Bisect(of: store.journal).to
        let capsule = try store.capsule(last: whole.rawValue - third.rawValue + 20)
        let journal = try capsule.unpacked(in: store.scratch("unpacked"))
        let bisect = try Bisect(of: journal)
        let turn = try turn(try bisect.run(try StatePredicate("tasks/x.n == 3")))
        try journal.close()

        #expect(bisect.from == capsule.base.position)
        #expect(turn.position == third)
    }

    @Test(arguments: 1...20)
    func `of a log of chance, just there it turns`(_ seed: Int) throws {
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: UInt64(seed))
        try maker.write(40, to: store)
        let bisect = try Bisect(of: store.journal)
        for text in ["pending > 3", "count(tasks) > 2", "refused > 0", "tasks/e1.n == 2"] {
            let predicate = try StatePredicate(text)
            guard case .turn(let turn) = try bisect.run(predicate) else { continue }
            func isTrue(_ position: Position) throws -> Bool {
                let past = try PastViews(
                    of: store.journal, at: position,
                    in: store.scratch("\(position)-\(turn.asked)-\(text.count)"))
                let answer = try past.read { try predicate.holds(in: $0) }
                try past.close()
                return answer
            }
            #expect(turn.before.next == turn.position)
            #expect(try isTrue(turn.position) == turn.becomes, "seed \(seed), \(text)")
            #expect(try isTrue(turn.before) != turn.becomes, "seed \(seed), \(text)")
        }
    }

    @Test func `where nothing can be told, says between what it is`() throws {
        let (store, third) = try store()
        let bisect = try Bisect(of: store.journal)
        let hidden = Position(third.rawValue - 12)...Position(third.rawValue + 6)
        let outcome = try bisect.run { position in
            hidden.contains(position) ? .skipped : position >= third ? .yes : .no
        }
        let turn = try turn(outcome)
        #expect(turn.before < hidden.lowerBound && turn.position > hidden.upperBound)
        #expect(turn.skipped.contains(third))
        #expect(turn.skipped.allSatisfy { hidden.contains($0) })
        #expect(try bisect.run { $0 == bisect.to ? .skipped : .no } == .unknown(bisect.to))
        #expect(try bisect.run { $0 == bisect.from ? .skipped : .no } == .unknown(bisect.from))
    }
}
