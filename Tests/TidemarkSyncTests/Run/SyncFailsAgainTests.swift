// SyncFailsAgainTests.swift — what failed in earlier runs and fails again: others go on all the
// same, run after run, and it is settled by whatever tells how it stands.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `what fails again and again` {
    private static func answer(_ status: Int, _ body: String = "{}") -> SyncWire.Answer {
        let head = HTTPResponse(status: HTTPResponse.Status(code: status))
        return .success(TransportResponse(response: head, body: Array(body.utf8)))
    }

    private static func model(_ names: [CollectionName], batchSize: Int = 1) -> SyncModel {
        SyncModel(
            name: "many",
            collections: names.map { CollectionModel($0, lastChangeField: "last_modified") },
            settings: SyncSettings(batchSize: batchSize))
    }

    private func failing(_ device: SyncDevice) throws -> [String] {
        try device.replica.journal.read { try $0.failingCalls().map(\.key.description) }
    }

    // MARK: Others go on

    @Test(arguments: [500, 200])
    func `lists of three collections of five stop no other, run after run`(_ status: Int)
        async throws
    {
        let world = SyncWorld(model: Self.model(["l1", "l2", "l3", "l4", "l5"]))
        try await SyncDevice.with(world) { device async throws in
            let once = SyncCounter()
            device.wire.tap { request, _, pass in
                if request.path?.hasSuffix("/once") == true, once.count() == 0 {
                    return Self.answer(500)
                }
                let bad = ["l1", "l3", "l5"].contains {
                    request.path?.contains("/\($0)/records?") == true
                }
                return bad ? Self.answer(status, "<html>") : await pass()
            }
            for round in 1...4 {
                for name in ["l1", "l2", "l4"] { try device.put("\(name)/r\(round)", "{}") }
                if round == 1 { try device.put("l4/once", "{}") }
                world.rivalPuts("l4/their\(round)", "{}")

                let outcome = try await device.sync()

                #expect(outcome.failure == nil, "round \(round)")
                #expect(outcome.failed.keys.sorted() == ["l1", "l3", "l5"], "round \(round)")
                // What failed before is not kept waiting by them.
                let left = round == 1 ? ["l4/once unknown"] : []
                #expect(try device.outbox() == left, "round \(round)")
                #expect(try device.document("l4/their\(round)") == "{}", "round \(round)")
            }
        }
    }

    @Test(arguments: [500, 302])
    func `entities of a model's only collection stop no other`(_ status: Int) async throws {
        let world = SyncWorld(model: Self.model(["tasks"]))
        try await SyncDevice.with(world) { device async throws in
            for number in 1...5 { try device.put("tasks/bad\(number)", "{}") }
            device.wire.tap { request, _, pass in
                request.path?.contains("/bad") == true
                    ? Self.answer(status, "<html>") : await pass()
            }
            for round in 1...6 {
                try device.put("tasks/good\(round)", "{}")

                let outcome = try await device.sync()

                guard round > 2 else { continue }
                #expect(outcome.failure == nil, "round \(round)")
                #expect(outcome.unsettled + outcome.refused == 5, "round \(round)")
                #expect(world.record("tasks/good\(round)") == "{}", "round \(round)")
            }
            // Nobody is asked for ever in one run, and everybody in some run.
            device.wire.tap(nil)
            for issue in try device.replica.issues() where issue.kind == .rejected {
                try await device.replica.answer(issue.id, .retry)
            }
            for _ in 1...2 { try await device.sync() }
            #expect(try device.outbox() == [])
            #expect(try failing(device) == [])
        }
    }

    @Test(arguments: [
        SyncFailure.client(status: 0, "no such call"), .malformed("no such call"),
    ])
    func `a write of which no request can be made is refused, and the others of its batch are sent`(
        _ failure: SyncFailure
    ) async throws {
        let world = SyncWorld(model: Self.model(["tasks"], batchSize: 25))
        let adapter = HookedAdapter(
            cannotSend: { call in
                guard case .create(_, "t3", _) = call else { return false }
                return true
            }, unsendable: failure)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            for number in 1...5 { try device.put("tasks/t\(number)", "{}") }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.counts.pushed == 4 && outcome.refused == 1)
            #expect(try device.outbox() == ["tasks/t3 rejected"])
            #expect(try device.problems() == ["tasks/t3 no such call"])
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test(arguments: [
        SyncFailure.timeout("slow"), .server(status: 500, retryAfterSeconds: nil),
        .foreign("a portal"), .diskFull("full"), .forbidden,
    ])
    func `a write waits where what keeps it from being made may pass, and others are sent`(
        _ failure: SyncFailure
    ) async throws {
        let world = SyncWorld(model: Self.model(["tasks"], batchSize: 25))
        let isOver = SyncCounter()
        let adapter = HookedAdapter(
            cannotSend: { call in
                guard case .create(_, "t3", _) = call else { return false }
                return isOver.value == 0
            }, unsendable: failure)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            for number in 1...5 { try device.put("tasks/t\(number)", "{}") }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.counts.pushed == 4 && outcome.refused == 0)
            #expect(try device.outbox() == ["tasks/t3 pending"])
            _ = isOver.count()
            #expect(try await device.sync().isSynced)
            #expect(try device.mutations("tasks/t3") == ["accepted"])
        }
    }

    @Test func `a write without an answer that can't be read back is settled by the next list`()
        async throws
    {
        let world = SyncWorld(model: Self.model(["tasks"]))
        let clock = world.clock
        let adapter = HookedAdapter(cannotSend: { call in
            if case .read = call { true } else { false }
        })
        // Each look at the clock takes time, as on a device.
        var dependencies = Dependencies.seeded(1, clock: clock)
        dependencies.now = {
            clock.advance(by: .microseconds(1))
            return clock.now
        }
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: world.model, adapter: adapter,
            dependencies: dependencies)
        try await device.lend { device async throws in
            world.rivalPuts("tasks/t1", #"{"n":1}"#)
            try await device.sync()
            try device.patch("tasks/t1", #"{"n":2}"#)
            world.server.faults = FaultPlan([
                FaultRule(.dropAfterHandling, method: .put, nth: 1)
            ])
            #expect(try await device.sync().pending == 1)
            #expect(try device.outbox() == ["tasks/t1 unknown"])

            for _ in 1...2 { try await device.sync() }

            #expect(try device.outbox() == [])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            let words = try device.events().compactMap { RequestFailed.words(of: $0.event) }
            #expect(words.contains("no request: client (no such call)"))
            try device.verify()
            let log = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
            try await Replay(.capsule(log), adapter: adapter).run()
        }
    }

    // MARK: What it says of each

    @Test func `is not each write of a batch that was refused as a whole`() async throws {
        let world = SyncWorld(model: Self.model(["tasks"], batchSize: 25))
        try await SyncDevice.with(world) { device async throws in
            for number in 1...25 { try device.put("tasks/t\(number)", "{}") }
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                return request.path?.hasSuffix("/batch") == true
                    ? Self.answer(413) : .failure(TransportError(.offline))
            }

            let outcome = try await device.sync()

            #expect(outcome.failure?.name == "offline")
            #expect(outcome.unsettled == 0)
            #expect(try failing(device) == [])
        }
    }

    @Test func `is no more of collections that a new model lacks`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", "{}")
        for number in 2...4 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            device.wire.tap(hiding("t1", 500))
            #expect(try await device.engine.sync(full: true).unsettled == 1)
            var model = SyncWorld.usualModel
            model.collections.removeAll { $0.name == "tasks" }

            try await Replica.open(
                at: device.replica.directory, model: model,
                dependencies: .seeded(9, clock: world.clock)
            ).close()

            #expect(try failing(device) == [])
        }
    }

    @Test func `is no list of a collection that a new model takes out of others' records`()
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device async throws in
            device.wire.tap { request, _, pass in
                let isBad = request.path?.contains("/tasks/records?") == true
                return isBad ? Self.answer(500) : await pass()
            }
            _ = try await device.sync()
            #expect(try failing(device).count == 1)
            let known = try #require(try device.replica.registration)
            var model = known.model
            model.collections[0].embeds = [EmbedRule("tasks", "tasks")]
            model.collections[1].lists = []

            try device.replica.register(ModelRegistration(model: model, remote: known.remote))

            #expect(try failing(device) == [])
            try device.verify()
        }
    }

    // MARK: Absent entities

    /// Lists that do not name a task, and a status for whoever asks for it.
    private func hiding(_ id: String, _ status: Int) -> SyncWire.Tap {
        { request, _, pass in
            if request.path?.hasSuffix("/tasks/records/\(id)") == true {
                return Self.answer(status, #"{"code":\#(status)}"#)
            }
            let answer = await pass()
            guard request.path?.contains("/tasks/records?") == true else { return answer }
            return answer.map { answer in
                guard let data = (try? JSONValue(parsing: answer.body))?["data"]?.array else {
                    return answer
                }
                let rest = data.filter { $0["id"]?.stringValue != id }
                let body = JSONValue.object(["data": .array(rest)]).encoded()
                return answer.with(body: String(decoding: body, as: UTF8.self))
            }
        }
    }

    @Test func `is taken for deleted when it may not be read, twice, and not before`()
        async throws
    {
        let world = SyncWorld()
        for number in 1...4 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for (status, isHere) in [
                (500, true), (403, true), (500, true), (403, true), (403, false),
            ] {
                device.wire.tap(hiding("t1", status))
                _ = try await device.engine.sync(full: status == 500)
                #expect(try (device.document("tasks/t1") != nil) == isHere, "\(status)")
            }
            #expect(try failing(device) == [])
            try device.verify()
        }
    }

    @Test func `is not absent any more when a list names it again`() async throws {
        let world = SyncWorld()
        for number in 1...4 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            device.wire.tap(hiding("t1", 403))
            #expect(try await device.engine.sync(full: true).unsettled == 1)
            device.wire.tap { request, _, pass in
                request.path?.hasSuffix("/tasks/records/t1") == true
                    ? Self.answer(403) : await pass()
            }

            #expect(try await device.engine.sync(full: true).isSynced)

            #expect(try failing(device) == [])
            #expect(try device.document("tasks/t1") == "{}")
            try device.verify()
        }
    }

    // MARK: Entities that a list only names

    @Test func `is fetched when a list names it again in another version`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...5 { world.rivalPuts("tasks/t\(number)", "{}") }
        let adapter = HookedAdapter(takesSeveral: false, onlyNames: true)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            try await device.sync()
            device.wire.tap(hiding("t1", 500))
            #expect(try await device.engine.sync(full: true).unsettled == 1)
            world.rivalPuts("tasks/t1", #"{"n":2}"#)
            device.wire.tap(nil)

            for isFull in [true, false] {
                #expect(try await device.engine.sync(full: isFull).isSynced)
                #expect(try device.document("tasks/t1") == #"{"n":2}"#)
            }
            #expect(try failing(device) == [])
            try device.verify()
        }
    }

    @Test func `is asked for by the name that the server gave it`() async throws {
        var model = Self.model(["tasks"])
        model.collections[0].ids = .serverText
        let world = SyncWorld(model: model)
        for number in 1...3 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        let adapter = HookedAdapter(takesSeveral: false, onlyNames: true)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            device.wire.tap { request, _, pass in
                request.path?.hasSuffix("/tasks/records/t2") == true
                    ? Self.answer(500) : await pass()
            }
            #expect(try await device.sync().unsettled == 1)
            #expect(try device.document("tasks/t1") == #"{"n":1}"#)
            device.wire.tap(nil)

            #expect(try await device.sync().isSynced)

            #expect(try device.document("tasks/t2") == #"{"n":2}"#)
            #expect(try failing(device) == [])
        }
    }

    // MARK: Read-backs

    @Test func `is settled by a record that is told to be deleted`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", "{}")
        let adapter = HookedAdapter(tellsDeleted: true)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            try await device.sync()
            try device.delete("tasks/t1")
            device.wire.tap { request, _, pass in
                let answer = await pass()
                return request.isWrite ? .failure(TransportError(.timeout)) : answer
            }
            _ = try await device.engine.sync(scope: .push)
            #expect(try device.outbox() == ["tasks/t1 unknown"])
            device.wire.tap(nil)

            #expect(try await device.engine.sync(scope: .push).counts.readBack == 1)

            #expect(try device.outbox() == [])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            try device.verify()
        }
    }
}
