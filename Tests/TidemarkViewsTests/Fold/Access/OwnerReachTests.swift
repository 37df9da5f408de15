// OwnerReachTests.swift — what belongs to entities that go out of reach, by which ids and in which
// circles, and what was pruned of it and is here again.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

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

    @Test func `are hidden with those of them that lists hide`() throws {
        var model = ReachStore.model
        model.collections[0].references = [Reference("project", to: "projects")]
        model.collections[0].access.owner = "project"
        let reach = try ReachStore(model)
        let workspace = #"{"id":1,"project":5}"#
        try reach.says("workspaces/1", workspace)
        try reach.says("projects/5", #"{"id":5,"workspace_id":1}"#)
        try reach.loses("1")
        #expect(try reach.seen("workspaces") + reach.seen("projects") == [])

        try reach.says("workspaces/1", workspace)

        #expect(try reach.seen("workspaces") + reach.seen("projects") == ["1", "5"])
        try reach.check()
    }
}
