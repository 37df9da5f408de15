// Dhis2World+Model.swift — what the tablets of a clinic sync, by the words of the server's version.

import Tidemark
import TidemarkEvents
import TidemarkTesting

/// What a version of DHIS2 calls things.
struct Dhis2WorldWords: Sendable {
    var trackedEntity: String
    var enrolledAt: String
    var occurredAt: String
    var followUp: String

    static let new = Dhis2WorldWords(
        trackedEntity: "trackedEntity", enrolledAt: "enrolledAt", occurredAt: "occurredAt",
        followUp: "followUp")
    /// Those of the old API.
    static let old = Dhis2WorldWords(
        trackedEntity: "trackedEntityInstance", enrolledAt: "enrollmentDate",
        occurredAt: "eventDate", followUp: "followup")

    /// What links lead to.
    var kinds: [(id: String, collection: CollectionName)] {
        [(trackedEntity, "trackedEntities"), ("enrollment", "enrollments"), ("event", "events")]
    }
}

extension Dhis2World {
    /// The model, with what its list is of named in it.
    static let model = model(listsByDocuments: false, .new)

    /// The pool, and the attribute of which it holds values.
    static let (numbers, number) = ("numbers", "A1")

    /// The data set, and the aggregate values that there may be in it.
    static let dataSet = "S9"
    static let values = ["D1", "D2"].flatMap { element in
        ["202511", "202512"].map { "\(element)-\($0)-O1-C1-A1" }
    }

    /// Trees of a program, links between all in them, and aggregate values.
    ///
    /// Elements are told by their keys; all below goes along, and so do links.
    ///
    /// - Parameter listsByDocuments: whether what the list of trees is of stands in documents.
    static func model(listsByDocuments: Bool, _ words: Dhis2WorldWords) -> SyncModel {
        let sources = listsByDocuments ? ["me", "programs"] : []
        return SyncModel(
            name: "clinic",
            collections: sources.map { CollectionModel(CollectionName($0), pushes: []) } + [
                CollectionModel(
                    "trackedEntities", idField: words.trackedEntity,
                    lists: [lists[listsByDocuments ? 1 : 0]],
                    embeds: [
                        EmbedRule("enrollments", "enrollments"),
                        EmbedRule("relationships", "relationships"),
                    ], placeholder: asked, keyed: [.init("attributes", by: "attribute")]),
                CollectionModel(
                    "enrollments", idField: "enrollment",
                    references: [
                        Reference(
                            words.trackedEntity, to: "trackedEntities", placeholder: .always,
                            rollUp: .always, onDelete: .cascade)
                    ], lists: [],
                    embeds: [
                        EmbedRule("events", "events"), EmbedRule("relationships", "relationships"),
                    ], placeholder: asked),
                CollectionModel(
                    "events", idField: "event",
                    references: [
                        Reference(
                            "enrollment", to: "enrollments", placeholder: .always, rollUp: .always,
                            onDelete: .cascade)
                    ], lists: [], embeds: [EmbedRule("relationships", "relationships")],
                    placeholder: asked, keyed: [.init("dataValues", by: "dataElement")]),
                CollectionModel(
                    "relationships", idField: "relationship", references: ends(words), lists: []),
                CollectionModel("trackedEntityAttributes", pushes: [], lists: []),
                CollectionModel(
                    "dataValues", absence: .keeps,
                    lists: [
                        ListRule(
                            ["dataSet": dataSet, "orgUnit": "O1", "period": "202511,202512"])
                    ]),
            ], pools: [SyncModel.Pool(numbers, keys: [[number]], fill: 8)],
            settings: SyncSettings(fullPullEvery: .zero, batchSize: 200))
    }

    /// What the list of tracked entities is of: named by the model, or what the server says.
    private static let lists = [
        ListRule(["program": "P1", "orgUnit": "O1"]),
        ListRule(
            [:],
            from: [
                ListSource("program", in: "programs", each: true),
                ListSource("orgUnit", in: "me", field: "/organisationUnits/*/id"),
            ]),
    ]

    /// The server is asked for what a link leads to and no list brings.
    private static let asked = PlaceholderRule(refetch: .init(every: .hours(1)))

    /// The references of a link, one for each end and kind.
    static func ends(_ words: Dhis2WorldWords) -> [Reference] {
        ["from", "to"].flatMap { end in
            words.kinds.map { kind in
                Reference(
                    "/\(end)/\(kind.id)/\(kind.id)", to: kind.collection, placeholder: .always,
                    rollUp: end == "from" ? .always : .whereTrue("bidirectional"),
                    onDelete: .cascade, missing: .hides)
            }
        }
    }

    /// What the server has of a collection, by id.
    func records(in collection: CollectionName) -> [String: String] {
        guard collection == "dataValues" else { return server.records(in: collection) }
        return Self.values.reduce(into: [:]) { $0[$1] = server.record("dataValues/\($1)") }
    }
}
