// RedecideInputTests.swift — what a run was decided by is what it is decided by again: the log as
// it was then, its deadline, its remote, and the app's rules.

import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite(.serialized) struct `a run decided once more` {
    /// Decides a capsule once more: nothing differs.
    private func expectSame(_ capsule: Capsule, rules: [ConflictRule] = []) async throws {
        let report = try await decided(
            capsule, adapter: try SyncWorld.remote.makeAdapter(), rules: rules)
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        #expect(report.runs > 0)
    }

    @Test func `meets what the app took over from a database of its own as the log has it`()
        async throws
    {
        let capsule = try await SyncDevice.capsule { recording in
            recording.world.server.put("lists/a", #"{"title":"theirs"}"#)
            let old = ServerRecord(
                id: "a", revision: Revision("1"),
                document: Array(#"{"id":"a","title":"old"}"#.utf8))
            try await recording.replica.takeOver([old], of: "lists")
            try recording.patch("lists/a", #"{"title":"mine"}"#)
            try await recording.mustSync()
            #expect(try recording.replica.issues().map(\.kind) == [.conflict])
        }
        try await expectSame(capsule)
    }

    @Test(arguments: [SyncScope.all, .push])
    func `does not know of an edit that came after a write was decided`(
        _ scope: SyncScope
    ) async throws {
        var model = SyncWorld.usualModel
        // In one batch both would be sent.
        model.settings.batchSize = 25
        let world = SyncWorld(model: model)
        let (box, flag) = (SyncBox<Replica>(), SyncFlag())
        var dependencies = Dependencies.seeded(1, clock: world.clock)
        dependencies.reach = { place in
            guard place == .beforeAppend, flag.raise() else { return }
            do {
                try box.value?.write { tx in
                    try tx.create(EntityKey("tasks", "t2"), Array("{}".utf8))
                }
            } catch { Issue.record("the edit failed: \(error)") }
        }
        let device = try SyncDevice(
            of: world, over: SyncWire(world.server), model: model, dependencies: dependencies)
        box.value = device.replica
        defer { box.value = nil }
        try await device.lend { device in
            try device.create("tasks/t1", "{}")
            let outcome = try await device.sync(scope)
            #expect(outcome.failure == nil && outcome.pending == 0)
            let capsule = try await capsule(of: device.replica.journal)
            await device.engine.stop()

            let edit = try #require(capsule.last(.localCreated))
            let sent = try #require(capsule.last(.requestSent) { $0.entity == "t1" })
            let next = try #require(capsule.last(.requestSent) { $0.entity == "t2" })
            #expect(sent.position > edit.position)
            #expect(sent.event.asOf.map { $0 < edit.position } == true)
            #expect(next.event.asOf?.next == next.position)
            try await expectSame(capsule)
        }
    }

    @Test func `ends with a request that its deadline cut off`() async throws {
        let capsule = try await SyncDevice.capsule { device in
            let world = device.world
            try device.create("tasks/t1", "{}")
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                world.clock.advance(by: .seconds(20))
                return .failure(TransportError(.timeout, detail: "deadline"))
            }
            let outcome = try await device.engine.sync(.background, deadline: .seconds(20))
            #expect(outcome.failure == .deadline)
        }
        #expect(capsule.last(.requestFailed) != nil)
        try await expectSame(capsule)
    }

    @Test func `ends as it did, though an older engine did not say where it was cut off`()
        async throws
    {
        let capsule = try await SyncDevice.capsule { device in
            device.world.server.put("lists/a", "{}")
            device.fail(after: 1) { .failure(TransportError(.offline)) }
            let outcome = try await device.sync()
            #expect(outcome.failure?.name == "offline")
        }
        let end = try #require(capsule.last(.syncFinished))
        #expect(end.event.read(SyncFinished.self)?.cutAt == ["tasks"])
        try await expectSame(capsule)

        let older = capsule.changing(end.position) { $0.replace(#","cutAt":["tasks"]"#, "") }
        #expect(older != capsule)
        try await expectSame(older.withoutDigests)
    }

    @Test(
        arguments: [
            SyncFailure.offline("no token"), .timeout(""), .foreign("a page"), .malformed("{"),
            .server(status: 503, retryAfterSeconds: 30),
            .server(status: 500, retryAfterSeconds: nil), .tooManyRequests(retryAfterSeconds: 60),
            .tooManyRequests(retryAfterSeconds: nil), .client(status: 400, "with 5 (of 6)"),
            .client(status: 0, ""), .noProgress("no token"), .missing("an account"),
            .diskFull("no token"), .unauthorized, .forbidden, .apiDeprecated, .clientDeprecated,
        ], [0, 1])
    func `ends as the closure told that had no credentials, or no others`(
        _ failure: SyncFailure, after given: Int
    ) async throws {
        let capsule = try await SyncDevice.capsule { device in
            device.world.server.put("lists/a", "{}")
            device.fail(after: 1) {
                .success(TransportResponse(response: HTTPResponse(status: 401), body: []))
            }
            await device.engine.stop()
            let asked = SyncCounter()
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) {
                if asked.count() == given { throw failure }
                return .basic(user: "me", password: "secret")
            }
            #expect(try await engine.sync().failure == failure)
            #expect(asked.value == given + 1)
            await engine.stop()
        }
        try await expectSame(capsule)
    }

    @Test func `ends by its deadline beside a list that got no answer in its own time`()
        async throws
    {
        let model = SyncModel(
            name: "three", collections: ["a", "b", "c"].map { CollectionModel($0) },
            settings: SyncSettings(parallel: 3))
        let capsule = try await SyncDevice.capsule(model: model) { device in
            let world = device.world
            world.server.put("a/1", "{}")
            let hasFailed = SyncBox<Bool>()
            device.wire.tap { request, _, pass in
                let path = request.path ?? ""
                if path.contains("/b/records") {
                    hasFailed.value = true
                    return .failure(TransportError(.timeout, detail: "its own"))
                }
                if path.contains("/a/") {
                    // The answer to the first list comes second.
                    while hasFailed.value == nil { await Task.yield() }
                    return await pass()
                }
                while try !device.events().contains(where: { $0.1.kind == .requestFailed }) {
                    await Task.yield()
                }
                // The run may see that its time is over before this is answered, or by the answer.
                world.clock.advance(by: .seconds(20))
                return .failure(TransportError(.timeout, detail: "the run's"))
            }
            let outcome = try await device.engine.sync(.background, deadline: .seconds(20))
            #expect(outcome.failure == .deadline && outcome.failed.keys.sorted() == ["b"])
            #expect(device.wire.count == 3 && device.wire.problem == nil)
        }
        let failing = capsule.commits.flatMap(\.entries).compactMap {
            $0.event.read(RequestFailed.self)
        }.filter { $0.concern == .list }
        #expect(failing.map(\.detail) == ["its own"])
        try await expectSame(capsule)
    }

    @Test func `speaks to the server by the remote that was registered then`() async throws {
        let capsule = try await SyncDevice.capsule { device in
            device.world.server.put("lists/a", "{}")
            try await device.mustSync()
            await device.engine.stop()
            var remote = SyncWorld.remote
            remote.parameters["preconditions"] = "heeded"
            let engine = SyncDevice.engine(
                device.replica, device.wire, remote: remote, adapter: try remote.makeAdapter())
            device.world.server.put("lists/b", "{}")
            #expect(try await engine.sync().isSynced)
            await engine.stop()
        }
        let asked = SyncBox<[String?]>()

        let report = try await withScratch {
            try await redecide(
                capsule, adapter: try SyncWorld.remote.makeAdapter(),
                making: { remote in
                    asked.value = (asked.value ?? []) + [remote.parameters["preconditions"]]
                    return try remote.makeAdapter()
                }, scratch: $0)
        }

        #expect(report.divergence == nil && report.runs == 2)
        #expect(asked.value == [nil, "heeded"])
    }

    @Test func `is not decided where nobody knows the adapter of then`() async throws {
        let capsule = try await SyncDevice.capsule { device in
            device.world.server.put("lists/a", "{}")
            try await device.mustSync()
        }

        let report = try await withScratch {
            try await redecide(
                capsule, adapter: try SyncWorld.remote.makeAdapter(),
                making: { _ in throw ModelError("remote.adapter", "it is not known") },
                scratch: $0)
        }

        #expect(report.divergence == nil && report.runs == 0)
        #expect(report.notDecided.map(\.why) == ["remote.adapter: it is not known"])
    }

    /// A conflict that a rule of the app is to decide.
    private func conflict(_ rules: [ConflictRule]) async throws -> Capsule {
        var model = SyncWorld.usualModel
        model.collections[1].conflict = .custom("longest")
        return try await SyncDevice.capsule(model: model, rules: rules) { device in
            device.world.server.put("tasks/t1", #"{"title":"there"}"#)
            try await device.mustSync()
            try device.patch("tasks/t1", #"{"title":"mine"}"#)
            device.world.server.put("tasks/t1", #"{"title":"theirs"}"#)
            #expect(try await device.sync().failed["tasks"] != nil)
        }
    }

    @Test func `has a rule fail that failed, unless the app hands it over`() async throws {
        let failing = ConflictRule(name: "longest") { _ in throw CancellationError() }
        let capsule = try await conflict([failing])

        try await expectSame(capsule)
        try await expectSame(capsule, rules: [failing])
        let mended = ConflictRule(name: "longest") { _ in .local }
        let report = try await decided(
            capsule, adapter: try SyncWorld.remote.makeAdapter(), rules: [mended])
        #expect(report.divergence != nil)
    }

    @Test func `knows no rule that was not known`() async throws {
        let capsule = try await conflict([])

        try await expectSame(capsule)
        try await expectSame(capsule, rules: [ConflictRule(name: "longest") { _ in .local }])
    }
}

@Suite struct `a replay with the app's own model` {
    @Test func `decides what was registered with the defaults of the adapter`() async throws {
        var model = SyncWorld.usualModel
        for index in model.collections.indices { model.collections[index].lastChangeField = nil }
        let capsule = try await SyncDevice.capsule(model: model) { device in
            device.world.server.put("lists/a", #"{"title":"home"}"#)
            try await device.mustSync()
        }
        #expect(try capsule.lastRegistration()?.model != model)

        let reports = try await Replay(.capsule(capsule), model).run()

        #expect(reports.map(\.mode) == [.fold, .redecide])
        #expect(reports.last?.runs == 1 && reports.first?.notes == [])
        var other = model
        other.collections[0].conflict = .localWins
        let changed = try await Replay(.capsule(capsule), other).reports()
        #expect(changed.count == 1 && changed[0].notes.count == 2)
    }
}
