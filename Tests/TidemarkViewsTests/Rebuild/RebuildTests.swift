// RebuildTests.swift — folding the log anew: what it leaves, what it mends, and what it can name.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `rebuilding` {
    private struct CutShort: Error {}

    let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_0601, isHostile: false)
        try maker.write(about: 150, to: store.journal)
    }

    @Test func `one that is cut short leaves the old rows live`() throws {
        let before = try (rows: store.rows(), generation: store.generation)

        #expect(throws: CutShort.self) {
            try store.journal.rebuild(eventsPerStep: 10) { progress in
                if progress.done >= Position(50) { throw CutShort() }
            }
        }

        #expect(try store.generation == before.generation)
        #expect(try store.rows() == before.rows)
        #expect(try store.rows(before.generation.other).isEmpty == false)
        try store.write(.about(.localCreated, "tasks/new", "{}"))
        try LogChecks(store: store, place: "after one cut short").all()
    }

    @Test(arguments: [1, 7, 100, 20_000])
    func `in steps of any size the rows are the same`(_ eventsPerStep: Int) throws {
        let before = try store.rows()
        var done: [Position] = []

        try store.journal.rebuild(eventsPerStep: eventsPerStep) { done.append($0.done) }

        #expect(try store.rows() == before)
        #expect(done == done.sorted())
        #expect(try done.last == store.journal.read { $0.last })
    }

    @Test(arguments: [(1, 24), (100_000, 3), (1_000_000, 1)])
    func `a step ends where its rows take as much memory as it may`(
        _ bytesPerStep: Int, _ steps: Int
    ) throws {
        let store = try ScratchStore()
        let text = String(repeating: "x", count: 10_000)
        for number in 0..<24 {
            try store.write(
                .about(.serverUpserted, "tasks/\(number)", #"{"text":"\#(text)"}"#, asOf: 1))
        }
        let before = try store.rows()
        var done: [Position] = []

        try store.journal.rebuild(bytesPerStep: bytesPerStep) { done.append($0.done) }

        #expect(done.count == steps)
        #expect(try store.rows() == before)
    }

    @Test func `what is changed again and again ends no step`() throws {
        let store = try ScratchStore()
        let text = String(repeating: "x", count: 10_000)
        for number in 0..<30 {
            try store.write(
                .about(.serverUpserted, "tasks/1", #"{"\#(number)":"\#(text)"}"#, asOf: 1))
        }
        var steps = 0

        try store.journal.rebuild(bytesPerStep: 50_000) { _ in steps += 1 }

        #expect(steps == 1)
    }

    @Test func `what is written meanwhile is in the old rows and in the new ones`() throws {
        var written = 0
        try store.journal.rebuild(eventsPerStep: 30) { _ in
            guard written < 3 else { return }
            written += 1
            try store.write(.about(.localCreated, "tasks/new\(written)", "{}"))
        }

        #expect(try store.entity(EntityKey("tasks", "new3"))?.status == .created)
        try LogChecks(store: store, place: "after writes in between").all()
    }

    @Test func `an empty store is rebuilt to nothing`() throws {
        let empty = try ScratchStore()

        try empty.journal.rebuild()

        #expect(try empty.rows().isEmpty)
        try empty.write(.about(.localCreated, "tasks/1", "{}"))
        try LogChecks(store: empty, place: "empty").all()
    }

    @Test func `damaged rows are mended`() throws {
        let rows = try store.rows()
        try store.damage(rows[0].key, [1, 2, 3])
        try store.damage(rows[1].key, nil)
        try store.damage(.entity(EntityKey("tasks", "ghost")), rows[0].value)
        #expect(try store.differences().count == 3)

        try store.journal.rebuild()

        #expect(try store.rows() == rows)
        #expect(try store.differences() == [])
    }

    /// Has the rows made by other rules.
    private func noteOtherRules(_ fingerprints: [UInt8] = [9, 9, 9, 9]) throws {
        let generation = try store.generation
        let state = {
            var state = ViewTables.State()
            state.generation = generation
            state.fingerprints = fingerprints
            return state
        }()
        try store.journal.environment.write { transaction in
            try store.journal.views.setState(state, transaction)
        }
    }

    @Test func `begins anew where another one went over the same tables meanwhile`() throws {
        let rows = try store.rows()
        try noteOtherRules()
        var others = 0

        try store.journal.rebuild(eventsPerStep: 40) { _ in
            others += 1
            guard others < 4 else { return }
            try noteOtherRules()
            try Journal.open(at: store.path).close()
        }

        #expect(others > 4)
        #expect(try store.rows() == rows)
        try LogChecks(store: store, place: "after several at once").all()
    }

    @Test func `is waited for by who opens the store meanwhile`() async throws {
        let rows = try store.rows()
        try noteOtherRules()
        let path = store.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try Journal.open(at: path).close() } }
            try await group.waitForAll()
        }
        #expect(try store.rows() == rows)
        try LogChecks(store: store, place: "after several openings").all()
    }

    @Test func `a store whose rows other rules made is rebuilt when it is opened`() throws {
        let rows = try store.rows()
        try store.damage(rows[0].key, [])
        try noteOtherRules()

        try store.reopen()

        #expect(try store.rows() == rows)
        #expect(try store.generation == .b)
        // What took the room of a whole set of rows is free.
        #expect(try store.rows(.a).isEmpty)
        try LogChecks(store: store, place: "after other rules").all()
    }

    @Test(arguments: [false, true])
    func `is refused where a newer version made the rows, which stay`(_ hasMoreViews: Bool) throws {
        let rows = try store.rows()
        var newer = ViewTables.State().fingerprints
        if hasMoreViews {
            newer += [9, 9, 9, 9]
        } else {
            let name = "\(View.outbox)/\(View.outbox.version + 1)"
            newer.replaceSubrange(4..<8, with: SHA256Digest.of(Array(name.utf8)).prefix(4))
        }
        try noteOtherRules(newer)

        let error = #expect(throws: LogError.self) { try store.reopen() }

        #expect(error?.code == .newerFormat)
        try store.reopen(readOnly: true, isClosed: true)
        #expect(try store.rows() == rows)
        #expect(try store.generation == .a)
        let state = try store.journal.environment.read { try store.journal.views.state($0) }
        #expect(state?.fingerprints == newer)
    }
}

@Suite struct `naming a difference` {
    let store: ScratchStore
    private let key = EntityKey("tasks", "1")

    init() throws {
        store = try ScratchStore()
        try store.write(.about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"))
        try store.write(.about(.serverUpserted, "tasks/2", #"{"a":1}"#, asOf: 2, revision: "1"))
        try store.write(.about(.serverUpserted, "tasks/1", #"{"a":2}"#, asOf: 3, revision: "2"))
        try store.write(.about(.serverUpserted, "tasks/3", #"{"a":1}"#, asOf: 4, revision: "1"))
    }

    private func damageRow() throws {
        var row = try #require(try store.entity(key))
        row.base = Array(#"{"a":7}"#.utf8)
        try store.damage(.entity(key), row.encoded)
    }

    @Test func `a row damaged later is named with the last commit that wrote it`() throws {
        try damageRow()

        let differences = try store.differences()

        #expect(differences.count == 1)
        #expect(differences.first?.commit == Position(3))
        #expect(differences.first?.view == .entities)
        #expect(differences.first?.key == key.bytes)
        #expect(differences.first?.description.hasPrefix("@3: the row tasks/1 of view ") == true)
    }

    @Test func `what was built on a damaged row is named with the first commit that did`() throws {
        try damageRow()
        try store.write(.about(.serverUpserted, "tasks/2", #"{"a":5}"#, asOf: 5, revision: "3"))
        try store.write(
            .about(.localCreated, "tasks/4", "{}"),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":1}}"#))
        try store.write(.about(.localUpdated, "tasks/1", #"{"set":{"b":2}}"#))

        let differences = try store.differences()

        #expect(differences.map(\.commit) == [Position(7)])
    }

    @Test func `missing and left-over rows are told apart`() throws {
        try store.damage(.entity(key), nil)
        try store.damage(.entity(EntityKey("tasks", "9")), [1])

        let differences = try store.differences()

        #expect(
            Set(differences.map(\.description)) == [
                "@3: the row tasks/1 of view entities is missing",
                "the row tasks/9 of view entities is left over",
            ])
    }

    @Test func `no more differences are listed than were asked for`() throws {
        for number in 1...3 { try store.damage(.entity(EntityKey("tasks", "\(number)")), nil) }

        #expect(try store.differences(max: 2).count == 2)
        #expect(try store.differences(max: 1).count == 1)
    }
}
