// AccessTests.swift — what goes out of reach and comes back, as the fold decides it.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what is out of reach` {
    let reach: ReachStore

    init() throws {
        reach = try ReachStore()
        for id in 1...2 { try reach.workspace(id) }
        for id in 1...2 {
            try reach.says("projects/\(id)", #"{"id":\#(id),"workspace_id":\#(id)}"#)
            try reach.entry(id, in: id, project: id)
        }
    }

    @Test func `is not seen, and neither is what belongs to it`() throws {
        try reach.loses("2")

        #expect(try reach.seen("workspaces") == ["1"])
        #expect(try reach.seen("projects") == ["1"])
        #expect(try reach.seen("entries") == ["1"])
        #expect(try reach.kept("entries") == ["1", "2"])
        #expect(try reach.decisions() == ["workspaces/2 access hidden"])
        try reach.check()
    }

    @Test func `is not seen when it comes later either`() throws {
        try reach.loses("2")
        try reach.entry(3, in: 2)
        try reach.entry(4, in: 1)
        try reach.store.write(.about(.localCreated, "entries/new", #"{"workspace_id":2}"#))
        #expect(try reach.seen("entries") == ["1", "4"])

        // What moves to another workspace is seen again.
        try reach.entry(3, in: 1)
        #expect(try reach.seen("entries") == ["1", "3", "4"])
        try reach.check()
    }

    @Test func `WS-03: is seen again when the server names it`() throws {
        try reach.loses("2")
        try reach.workspace(2)

        #expect(try reach.seen("workspaces") == ["1", "2"])
        #expect(try reach.seen("projects") == ["1", "2"])
        #expect(try reach.seen("entries") == ["1", "2"])
        #expect(
            try reach.decisions() == ["workspaces/2 access hidden", "workspaces/2 access shown"])
        try reach.check()
    }

    @Test func `is seen again when a page says that it is as it was`() throws {
        try reach.loses("2")
        try reach.store.write(
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "workspaces",
                json: Array(#"{"scope":"","ids":["1","2"],"at":["=","="]}"#.utf8)))

        #expect(try reach.seen("entries") == ["1", "2"])
        try reach.check()
    }

    @Test func `WS-06: is not what was only made here, nor what is out of reach already`() throws {
        try reach.store.write(.about(.localCreated, "workspaces/-3", #"{"name":"mine"}"#))
        try reach.loses("2")
        try reach.loses("2", "-3", "never-here")

        #expect(try reach.seen("workspaces") == ["-3", "1"])
        #expect(try reach.decisions() == ["workspaces/2 access hidden"])
        // Found once, it is found for good.
        try reach.workspace(2)
        #expect(try reach.seen("entries") == ["1", "2"])
        try reach.check()
    }

    @Test func `stays so when the server deletes it, and is let go of by the next clean-up`() throws
    {
        try reach.loses("2")
        try reach.says("workspaces/2", nil)
        #expect(try reach.seen("entries") == ["1"])

        try reach.cleansUp()
        #expect(try reach.kept("entries") == ["1"])
        #expect(try reach.kept("projects") == ["1"])
        try reach.check()
    }

    @Test func `WS-08: and still running is pruned at once, when it is in sync`() throws {
        try reach.entry(3, in: 2, duration: "null")
        try reach.entry(4, in: 1, duration: "null")
        try reach.loses("2")

        #expect(try reach.kept("entries") == ["1", "2", "4"])
        #expect(
            try reach.decisions() == ["workspaces/2 access hidden", "entries/3 access pruned"])
        #expect(try reach.row("entries/3").prunedDigest.count == 32)
        // It comes back with the workspace, as the server says it.
        try reach.workspace(2)
        try reach.entry(3, in: 2, duration: "null")
        #expect(try reach.seen("entries") == ["1", "2", "3", "4"])
        try reach.check()
    }

    @Test func `WS-11: and a placeholder of what is running is kept`() throws {
        try reach.standsIn("entries/3", #"{"workspace_id":2,"duration":null}"#)
        try reach.loses("2")

        #expect(try reach.kept("entries") == ["1", "2", "3"])
    }

    @Test(arguments: ["edited", "refused", "under way"])
    func `WS-09: and still running is kept where something is not settled`(_ what: String) throws {
        try reach.entry(3, in: 2, duration: "null")
        switch what {
        case "edited": try reach.edit("entries/3")
        case "refused": try reach.refuse("entries/3")
        default:
            try reach.edit("entries/3")
            try reach.store.write(.about(.requestSent, "entries/3", mutation: try reach.last))
        }
        try reach.loses("2")

        #expect(try reach.kept("entries") == ["1", "2", "3"])
        #expect(try reach.seen("entries") == ["1"])
        try reach.check()
    }
}

@Suite struct `what comes into reach` {
    let reach: ReachStore

    init() throws {
        reach = try ReachStore()
        try reach.workspace(1)
    }

    private func marks() throws -> [String] {
        try reach.store.journal.read { views in
            try ReachStore.model.collections.compactMap { collection in
                try views.watermark(PullTarget(collection.name)).map { _ in "\(collection.name)" }
            }
        }
    }

    @Test func `WS-01: has the other collections listed anew`() throws {
        for name in ["workspaces", "projects", "entries"] {
            try reach.completes(CollectionName(name))
        }
        try reach.workspace(1)
        #expect(try marks() == ["workspaces", "projects", "entries"])

        try reach.workspace(2)
        #expect(try marks() == ["workspaces"])
        #expect(try reach.decisions() == ["workspaces/2 access gained"])
        try reach.check()
    }

    @Test func `WS-02: is nothing new where nothing was listed yet`() throws {
        try reach.workspace(2)

        #expect(try reach.decisions() == [])
    }

    @Test func `is told from what was made here and taken by the server`() throws {
        try reach.completes("projects")
        let position = try reach.last
        try reach.store.write(.about(.localCreated, "workspaces/3", #"{"name":"mine"}"#))
        try reach.store.write(.about(.requestSent, "workspaces/3", mutation: position + 1))
        try reach.store.write(
            .about(
                .pushAccepted, "workspaces/3", mutation: position + 1, call: position + 2,
                revision: "1"),
            .about(
                .serverUpserted, "workspaces/3", #"{"id":3}"#, mutation: position + 1,
                call: position + 2, asOf: position + 2, revision: "1"))
        try reach.workspace(3)

        #expect(try marks() == ["projects"])
        try reach.check()
    }
}

@Suite struct `what comes into reach without relistsOnGain` {
    private func isOwed(_ name: CollectionName, _ reach: ReachStore) throws -> Bool {
        try reach.store.journal.read { views in try views.isOwed(PullTarget(name)) }
    }

    /// A store of two workspaces, each with an entry; the second is out of reach.
    private func reach(edited: Bool = false) throws -> ReachStore {
        var model = ReachStore.model
        model.collections[0].access.relistsOnGain = false
        let reach = try ReachStore(model)
        for workspace in [1, 2] {
            try reach.workspace(workspace)
            try reach.entry(workspace, in: workspace)
        }
        if edited { try reach.edit("workspaces/2") }
        try reach.loses("2")
        return reach
    }

    @Test(arguments: [false, true])
    func `has listed whole what was pruned meanwhile`(_ isOwnerKept: Bool) throws {
        let reach = try reach(edited: isOwnerKept)
        try reach.cleansUp()
        #expect(try reach.kept("entries") == ["1"])
        #expect(try reach.kept("workspaces") == (isOwnerKept ? ["1", "2"] : ["1"]))
        #expect(try !isOwed("entries", reach))

        try reach.workspace(2)
        #expect(try isOwed("entries", reach))
        #expect(try !isOwed("projects", reach))
        try reach.check()
    }

    @Test(arguments: [false, true])
    func `has listed whole what was pruned, also where a wipe drops it while that stays`(
        _ relistsOnGain: Bool
    ) throws {
        var model = ReachStore.model
        model.collections[0].access.relistsOnGain = relistsOnGain
        let reach = try ReachStore(model)
        for workspace in [1, 2] {
            try reach.workspace(workspace)
            try reach.entry(workspace, in: workspace)
        }
        try reach.loses("2")
        try reach.store.write(.wiped(keeping: ["projects", "entries"]))
        #expect(try reach.seen("entries") == ["1", "2"])
        #expect(try !isOwed("entries", reach))

        try reach.workspace(2)
        try reach.loses("2")
        try reach.cleansUp()
        #expect(try reach.kept("entries") == ["1"])
        try reach.store.write(.wiped(keeping: ["projects", "entries"]))

        #expect(try isOwed("entries", reach))
        #expect(try !isOwed("projects", reach))
        #expect(try !isOwed("workspaces", reach))
        try reach.check()
    }

    @Test func `has those listed in whose records it comes`() throws {
        var model = ReachStore.model
        model.collections[0].access.relistsOnGain = false
        model.collections[1].embeds = [CollectionModel.EmbedRule("entries", "entries")]
        model.collections[2].lists = []
        let reach = try ReachStore(model)
        try reach.workspace(2)
        try reach.says("projects/5", #"{"id":5,"workspace_id":2}"#)
        try reach.entry(9, in: 2, project: 5)
        try reach.edit("projects/5")
        try reach.loses("2")
        try reach.cleansUp()
        #expect(try reach.kept("entries") == [])
        #expect(try reach.kept("projects") == ["5"])

        try reach.workspace(2)
        #expect(try isOwed("projects", reach))
        #expect(try !isOwed("entries", reach))
        try reach.check()
    }

    @Test func `has nothing listed while its own owner is out of reach`() throws {
        var model = ReachStore.model
        model.collections[0].access.relistsOnGain = false
        model.collections[1].access.hidesAbsent = true
        model.collections[2].access.owner = "project_id"
        let reach = try ReachStore(model)
        try reach.workspace(2)
        try reach.says("projects/5", #"{"id":5,"workspace_id":2}"#)
        try reach.entry(9, in: 2, project: 5)
        try reach.edit("workspaces/2")
        try reach.loses("2")
        try reach.cleansUp()
        #expect(try reach.kept("entries") == [])
        #expect(try reach.kept("projects") == [])

        try reach.says("projects/5", #"{"id":5,"workspace_id":2}"#)
        #expect(try reach.seen("projects") == [])
        #expect(try !isOwed("entries", reach))

        try reach.workspace(2)
        #expect(try reach.seen("projects") == ["5"])
        #expect(try isOwed("entries", reach))
        try reach.check()
    }

    @Test func `has nothing listed where nothing was pruned`() throws {
        let reach = try reach()
        try reach.workspace(2)

        #expect(try reach.seen("entries") == ["1", "2"])
        #expect(try !isOwed("entries", reach))
    }
}

@Suite struct `a model that hides less, or more, than the one before` {
    private func register(_ model: SyncModel, _ reach: ReachStore) throws {
        try reach.store.write(.registered(model))
    }

    /// A store of two workspaces, each with a project and an entry; the second is out of reach.
    private func reach() throws -> ReachStore {
        let reach = try ReachStore()
        for workspace in [1, 2] {
            try reach.workspace(workspace)
            try reach.says(
                "projects/\(workspace)", #"{"id":\#(workspace),"workspace_id":\#(workspace)}"#)
            try reach.entry(workspace, in: workspace, project: workspace)
        }
        try reach.edit("entries/2")
        try reach.loses("2")
        #expect(try reach.seen("workspaces") == ["1"])
        #expect(try reach.seen("entries") == ["1"])
        return reach
    }

    @Test func `shows what was out of reach where it hides nothing any more`() throws {
        let reach = try reach()
        var model = ReachStore.model
        for index in model.collections.indices { model.collections[index].access = AccessRule() }
        try register(model, reach)

        #expect(try reach.seen("workspaces") == ["1", "2"])
        #expect(try reach.seen("projects") == ["1", "2"])
        #expect(try reach.seen("entries") == ["1", "2"])
        #expect(try reach.store.journal.read { try !$0.hidesAny() })
        #expect(try reach.decisions().contains("workspaces/2 access shown"))
        try reach.check()
    }

    @Test func `shows what belongs to it where that is not hidden with it any more`() throws {
        let reach = try reach()
        var model = ReachStore.model
        model.collections[2].access.owner = nil
        try register(model, reach)

        #expect(try reach.seen("workspaces") == ["1"])
        #expect(try reach.seen("projects") == ["1"])
        #expect(try reach.seen("entries") == ["1", "2"])
        try reach.check()

        try register(ReachStore.model, reach)
        #expect(try reach.seen("entries") == ["1"])
        try reach.workspace(2)
        #expect(try reach.seen("entries") == ["1", "2"])
        try reach.check()
    }
}

@Suite struct `what is hidden by its list, or with an owner of its own collection` {
    let reach: ReachStore

    init() throws {
        var folders = CollectionModel(
            "workspaces", lastChangeField: "at",
            references: [Reference("parent", to: "workspaces")])
        folders.access = AccessRule(hidesAbsent: true, owner: "parent")
        reach = try ReachStore(SyncModel(name: "reach", collections: [folders]))
    }

    private func folder(_ id: Int, in parent: Int) throws {
        try reach.says("workspaces/\(id)", #"{"id":\#(id),"parent":\#(parent)}"#)
    }

    private func hidesAny() throws -> Bool { try reach.store.journal.read { try $0.hidesAny() } }

    @Test func `is shown when it is named after others were pruned`() throws {
        try reach.workspace(1)
        try folder(2, in: 1)
        try reach.workspace(3)
        try reach.edit("workspaces/3")
        try reach.loses("1", "3")
        try reach.cleansUp()
        #expect(try reach.kept("workspaces") == ["3"])
        #expect(try hidesAny())

        try reach.workspace(3)
        #expect(try reach.seen("workspaces") == ["3"])
        #expect(try !hidesAny())
        try reach.check()
    }

    @Test func `is not shown where it is named while its owner is hidden`() throws {
        try reach.workspace(1)
        try folder(2, in: 1)
        try reach.loses("1")
        try folder(2, in: 1)
        #expect(try reach.seen("workspaces") == [])
        #expect(try hidesAny())
        #expect(try reach.decisions() == ["workspaces/1 access hidden"])

        try reach.workspace(1)
        #expect(try reach.seen("workspaces") == ["1", "2"])
        #expect(try !hidesAny())
        try reach.check()
    }

    @Test func `is hidden with an owner that stands behind it`() throws {
        try reach.workspace(3)
        try folder(2, in: 3)
        try folder(1, in: 2)
        try reach.loses("3")
        #expect(try reach.seen("workspaces") == [])

        try reach.workspace(3)
        #expect(try reach.seen("workspaces") == ["1", "2", "3"])
        #expect(try !hidesAny())
        try reach.check()
    }
}

@Suite struct `owners that come back into reach` {
    private static let model: SyncModel = {
        var workspaces = CollectionModel("workspaces")
        workspaces.access.hidesAbsent = true
        var entries = CollectionModel(
            "entries", references: [Reference("workspace_id", to: "workspaces")])
        entries.access.owner = "workspace_id"
        return SyncModel(name: "owners", collections: [workspaces, entries])
    }()

    @Test(arguments: [1, 40])
    func `have what may belong to them read once, however many they are`(_ count: Int) throws {
        let memory = MemoryFold()
        var events = [Event.registered(Self.model)]
        for id in 0..<40 {
            events.append(.about(.serverUpserted, "workspaces/\(id)", "{}", revision: "1"))
        }
        for id in 0..<200 {
            let document = #"{"workspace_id":\#(id % 40)}"#
            events.append(.about(.serverUpserted, "entries/\(id)", document, revision: "1"))
        }
        let hidden = JSONValue.array((0..<40).map { JSONValue.string("\($0)") })
        let list: JSONObject = ["scope": "", "complete": true, "full": true, "hidden": hidden]
        events.append(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "workspaces",
                json: JSONValue.object(list).encoded()))
        try memory.apply(events)
        #expect(try memory.entity(EntityKey("entries", "199"))?.isHidden == true)
        let before = memory.walked

        try memory.apply(
            (0..<count).map {
                Event.about(.serverUpserted, "workspaces/\($0)", "{}", revision: "2")
            })
        for id in 0..<200 {
            let isHidden = try memory.entity(EntityKey("entries", "\(id)"))?.isHidden
            #expect(isHidden == (id % 40 >= count))
        }
        // Once for their owners, and once for whether any is pruned.
        let walked = memory.walked - before
        #expect(walked <= 450, "\(walked) rows")
    }
}
