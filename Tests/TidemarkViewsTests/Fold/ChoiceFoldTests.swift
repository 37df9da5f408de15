// ChoiceFoldTests.swift — a field that must name one of the entities of a collection.

import Testing
import TidemarkEvents

@testable import TidemarkViews
@testable import ViewsSupport

private let user = EntityKey("user", "5")

@Suite struct `a choice in the fold` {
    let fold = MemoryFold()

    private static func model(_ ids: IDSource = .serverNumber) -> Event {
        var places = CollectionModel("places")
        places.ids = ids
        var user = CollectionModel("user")
        user.choices = [ChoiceRule("place", of: "places", missing: "noPlace")]
        return .registered(
            SyncModel(name: "choice", collections: [places, user, CollectionModel("last")]))
    }

    private static func listed(_ collection: CollectionName) -> Event {
        Event(
            .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: collection,
            revision: Revision("1"), json: Array("{}".utf8))
    }

    private static let undecided = Event.about(
        .serverUpserted, "user/5", #"{"id":5,"place":null}"#, revision: "1")

    private func place() throws -> String? {
        let document = try #require(try fold.entity(user)?.document)
        return try JSONDocument(parsing: document).rawValue("place").map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test(arguments: [(IDSource.serverNumber, "7"), (.serverText, #""7""#)])
    func `WS-13: is made where there is just one, and pushed`(
        _ ids: IDSource, _ value: String
    ) throws {
        try fold.apply([
            Self.model(ids), .about(.serverUpserted, "places/7", #"{"id":7}"#, revision: "1"),
            Self.undecided,
        ])
        #expect(try place() == "null")
        try fold.apply([Self.listed("last")])
        #expect(try place() == value)
        #expect(try fold.entity(user)?.status == .updated)
        #expect(try fold.derived(4, user)?.rule == "choice")
        #expect(try fold.decisions(by: "choice").map(\.inputs) == [[Position(3), Position(2)]])

        // Again, with nothing new.
        try fold.apply([Self.listed("last")])
        #expect(try fold.entity(user)?.pending.map(\.position) == [Position(4)])
    }

    @Test func `WS-14: is not made where there are several`() throws {
        try fold.apply([
            Self.model(), .about(.serverUpserted, "places/7", #"{"id":7}"#, revision: "1"),
            .about(.serverUpserted, "places/8", #"{"id":8}"#, revision: "1"), Self.undecided,
            Self.listed("last"),
        ])
        #expect(try place() == "null")
        #expect(try fold.entity(user)?.status == .synced)
    }

    @Test func `is not made of what only is here`() throws {
        try fold.apply([
            Self.model(), .about(.localCreated, "places/7", #"{"id":7}"#), Self.undecided,
            Self.listed("last"),
        ])
        #expect(try place() == "null")
    }

    @Test func `is taken back where there is another one by now`() throws {
        try fold.apply([
            Self.model(), .about(.serverUpserted, "places/7", #"{"id":7}"#, revision: "1"),
            Self.undecided, Self.listed("last"),
        ])
        try fold.apply([
            .about(.serverUpserted, "places/8", #"{"id":8}"#, revision: "1"), Self.listed("places"),
        ])
        #expect(try place() == "null")
        #expect(try fold.derived(4, user)?.outcome == .withdrawn)
    }

    @Test func `is made for what was hidden when it was looked for, also in a rebuild`() throws {
        var entries = CollectionModel("entries")
        entries.choices = [ChoiceRule("place", of: "places", missing: "noPlace")]
        entries.references = [Reference("project", to: "projects", missing: .hides)]
        let others = ["places", "projects"].map { CollectionModel($0) }
        let last = CollectionModel("last")
        let store = try ScratchStore()
        for event in [
            .registered(SyncModel(name: "choice", collections: others + [entries, last])),
            .about(.serverUpserted, "places/7", #"{"id":"7"}"#),
            .about(.serverUpserted, "entries/1", #"{"id":"1","project":"5","place":null}"#),
            Self.listed("last"), .about(.serverUpserted, "projects/5", #"{"id":"5"}"#),
            Self.listed("last"),
        ] as [Event] {
            try store.write(event)
        }

        let row = try store.entity(EntityKey("entries", "1"))
        #expect(text(row?.document) == #"{"id":"1","project":"5","place":"7"}"#)
        #expect(try store.differences().isEmpty)
    }

    @Test func `of few entities is made, and taken back, without a look at all others`() throws {
        var entries = CollectionModel("entries")
        entries.choices = [ChoiceRule("place", of: "places", missing: "noPlace")]
        #expect(entries.allIndexes == [["place"]])
        let collections = [CollectionModel("places"), entries, CollectionModel("last")]
        let store = try ScratchStore()
        try store.write(
            .registered(SyncModel(name: "choice", collections: collections)),
            .about(.serverUpserted, "places/7", #"{"id":"7"}"#))
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for id in 0..<200 {
                let document = id < 2 ? #"{"place":null}"# : #"{"place":"7"}"#
                try draft.append(.about(.serverUpserted, "entries/\(id)", document))
            }
        }
        let made = try rowsWalked(by: Self.listed("last"), in: store)
        #expect(made <= 20, "\(made) rows")
        try store.write(Self.listed("last"))
        for id in 0..<2 {
            let row = try store.entity(EntityKey("entries", "\(id)"))
            #expect(text(row?.document) == #"{"place":"7"}"#)
        }

        try store.write(.about(.serverUpserted, "places/8", #"{"id":"8"}"#))
        let takenBack = try rowsWalked(by: Self.listed("places"), in: store)
        #expect(takenBack <= 20, "\(takenBack) rows")
        try store.write(Self.listed("places"))
        for id in 0..<2 {
            let row = try store.entity(EntityKey("entries", "\(id)"))
            #expect(text(row?.document) == #"{"place":null}"#)
        }
        #expect(try store.differences().isEmpty)
    }

    /// How many rows walks come to while the next event is folded over the rows of a store.
    private func rowsWalked(by event: Event, in store: ScratchStore) throws -> Int {
        try store.journal.read { views in
            let stored = views.rows
            let walked = Walked()
            let source = RowSource(
                get: { try stored.get($0) },
                walk: { tree, prefix, from, reversed, visit in
                    try stored.walk(tree, prefix, from, reversed) { key, value in
                        walked.rows += 1
                        return try visit(key, value)
                    }
                },
                walkIndex: { prefix, from, reversed, visit in
                    try stored.walkIndex(prefix, from, reversed, visit)
                })
            let fold = Fold(source, ModelCache(), indexNames: views.indexNames)
            try fold.apply(event.checked, at: views.last.next)
            return walked.rows
        }
    }

    @Test func `of many entities at once looks at each decision of the event once`() throws {
        var events = [
            Self.model(), .about(.serverUpserted, "places/7", #"{"id":7}"#, revision: "1"),
        ]
        for id in 1...50 {
            events.append(
                .about(.serverUpserted, "user/\(id)", #"{"place":null}"#, revision: "1"))
        }
        try fold.apply(events)
        let decision = DecisionRow(
            key: user, rule: "access", ruleVersion: 1, result: "hidden", inputs: [], fields: [])
        for index in 0..<200 { fold.set(.decision(fold.last.next, index), decision.encoded) }
        let sort = UInt8(ascii: "d")
        let before = fold.reads[sort, default: 0]

        try fold.apply([Self.listed("last")])
        let reads = fold.reads[sort, default: 0] - before
        #expect(try fold.decisions(by: "choice").count == 50)
        // Those that were there, and the first free place.
        #expect(reads <= 200 + 1, "\(reads) reads")
    }

    @Test func `gives way to the user's`() throws {
        try fold.apply([
            Self.model(), .about(.serverUpserted, "places/7", #"{"id":7}"#, revision: "1"),
            Self.undecided, Self.listed("last"),
            .about(.localUpdated, "user/5", #"{"set":{"place":9}}"#),
        ])
        #expect(try place() == "9")
        #expect(try fold.derived(4, user)?.outcome == .withdrawn)
    }
}

/// How many rows walks came to.
private final class Walked {
    var rows = 0
}
