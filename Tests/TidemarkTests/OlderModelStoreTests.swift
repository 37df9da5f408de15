// OlderModelStoreTests.swift — stores whose model an earlier version spelled, and models that
// contradict themselves.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkLog
import TidemarkTesting
import TidemarkViews

@Suite struct `a store with the model of an earlier version` {
    /// As earlier versions logged `model` with a bound server.
    private static let logged = #"""
        {"name":"todo","collections":[
        {"name":"lists","id":"id","lastChange":"last_modified","conflict":"serverWins"},
        {"name":"tasks","id":"id","lastChange":"last_modified","conflict":{"preferNewer":
        {"field":"last_modified","marginSeconds":5}},"references":{"list":"lists"},
        "indexes":[["n"]],"push":["create","update"],"retention":{"field":"due","days":56}}],
        "sync":{"batchSize":1,"backoffSeconds":10},
        "remote":{"origin":"http://kinto.test","adapter":"kinto","bucket":"b",
        "credentialsVariable":"TIDEMARK_CREDENTIALS"}}
        """#

    private static let model = SyncModel(
        name: "todo",
        collections: [
            CollectionModel("lists"),
            CollectionModel(
                "tasks", conflict: .preferNewer(field: "last_modified", margin: .seconds(5)),
                references: [Reference("list", to: "lists")], indexes: [["n"]],
                pushes: [.create, .update],
                retention: RetentionRule(field: "due", ageMax: .days(56))),
        ],
        settings: SyncSettings(batchSize: 1, backoff: BackoffSpan(min: .seconds(10))))

    private func log(_ payload: String, _ replica: Replica) throws {
        _ = try replica.journal.write(at: Dependencies.live.now()) { draft in
            try draft.append(
                Event(.modelRegistered, recordedAt: draft.now, json: Array(payload.utf8)))
        }
    }

    private func kinds(_ replica: Replica) throws -> [EventKind] {
        var kinds: [EventKind] = []
        _ = try replica.journal.dump(EventFilter()) { kinds.append($1.kind) }
        return kinds
    }

    @Test func `opens with the same model, and logs nothing`() throws {
        let first = try Replica.temporary(
            model: SyncModel(name: "x", collections: [CollectionModel("lists")]))
        let directory = first.directory
        try log(Self.logged, first)
        try first.write { tx in
            try tx.put(EntityKey("tasks", "a"), Array(#"{"id":"a","n":1}"#.utf8))
        }
        let before = try kinds(first)
        try first.close()

        let remote = Remote.kinto(origin: "http://kinto.test", bucket: "b")
        for remote in [nil, remote] {
            let replica = try Replica.open(at: directory, model: Self.model, remote: remote)
            #expect(try kinds(replica) == before)
            #expect(try replica.registration?.model["tasks"]?.lastChangeField == "last_modified")
            try replica.close()
        }

        let replica = try Replica.open(existing: directory)
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.deleteTemporary()
    }

    @Test func `means the same when today's spelling is logged`() throws {
        let replica = try Replica.temporary(
            model: SyncModel(name: "x", collections: [CollectionModel("lists")]))
        try log(Self.logged, replica)
        try replica.write { tx in
            try tx.put(EntityKey("tasks", "a"), Array(#"{"id":"a","n":1}"#.utf8))
        }
        let registration = try #require(try replica.registration)
        try log(String(decoding: registration.encoded, as: UTF8.self), replica)

        #expect(try replica.registration == registration)
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.deleteTemporary()
    }
}

@Suite struct `a model that contradicts itself` {
    private let model = SyncModel(
        name: "m", collections: [CollectionModel("entries", match: ["title"])])

    @Test func `is refused when it is new, and nothing is logged`() throws {
        let replica = try Replica.temporary(
            model: SyncModel(name: "m", collections: [CollectionModel("entries")]))
        let directory = replica.directory
        try replica.close()

        do {
            try Replica.open(at: directory, model: model).close()
            Issue.record("it was taken")
        } catch {
            let text = "\(error)"
            #expect(text.contains("collections[0].match"), "\(text)")
            #expect(text.contains("contradicts \"ids\" of entries"), "\(text)")
        }

        let again = try Replica.open(existing: directory)
        #expect(try again.registration?.model["entries"]?.match == [])
        try again.deleteTemporary()
    }

    @Test func `opens as before where the log holds it`() throws {
        let replica = try Replica.temporary(
            model: SyncModel(name: "m", collections: [CollectionModel("entries")]))
        let directory = replica.directory
        try replica.register(ModelRegistration(model: model))
        try replica.close()

        let again = try Replica.open(at: directory, model: model)

        #expect(try again.registration?.model == model)
        try again.deleteTemporary()
    }
}
