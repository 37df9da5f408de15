// OvertakenModelTests.swift — a new model that asks for each edit of an entity, and that hides or
// shows it as well.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `overtaken edits under a new model` {
    private let key = EntityKey("tasks", "1")
    private let fold = MemoryFold()

    private func edit(_ number: Int) -> Event {
        .about(.localUpdated, "tasks/1", #"{"set":{"body":\#(number)},"unset":[]}"#)
    }

    private func register(_ change: (inout CollectionModel) -> Void = { _ in }) throws {
        var tasks = CollectionModel("tasks")
        change(&tasks)
        let model = SyncModel(name: "test", collections: [tasks])
        try fold.apply([.registered(model)])
    }

    private func makeEdited(_ document: String) throws {
        try fold.apply([
            .about(.serverUpserted, "tasks/1", document, asOf: fold.last.next.rawValue)
        ])
        for number in 1...8 { try fold.apply([edit(number)]) }
        #expect(try row().pending.filter(\.isOvertaken).count == 4)
    }

    private func row() throws -> EntityRow { try #require(try fold.entity(key)) }

    private func expectWhole() throws {
        #expect(try row().pending.map(\.payload) == (1...8).map { edit($0).payload })
        #expect(fold.overtakenPlaces.isEmpty)
    }

    @Test func `are in the row of an entity that is seen again`() throws {
        try register { $0.access.hidesAbsent = true }
        try makeEdited(#"{"id":"1","body":0}"#)
        let list = #"{"scope":"","complete":true,"full":true,"hidden":["1"]}"#
        try fold.apply([
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: Array(list.utf8))
        ])
        #expect(try row().isHidden)
        try register { $0.forms = [.wholeSeconds("never")] }

        #expect(try !row().isHidden)
        try expectWhole()
    }

    @Test func `are in the row of an entity that lies in what is deleted`() throws {
        try register()
        try fold.apply([
            .about(.serverUpserted, "tasks/0", #"{"id":"0","name":"folder"}"#, asOf: 2),
            .about(.serverDeleted, "tasks/0", asOf: 3),
        ])
        try makeEdited(#"{"id":"1","name":"note","parent":"0","body":0}"#)
        try register {
            $0.references = [Reference("parent", to: "tasks")]
            $0.tree = TreeRule(parent: "parent", name: "name")
        }

        #expect(try row().isOrphan)
        try expectWhole()
    }
}
