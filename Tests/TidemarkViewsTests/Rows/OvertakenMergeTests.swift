// OvertakenMergeTests.swift — two entities with many edits each turn out to be one.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `overtaken edits of two that are one` {
    /// A model with a form has no overtaken edits.
    private func register(_ fold: MemoryFold, forms: [CollectionModel.FieldForm]) throws {
        let model = SyncModel(
            name: "test", collections: [CollectionModel("tasks", forms: forms)])
        try fold.apply([.registered(model)])
    }

    /// One that is made here and sent, and one of the server's, each with eight edits; then the
    /// server says that it made the first one as the second.
    private var events: [Event] {
        func edits(_ key: String) -> [Event] {
            (1...8).map { number in
                Event.about(.localUpdated, key, #"{"set":{"body":\#(number)},"unset":[]}"#)
            }
        }
        var events: [Event] = [
            .about(.localCreated, "tasks/-1", #"{"body":0}"#),
            .about(.requestSent, "tasks/-1", "{}", mutation: 2),
        ]
        events += edits("tasks/-1")
        events.append(
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 12, revision: "1"))
        events += edits("tasks/1")
        events.append(
            .about(
                .pushAccepted, "tasks/-1", #"{"serverID":"1"}"#, mutation: 2, call: 3,
                revision: "2"))
        return events
    }

    private func expectAlike(_ held: MemoryFold, _ plain: MemoryFold) throws {
        let place: Comment = "event \(held.last)"
        var overtaken = 0
        for (key, bytes) in plain.rows where key.tree == .rows {
            let name = try #require(EntityKey(bytes: key.bytes))
            let row = try #require(try held.entity(name))
            let expected = try EntityRow(parsing: bytes)
            let whole = try held.fold.whole(row, name)
            #expect(whole == expected, place)
            overtaken += row.pending.filter(\.isOvertaken).count
        }
        #expect(held.overtakenPlaces.count == overtaken, place)
        #expect(held.entities == plain.entities, place)
    }

    @Test func `are those of the one, and each is read back`() throws {
        let (held, plain) = (MemoryFold(), MemoryFold())
        try register(held, forms: [])
        try register(plain, forms: [.wholeSeconds("never")])
        for event in events.dropLast() {
            try held.apply([event])
            try plain.apply([event])
            try expectAlike(held, plain)
        }
        #expect(held.overtakenPlaces.count == 8)
        let last = try #require(events.last)
        try held.apply([last])
        try plain.apply([last])

        try expectAlike(held, plain)
        #expect(plain.overtakenPlaces.isEmpty)
        #expect(held.entities.count == 1)
    }
}

extension MemoryFold {
    fileprivate var entities: Set<RowKey> { Set(rows.keys.filter { $0.tree == .rows }) }
}
