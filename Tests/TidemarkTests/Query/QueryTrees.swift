// QueryTrees.swift — patients with stays and visits, for tests of what tells of trees.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

struct TreePatient: Entity, Equatable {
    static let collection: CollectionName = "patients"
    static let fields: FieldNames<TreePatient> = [\.name: "name"]

    let id: Tidemark.ID<TreePatient>
    var name: String?
}

struct TreeVisit: Entity, Equatable {
    static let collection: CollectionName = "visits"
    static let fields: FieldNames<TreeVisit> = [\.ward: "ward"]

    let id: Tidemark.ID<TreeVisit>
    var stay: String?
    var ward: String?
}

/// A store of patients, stays and visits, each of which counts in the one before.
enum TreeStore {
    /// - Parameter rollUp: when stays and visits count in what they refer to.
    static func model(_ rollUp: Reference.RollUp? = .always) -> SyncModel {
        SyncModel(
            name: "trees",
            collections: [
                CollectionModel("wards"), CollectionModel("patients"),
                CollectionModel(
                    "stays",
                    references: [
                        Reference("ward", to: "wards"),
                        Reference("patient", to: "patients", rollUp: rollUp),
                    ]),
                CollectionModel(
                    "visits", references: [Reference("stay", to: "stays", rollUp: rollUp)],
                    indexes: [["ward"]]),
            ])
    }
}

extension TreeStore {
    /// Lends a store with a patient, who has a stay with a visit, and whatever else the server
    /// says; proves its log and its rows afterwards.
    static func with(
        _ others: [(key: String, json: String)] = [], _ body: (Replica) async throws -> Void
    ) async throws {
        try await Replica.withTemporary(
            model: model(), dependencies: .seeded(0, clock: ManualClock())
        ) { replica in
            try replica.serverSays(
                ("patients/1", #"{"id":"1","name":"Zoe"}"#),
                ("stays/1", #"{"id":"1","patient":"1"}"#),
                ("visits/1", #"{"id":"1","stay":"1"}"#))
            for other in others { try replica.serverSays(other) }
            try await body(replica)
            #expect(try replica.journal.verify(.deep).findings == [])
        }
    }
}

extension Replica {
    /// Notes what a server says of entities, as a run would.
    func serverSays(_ records: (key: String, json: String)...) throws {
        try write { tx in
            for record in records {
                try tx.draft.append(
                    Event(
                        .serverUpserted, recordedAt: tx.draft.now, key: EntityKey(record.key),
                        asOf: tx.draft.last, json: Array(record.json.utf8)))
            }
        }
    }

    /// Changes a field of an entity, which then waits for the server.
    func edit(_ key: String, _ field: String = "note", _ value: JSONValue = 1) throws {
        let key = try #require(EntityKey(key))
        try write { tx in
            _ = try tx.patch(key, Patch(set: [.init(field, value.encoded())]))
        }
    }

    /// Has what waits of an entity refused, as a run would.
    func refuse(_ key: String) throws {
        let key = try #require(EntityKey(key))
        try write { tx in
            let mutation = try #require(tx.draft.fold.entity(key).pending.last?.position)
            let sent = try tx.draft.append(
                Event(
                    .requestSent, recordedAt: tx.draft.now, key: key, mutation: mutation,
                    json: Array("{}".utf8)))
            try tx.draft.append(
                Event(
                    .pushRejected, recordedAt: tx.draft.now, key: key, mutation: mutation,
                    call: sent, json: Array(#"{"status":409,"message":"no"}"#.utf8)))
        }
    }

    /// Has what is pending on an entity dropped.
    func discard(_ key: String) throws {
        let key = try #require(EntityKey(key))
        try write { try $0.discard(key) }
    }
}
