// ConflictSidesTests.swift — what a merge screen is told of both sides, and typed rules.

import DocExamples
import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Note: Entity, Equatable {
    static let collection: CollectionName = "notes"
    let id: Tidemark.ID<Note>
    var title: String
    var tags: [String]?
}

@Suite(.serialized) struct `both sides of an issue` {
    private static let key = "notes/a"

    /// A device whose edits of a note lost against a rival's.
    private func with(
        _ policy: ConflictPolicy = .serverWins, adapter: HookedAdapter = HookedAdapter(),
        mine: (SyncDevice) async throws -> Void, theirs: (SyncWorld) -> Void,
        _ body: (SyncDevice, [SyncIssue]) async throws -> Void
    ) async throws {
        let world = SyncWorld.notes(policy)
        world.rivalPuts(Self.key, #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            try await mine(device)
            theirs(world)
            #expect(try await device.sync().isSynced)
            try await body(device, try device.replica.issues())
            try device.verify()
        }
    }

    /// Base, mine and theirs without id and version; `-` for none.
    private func texts(_ device: SyncDevice, _ issue: SyncIssue) throws -> [String] {
        let sides = try #require(try device.replica.sides(of: issue.id))
        #expect(sides.key.description == issue.key?.description)
        return try [sides.base, sides.mine, sides.theirs].map { bytes in
            guard let bytes else { return "-" }
            let document = try JSONDocument(parsing: bytes)
            return String(
                decoding: document.applying(set: [], unset: ["id", "last_modified"]),
                as: UTF8.self)
        }
    }

    @Test func `are those of one that is hidden, too`() throws {
        let links = CollectionModel(
            "links", references: [Reference("to", to: "people", missing: .hides)])
        let model = SyncModel(name: "m", collections: [CollectionModel("people"), links])
        try withReplica(model) { replica in
            let key = EntityKey("links", "l")
            let json = Array(#"{"id":"l","to":"nobody"}"#.utf8)
            try replica.write { tx in
                _ = try tx.draft.append(
                    Event(
                        .serverUpserted, recordedAt: tx.draft.now, key: key,
                        revision: Revision("1"), json: json))
            }

            let issue = try #require(try replica.issues().first)
            #expect(issue.kind == .dangling && issue.key == key)
            #expect(try replica.text(key) == nil)
            let sides = try replica.sides(of: issue.id)
            #expect(sides == ConflictSides(key: key, base: json, mine: json, theirs: json))
        }
    }

    @Test func `are what was edited, what the edits made of it, and what the server said`()
        async throws
    {
        try await with { device in
            try device.patch(Self.key, #"{"title":"mine","colour":"red"}"#)
            try device.patch(Self.key, #"{"n":2}"#)
        } theirs: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":1}"#)
        } _: { device, issues async throws in
            #expect(issues.map(\.fields) == [["title", "colour"]])
            #expect(issues.map(\.conflictingFields) == [["title"]])
            let sides = try texts(device, issues[0])

            #expect(
                sides == [
                    #"{"title":"old","n":1}"#, #"{"title":"mine","n":2,"colour":"red"}"#,
                    #"{"title":"theirs","n":1}"#,
                ])
            try device.replica.journal.rebuild()
            #expect(try texts(device, issues[0]) == sides)
            let typed = try device.replica.sides(of: issues[0].id, as: Note.self)
            #expect(typed?.mine == Note(id: Tidemark.ID("a"), title: "mine"))
            #expect(typed?.theirs?.title == "theirs" && typed?.base?.title == "old")
        }
    }

    @Test func `are none where a side deleted the entity`() async throws {
        try await with {
            try $0.delete(Self.key)
        } theirs: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
        } _: { device, issues async throws in
            #expect(
                try texts(device, issues[0]) == [
                    #"{"title":"old","n":1}"#, "-", #"{"title":"theirs"}"#,
                ])
            #expect(issues[0].fields == [] && issues[0].conflictingFields == [])
        }
        try await with {
            try $0.patch(Self.key, #"{"title":"mine"}"#)
        } theirs: { world in
            world.rivalDeletes(Self.key)
        } _: { device, issues async throws in
            #expect(
                try texts(device, issues[0]) == [
                    #"{"title":"old","n":1}"#, #"{"title":"mine","n":1}"#, "-",
                ])
            #expect(issues[0].fields == ["title"] && issues[0].conflictingFields == [])
        }
    }

    @Test func `have a base, and mine is made again whole, where its event was dropped before`()
        async throws
    {
        try await with { device in
            let last = try device.replica.journal.read { $0.last }
            for number in 1...4 { try device.put("notes/f\(number)", "{}") }
            let scratch = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidemark-sides-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            try device.replica.journal.seal(keeping: 1)
            let made = try device.replica.journal.truncate(
                through: last, at: device.world.clock.now, in: { scratch.path })
            #expect(made.last == last)
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } theirs: { world in
            world.rivalDeletes(Self.key)
        } _: { device, issues async throws in
            #expect(
                try texts(device, issues[0]) == [
                    #"{"title":"old","n":1}"#, #"{"title":"mine","n":1}"#, "-",
                ])

            try await device.replica.answer(issues[0].id, .keepMine)
            try await device.sync()

            #expect(device.world.record(Self.key) == #"{"title":"mine","n":1}"#)
        }
    }

    @Test func `begin with what the server took without saying how it is now`() async throws {
        try await with(adapter: HookedAdapter(hidesStored: true)) { device in
            try device.patch(Self.key, #"{"title":"taken"}"#)
            #expect(try await device.sync().counts.pushed == 1)
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } theirs: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":1}"#)
        } _: { device, issues async throws in
            #expect(
                try texts(device, issues[0]) == [
                    #"{"title":"taken","n":1}"#, #"{"title":"mine","n":1}"#,
                    #"{"title":"theirs","n":1}"#,
                ])
        }
    }

    @Test func `that are asked about begin with what the server took, too`() async throws {
        let world = SyncWorld.notes(.ask)
        world.rivalPuts(Self.key, #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world, adapter: HookedAdapter(hidesStored: true)) { device in
            try await device.sync()
            try device.patch(Self.key, #"{"title":"taken"}"#)
            #expect(try await device.sync().counts.pushed == 1)
            try device.patch(Self.key, #"{"title":"mine"}"#)
            world.rivalPuts(Self.key, #"{"title":"theirs","n":1}"#)
            #expect(try await device.sync().refused == 1)
            let issue = try #require(try device.replica.issues().first)

            #expect(
                try texts(device, issue) == [
                    #"{"title":"taken","n":1}"#, #"{"title":"mine","n":1}"#,
                    #"{"title":"theirs","n":1}"#,
                ])
            try await device.replica.answer(issue.id, .keepTheirs)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test(arguments: [ConflictPolicy.ask, .serverWins, .mergeFields(.serverWins)])
    func `are merged by a person as the article shows it, whatever the policy`(
        _ policy: ConflictPolicy
    ) async throws {
        let world = SyncWorld.notes(policy)
        world.rivalPuts(Self.key, #"{"title":"old","tags":["o"],"n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(Self.key, #"{"title":"mine","tags":["m"]}"#)
            world.rivalPuts(Self.key, #"{"title":"theirs","tags":["t"],"n":2}"#)
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .conflict && issue.isAsked == (policy == .ask))

            try await Conflicts.merge(device.replica, issue) { base, mine, theirs in
                guard let base, let mine, var merged = theirs else { return nil }
                merged.title = "\(mine.title) and \(merged.title)"
                merged.tags = base.tags + mine.tags + merged.tags
                return merged
            }

            #expect(try device.replica.issues() == [])
            #expect(try await device.sync().isSynced)
            let merged = #"{"title":"mine and theirs","tags":["o","m","t"],"n":2}"#
            #expect(world.record(Self.key) == merged)
            #expect(try device.document(Self.key) == merged)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test(arguments: [ConflictPolicy.ask, .serverWins, .mergeFields(.serverWins)])
    func `are merged by a person without taking back what was changed since`(
        _ policy: ConflictPolicy
    ) async throws {
        let world = SyncWorld.notes(policy)
        world.rivalPuts(Self.key, #"{"title":"old","tags":["o"]}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(Self.key, #"{"title":"mine"}"#)
            world.rivalPuts(Self.key, #"{"title":"theirs","tags":["o"]}"#)
            try await device.sync()
            world.rivalPuts(Self.key, #"{"title":"theirs","tags":["o","y"]}"#)
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)

            try await Conflicts.merge(device.replica, issue) { _, mine, theirs in
                guard let mine, var merged = theirs else { return nil }
                merged.title = "\(mine.title) and \(merged.title)"
                return merged
            }

            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == #"{"title":"mine and theirs","tags":["o","y"]}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `are kept until the last conflict of an event is answered`() async throws {
        try await with { device in
            try device.patch(Self.key, #"{"n":1.5}"#)
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } theirs: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
        } _: { device, issues async throws in
            try #require(issues.count == 2)
            let place = RowKey.sides(issues[0].id.position)
            try await device.replica.answer(issues[0].id, .keepTheirs)
            #expect(try device.replica.sides(of: issues[0].id) == nil)
            #expect(try texts(device, issues[1])[1] == #"{"title":"mine","n":1.5}"#)

            try await device.replica.answer(issues[1].id, .keepTheirs)

            #expect(try device.replica.journal.read { try $0.get(place) } == nil)
        }
    }

    @Test func `of a part that lost are not made again with what lost before`() async throws {
        try await with(.mergeFields(.serverWins)) { device in
            try device.patch(Self.key, #"{"title":"mine","n":2,"colour":"red"}"#)
            device.world.rivalPuts(Self.key, #"{"title":"theirs","n":1}"#)
            device.world.server.faults = FaultPlan([FaultRule(.answer(status: 503), method: .put)])
            #expect(try await device.sync().unsettled == 1)
            device.world.server.faults = FaultPlan()
            device.world.clock.advance(by: .seconds(3600))
        } theirs: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":3,"colour":"blue"}"#)
        } _: { device, issues async throws in
            #expect(issues.map(\.fields) == [["title"], ["n", "colour"]])

            try await device.replica.answer(issues[1].id, .keepMine)

            #expect(
                try device.document(Self.key) == #"{"title":"theirs","n":2,"colour":"red"}"#)
        }
    }

    @Test func `of what the server refused are the entity's, as both have it now`() async throws {
        let world = SyncWorld.notes(.serverWins)
        world.rivalPuts(Self.key, #"{"title":"old"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(Self.key, #"{"title":"mine"}"#)
            world.server.faults = FaultPlan([FaultRule(.answer(status: 400), method: .put)])
            #expect(try await device.sync().refused == 1)
            let issue = try #require(try device.replica.issues().first)

            #expect(
                try texts(device, issue) == [
                    #"{"title":"old"}"#, #"{"title":"mine"}"#, #"{"title":"old"}"#,
                ])
            let none = try device.replica.sides(of: SyncIssue.ID(Position(99_999)))
            #expect(none == nil)
        }
    }
}

@Suite(.serialized) struct `a rule over the app's own type` {
    /// Syncs a note that both sides changed, and says what the server has then.
    private func decide(
        _ theirs: String?,
        _ rule: @escaping @Sendable (EntityConflict<Note>) throws -> EntityConflictAnswer<Note>,
        _ body: (SyncDevice, SyncOutcome) throws -> Void
    ) async throws {
        let world = SyncWorld.notes(.custom("own"))
        world.rivalPuts("notes/a", #"{"title":"old","n":1}"#)
        let rule = ConflictRule(name: "own", for: Note.self, decide: rule)
        try await SyncDevice.with(world, rules: [rule]) { device in
            try await device.sync()
            try device.patch("notes/a", #"{"title":"mine","tags":["m"]}"#)
            if let theirs {
                world.rivalPuts("notes/a", theirs)
            } else {
                world.rivalDeletes("notes/a")
            }
            let outcome = try await device.sync()
            try body(device, outcome)
            try device.verify()
        }
    }

    @Test func `answers with an entity, and keeps what the type does not know`() async throws {
        try await decide(#"{"title":"theirs","extra":[1.0],"tags":["t"]}"#) { conflict in
            guard var note = conflict.theirs, let mine = conflict.mine else { return .theirs }
            note.tags = (note.tags ?? []) + (mine.tags ?? [])
            note.title = (conflict.base?.title ?? "") + mine.title
            return .entity(note)
        } _: { device, outcome in
            #expect(outcome.isSynced)
            #expect(
                device.world.record("notes/a")
                    == #"{"title":"oldmine","extra":[1.0],"tags":["t","m"]}"#)
        }
    }

    @Test func `keeps every other edit of the entity, too, as the article shows it`()
        async throws
    {
        for rule in [Conflicts.allTags, Conflicts.typedTags] {
            let world = SyncWorld.notes(.custom("allTags"))
            world.rivalPuts("notes/a", #"{"title":"A","tags":["a"],"n":1}"#)
            try await SyncDevice.with(world, rules: [rule]) { device in
                try await device.sync()
                try device.patch("notes/a", #"{"title":"B","tags":["a","x"],"n":2}"#)
                world.rivalPuts("notes/a", #"{"title":"A","tags":["a","y"],"n":1}"#)
                #expect(try await device.sync().isSynced)

                let merged = #"{"title":"B","tags":["a","y","x"],"n":2}"#
                #expect(world.record("notes/a") == merged)
                #expect(try device.replica.issues() == [])
                try device.verify()
            }
        }
    }

    @Test func `that gives up what only this side had changed leaves an issue about that`()
        async throws
    {
        try await decide(#"{"title":"old","n":1,"tags":["t"]}"#) { conflict in
            guard var note = conflict.theirs, let mine = conflict.mine else { return .theirs }
            note.tags = (note.tags ?? []) + (mine.tags ?? [])
            return .entity(note)
        } _: { device, outcome throws in
            #expect(outcome.isSynced)
            #expect(try device.mutations("notes/a") == ["merged"])
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.fields == ["title"] && issue.conflictingFields == ["tags"])
            let sides = try device.replica.sides(of: issue.id, as: Note.self)
            #expect(sides?.mine?.title == "mine" && sides?.theirs?.title == "old")

            try device.replica.answer(issue.id, .keepMine)

            #expect(
                try device.document("notes/a") == #"{"title":"mine","n":1,"tags":["t","m"]}"#)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test func `answers with a side`() async throws {
        try await decide(#"{"title":"theirs"}"#) { _ in
            .theirs
        } _: { device, _ throws in
            #expect(device.world.record("notes/a") == #"{"title":"theirs"}"#)
            #expect(try device.replica.issues().count == 1)
        }
        try await decide(#"{"title":"theirs"}"#) { _ in
            .mine
        } _: { device, _ in
            #expect(device.world.record("notes/a") == #"{"title":"mine","tags":["m"]}"#)
        }
        try await decide(nil) { conflict in
            conflict.theirs == nil ? conflict.mine.map { .entity($0) } ?? .theirs : .theirs
        } _: { device, _ in
            #expect(device.world.record("notes/a") == #"{"title":"mine","n":1,"tags":["m"]}"#)
        }
    }

    @Test func `is no rule for what can't be read, or for another entity`() async throws {
        try await decide(#"{"title":7}"#) { _ in
            .theirs
        } _: { device, outcome in
            guard case .ruleFailed("own", let words)? = outcome.failed["notes"] else {
                Issue.record("\(outcome)")
                return
            }
            #expect(words.contains("title"))
        }
        try await decide(#"{"title":"theirs"}"#) { _ in
            .entity(Note(id: Tidemark.ID("b"), title: ""))
        } _: { device, outcome in
            #expect(outcome.failed["notes"]?.name == "ruleFailed")
        }
    }
}
