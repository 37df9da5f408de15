// OwnerReachTests.swift — what belongs to entities that go out of reach, by which ids and in which
// circles, and what was pruned of it and is here again.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what belongs to an entity out of reach` {
    @Test func `is all that names it by any of its ids`() throws {
        var model = ReachStore.model
        model.collections[0].ids = .serverNumber
        let reach = try ReachStore(model)
        try reach.store.write(.about(.localCreated, "workspaces/w", #"{"name":"w"}"#))
        let made = try reach.last
        try reach.store.write(.about(.requestSent, "workspaces/w", "{}", mutation: made))
        try reach.store.write(
            .about(
                .pushAccepted, "workspaces/w", #"{"serverID":"7"}"#, mutation: made,
                call: made + 1),
            .about(
                .serverUpserted, "workspaces/7", #"{"id":7,"name":"w"}"#, mutation: made,
                call: made + 1, asOf: made + 1, revision: "1"))
        try reach.entry(1, in: 7)
        #expect(try reach.seen("entries") == ["1"])

        // Its list names it by the server's id, and twice.
        try reach.loses("7", "7")

        #expect(try reach.seen("workspaces") == [])
        #expect(try reach.seen("entries") == [])
        let hidden = try reach.decisions().filter { $0.hasSuffix("access hidden") }
        #expect(hidden == ["workspaces/w access hidden"])
        try reach.workspace(7)
        #expect(try reach.seen("entries") == ["1"])
        try reach.check()
    }

    @Test func `is found by what it refers to though no index tells of it`() throws {
        let reach = try ReachStore()
        for id in 1...2 {
            try reach.workspace(id)
            try reach.says("projects/\(id)", #"{"id":\#(id),"workspace_id":\#(id)}"#)
            try reach.entry(id, in: id, project: id)
        }
        try reach.loses("2")

        try reach.store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let entries = try #require(try draft.fold.knownCollection("entries"))
            let byProject = entries.references.filter { $0.field == "project_id" }
            var found: [String] = []
            try draft.fold.forEachReferrer(
                to: [EntityKey("projects", "2")], by: byProject, in: entries
            ) { key, row in
                if row.isHidden { found.append(key.id) }
                return true
            }
            #expect(found == ["2"])
        }
    }

    @Test func `is not listed whole again where all that was pruned is here again`() throws {
        var model = ReachStore.model
        model.collections[0].access.relistsOnGain = false
        let reach = try ReachStore(model)
        func isOwed() throws -> Bool {
            try reach.store.journal.read { try $0.isOwed(PullTarget("entries")) }
        }
        for workspace in [1, 2] {
            try reach.workspace(workspace)
            try reach.entry(workspace, in: workspace)
        }
        try reach.loses("2")
        try reach.cleansUp()
        #expect(try reach.kept("entries") == ["1"])
        try reach.workspace(2)
        #expect(try isOwed())
        try reach.entry(2, in: 2)
        try reach.completes("entries")
        #expect(try !isOwed())

        try reach.loses("2")
        try reach.workspace(2)

        #expect(try reach.seen("entries") == ["1", "2"])
        #expect(try !isOwed())
        // In a rebuild one fold knows what was pruned before.
        try reach.check()
    }
}

@Suite struct `entities that own each other` {
    let reach: ReachStore

    /// Folders, of which the first two are in each other, and the third in the second.
    init() throws {
        var folders = CollectionModel(
            "workspaces", lastChangeField: "at",
            references: [Reference("parent", to: "workspaces")])
        folders.access = AccessRule(hidesAbsent: true, owner: "parent")
        reach = try ReachStore(SyncModel(name: "reach", collections: [folders]))
        try folder(1, in: 2)
        try folder(2, in: 1)
        try folder(3, in: 2)
        #expect(try reach.seen("workspaces") == ["1", "2", "3"])
    }

    private func folder(_ id: Int, in parent: Int) throws {
        try reach.says("workspaces/\(id)", #"{"id":\#(id),"parent":\#(parent)}"#)
    }

    @Test func `are hidden each by its list, with what belongs to that one`() throws {
        try reach.loses("1")
        #expect(try reach.seen("workspaces") == ["2", "3"])

        try reach.loses("2")
        #expect(try reach.seen("workspaces") == [])
        #expect(
            try reach.decisions() == ["workspaces/1 access hidden", "workspaces/2 access hidden"])
        try reach.check()
    }

    @Test func `are seen again one by one, as the server names them`() throws {
        try reach.loses("1", "2")
        #expect(try reach.seen("workspaces") == [])

        try folder(1, in: 2)
        #expect(try reach.seen("workspaces") == ["1"])

        // As it was, so that a page only names it.
        try reach.store.write(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "workspaces",
                json: Array(#"{"scope":"","ids":["2","3"],"at":["=","="]}"#.utf8)))
        #expect(try reach.seen("workspaces") == ["1", "2", "3"])
        try reach.check()
    }

    @Test func `are seen again where they do so only by what brings one of them back`() throws {
        try folder(1, in: 9)
        try reach.loses("1")
        #expect(try reach.seen("workspaces") == [])

        try folder(1, in: 3)

        #expect(try reach.seen("workspaces") == ["1", "2", "3"])
        try reach.check()
    }
}
