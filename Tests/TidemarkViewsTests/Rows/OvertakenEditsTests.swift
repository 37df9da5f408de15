// OvertakenEditsTests.swift — edits that a later one overtakes lie in rows of their own, and all
// that is made of them is as if they lay in the entity's row.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

private let key = EntityKey("tasks", "1")

@Suite struct `overtaken edits` {
    private func edit(_ number: Int) -> Event {
        .about(.localUpdated, "tasks/1", #"{"set":{"body":\#(number)},"unset":[]}"#)
    }

    /// An entity of the server's with edits of its body, the first one at position 2.
    private func edited(_ count: Int) throws -> MemoryFold {
        let fold = MemoryFold()
        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1")
        ])
        for number in 1...count { try fold.apply([edit(number)]) }
        return fold
    }

    private func row(_ fold: MemoryFold) throws -> EntityRow {
        try #require(try fold.entity(key))
    }

    private func outcomes(
        _ fold: MemoryFold, _ positions: ClosedRange<UInt64>
    ) throws -> [MutationOutcome?] {
        try positions.map { try #require(try fold.mutation($0)).outcome }
    }

    @Test func `a thousand of one field are a row of some kilobytes, and each is pending`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":""}"#, asOf: 1, revision: "1")
        ])
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<1_000 {
            let patch = #"{"set":{"body":"\#(text)\#(number)"},"unset":[]}"#
            try fold.apply([.about(.localUpdated, "tasks/1", patch)])
        }

        let bytes = try #require(fold.rows[.entity(key)])
        #expect(bytes.count < 24_000)
        let row = try row(fold)
        let positions = (2...1_001).map { Position(UInt64($0)) }
        #expect(row.pending.map(\.position) == positions)
        #expect(row.document == Array(#"{"id":"1","body":"\#(text)999"}"#.utf8))
        #expect(row.pending.filter(\.isOvertaken).count == 996)
        #expect(fold.overtaken.count == 996)
        let isOpen = try outcomes(fold, 2...1_001).allSatisfy { $0 == nil }
        #expect(isOpen)
    }

    @Test func `a few are in the row`() throws {
        let fold = try edited(4)

        #expect(try row(fold).pending.map(\.isOvertaken) == [false, false, false, false])
        #expect(fold.overtaken.isEmpty)
    }

    @Test func `are each read back as they were made`() throws {
        let fold = try edited(9)
        let held = try row(fold)
        let whole = try fold.fold.whole(held, key)

        #expect(held.pending.filter(\.isOvertaken).count == 5)
        #expect(whole.pending.map(\.payload) == (1...9).map { edit($0).payload })
        #expect(!whole.pending.contains { $0.isOvertaken })
    }

    @Test func `are not in a row that is read between events, whatever was folded before`() throws {
        let held = try edited(9)
        let kept = try row(held)
        let fold = held.fold
        let other = Event.about(.serverUpserted, "tasks/2", #"{"id":"2"}"#, asOf: 1, revision: "1")
        try fold.apply(other.checked, at: held.last.next)
        let afterEvent = try fold.entity(key)
        let word = Event.about(.serverUpserted, "tasks/1", #"{"id":"1"}"#, asOf: 10, revision: "2")
        _ = try fold.conflict(word.checked, at: held.last.next.next)
        let afterQuestion = try fold.entity(key)

        #expect(kept.pending.filter(\.isOvertaken).count == 5)
        #expect(afterEvent == kept)
        #expect(afterQuestion == kept)
    }

    @Test func `are sent as one, of which the last one alone left a trace`() throws {
        let fold = try edited(8)
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 9)])
        #expect(try row(fold).pending.filter(\.isOvertaken).count == 4)
        try fold.apply([
            .about(.pushAccepted, "tasks/1", mutation: 9, call: 10, revision: "2")
        ])

        #expect(try outcomes(fold, 2...8).allSatisfy { $0 == .coalesced })
        #expect(try outcomes(fold, 9...9) == [.accepted])
        let row = try row(fold)
        #expect(text(row.base) == #"{"id":"1","body":8}"#)
        #expect(row.pending.isEmpty && fold.overtaken.isEmpty)
    }

    @Test func `up to one of them are sent, where the write was made before later ones`() throws {
        let fold = try edited(8)
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 4)])
        let kept = try row(fold).pending.map(\.isOvertaken)
        #expect(kept == [true, true, false, true, false, false, false, false])
        try fold.apply([
            .about(.pushAccepted, "tasks/1", mutation: 4, call: 10, revision: "2")
        ])

        #expect(
            try outcomes(fold, 2...5) == [.coalesced, .coalesced, .accepted, nil])
        let row = try row(fold)
        #expect(text(row.base) == #"{"id":"1","body":3}"#)
        #expect(text(row.document) == #"{"id":"1","body":8}"#)
        #expect(row.pending.map(\.position) == (5...9).map { Position($0) })
        #expect(fold.overtaken.count == 1)
    }

    @Test func `are each discarded`() throws {
        let fold = try edited(8)
        try fold.apply([.about(.localDiscarded, "tasks/1")])

        #expect(try outcomes(fold, 2...9).allSatisfy { $0 == .discarded })
        #expect(try text(row(fold).document) == #"{"id":"1","body":0}"#)
        #expect(fold.overtaken.isEmpty)
    }

    @Test func `that lose are one issue, with the whole of what was typed`() throws {
        let fold = try edited(1_000)
        try fold.apply([
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":-1}"#, asOf: 1_001, revision: "2")
        ])

        let issues = try fold.fold.issues()
        #expect(issues.map(\.mutation) == [Position(1_001)])
        #expect(issues.map(\.fields) == [["body"]])
        let others = try outcomes(fold, 2...1_000).allSatisfy { $0 == .coalesced }
        #expect(others)
        #expect(try outcomes(fold, 1_001...1_001) == [.superseded])
        let sides = try ConflictRow(parsing: try #require(fold.rows[.sides(fold.last)]))
        #expect(text(sides.mine) == #"{"id":"1","body":1000}"#)
        #expect(fold.overtaken.isEmpty)
    }

    @Test func `are those with the same fields, one behind the other`() throws {
        let fold = try edited(3)
        try fold.apply([
            .about(.localUpdated, "tasks/1", #"{"set":{"title":"a"},"unset":[]}"#)
        ])
        for number in 4...9 { try fold.apply([edit(number)]) }
        let row = try row(fold)

        let kept = row.pending.map(\.isOvertaken)
        #expect(kept == [true, true, false, false, true, true, false, false, false, false])
        #expect(text(row.document) == #"{"id":"1","body":9,"title":"a"}"#)
    }

    @Test func `are those whose fields the next few set again, of which some set more`() throws {
        let fold = MemoryFold()
        try fold.apply([.about(.serverUpserted, "tasks/1", #"{"id":"1"}"#, asOf: 1, revision: "1")])
        for number in 1...10 {
            let count = number % 2 == 0 ? #","words":\#(number)"# : ""
            let patch = #"{"set":{"body":\#(number)\#(count)},"unset":[]}"#
            try fold.apply([.about(.localUpdated, "tasks/1", patch)])
        }
        let row = try row(fold)

        #expect(row.pending.filter(\.isOvertaken).count == 6)
        #expect(text(row.document) == #"{"id":"1","body":10,"words":10}"#)
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 3)])
        let sent = try self.row(fold)
        // What is sent is told apart from what comes after it.
        #expect(sent.pending.prefix(3).map(\.isOvertaken) == [true, false, true])
    }

    @Test func `are not those of which a new field would lie elsewhere in the document`() throws {
        let fold = MemoryFold()
        try fold.apply([.about(.serverUpserted, "tasks/1", #"{"id":"1"}"#, asOf: 1, revision: "1")])
        for number in 1...10 {
            let fields = number % 2 == 0 ? #""words":1,"body":1"# : #""body":2"#
            let patch = #"{"set":{\#(fields)},"unset":[]}"#
            try fold.apply([.about(.localUpdated, "tasks/1", patch)])
        }

        #expect(try text(row(fold).document) == #"{"id":"1","body":1,"words":1}"#)
        #expect(fold.overtaken.isEmpty)
    }

    @Test func `are in the row where a new model asks for each`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .tasks(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"),
        ])
        for number in 1...8 { try fold.apply([edit(number)]) }
        #expect(fold.overtaken.count == 4)
        try fold.apply([.tasks(.serverWins, forms: [.wholeSeconds("never")])])

        #expect(fold.overtaken.isEmpty)
        let row = try row(fold)
        #expect(row.pending.map(\.payload) == (1...8).map { edit($0).payload })
    }

    @Test func `are each read once where a new model removes a field`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .tasks(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"),
        ])
        for number in 1...40 { try fold.apply([edit(number)]) }
        let sort = Ledger.overtaken[0]
        let before = fold.reads[sort] ?? 0
        try fold.apply([.tasks(.serverWins, migrations: [.remove("old")])])

        #expect(fold.overtaken.count == 36)
        #expect((fold.reads[sort] ?? 0) - before == 36)
    }

    @Test func `of a removed field are each superseded, however many they are`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .tasks(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"),
        ])
        for number in 1...9 { try fold.apply([edit(number)]) }
        try fold.apply([.tasks(.serverWins, migrations: [.remove("body")])])

        #expect(try outcomes(fold, 3...11).allSatisfy { $0 == .superseded })
        #expect(try row(fold).pending.isEmpty && fold.overtaken.isEmpty)
    }

    @Test func `are not read where an entity comes that refers to theirs`() throws {
        var notes = CollectionModel("notes")
        notes.references = [Reference("task", to: "tasks", rollUp: .always, missing: .hides)]
        let model = SyncModel(name: "test", collections: [CollectionModel("tasks"), notes])
        let fold = MemoryFold()
        try fold.apply([
            .registered(model),
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"),
        ])
        for number in 1...8 { try fold.apply([edit(number)]) }
        let before = fold.reads[Ledger.overtaken[0]]
        try fold.apply([.about(.serverUpserted, "notes/1", #"{"id":"1","task":"1"}"#)])
        try fold.apply([.about(.localCreated, "notes/2", #"{"id":"2","task":"1"}"#)])

        #expect(fold.overtaken.count == 4)
        #expect(fold.reads[Ledger.overtaken[0]] == before)
        #expect(try fold.entity(EntityKey("notes", "1"))?.isHidden == false)
    }

    @Test func `of a store stand every check, and a rebuild`() throws {
        let store = try ScratchStore()
        try store.write(
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"))
        for number in 1...9 { try store.write(edit(number)) }

        #expect(try store.entity(key)?.pending.filter(\.isOvertaken).count == 5)
        try LogChecks(store: store, place: "overtaken edits").all()
        let waiting = try store.journal.read { try $0.outbox(all: false).map(\.position) }
        #expect(try waiting == store.entity(key)?.pending.map(\.position))
        #expect(waiting.count == 9)
        let write = try store.journal.read { views in
            let held = try #require(try views.entity(key))
            let row = try views.whole(held, key)
            return try PushWrite(
                row.changes, on: row.baseValue, revision: row.revision, id: "1",
                collection: CollectionModel("tasks"))
        }
        #expect(
            write
                == .update(
                    body: Array(#"{"id":"1","body":9}"#.utf8),
                    changes: Array(#"{"body":9}"#.utf8), revision: Revision("1")))
    }

    @Test func `a field that a form read otherwise is shown as it lies where the form is gone`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([
            .tasks(.serverWins, forms: [.negativeIsNull("end")]),
            .about(.serverUpserted, "tasks/1", #"{"body":0,"end":-1}"#, asOf: 1, revision: "1"),
            edit(1), .tasks(.serverWins), edit(2),
        ])

        #expect(try text(row(fold).document) == #"{"body":2,"end":-1}"#)
    }

    @Test func `a field that was read by another name is shown as it lies where that step is gone`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([
            .tasks(.serverWins, migrations: [.rename("old", to: "new")]),
            .about(.serverUpserted, "tasks/1", #"{"body":0,"old":1}"#, asOf: 1, revision: "1"),
            edit(1), .tasks(.serverWins), edit(2),
        ])

        #expect(try text(row(fold).document) == #"{"body":2,"old":1}"#)
    }

    /// A model with a form has no overtaken edits: a form may read each value otherwise.
    @Test(
        arguments: [
            .serverWins, .localWins, .mergeFields(.serverWins), .mergeFields(.localWins), .ask,
            .overwriteUnlessDirty, .overwriteIfSynced, .overwriteAlways,
        ] as [ConflictPolicy])
    func `leave all other rows as they are where each edit lies in the row`(
        _ policy: ConflictPolicy
    ) throws {
        var count = 0
        for seed in 0..<12 as Range<UInt64> {
            let (held, plain) = (MemoryFold(), MemoryFold())
            var maker = EditMaker(seed: 0x5EED_26ED + seed)
            try held.apply([.tasks(policy)])
            try plain.apply([.tasks(policy, forms: [.wholeSeconds("never")])])
            // One commit of all: its rows are the same.
            let running = MemoryFold().fold
            try running.apply(Event.tasks(policy).checked, at: held.last)
            for _ in 0..<90 {
                let event = try maker.next(held)
                try held.apply([event])
                try plain.apply([event])
                try running.apply(event.checked, at: held.last)
                let kept = try running.get(.entity(key))
                #expect(kept == held.rows[.entity(key)], "seed \(seed), event \(held.last)")
                try expectAlike(held, plain, "seed \(seed), \(policy), event \(held.last)")
                count += held.overtaken.count
            }
        }
        #expect(count > 100)
    }

    private func expectAlike(
        _ held: MemoryFold, _ plain: MemoryFold, _ place: Comment
    ) throws {
        #expect(plain.overtaken.isEmpty, place)
        #expect(held.othersThanOvertaken == plain.othersThanOvertaken, place)
        guard let row = try held.entity(key), let expected = try plain.entity(key) else {
            let isNone = try held.entity(key) == nil && plain.entity(key) == nil
            #expect(isNone && held.overtaken.isEmpty, place)
            return
        }
        let whole = try held.fold.whole(row, key)
        #expect(whole == expected, place)
        #expect(Set(row.pending.filter(\.isOvertaken).map(\.position)) == held.overtaken, place)
        guard !row.pending.contains(where: \.mayHaveArrived) else { return }
        let collection = CollectionModel("tasks")
        let (write, sent) = try (
            PushWrite(
                row.changes, on: row.baseValue, revision: row.revision, id: "1",
                collection: collection),
            PushWrite(
                expected.changes, on: expected.baseValue, revision: expected.revision, id: "1",
                collection: collection)
        )
        #expect(write == sent, place)
    }
}

extension MemoryFold {
    /// The edits whose payload lies in a row of its own.
    fileprivate var overtaken: Set<Position> {
        Set(
            overtakenPlaces.compactMap {
                Position(bigEndianBytes: $0.bytes.dropFirst().prefix(8))
            })
    }

    /// All rows of the ledger but those, and but the model.
    fileprivate var othersThanOvertaken: [RowKey: [UInt8]] {
        rows.filter { place, _ in
            place.tree == .ledger && place.view != .store
                && !place.bytes.starts(with: Ledger.overtaken)
        }
    }
}

extension Event {
    fileprivate static func tasks(
        _ policy: ConflictPolicy, forms: [CollectionModel.FieldForm] = [],
        migrations: [CollectionModel.FieldMigration] = []
    ) -> Event {
        let tasks = CollectionModel(
            "tasks", conflict: policy, migrations: migrations, forms: forms)
        let model = SyncModel(name: "test", collections: [tasks])
        return .registered(model)
    }
}

/// Events of one entity, most of them edits of its body.
private struct EditMaker {
    private var random: SplitMix64
    private var version = 1

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// An event that may come next.
    mutating func next(_ fold: MemoryFold) throws -> Event {
        let row = try fold.entity(key) ?? EntityRow()
        guard row.content != nil else { return fromNothing(row) }
        version += 1
        let revision = "\(version)"
        let attempt = row.attempt
        switch random.below(30) {
        case 0 where !row.pending.isEmpty && attempt == nil:
            let next = row.next
            return sent(next[next.startIndex + random.below(next.count)].position)
        case 1, 2:
            guard let attempt else { return edit() }
            return answer(attempt, revision)
        case 3:
            let body = random.below(3)
            return .about(
                .serverUpserted, "tasks/1", #"{"id":"1","body":\#(body),"n":\#(random.below(2))}"#,
                asOf: fold.last.rawValue, revision: revision)
        case 4 where random.once(in: 4): return .about(.localDiscarded, "tasks/1")
        case 5: return .about(.localRetried, "tasks/1")
        case 6 where random.once(in: 4): return .about(.localDeleted, "tasks/1")
        case 7 where random.once(in: 4):
            return .about(.serverDeleted, "tasks/1", asOf: fold.last.rawValue)
        case 8 where random.once(in: 6): return .wiped()
        case 9 where random.once(in: 3):
            return .about(.localRequested, "tasks/1", #"{"action":"close","parameters":{}}"#)
        default: return edit()
        }
    }

    private mutating func fromNothing(_ row: EntityRow) -> Event {
        version += 1
        if let attempt = row.attempt { return answer(attempt, "\(version)") }
        if let last = row.next.last, random.once(in: 2) { return sent(last.position) }
        return .about(.localCreated, "tasks/1", #"{"id":"1","body":0}"#)
    }

    private func sent(_ last: Position) -> Event {
        .about(.requestSent, "tasks/1", "{}", mutation: last.rawValue)
    }

    private mutating func answer(_ attempt: EntityRow.Attempt, _ revision: String) -> Event {
        let (call, covers) = (attempt.call.rawValue, attempt.covers.rawValue)
        switch random.below(5) {
        case 0:
            return .about(
                .pushRejected, "tasks/1", #"{"status":400}"#, mutation: covers, call: call)
        case 1:
            return .about(.requestFailed, "tasks/1", #"{"mayHaveArrived":false}"#, call: call)
        case 2:
            let answer = #"{"status":503,"mayHaveArrived":true}"#
            return .about(.requestAnswered, "tasks/1", answer, call: call)
        default:
            return .about(
                .pushAccepted, "tasks/1", mutation: covers, call: call, revision: revision)
        }
    }

    private mutating func edit() -> Event {
        let value = random.below(4)
        let patch =
            switch random.below(10) {
            case 0: #"{"set":{"title":\#(value)},"unset":[]}"#
            case 1, 3: #"{"set":{"body":\#(value),"title":\#(value)},"unset":[]}"#
            case 2: #"{"set":{},"unset":["title"]}"#
            default: #"{"set":{"body":\#(value)},"unset":[]}"#
            }
        return .about(.localUpdated, "tasks/1", patch)
    }
}
