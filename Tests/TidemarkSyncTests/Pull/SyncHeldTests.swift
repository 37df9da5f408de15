// SyncHeldTests.swift — what a whole list did not name and nobody decided about yet; whole lists
// that are owed; and what could not be read, until it can.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `while entities are held` {
    private static let tasks = "/v1/buckets/b/collections/tasks"

    /// A device on which five of six tasks are held, because the server lost them.
    private func withHeld(
        pageSize: Int = 100,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld.paging(pageSize)
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.engine.sync(full: true).held == ["tasks": 5])
            try await body(world, device)
            try device.verify()
        }
    }

    @Test(arguments: [100, 1]) func `no run says that both sides are equal`(_ pageSize: Int)
        async throws
    {
        try await withHeld(pageSize: pageSize) { world, device async throws in
            let issue = try device.replica.issues().map(\.id)
            for scope: SyncScope in [.all, .push, .pull(["lists"]), .pull(["tasks"])] {
                let outcome = try await device.engine.sync(scope: scope)

                #expect(!outcome.isSynced && outcome.held == ["tasks": 5], "\(scope)")
                #expect("\(outcome)".hasPrefix("not synced: 5 held"), "\(outcome)")
            }
            #expect(try device.replica.issues().map(\.id) == issue, "the same question")
            var status = device.engine.statuses.makeAsyncIterator()
            #expect(await status.next()?.held == ["tasks": 5])

            try await device.replica.answer(try #require(issue.first), .keepTheirs)

            let outcome = try await device.sync()
            #expect(outcome.isSynced && outcome.held == [:])
            #expect(try device.document("tasks/t1") == nil)
            #expect(try device.document("tasks/t5") == #"{"n":5}"#)
        }
    }

    @Test func `the next run looks again, and finds what is there after all`() async throws {
        try await withHeld { world, device async throws in
            for number in 0..<4 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }

            let outcome = try await device.sync()

            // Only one is missing now: that is asked after by itself.
            #expect(outcome.isSynced && outcome.held == [:])
            #expect(try device.replica.issues() == [])
            #expect(try device.document("tasks/t4") == nil)
            #expect(try device.document("tasks/t3") == #"{"n":3}"#)
        }
    }

    @Test func `a set of collections is taken all the same`() async throws {
        let collections = ["lists", "tasks"].map { name in
            CollectionModel(CollectionName(name), pushes: [], allOrNone: "all")
        }
        let world = SyncWorld(model: SyncModel(name: "todo", collections: collections))
        world.rivalPuts("lists/a", #"{"n":1}"#)
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.engine.sync(full: true).held == ["tasks": 5])
            let issue = try device.replica.issues().map(\.id)
            world.rivalPuts("lists/a", #"{"n":2}"#)

            #expect(try await device.sync().held == ["tasks": 5])

            #expect(try device.document("lists/a") == #"{"n":2}"#)
            #expect(try device.replica.issues().map(\.id) == issue, "the same question")
            #expect(try await device.sync().counts.hasNews == false)
            try device.verify()
        }
    }

    @Test func `nothing is deleted that was named since, whatever is answered`() async throws {
        let world = SyncWorld.paging(1)
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            // One list is empty by mistake, the next one is cut off.
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.path?.contains("/tasks/") == true else { return answer }
                return answer.map { answer in
                    var answer = answer.with(body: #"{"data":[]}"#)
                    for name in ["Next-Page"].compactMap({ HTTPField.Name($0) }) {
                        answer.response.headerFields[name] = nil
                    }
                    return answer
                }
            }
            #expect(try await device.engine.sync(full: true).held == ["tasks": 6])
            device.fail(after: 4) { .failure(TransportError(.timeout)) }
            #expect(try await device.sync().failed["tasks"]?.name == "timeout")
            let issue = try #require(try device.replica.issues().first)

            try await device.replica.answer(issue.id, .keepTheirs)

            for number in 0..<6 {
                // Pages come from the newest on.
                let isThere = try device.document("tasks/t\(number)") != nil
                #expect(isThere == (number >= 3), "t\(number)")
            }
            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test func `a question ends where a new model lacks the collection, and comes with it again`()
        async throws
    {
        try await withHeld { _, device async throws in
            let known = try #require(try device.replica.registration)
            var model = known.model
            model.collections.removeAll { $0.name == "tasks" }
            try device.replica.register(ModelRegistration(model: model, remote: known.remote))

            #expect(try device.replica.issues() == [])
            let outcome = try await device.sync()
            #expect(outcome.isSynced && outcome.held == [:], "\(outcome)")

            try device.replica.register(known)
            #expect(try await device.sync().held == ["tasks": 5])
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
        }
    }

    @Test func `a question ends where a new model lists in parts`() async throws {
        try await withHeld { _, device async throws in
            let known = try #require(try device.replica.registration)
            for rule in [
                ListRule(["kind": "a"]),
                ListRule([:], from: [ListSource("list", in: "lists", each: true)]),
            ] {
                var model = known.model
                model.collections[1].lists = [rule]
                try device.replica.register(ModelRegistration(model: model, remote: known.remote))

                #expect(try device.replica.issues() == [])
                #expect(try device.replica.journal.read { try $0.heldCounts() } == [:])
                try device.replica.register(known)
                #expect(try await device.sync().held == ["tasks": 5])
            }
        }
    }

    @Test func `a run that was asked to list everything and failed is made up for`() async throws {
        let world = SyncWorld()
        for number in 0..<5 { world.rivalPuts("tasks/t\(number)", "{}") }
        world.rivalPuts("lists/a", "{}")
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            world.rivalDeletes("tasks/t3")
            world.server.withModel { $0.purgeTombstones() }
            device.fail(after: 1) { .failure(TransportError(.timeout)) }
            let outcome = try await device.engine.sync(full: true)
            #expect(outcome.failed["tasks"]?.name == "timeout")
            #expect(try device.knowledge()["owed lists"] == "false")
            #expect(try device.knowledge()["owed tasks"] == "true")
            device.wire.tap(nil)
            world.server.clearRequestLog()

            #expect(try await device.sync().isSynced)

            #expect(try device.document("tasks/t3") == nil)
            #expect(world.requests.first == "GET lists?_since 304", "that one was listed")
            #expect(try await device.sync().counts.hasNews == false)
            try device.verify()
        }
    }

    // MARK: What could not be read

    /// A device to which a task was sent as what it is not.
    private func withUnreadable(
        known: Bool, _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", #"{"n":1}"#)
        world.rivalPuts("tasks/t2", #"{"n":2}"#)
        try await SyncDevice.with(world) { device in
            if known { try await device.sync() }
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.path?.contains("/tasks/") == true else { return answer }
                return answer.map { answer in
                    answer.with(
                        body: answer.text.replacing(
                            #/\{[^{}]*"id":"t1"[^{}]*\}/#, with: #"{"id":"t1","n":"?"}"#))
                }
            }
            _ = try await device.engine.sync(full: true)
            #expect(try device.replica.issues().map(\.kind) == [.unreadable])
            device.wire.tap(nil)
            try await body(world, device)
            #expect(try device.replica.issues() == [])
            try device.verify()
        }
    }

    @Test(arguments: [false, true])
    func `what could not be read is no issue once it is deleted`(known: Bool) async throws {
        try await withUnreadable(known: known) { world, device async throws in
            world.rivalDeletes("tasks/t1")
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t1") == nil)
        }
    }

    @Test(arguments: [false, true])
    func `nor once a whole list names it no more`(known: Bool) async throws {
        try await withUnreadable(known: known) { world, device async throws in
            world.rivalDeletes("tasks/t1")
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.engine.sync(full: true).isSynced)
            #expect(try device.document("tasks/t1") == nil)
        }
    }

    @Test(arguments: [false, true])
    func `nor once it can be read, changed or not`(known: Bool) async throws {
        try await withUnreadable(known: known) { world, device async throws in
            if known {
                #expect(try await device.engine.sync(full: true).isSynced)
            } else {
                world.rivalPuts("tasks/t1", #"{"n":1}"#)
                #expect(try await device.sync().isSynced)
            }
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
        }
    }

    // MARK: Pages without end

    @Test func `a list that goes on and on ends at the model's bound, and the others go on`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.collections[0].pagesMax = 7
        model.collections[0].pageSize = 1
        let world = SyncWorld(model: model)
        world.rivalPuts("lists/a", #"{"n":1}"#)
        world.rivalPuts("tasks/t1", #"{"n":1}"#)
        try await SyncDevice.with(world) { device async throws in
            let count = SyncCounter()
            device.wire.tap { request, _, pass in
                guard let path = request.path, path.contains("/lists/"),
                    let name = HTTPField.Name("Next-Page")
                else { return await pass() }
                var answer = TransportResponse(
                    response: HTTPResponse(status: .ok, headerFields: [.eTag: #""1""#]),
                    body: Array(#"{"data":[]}"#.utf8))
                if !path.contains("_token=") { answer = try await pass().get() }
                answer.response.headerFields[name] =
                    "http://kinto.test/v1/buckets/b/collections/lists/records?_token="
                    + "\(count.count())"
                return .success(answer)
            }

            let outcome = try await device.sync()

            #expect(outcome.failed.keys.map(\.rawValue) == ["lists"])
            #expect(outcome.failed["lists"]?.name == "malformed")
            #expect("\(outcome.failed["lists"].map { "\($0)" } ?? "")".contains("7 pages"))
            #expect(count.value == 7)
            #expect(try device.document("lists/a") == #"{"n":1}"#, "what it brought stays")
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
            #expect(try device.cursor("lists") == nil)

            // The next run begins it anew, and it is whole once the server comes to an end.
            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            try device.verify()
        }
    }

    @Test func `a bound is there for every collection`() throws {
        #expect(CollectionModel("tasks").pagesMax == 10_000)
        let text = #"{"collections":[{"name":"tasks","pagesMax":3}]}"#
        let model = try ModelRegistration(parsing: Array(text.utf8)).model
        #expect(model["tasks"]?.pagesMax == 3)
    }
}
