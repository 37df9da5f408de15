// TakenOverTests.swift — entities of a server that an app had in a database of its own: they are
// taken over before the first run, edited, and synced.

import DocExamples
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `entities that are taken over` {
    private let key = "notes/n1"

    /// What an app had of a collection that it synced some time ago.
    private func records(
        _ world: SyncWorld, of collection: CollectionName = "notes"
    ) async throws -> [ServerRecord] {
        try await SyncDevice.with(world, seed: 9) { old in
            try await old.sync()
            return try old.rows(collection).map { key, row in
                ServerRecord(
                    id: key.id, revision: row.revision, serverTime: row.serverTime,
                    document: row.base)
            }
        }
    }

    private static func record(_ id: String, _ json: String) -> ServerRecord {
        ServerRecord(id: id, revision: nil, document: Array(json.utf8))
    }

    /// A device that took over what the server had, before a colleague changed something.
    private func with(
        _ world: SyncWorld, _ meanwhile: () -> Void = {},
        _ body: (SyncDevice) async throws -> Void
    ) async throws {
        let records = try await records(world)
        meanwhile()
        world.server.clearRequestLog()
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.replica.takeOver(records, of: "notes") == records.count)
            try await body(device)
            try device.verify()
        }
    }

    @Test func `are there before the first run, which lists all and logs none of them again`()
        async throws
    {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(key, #"{"title":"old"}"#)
        try await with(world) { device async throws in
            #expect(try device.document(key) == #"{"title":"old"}"#)
            #expect(try device.status(key) == .synced)
            #expect(try device.entries(all: true).isEmpty)
            #expect(try device.mark("notes") == nil)

            #expect(try await device.sync().isSynced)

            #expect(world.requests == ["GET notes?_since 200"])
            #expect(world.server.requestLog.contains { $0.path.contains("_since=0") })
            #expect(try device.kinds(of: key) == ["server.upserted"])
            #expect(try device.mark("notes") != nil)
        }
    }

    @Test func `have an edit in conflict with a colleague's change of the same field`()
        async throws
    {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(key, #"{"title":"old"}"#)
        try await with(world, { world.rivalPuts(key, #"{"title":"theirs"}"#) }) {
            device async throws in
            try device.patch(key, #"{"title":"mine"}"#)
            try await device.sync()

            #expect(world.record(key) == #"{"title":"theirs"}"#)
            #expect(try device.document(key) == #"{"title":"theirs"}"#)
            #expect(try device.replica.issues().map(\.kind) == [.conflict])
        }
    }

    @Test func `have an edit merged with a colleague's change of another field`() async throws {
        let world = SyncWorld.notes(.mergeFields(.serverWins))
        world.rivalPuts(key, #"{"title":"old","n":1}"#)
        try await with(world, { world.rivalPuts(key, #"{"title":"old","n":2}"#) }) {
            device async throws in
            try device.patch(key, #"{"title":"mine"}"#)
            #expect(try await device.sync().isSynced)

            #expect(world.record(key) == #"{"title":"mine","n":2}"#)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test func `keep the fields that there was no column for, also where the push comes first`()
        async throws
    {
        let world = SyncWorld.notes(.mergeFields(.serverWins))
        world.rivalPuts(key, #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world) { device async throws in
            let part = Self.record("n1", #"{"title":"old"}"#)
            try await device.replica.takeOver([part], of: "notes")
            try device.patch(key, #"{"title":"mine"}"#)
            try await device.sync(.push)

            #expect(world.record(key) == #"{"title":"mine","n":1}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `go with the first list where they were deleted meanwhile`() async throws {
        let world = SyncWorld.notes(.serverWins)
        for number in 1...3 { world.rivalPuts("notes/n\(number)", "{}") }
        try await with(world, { world.rivalDeletes("notes/n2") }) { device async throws in
            #expect(try await device.sync().isSynced)

            #expect(try device.keys("notes") == ["n1", "n3"])
            #expect(world.writes == [])
            #expect(try device.replica.issues() == [])
        }
    }

    @Test func `are told of as what they are`() async throws {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(key, "{}")
        try await with(world) { device async throws in
            let (named, journal) = (try device.key(key), device.replica.journal)
            let lines = try journal.read { views in
                let target = try EntityTarget(reading: named, views, journal)
                return try EntityExplanation(target, views)?.lines ?? []
            }
            #expect(lines.contains { $0.hasSuffix(", taken over from the app's own database") })
            let history = try journal.history(of: EntityTarget(named))
            #expect(
                history?.entries.map(\.words) == ["taken over from the app's own database"])
            let event = try #require(try device.events(of: key).first?.event)
            #expect(event.sync == nil && event.call == nil && event.asOf == nil)
        }
    }

    @Test func `come in pages, again from the first one on where the process died`() throws {
        let pages = (0..<10).map { page in
            (0..<1000).map { Self.record("t\(page * 1000 + $0)", #"{"parent":"t\#($0)"}"#) }
        }
        try withReplica { replica in
            for page in pages.prefix(4) {
                #expect(try replica.takeOver(page, of: "tasks") == 1000)
            }
            let before = try replica.position
            let counts = try pages.map { try replica.takeOver($0, of: "tasks") }
            #expect(counts == Array(repeating: 0, count: 4) + Array(repeating: 1000, count: 6))
            #expect(try replica.position.rawValue == before.rawValue + 6000)
            #expect(try replica.keys(in: "tasks").count == 10_000)
        }
    }

    @Test func `are passed over where an edit waits, and are here already`() throws {
        try withReplica { replica in
            let page = [Self.record("t1", #"{"title":"old"}"#)]
            try replica.takeOver(page, of: "tasks")
            try replica.put("tasks/t1", #"{"title":"mine"}"#)
            #expect(try replica.takeOver(page, of: "tasks") == 0)
            expect(.pendingChanges) {
                try replica.takeOver([Self.record("t1", #"{"title":"other"}"#)], of: "tasks")
            }
            #expect(try replica.text(EntityKey("tasks", "t1")) == #"{"title":"mine"}"#)
        }
    }

    @Test func `are taken anew where the app's database knows more by now`() throws {
        try withReplica { replica in
            try replica.takeOver([Self.record("t1", #"{"title":"a"}"#)], of: "tasks")
            let more = [Self.record("t1", #"{"title":"b"}"#), Self.record("t2", "{}")]
            #expect(try replica.takeOver(more, of: "tasks") == 2)
            #expect(try replica.text(EntityKey("tasks", "t1")) == #"{"title":"b"}"#)
        }
    }

    @Test func `are refused once a run listed them, unless nothing is new`() async throws {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(key, #"{"title":"old"}"#)
        let records = try await records(world)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            let before = try device.position()
            #expect(try await device.replica.takeOver(records, of: "notes") == 0)
            for late in [Self.record("n1", #"{"title":"older"}"#), Self.record("n2", "{}")] {
                let error = await #expect(throws: TidemarkError.self) {
                    try await device.replica.takeOver([late], of: "notes")
                }
                #expect(error?.code == .alreadyExists)
            }
            #expect(try device.position() == before)
        }
    }

    @Test func `are refused while a list is under way, which would not know them`() async throws {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(key, "{}")
        let records = try await records(world)
        try await SyncDevice.with(world) { device async throws in
            let (replica, refused) = (device.replica, SyncCounter())
            device.wire.tap { _, _, pass in
                let answer = await pass()
                do { try await replica.takeOver(records, of: "notes") } catch let error
                    as TidemarkError where error.code == .engineRunning
                {
                    _ = refused.count()
                }
                return answer
            }
            #expect(try await device.sync().isSynced)

            #expect(device.wire.problem == nil)
            #expect(refused.value == 1)
            let event = try #require(try device.events(of: key).first?.event)
            #expect(event.sync != nil)
            try device.verify()
        }
    }

    @Test func `may be of a collection that a later model adds`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"title":"old"}"#)
        let records = try await records(world, of: "tasks")
        try await SyncDevice.with(world) { device async throws in
            // As a run with a model of lists alone leaves it.
            try await device.sync(.pull(["lists"]))
            #expect(try await device.replica.takeOver(records, of: "tasks") == 1)
            #expect(try await device.sync().isSynced)
            #expect(try device.kinds(of: "tasks/t1") == ["server.upserted"])
            try device.verify()
        }
    }

    @Test func `are nothing that the server can't have said`() throws {
        var embedding = CollectionModel("parents")
        embedding.embeds = [.init("children", "children")]
        var numbered = CollectionModel("numbers")
        numbered.ids = .serverNumber
        let model = SyncModel(
            name: "odd",
            collections: [
                embedding,
                CollectionModel(
                    "children", references: [Reference("parent", to: "parents")], lists: []),
                numbered, CollectionModel("drafts", localOnly: true),
            ])
        try withReplica(model) { replica in
            let before = try replica.position
            func refused(
                _ code: TidemarkError.Code, _ record: ServerRecord, of name: CollectionName
            ) {
                // What comes before it in the page is not taken either.
                expect(code) {
                    try replica.takeOver([Self.record("1", "{}"), record], of: name)
                }
            }
            refused(.noModel, Self.record("1", "{}"), of: "unknown")
            refused(.invalidKey, Self.record("1", "{}"), of: "drafts")
            refused(.invalidKey, Self.record("", "{}"), of: "children")
            refused(.invalidKey, Self.record("a\n", "{}"), of: "children")
            refused(.invalidKey, Self.record("made-here", "{}"), of: "numbers")
            refused(.invalidDocument, Self.record("2", "[]"), of: "children")
            refused(.invalidDocument, Self.record("2", "{"), of: "children")
            refused(.invalidDocument, Self.record("2", #"{"children":[]}"#), of: "parents")
            var part = Self.record("2", "{}")
            part.isPartial = true
            refused(.invalidDocument, part, of: "children")
            refused(.invalidDocument, Self.record("17", #"{"id":18}"#), of: "numbers")
            refused(
                .invalidDocument, ServerRecord(id: "2", revision: nil, document: nil),
                of: "children")
            #expect(try replica.position == before)
            #expect(try replica.takeOver([Self.record("17", #"{"id":17}"#)], of: "numbers") == 1)
        }
    }

    @Test func `are handed over as the article shows it`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"Home"}"#)
        world.rivalPuts("tasks/tea", #"{"title":"Tea","list":"home"}"#)
        world.rivalPuts("tasks/bin", #"{"title":"Bin"}"#)
        let old = OldStore(
            rows: [
                "lists": try await records(world, of: "lists"),
                "tasks": try await records(world, of: "tasks"),
            ],
            edits: [
                OldEdit(.update, "tasks", "tea", json: Array(#"{"title":"Green tea"}"#.utf8)),
                OldEdit(.insert, "tasks", "milk", json: Array(#"{"title":"Milk"}"#.utf8)),
                OldEdit(.delete, "tasks", "bin"),
            ])
        try await SyncDevice.with(world) { device async throws in
            try await FromADatabaseOfYourOwn.handOver(old, to: device.replica)
            let position = try device.position()
            // It died before it was noted.
            old.forget()
            try await FromADatabaseOfYourOwn.handOver(old, to: device.replica)
            #expect(try device.position() == position)

            #expect(try await device.sync().isSynced)
            #expect(world.record("tasks/tea") == #"{"title":"Green tea","list":"home"}"#)
            #expect(world.record("tasks/milk") == #"{"title":"Milk"}"#)
            #expect(world.record("tasks/bin") == nil)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }
    @Test func `have edits of what is not there left for later, and the others made`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.collections[1].references = [Reference("list", to: "lists", onDelete: .cascade)]
        let world = SyncWorld(model: model)
        world.rivalPuts("lists/home", #"{"title":"Home"}"#)
        world.rivalPuts("tasks/tea", #"{"title":"Tea","list":"home"}"#)
        world.rivalPuts("tasks/bin", #"{"title":"Bin"}"#)
        let old = OldStore(
            rows: ["lists": try await records(world, of: "lists")],
            edits: [
                OldEdit(.update, "tasks", "bin", json: Array(#"{"title":"Bins"}"#.utf8)),
                OldEdit(.insert, "tasks", "milk", json: Array(#"{"list":"home"}"#.utf8)),
                OldEdit(.delete, "lists", "home"),
                OldEdit(.delete, "tasks", "milk"),
                OldEdit(.insert, "tasks", "bread", json: Array(#"{"title":"Bread"}"#.utf8)),
            ])
        try await SyncDevice.with(world) { device async throws in
            try await FromADatabaseOfYourOwn.handOver(old, to: device.replica)

            #expect(old.later == ["tasks/bin", "tasks/milk"])
            #expect(try device.document("tasks/bread") == #"{"title":"Bread"}"#)
            for gone in ["lists/home", "tasks/milk"] {
                #expect(try device.document(gone) == nil)
            }
        }
    }
}

/// An app's own database.
private final class OldStore: OldDatabase {
    private struct State {
        var keys: [String: String] = [:]
        var later: [String] = []
        var isHandedOver = false
    }
    private let tables: [String: [OldRow]]
    private let edits: [OldEdit]
    private let state = Mutex(State())

    init(rows: [String: [ServerRecord]], edits: [OldEdit]) {
        tables = rows.mapValues { records in
            records.map { record in
                OldRow(
                    id: record.id, etag: record.revision?.description,
                    changedAt: record.serverTime, json: record.document ?? [])
            }
        }
        self.edits = edits
    }

    func rows(of table: String, after id: String?, limit: Int) throws -> [OldRow] {
        let rows = (tables[table] ?? []).filter { row in id.map { row.id > $0 } ?? true }
        return Array(rows.sorted { $0.id < $1.id }.prefix(limit))
    }

    var later: [String] { state.withLock(\.later) }

    func outbox() throws -> [OldEdit] {
        let keys = state.withLock(\.keys)
        return edits.map { edit in
            var edit = edit
            edit.importKey = keys[Self.name(edit)]
            return edit
        }
    }

    func keep(importKey: String, of edit: OldEdit) throws {
        state.withLock { $0.keys[Self.name(edit)] = importKey }
    }

    func keepForLater(_ edit: OldEdit) throws {
        state.withLock { $0.later.append("\(edit.table)/\(edit.id)") }
    }

    private static func name(_ edit: OldEdit) -> String {
        "\(edit.kind) \(edit.table)/\(edit.id)"
    }

    func isHandedOver() throws -> Bool { state.withLock(\.isHandedOver) }

    func noteHandedOver() throws { state.withLock { $0.isHandedOver = true } }

    func forget() { state.withLock { $0.isHandedOver = false } }
}
