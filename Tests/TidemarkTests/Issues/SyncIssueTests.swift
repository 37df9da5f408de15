// SyncIssueTests.swift — what is left for a person to decide, and what the answers do.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `issues` {
    private static let key = "lists/home"

    /// A device on which an edit of a list lost against another's.
    private func withLostEdit(
        _ mine: (SyncDevice) throws -> Void, _ theirs: (SyncWorld) -> Void,
        _ body: (SyncWorld, SyncDevice, SyncIssue) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        world.rivalPuts(Self.key, #"{"title":"s","n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try mine(device)
            theirs(world)
            #expect(try await device.sync().isSynced)
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .conflict && issue.key?.description == Self.key)
            #expect(issue.answers == [.keepMine, .keepTheirs])
            try await body(world, device, issue)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `keep the edit that lost, until it is made again`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":2}"#)
        } _: { world, device, issue async throws in
            #expect(issue.fields == ["title"])
            #expect(try device.mutations(Self.key) == ["superseded"])

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try device.document(Self.key) == #"{"title":"mine","n":2}"#)
            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == #"{"title":"mine","n":2}"#)
        }
    }

    @Test func `keep all of an edit that lost by one of its fields`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine","colour":"red"}"#)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":2}"#)
        } _: { world, device, issue async throws in
            #expect(issue.fields == ["title", "colour"])
            #expect(try device.document(Self.key) == #"{"title":"theirs","n":2}"#)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == #"{"title":"mine","n":2,"colour":"red"}"#)
        }
    }

    @Test func `are closed when what lost may stay lost`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
        } _: { world, device, issue async throws in
            try await device.replica.answer(issue.id, .keepTheirs)

            #expect(try await device.sync().counts.pushed == 0)
            #expect(world.record(Self.key) == #"{"title":"theirs"}"#)
        }
    }

    @Test func `bring an edited entity back that another deleted`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } _: { world in
            world.rivalDeletes(Self.key)
        } _: { world, device, issue async throws in
            #expect(try device.document(Self.key) == nil)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == #"{"title":"mine","n":1}"#)
        }
    }

    @Test func `bring back, with what lost, what both sides had come to`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine","n":2}"#)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs","n":2}"#)
        } _: { world, device, issue async throws in
            #expect(issue.fields == ["title"])
            world.rivalDeletes(Self.key)
            try await device.sync()
            #expect(try device.document(Self.key) == nil)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == #"{"title":"mine","n":2}"#)
        }
    }

    @Test func `bring back a list that both sides had come to as a whole`() async throws {
        let surveys = CollectionModel(
            "surveys", lastChangeField: "last_modified",
            keyed: [KeyedList("answers", by: "question")])
        let world = SyncWorld(model: SyncModel(name: "surveys", collections: [surveys]))
        let twice = #"[{"question":"a","n":1},{"question":"a","n":2}]"#
        let once = #"[{"question":"a","n":2}]"#
        world.rivalPuts("surveys/s", #"{"title":"s","answers":\#(twice)}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("surveys/s", #"{"title":"mine","answers":\#(once)}"#)
            world.rivalPuts("surveys/s", #"{"title":"theirs","answers":\#(once)}"#)
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.fields == ["title"])
            world.rivalDeletes("surveys/s")
            try await device.sync()

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record("surveys/s") == #"{"title":"mine","answers":\#(once)}"#)
        }
    }

    @Test func `delete after all what another edited`() async throws {
        try await withLostEdit { device in
            try device.delete(Self.key)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
        } _: { world, device, issue async throws in
            #expect(try device.document(Self.key) == #"{"title":"theirs"}"#)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record(Self.key) == nil)
        }
    }

    @Test func `are of nobody once they were answered, and take no other answers`() async throws {
        try await withLostEdit { device in
            try device.patch(Self.key, #"{"title":"mine"}"#)
        } _: { world in
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
        } _: { _, device, issue async throws in
            #expect(throws: TidemarkError.self) { try device.replica.answer(issue.id, .retry) }
            try await device.replica.answer(issue.id, .keepTheirs)
            let error = #expect(throws: TidemarkError.self) {
                try device.replica.answer(issue.id, .keepTheirs)
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `of a refusal let go on what waited, by a retry or by giving up`() async throws {
        for answer in [IssueAnswer.retry, .keepMine, .discard, .keepTheirs] {
            let refused = FaultRule(
                .answer(status: 400, body: Array(#"{"code":400,"message":"too long"}"#.utf8)),
                method: .put, pathContains: "lists/", nth: 1)
            let world = SyncWorld([refused])
            try await SyncDevice.with(world) { device in
                try device.put("lists/l", "{}")
                try device.put("tasks/t", #"{"list":"l"}"#)
                try device.put("tasks/free", "{}")
                let outcome = try await device.sync()
                #expect(outcome.refused == 1 && outcome.pending == 1)
                #expect(world.record("tasks/free") == "{}")
                let issue = try #require(try device.replica.issues().first)
                #expect(issue.kind == .rejected && issue.message == "400 too long")
                #expect(try device.outbox() == ["lists/l rejected", "tasks/t blocked lists/l"])

                try await device.replica.answer(issue.id, answer)

                #expect(try await device.sync().isSynced)
                #expect(try device.replica.issues() == [])
                #expect(world.record("tasks/t") == #"{"list":"l"}"#)
                let isThere = answer == .retry || answer == .keepMine
                #expect(world.record("lists/l") == (isThere ? "{}" : nil))
                try device.verify()
            }
        }
    }

    @Test(arguments: [IssueAnswer.keepMine, .keepTheirs])
    func `of what a whole list did not name ask before anything is deleted`(_ answer: IssueAnswer)
        async throws
    {
        let world = SyncWorld()
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            let outcome = try await device.engine.sync(full: true)
            #expect(outcome.held == ["tasks": 5] && !outcome.isSynced)
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .absent && issue.collection == "tasks" && issue.key == nil)
            #expect(issue.message == "a whole list did not name 5 of 6 entities")
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)

            try await device.replica.answer(issue.id, answer)

            #expect(try await device.sync().isSynced)
            let end = answer == .keepMine ? #"{"n":1}"# : nil
            #expect(try device.document("tasks/t1") == end)
            #expect(world.record("tasks/t1") == end)
            #expect(try device.document("tasks/t5") == #"{"n":5}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `of what can't be read end when it can, or when it is read again`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"n":1}"#)
        world.rivalPuts("tasks/t2", #"{"n":2}"#)
        try await SyncDevice.with(world) { device in
            device.wire.tap { _, _, pass in
                await pass().map {
                    $0.with(body: $0.text.replacing(#""n":2,"id""#, with: #""id":0,"was""#))
                }
            }
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .unreadable && issue.answers == [.retry, .discard])
            #expect(try device.document("tasks/t2") == nil)

            // Nothing changed since the cursor: only who reads everything again sees it.
            device.wire.tap(nil)
            #expect(try await device.sync().counts.pulled == 0)
            try await device.replica.answer(issue.id, .retry)
            #expect(try await device.sync().counts.pulled == 1)

            #expect(try device.document("tasks/t2") == #"{"n":2}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `are the same after the store was folded again`() async throws {
        let world = SyncWorld()
        world.rivalPuts(Self.key, #"{"title":"s"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(Self.key, #"{"title":"mine"}"#)
            world.rivalPuts(Self.key, #"{"title":"theirs"}"#)
            try await device.sync()
            let before = try device.replica.issues()
            try device.replica.journal.rebuild()

            #expect(try device.replica.issues() == before && before.count == 1)
        }
    }
}
