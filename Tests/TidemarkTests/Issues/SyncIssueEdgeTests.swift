// SyncIssueEdgeTests.swift — answers that come late, twice, or after the entity went on.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `answers to issues` {
    /// A device on which `title` of a list lost against another's.
    private func withLostTitle(
        _ body: (SyncWorld, SyncDevice, SyncIssue) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"s"}"#)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            try device.patch("lists/home", #"{"title":"mine"}"#)
            world.rivalPuts("lists/home", #"{"title":"theirs"}"#)
            try await device.sync()
            try await body(world, device, try #require(try device.replica.issues().first))
            try device.verify()
        }
    }

    @Test func `count once, however many give them at the same time`() async throws {
        try await withLostTitle { world, device, issue async throws in
            let replica = device.replica
            let taken = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<16 {
                    group.addTask {
                        let answer: IssueAnswer = number % 2 == 0 ? .keepMine : .keepTheirs
                        return (try? await replica.answer(issue.id, answer)) != nil
                    }
                }
                var count = 0
                for await isTaken in group where isTaken { count += 1 }
                return count
            }

            #expect(taken == 1)
            let answers = try device.kinds().filter { $0 == "issue.answered" }
            #expect(answers.count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `leave a field as it was edited since, whether that waits or was sent`(
        _ isSent: Bool
    ) async throws {
        try await withLostTitle { world, device, issue async throws in
            try device.patch("lists/home", #"{"title":"newer"}"#)
            if isSent { #expect(try await device.sync().isSynced) }

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"newer"}"#)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test(arguments: [[0, 1], [1, 0]], [false, true])
    func `to several losses of a field leave the last edit, in any order`(
        _ order: [Int], _ isSent: Bool
    ) async throws {
        try await withLostTitle { world, device, _ async throws in
            try device.patch("lists/home", #"{"title":"later"}"#)
            world.rivalPuts("lists/home", #"{"title":"theirs again"}"#)
            try await device.sync()
            let issues = try device.replica.issues()
            try #require(issues.count == 2)

            for index in order {
                try await device.replica.answer(issues[index].id, .keepMine)
                if isSent { #expect(try await device.sync().isSynced) }
            }

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"later"}"#)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test(arguments: [[0, 1], [1, 0]], [false, true])
    func `bring back all edits of what was deleted there, in any order`(
        _ order: [Int], _ isSent: Bool
    ) async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"A","n":1}"#)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            try device.patch("lists/home", #"{"title":"mine"}"#)
            try device.patch("lists/home", #"{"n":2}"#)
            world.rivalDeletes("lists/home")
            try await device.sync()
            let issues = try device.replica.issues()
            try #require(issues.count == 2)

            for index in order {
                try await device.replica.answer(issues[index].id, .keepMine)
                if isSent { #expect(try await device.sync().isSynced) }
            }

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"mine","n":2}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `make again what an edit gave up, and not what a later one had set again`()
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"A","note":"0"}"#)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            try device.patch("lists/home", #"{"title":"B","note":"1"}"#)
            try device.patch("lists/home", #"{"title":"C"}"#)
            world.rivalPuts("lists/home", #"{"title":"A","note":"9"}"#)
            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"C","note":"9"}"#)
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.fields == ["note"])

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"C","note":"1"}"#)
            try device.verify()
        }
    }

    @Test func `give back all of a text that was saved again and again`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"s"}"#)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for text in ["h", "he", "hel", "hell", "hello", "hello!"] {
                try device.patch("lists/home", #"{"title":"\#(text)"}"#)
            }
            world.rivalPuts("lists/home", #"{"title":"theirs"}"#)
            try await device.sync()
            let issues = try device.replica.issues()
            try #require(issues.count == 1)

            try await device.replica.answer(issues[0].id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"hello!"}"#)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test func `make an edit again after the entity was edited and deleted here`() async throws {
        try await withLostTitle { world, device, issue async throws in
            try device.patch("lists/home", #"{"n":1}"#)
            try device.delete("lists/home")
            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == nil)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/home") == #"{"title":"mine"}"#)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test func `touch a field that lost, and none that is only written like it`() async throws {
        let world = SyncWorld.notes(.mergeFields(.serverWins))
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        func document(_ left: Int, _ right: Int) -> String {
            #"{"\#(composed)":\#(left),"\#(decomposed)":\#(right)}"#
        }
        world.rivalPuts("notes/a", document(1, 1))
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            try device.patch("notes/a", document(2, 2))
            world.rivalPuts("notes/a", document(3, 1))
            try await device.sync()
            world.rivalPuts("notes/a", document(3, 4))
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.fields.map { Array($0.utf8) } == [Array(composed.utf8)])

            try await device.replica.answer(issue.id, .keepMine)

            let made = try #require(try device.document("notes/a"))
            #expect(Array(made.utf8) == Array(document(2, 4).utf8))
        }
    }

    @Test func `that keep what was not named keep what was edited meanwhile, and ask no more`()
        async throws
    {
        let world = SyncWorld()
        for number in 0..<6 { world.rivalPuts("lists/l\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("lists/l\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.engine.sync(full: true).held == ["lists": 5])
            try device.patch("lists/l0", #"{"mine":true}"#)
            let issue = try #require(try device.replica.issues().first)

            try await device.replica.answer(issue.id, .keepMine)

            #expect(try device.replica.issues() == [])
            #expect(try await device.sync().isSynced)
            #expect(world.record("lists/l0") == #"{"n":0,"mine":true}"#)
            #expect(world.record("lists/l1") == #"{"n":1}"#)
            try device.verify()
        }
    }

    @Test func `read again what could not be read, also where no whole list is ever due`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.settings.fullPullEvery = .zero
        let world = SyncWorld(
            model: model,
            [FaultRule(.answer(status: 403), method: .get, pathContains: "/collections?")])
        world.rivalPuts("tasks/t2", #"{"n":2}"#)
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { _, _, pass in
                await pass().map {
                    $0.with(body: $0.text.replacing(#""n":2,"id""#, with: #""id":0,"was""#))
                }
            }
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            device.wire.tap(nil)

            try await device.replica.answer(issue.id, .retry)

            #expect(try await device.sync().counts.pulled == 1)
            #expect(try device.document("tasks/t2") == #"{"n":2}"#)
            try device.verify()
        }
    }

    @Test func `to what can't be read hold as long as it stays the same`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t2", #"{"n":2}"#)
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { _, _, pass in
                await pass().map {
                    $0.with(body: $0.text.replacing(#""n":2,"id""#, with: #""id":0,"was""#))
                }
            }
            try await device.sync()
            let issue = try #require(try device.replica.issues().first)
            try await device.replica.answer(issue.id, .discard)

            #expect(try await device.engine.sync(full: true).counts.pulled == 0)
            #expect(try device.replica.issues() == [])
        }
    }

    @Test func `to a refusal name that one, not the next one of the entity`() async throws {
        let refused = FaultRule(.answer(status: 400), method: .put, occurrences: 1...2)
        try await SyncDevice.with(SyncWorld([refused])) { device async throws in
            try device.put("lists/l", "{}")
            try await device.sync()
            let first = try #require(try device.replica.issues().first)
            try device.patch("lists/l", #"{"n":1}"#)
            try await device.sync()

            let error = #expect(throws: TidemarkError.self) {
                try device.replica.answer(first.id, .discard)
            }
            #expect(error?.code == .notFound)
            #expect(try device.replica.issues().count == 1)
        }
    }
}

@Suite(.serialized) struct `a refusal of what was given up meanwhile` {
    @Test func `is of nothing`() async throws {
        let refused = FaultRule(.answer(status: 400), method: .put, nth: 1)
        let world = SyncWorld([refused])
        world.rivalPuts("lists/l", #"{"n":1}"#)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            try device.patch("lists/l", #"{"n":2}"#)
            device.wire.tap { request, _, pass in
                if request.isWrite { try device.discard("lists/l") }
                return await pass()
            }

            try await device.sync()

            #expect(device.wire.problem == nil)
            #expect(try device.mutations("lists/l") == ["discarded"])
            #expect(try device.replica.issues() == [])
            let key = try device.key("lists/l")
            #expect(try device.replica.journal.read { try $0.entity(key)?.refusal } == nil)
            try device.verify()
        }
    }
}
