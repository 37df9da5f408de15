// RetentionTests.swift — what a clean-up prunes and what it keeps.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a clean-up` {
    let reach: ReachStore

    init() throws {
        reach = try ReachStore()
        for id in [1, 2] { try reach.workspace(id) }
    }

    @Test func `CU-01, CU-02: prunes what lies back longer than it is kept, not just so long`()
        throws
    {
        try reach.entry(57, in: 1, daysAgo: 57)
        try reach.entry(56, in: 1, daysAgo: 56)
        try reach.entry(561, in: 1, daysAgo: 56, seconds: 1)
        try reach.cleansUp()

        #expect(try reach.kept("entries") == ["56"])
        #expect(
            try reach.decisions() == [
                "entries/561 retention pruned", "entries/57 retention pruned",
            ])
        try reach.check()
    }

    @Test func `CU-04, CU-05: keeps what is not synced`() throws {
        for id in [1, 2, 3] { try reach.entry(id, in: 1, daysAgo: 57) }
        try reach.edit("entries/1")
        try reach.refuse("entries/2")
        try reach.edit("entries/3")
        try reach.store.write(.about(.requestSent, "entries/3", mutation: try reach.last))
        try reach.cleansUp()

        #expect(try reach.seen("entries") == ["1", "2", "3"])
        try reach.check()
    }

    @Test func `CU-06: keeps what is still running, however old`() throws {
        try reach.entry(1, in: 1, daysAgo: 60, duration: "null")
        try reach.entry(2, in: 1, daysAgo: 60, duration: "0")
        try reach.cleansUp()

        #expect(try reach.kept("entries") == ["1"])
    }

    @Test(arguments: [1, 2, 3])
    func `has a list made whole where a new model keeps for longer, or lists further back`(
        _ months: Int
    ) throws {
        for isWindow in [true, false] {
            func model(_ months: Int) -> Event {
                var notes = CollectionModel("notes")
                if isWindow {
                    notes.window = PullWindow(back: .months(months))
                } else {
                    notes.retention = RetentionRule(field: "at", ageMax: .months(months))
                }
                return .registered(SyncModel(name: "test", collections: [notes]))
            }
            let fold = MemoryFold()
            let list = #"{"scope":"","complete":true,"full":true}"#
            try fold.apply([
                model(2),
                Event(
                    .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "notes",
                    revision: Revision("1"), json: Array(list.utf8)),
            ])

            try fold.apply([model(months)])

            #expect((fold.rows[.owed("notes")] != nil) == (months == 3))
        }
    }

    private typealias Change = (inout CollectionModel) -> Void

    /// Whether the list of `notes` is owed once a new model takes the place of another one.
    private func isOwed(_ old: Change, _ new: Change) throws -> Bool {
        func registered(_ change: Change) -> Event {
            var notes = CollectionModel("notes")
            change(&notes)
            return .registered(SyncModel(name: "test", collections: [notes]))
        }
        let fold = MemoryFold()
        let list = #"{"scope":"","complete":true,"full":true}"#
        try fold.apply([
            registered(old),
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "notes",
                revision: Revision("1"), json: Array(list.utf8)),
        ])
        try fold.apply([registered(new)])
        return fold.rows[.owed("notes")] != nil
    }

    @Test func `has a list made whole where a new model tells ages otherwise`() throws {
        func kept(by field: String) -> Change {
            { notes in notes.retention = RetentionRule(field: field, ageMax: .days(30)) }
        }
        let keepsAll: Change = { _ in }
        let renames: Change = { notes in
            notes.retention = RetentionRule(field: "due", ageMax: .days(30))
            notes.migrations = [.rename("made", to: "due")]
        }
        let inSeconds: Change = { notes in
            notes.dates = .seconds
            notes.retention = RetentionRule(field: "made", ageMax: .days(30))
        }
        let cases: [(old: Change, new: Change, isOwed: Bool)] = [
            (kept(by: "made"), kept(by: "due"), true),
            (kept(by: "made"), kept(by: "made"), false),
            (kept(by: "made"), renames, false),
            (kept(by: "made"), inSeconds, true),
            (inSeconds, inSeconds, false),
            (keepsAll, kept(by: "due"), false),
        ]
        for (index, item) in cases.enumerated() {
            let found = try isOwed(item.old, item.new)
            #expect(found == item.isOwed, "\(index)")
        }
    }

    @Test func `has a list made whole where a new model lists further ahead`() throws {
        func ahead(_ days: Int) -> Change {
            { notes in notes.window = PullWindow(back: .months(2), ahead: .days(days)) }
        }
        for (old, new) in [(2, 30), (30, 30), (30, 2)] {
            let found = try isOwed(ahead(old), ahead(new))
            #expect(found == (new > old))
        }
    }

    @Test func `counts calendar months, by the server's time`() throws {
        let rule = RetentionRule(field: "start", ageMax: .months(2))
        let now = try #require(
            Timestamp(year: 2018, month: 4, day: 30, hour: 12, minute: 0, second: 0))
        let limit = try #require(
            Timestamp(year: 2018, month: 2, day: 28, hour: 12, minute: 0, second: 0))

        #expect(!rule.isOver(limit, at: now))
        #expect(rule.isOver(Timestamp(rawValue: limit.rawValue - 1), at: now))
    }

    @Test func `leaves a stub by which the same is known again, and takes what is new`() throws {
        try reach.entry(1, in: 1, daysAgo: 57)
        let before = try reach.row("entries/1")
        try reach.cleansUp()

        let row = try reach.row("entries/1")
        #expect(row.baseState == .absent && row.base.isEmpty && row.document == nil)
        #expect(row.prunedDigest == EntityRow.digest(of: before.base))
        #expect((row.asOf, row.revision) == (before.asOf, before.revision))
        #expect(try reach.store.journal.read { try $0.pruneDecision(at: ReachStore.now) }.isEmpty)

        try reach.entry(1, in: 1, daysAgo: 3)
        #expect(try reach.seen("entries") == ["1"])
        #expect(try reach.row("entries/1").prunedDigest.isEmpty)
        try reach.check()
    }

    @Test func `prunes nothing of a tree by ids, of which an older log may have the rule`() throws {
        var files = CollectionModel("files", references: [Reference("parent", to: "files")])
        files.retention = RetentionRule(field: "at", ageMax: .days(30))
        files.tree = TreeRule(parent: "parent", name: "name")
        let reach = try ReachStore(SyncModel(name: "files", collections: [files]))
        let past = ReachStore.now.adding(seconds: -60 * 86_400)
        let recent = ReachStore.now.adding(seconds: -86_400)
        let folder = #"{"id":"P","name":"P","at":"\#(past)"}"#
        try reach.says("files/P", folder)
        try reach.says("files/a", #"{"id":"a","name":"a","parent":"P","at":"\#(recent)"}"#)
        try reach.cleansUp()

        #expect(try reach.seen("files") == ["P", "a"])
        #expect(try reach.decisions() == [])
        #expect(!files.isPast(Array(folder.utf8), at: ReachStore.now), "it would not be taken back")
        try reach.check()
    }

    @Test func `leaves one of each place of a tree by paths, of which an older log has the rule`()
        throws
    {
        var files = CollectionModel("files", references: [Reference("parent", to: "files")])
        files.retention = RetentionRule(field: "at", ageMax: .days(30))
        files.tree = TreeRule(parent: "parent", name: "name", kind: "kind", isByPath: true)
        let reach = try ReachStore(SyncModel(name: "files", collections: [files]))
        let past = ReachStore.now.adding(seconds: -60 * 86_400)
        let place = #"{"name":"P","kind":"file","at":"\#(past)"}"#
        try reach.says("files/2.1", place)
        try reach.cleansUp()
        // The next run found it again.
        try reach.says("files/31.1", place)

        #expect(try reach.seen("files") == ["31.1"])
        try reach.check()
    }

    @Test func `closes what the server said of what it prunes`() throws {
        try reach.entry(1, in: 1, daysAgo: 57)
        let edited = try reach.last + 1
        try reach.edit("entries/1")
        try reach.store.write(.about(.requestSent, "entries/1", mutation: edited))
        try reach.store.write(
            .about(
                .pushAccepted, "entries/1", #"{"issues":[{"message":"odd","severity":"warning"}]}"#,
                mutation: edited, call: edited + 1, revision: "2"))
        let before = try reach.store.journal.read { try $0.issues() }
        #expect(before.map(\.kind) == [.warned])

        try reach.cleansUp()
        let after = try reach.store.journal.read { try $0.issues() }
        #expect(try reach.kept("entries") == [] && after == [])
        #expect(try reach.row("entries/1").issuesAt == nil)
        try reach.check()
    }

    @Test func `prunes placeholders that nothing refers to any more`() throws {
        for id in [7, 8, 9] { try reach.standsIn("projects/\(id)", #"{"workspace_id":1}"#) }
        try reach.entry(1, in: 1, project: 7)
        try reach.entry(2, in: 1, daysAgo: 57, project: 8)
        try reach.entry(3, in: 1, project: 9)
        try reach.edit("entries/3", #"{"set":{"project_id":7}}"#)
        try reach.cleansUp()

        // The entry of 9 may be given back to it, as long as the edit is not accepted.
        #expect(try reach.kept("projects") == ["7", "9"])
        #expect(
            try reach.decisions() == [
                "entries/2 retention pruned", "projects/8 unreferenced pruned",
            ])
        let key = EntityKey("projects", "8")
        #expect(try reach.store.entity(key) == nil)
        #expect(try reach.store.rows().contains { $0.key == .placeholder(key) } == false)
    }

    @Test func `prunes no more at once than it may, from however many collections`() throws {
        var model = ReachStore.model
        var notes = CollectionModel("notes")
        notes.retention = RetentionRule(field: "start", ageMax: .days(56))
        model.collections.append(notes)
        let reach = try ReachStore(model)
        try reach.workspace(1)
        for id in 1...2 { try reach.entry(id, in: 1, daysAgo: 57) }
        let start = ReachStore.now.adding(seconds: -57 * 86_400)
        try reach.says("notes/1", #"{"id":1,"start":"\#(start)"}"#)
        try reach.standsIn("projects/8", #"{"workspace_id":1}"#)

        func pruned(_ itemsMax: Int) throws -> [String] {
            let decision = try reach.store.journal.read { views in
                try views.pruneDecision(at: ReachStore.now, itemsMax: itemsMax)
            }
            return decision.items.map { "\($0.key) \($0.rule)" }
        }
        let entries = ["entries/1 retention", "entries/2 retention"]
        #expect(try pruned(2) == entries)
        #expect(try pruned(3) == entries + ["notes/1 retention"])
        #expect(
            try pruned(4) == entries + ["notes/1 retention", "projects/8 unreferenced"])
    }

    @Test func `prunes nothing for another timer, nor for one that nobody understands`() throws {
        try reach.entry(1, in: 1, daysAgo: 57)
        for payload in [#"{"timer":"tea","now":1795000000000000}"#, "{}", "[1]"] {
            try reach.store.write(
                Event(
                    .timerFired, recordedAt: Timestamp(rawValue: 1), json: Array(payload.utf8)))
        }
        // Without the server's time nothing is old.
        try reach.cleansUp(at: Timestamp(rawValue: 0))

        #expect(try reach.seen("entries") == ["1"])
    }

    @Test func `CU-08: prunes what is in sync and out of reach, and keeps what it refers to`()
        throws
    {
        try reach.workspace(3)
        for workspace in 1...3 {
            try reach.says(
                "projects/\(workspace)", #"{"id":\#(workspace),"workspace_id":\#(workspace)}"#)
            for id in 0..<5 { try reach.entry(workspace * 10 + id, in: workspace) }
            try reach.refuse("entries/\(workspace)3")
            try reach.edit("entries/\(workspace)4")
        }
        try reach.edit("entries/14", #"{"set":{"project_id":1}}"#)
        try reach.loses("1", "2")
        try reach.cleansUp()

        let kept = try reach.kept("entries")
        #expect(kept == ["13", "14", "23", "24", "30", "31", "32", "33", "34"])
        #expect(try reach.seen("entries") == ["30", "31", "32", "33", "34"])
        #expect(try reach.kept("projects") == ["1", "3"])
        #expect(try reach.kept("workspaces") == ["1", "2", "3"])
        try reach.check()

        // What stayed is there when the workspace is in reach again.
        try reach.workspace(1)
        #expect(try reach.seen("entries").prefix(2) == ["13", "14"])
        #expect(try reach.seen("projects") == ["1", "3"])

        // Given up, nothing keeps the other one any more.
        for id in [23, 24] { try reach.store.write(.about(.localDiscarded, "entries/\(id)")) }
        try reach.cleansUp()
        #expect(try reach.kept("workspaces") == ["1", "3"])
        #expect(try reach.row("workspaces/2").isHidden == false)
        try reach.check()
    }

    @Test func `prunes what was deleted here while a person was asked about it, and came again`()
        throws
    {
        var model = ReachStore.model
        model.collections[2].conflict = .ask
        let reach = try ReachStore(model)
        try reach.workspace(1)
        try reach.entry(1, in: 1)
        try reach.edit("entries/1")
        try reach.says("entries/1", nil)
        #expect(try reach.row("entries/1").refusal?.isAsked == true)

        try reach.store.write(.about(.localDeleted, "entries/1"))
        try reach.entry(1, in: 1, daysAgo: 57)
        #expect(try reach.row("entries/1").isInSync)
        try reach.cleansUp()

        #expect(try reach.kept("entries") == [])
        try reach.check()
    }

    @Test func `goes from what refers to what is referred to, also within one collection`() throws {
        var model = ReachStore.model
        model.collections[1].references.append(Reference("parent", to: "projects"))
        let reach = try ReachStore(model)
        try reach.workspace(1)
        for id in 1...4 {
            let parent = id == 4 ? "null" : "\(id + 1)"
            try reach.says("projects/\(id)", #"{"workspace_id":1,"parent":\#(parent)}"#)
        }
        try reach.edit("projects/2")
        try reach.loses("1")
        try reach.cleansUp()

        #expect(try reach.kept("projects") == ["2", "3", "4"])
        #expect(
            try reach.decisions() == ["workspaces/1 access hidden", "projects/1 access pruned"])
        try reach.check()
    }
}
