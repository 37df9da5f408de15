// SyncUnknownTests.swift — writes that were sent and never answered.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a write without an answer` {
    enum What: String, CaseIterable {
        case create, update, delete

        var method: HTTPRequest.Method { self == .delete ? .delete : .put }
        var line: String {
            switch self {
            case .create: "PUT tasks/t1 *"
            case .update: "PUT tasks/t1 ="
            case .delete: "DELETE tasks/t1 ="
            }
        }
        var result: String? { self == .delete ? nil : #"{"title":"mine"}"# }
    }

    /// A device whose first push of `what` got no answer.
    private func lose(
        _ what: What, key: String = "tasks/t1", _ action: FaultAction,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            if what != .create {
                world.rivalPuts(key, #"{"title":"old"}"#)
                try await device.sync()
            }
            switch what {
            case .create, .update: try device.put(key, #"{"title":"mine"}"#)
            case .delete: try device.delete(key)
            }
            world.server.faults = FaultPlan([FaultRule(action, method: what.method, nth: 1)])
            world.server.clearRequestLog()

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.pending == 1 && outcome.unsettled == 1)
            #expect(try device.outbox() == ["\(key) unknown"])
            #expect(try device.status(key) == .uploading)
            try await body(world, device)
            try device.verify()
        }
    }

    @Test(arguments: What.allCases)
    func `is read back by the next run, and not sent again when it had arrived`(_ what: What)
        async throws
    {
        try await lose(what, .dropAfterHandling) { world, device in
            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.readBack == 1)
            #expect(world.writes == ["\(what.line) lost"])
            #expect(
                world.requests.filter { $0.hasPrefix("GET tasks/t1") }
                    == ["GET tasks/t1 \(what == .delete ? 404 : 200)"])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            #expect(try device.document("tasks/t1") == what.result)
            #expect(try device.status("tasks/t1") == (what == .delete ? nil : .synced))
            #expect(try device.decisions() == [])
        }
    }

    @Test(arguments: What.allCases)
    func `is read back by the next run, and sent again once when it had not`(_ what: What)
        async throws
    {
        try await lose(what, .dropBeforeHandling) { world, device in
            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.readBack == 1)
            let status = ["create": 201][what.rawValue] ?? 200
            #expect(world.writes == ["\(what.line) lost", "\(what.line) \(status)"])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            #expect(try device.document("tasks/t1") == what.result)
            #expect(world.record("tasks/t1") == what.result)
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test(arguments: What.allCases)
    func `stays unknown while the server can't be asked`(_ what: What) async throws {
        try await lose(what, .dropAfterHandling) { world, device in
            world.server.faults = FaultPlan([FaultRule(.answer(status: 503))])

            for _ in 1...2 {
                #expect(try await device.sync().failure?.name == "server")
                #expect(try device.outbox() == ["tasks/t1 unknown"])
            }

            world.server.faults = FaultPlan()
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["\(what.line) lost"])
            try device.verify()
        }
    }

    @Test(arguments: [FaultAction.dropBeforeHandling, .dropAfterHandling])
    func `is decided by the policy when the read finds another value`(_ action: FaultAction)
        async throws
    {
        for (key, title, outcome) in [
            ("lists/a", "theirs", "superseded"), ("tasks/a", "mine", "accepted"),
        ] {
            try await lose(.update, key: key, action) { world, device in
                world.rivalPuts(key, #"{"title":"theirs","n":2}"#)

                #expect(try await device.sync().isSynced)

                #expect(world.record(key) == #"{"title":"\#(title)","n":2}"#)
                #expect(try device.document(key) == #"{"title":"\#(title)","n":2}"#)
                #expect(try device.mutations(key) == [outcome])
                #expect(try device.decisions().count == 1)
                try device.verify()
            }
        }
    }

    @Test func `is found in what was edited on top of it`() async throws {
        for key in ["lists/a", "tasks/a"] {
            try await lose(.create, key: key, .dropAfterHandling) { world, device in
                try device.patch(key, #"{"title":"later"}"#)
                try device.patch(key, #"{"n":1}"#)

                #expect(try await device.sync().isSynced)

                #expect(world.writes == ["PUT \(key) * lost", "PUT \(key) = 200"])
                #expect(world.record(key) == #"{"title":"later","n":1}"#)
                #expect(try device.mutations(key) == ["accepted", "accepted", "accepted"])
                #expect(try device.decisions() == [])
            }
        }
    }

    @Test func `can be given up: what the server took comes with the next pull`() async throws {
        try await lose(.create, .dropAfterHandling) { world, device in
            try device.discard("tasks/t1")
            #expect(try device.document("tasks/t1") == nil)

            #expect(try await device.sync().isSynced)

            #expect(try device.mutations("tasks/t1") == ["discarded"])
            #expect(try device.document("tasks/t1") == #"{"title":"mine"}"#)
            #expect(try device.status("tasks/t1") == .synced)
            #expect(world.writes == ["PUT tasks/t1 * lost"])
        }
    }

    @Test(arguments: What.allCases)
    func `can be given up: nothing is left of what the server never got`(_ what: What)
        async throws
    {
        try await lose(what, .dropBeforeHandling) { world, device in
            try device.discard("tasks/t1")

            #expect(try await device.sync().isSynced)

            let old = what == .create ? nil : #"{"title":"old"}"#
            #expect(try device.mutations("tasks/t1") == ["discarded"])
            #expect(try device.document("tasks/t1") == old)
            #expect(try device.status("tasks/t1") == (what == .create ? nil : .synced))
            #expect(world.writes == ["\(what.line) lost"])

            try device.put("tasks/t1", #"{"title":"again"}"#)
            #expect(try await device.sync().isSynced)
            #expect(world.record("tasks/t1") == #"{"title":"again"}"#)
        }
    }

    @Test func `that made what was deleted since is deleted on the server in the end`()
        async throws
    {
        for key in ["lists/a", "tasks/a"] {
            try await lose(.create, key: key, .dropAfterHandling) { world, device in
                try device.delete(key)
                #expect(try device.outbox() == ["\(key) unknown", "\(key) pending"])

                #expect(try await device.sync().isSynced)

                #expect(world.record(key) == nil)
                #expect(world.writes == ["PUT \(key) * lost", "DELETE \(key) = 200"])
                #expect(try device.mutations(key) == ["accepted", "accepted"])
                #expect(try device.document(key) == nil)
            }
        }
    }

    @Test func `that never arrived and was deleted since leaves nothing to send`() async throws {
        try await lose(.create, .dropBeforeHandling) { world, device in
            try device.delete("tasks/t1")

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["PUT tasks/t1 * lost"])
            #expect(try device.mutations("tasks/t1") == ["annihilated", "annihilated"])
            #expect(try device.status("tasks/t1") == nil)
        }
    }

    @Test func `is over where a page of 404 answers it, and it was deleted since`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            device.wire.tap { request, _, pass in
                guard request.method == .put else { return await pass() }
                try device.delete("tasks/t1")
                let page = Array("<html>not here</html>".utf8)
                return .success(TransportResponse(response: HTTPResponse(status: 404), body: page))
            }
            _ = try await device.engine.sync()
            device.wire.tap(nil)

            _ = try await device.engine.sync()

            #expect(try device.outbox() == [])
            #expect(world.record("tasks/t1") == nil)
            try device.verify()
        }
    }

    @Test func `that was read back as missing and arrives late is found all the same`()
        async throws
    {
        try await lose(.create, .dropBeforeHandling) { world, device in
            device.wire.tap { request, _, pass in
                // The lost request reaches the server only now.
                if request.isWrite { world.rivalPuts("tasks/t1", #"{"title":"mine"}"#) }
                return await pass()
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["PUT tasks/t1 * lost", "PUT tasks/t1 * 412"])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            #expect(try device.decisions() == [])
            try device.verify()
        }
    }

    @Test func `holds back what depends on it until it is known`() async throws {
        try await lose(.create, key: "lists/a", .dropBeforeHandling) { world, device in
            try device.put("tasks/t1", #"{"list":"a"}"#)

            #expect(try await device.sync().isSynced)

            #expect(
                world.writes == ["PUT lists/a * lost", "PUT lists/a * 201", "PUT tasks/t1 * 201"])
        }
    }
}

@Suite(.serialized) struct `what was made and deleted before anything was sent` {
    @Test func `is not sent at all`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try device.patch("tasks/t1", #"{"title":"milk"}"#)
            try device.delete("tasks/t1")

            #expect(try device.outbox() == [])
            #expect(try await device.sync().isSynced)

            #expect(world.writes == [])
            #expect(
                try device.mutations("tasks/t1") == ["annihilated", "annihilated", "annihilated"])
            #expect(try device.status("tasks/t1") == nil)
            try device.verify()
        }
    }

    @Test func `can be made again`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try device.delete("tasks/t1")
            try device.put("tasks/t1", #"{"title":"milk"}"#)

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(world.record("tasks/t1") == #"{"title":"milk"}"#)
        }
    }
}
