// SyncConflictTests.swift — two sides that change the same, and edits while a push is on its way.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `conflicts` {
    /// A device that has `{"title":"old","n":1}`, changes the title, and meets what `rival` does
    /// between its pull and its push.
    private func meet(
        _ key: String, _ rival: @escaping @Sendable (SyncWorld) -> Void,
        _ body: (SyncWorld, SyncDevice, SyncOutcome) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        world.rivalPuts(key, #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(key, #"{"title":"mine"}"#)
            world.server.clearRequestLog()
            let isFirst = SyncFlag()
            device.wire.tap { request, _, pass in
                if request.isWrite, isFirst.raise() { rival(world) }
                return await pass()
            }
            let outcome = try await device.sync()
            try await body(world, device, outcome)
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `the server wins where the collection says so`() async throws {
        try await meet("lists/a", { $0.rivalPuts("lists/a", #"{"title":"theirs","n":2}"#) }) {
            world, device, outcome in
            #expect(outcome.counts.conflicts == 1 && outcome.isSynced)
            #expect(world.writes == ["PUT lists/a = 412"])
            #expect(try device.mutations("lists/a") == ["superseded"])
            #expect(try device.decisions() == ["lists/a serverWins title"])
            #expect(try device.document("lists/a") == #"{"title":"theirs","n":2}"#)
            try device.verify()
        }
    }

    @Test func `the local side wins where the collection says so, and keeps the other fields`()
        async throws
    {
        try await meet("tasks/a", { $0.rivalPuts("tasks/a", #"{"title":"theirs","n":2}"#) }) {
            world, device, outcome in
            #expect(outcome.counts.conflicts == 1 && outcome.isSynced)
            #expect(world.writes == ["PUT tasks/a = 412", "PUT tasks/a = 200"])
            #expect(try device.mutations("tasks/a") == ["accepted"])
            #expect(try device.decisions() == ["tasks/a localWins title"])
            #expect(world.record("tasks/a") == #"{"title":"mine","n":2}"#)
            #expect(try device.document("tasks/a") == #"{"title":"mine","n":2}"#)
            try device.verify()
        }
    }

    @Test(arguments: ["lists/a", "tasks/a"])
    func `other fields are no conflict`(_ key: String) async throws {
        try await meet(key, { $0.rivalPuts(key, #"{"title":"old","n":2}"#) }) {
            world, device, outcome in
            #expect(outcome.isSynced)
            #expect(world.writes == ["PUT \(key) = 412", "PUT \(key) = 200"])
            #expect(try device.mutations(key) == ["accepted"])
            #expect(try device.decisions() == [])
            #expect(world.record(key) == #"{"title":"mine","n":2}"#)
            try device.verify()
        }
    }

    @Test(arguments: ["lists/a", "tasks/a"])
    func `the same change on both sides is no conflict, and nothing is sent`(_ key: String)
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts(key, #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(key, #"{"title":"same"}"#)
            world.rivalPuts(key, #"{"title":"same","n":1}"#)

            #expect(try await device.sync().isSynced)

            #expect(world.writes == [])
            #expect(try device.mutations(key) == ["merged"])
            #expect(try device.decisions() == [])
        }
    }

    @Test(arguments: [412, 200])
    func `what fails again and again, as the server says, is refused in one run`(_ status: Int)
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("tasks/a", #"{"title":"old"}"#)
        let met = Array(#"{"met":true}"#.utf8)
        try await SyncDevice.with(world, adapter: HookedAdapter(metBody: met)) { device in
            try await device.sync()
            try device.patch("tasks/a", #"{"title":"mine"}"#)
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                let head = HTTPResponse(status: .init(code: status))
                return .success(TransportResponse(response: head, body: met))
            }

            let outcome = try await device.sync()

            #expect(outcome.counts.conflicts == 3 && outcome.counts.rejected == 1)
            #expect(outcome.unsettled == 0)
            #expect(try device.outbox() == ["tasks/a rejected"])
            let message = try #require(try device.replica.issues().first?.message)
            #expect(message.contains("its precondition fails"))
            try device.verify()
        }
    }

    @Test func `a deletion on the server wins where the collection says so`() async throws {
        try await meet("lists/a", { $0.rivalDeletes("lists/a") }) { world, device, outcome in
            #expect(world.writes == ["PUT lists/a = 412"])
            #expect(try device.mutations("lists/a") == ["superseded"])
            #expect(try device.decisions() == ["lists/a serverWins"])
            #expect(try device.document("lists/a") == nil)
            #expect(world.record("lists/a") == nil)
            try device.verify()
        }
    }

    @Test func `what was deleted on the server comes back whole where the local side wins`()
        async throws
    {
        try await meet("tasks/a", { $0.rivalDeletes("tasks/a") }) { world, device, outcome in
            #expect(outcome.isSynced)
            #expect(world.writes == ["PUT tasks/a = 412", "PUT tasks/a * 201"])
            #expect(try device.mutations("tasks/a") == ["accepted"])
            #expect(try device.decisions() == ["tasks/a localWins"])
            #expect(world.record("tasks/a") == #"{"title":"mine","n":1}"#)
            #expect(try device.document("tasks/a") == #"{"title":"mine","n":1}"#)
            try device.verify()
        }
    }

    @Test func `the same id made on both sides is decided field by field`() async throws {
        for (key, title, outcome) in [
            ("lists/a", "theirs", "superseded"), ("tasks/a", "mine", "accepted"),
        ] {
            let world = SyncWorld()
            try await SyncDevice.with(world) { device in
                try device.put(key, #"{"title":"mine"}"#)
                world.rivalPuts(key, #"{"title":"theirs","n":2}"#)

                #expect(try await device.sync().isSynced)

                #expect(world.record(key) == #"{"title":"\#(title)","n":2}"#)
                #expect(try device.document(key) == #"{"title":"\#(title)","n":2}"#)
                #expect(try device.mutations(key) == [outcome])
            }
        }
    }

    @Test func `a deletion that meets a change is decided by the policy`() async throws {
        for (key, isGone) in [("lists/a", false), ("tasks/a", true)] {
            let world = SyncWorld()
            world.rivalPuts(key, #"{"n":1}"#)
            try await SyncDevice.with(world) { device in
                try await device.sync()
                try device.delete(key)
                world.rivalPuts(key, #"{"n":2}"#)

                #expect(try await device.sync().isSynced)

                #expect(world.record(key) == (isGone ? nil : #"{"n":2}"#))
                #expect(try device.document(key) == (isGone ? nil : #"{"n":2}"#))
                #expect(try device.mutations(key) == [isGone ? "accepted" : "superseded"])
            }
        }
    }

    @Test func `a fight over one entity ends, and goes on with the next run`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/a", #"{"n":0}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("tasks/a", #"{"n":-1}"#)
            try device.put("tasks/b", #"{"n":0}"#)
            device.wire.tap { request, number, pass in
                if request.isWrite, request.path?.hasSuffix("/a") == true {
                    world.rivalPuts("tasks/a", #"{"n":\#(number)}"#)
                }
                return await pass()
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && !outcome.isSynced)
            #expect(outcome.counts.conflicts == SyncMachine.conflictsPerEntityMax)
            #expect(outcome.pending == 1)
            #expect(
                world.writes.filter { $0 == "PUT tasks/a = 412" }.count
                    == SyncMachine.conflictsPerEntityMax)
            #expect(try device.status("tasks/b") == .synced)
            #expect(try device.document("tasks/a") == #"{"n":-1}"#)
            try device.verify()

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(world.record("tasks/a") == #"{"n":-1}"#)
        }
    }
}

@Suite(.serialized) struct `an edit while its entity is being pushed` {
    /// Does `edit` while the first write is on its way; the server keeps `stored` of it.
    private func edit(
        _ edit: @escaping @Sendable (SyncDevice) throws -> Void, storing stored: String? = nil,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":" tea "}"#)
            let isFirst = SyncFlag()
            device.wire.tap { request, _, pass in
                guard request.isWrite, isFirst.raise() else { return await pass() }
                try edit(device)
                let answer = await pass()
                guard let stored else { return answer }
                world.rivalPuts("tasks/t1", stored)
                let now = world.server.request(.get, request.path ?? "")
                return answer.map { $0.with(body: now.text) }
            }

            #expect(try await device.sync().isSynced)

            #expect(device.wire.problem == nil)
            try await body(world, device)
            #expect(try device.document("tasks/t1") == (world.record("tasks/t1")))
            #expect(try device.decisions() == [])
            try device.verify()
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `survives and is sent next`() async throws {
        try await edit({ try $0.patch("tasks/t1", #"{"title":"milk"}"#) }) { world, device in
            #expect(world.record("tasks/t1") == #"{"title":"milk"}"#)
            #expect(world.writes == ["PUT tasks/t1 * 201", "PUT tasks/t1 = 200"])
            #expect(try device.mutations("tasks/t1") == ["accepted", "accepted"])
            try device.verify()
        }
    }

    @Test func `survives when the server keeps another value of the same field`() async throws {
        try await edit(
            { try $0.patch("tasks/t1", #"{"title":"milk"}"#) }, storing: #"{"title":"tea"}"#
        ) { world, device in
            #expect(world.record("tasks/t1") == #"{"title":"milk"}"#)
            #expect(try device.mutations("tasks/t1") == ["accepted", "accepted"])
            try device.verify()
        }
    }

    @Test func `of another field leaves the server's value alone`() async throws {
        try await edit(
            { try $0.patch("tasks/t1", #"{"done":true}"#) },
            storing: #"{"title":"tea","by":"server"}"#
        ) { world, device in
            #expect(
                world.record("tasks/t1") == #"{"title":"tea","by":"server","done":true}"#)
            try device.verify()
        }
    }

    @Test func `back to what the server has is sent all the same`() async throws {
        try await edit(
            { try $0.patch("tasks/t1", #"{"title":"tea"}"#) }, storing: #"{"title":"tea"}"#
        ) { world, device in
            #expect(world.record("tasks/t1") == #"{"title":"tea"}"#)
            #expect(try device.outbox() == [])
            try device.verify()
        }
    }

    @Test func `that deletes it deletes what is being made`() async throws {
        try await edit({ try $0.delete("tasks/t1") }) { world, device in
            #expect(world.record("tasks/t1") == nil)
            #expect(world.writes == ["PUT tasks/t1 * 201", "DELETE tasks/t1 = 200"])
            #expect(try device.mutations("tasks/t1") == ["accepted", "accepted"])
            try device.verify()
        }
    }

    @Test func `that gives it up keeps what the server took`() async throws {
        try await edit({ try $0.discard("tasks/t1") }) { world, device in
            #expect(try device.document("tasks/t1") == #"{"title":" tea "}"#)
            #expect(try device.status("tasks/t1") == .synced)
            #expect(try device.mutations("tasks/t1") == ["discarded"])
            try device.verify()
        }
    }
}
