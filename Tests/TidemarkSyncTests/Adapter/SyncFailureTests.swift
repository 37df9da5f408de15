// SyncFailureTests.swift — a network and a server that fail, and a server that asks for a pause.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `failures` {
    /// What happens on the wire, what a run makes of it, and how a write stands afterwards.
    struct Case: Sendable, CustomTestStringConvertible {
        enum Happening: Sendable {
            case broken(TransportError.Code)
            case status(Int, retryAfter: String? = nil, body: String = "<html>")
        }
        var happening: Happening
        var failure: SyncFailure
        var write: String

        init(_ happening: Happening, _ failure: SyncFailure, _ write: String) {
            (self.happening, self.failure, self.write) = (happening, failure, write)
        }

        var testDescription: String { "\(happening)" }

        var answer: SyncWire.Answer {
            switch happening {
            case .broken(let code): return .failure(TransportError(code, detail: "so"))
            case .status(let status, let retryAfter, let body):
                var fields: HTTPFields = [:]
                fields[.retryAfter] = retryAfter
                return .success(
                    TransportResponse(
                        response: HTTPResponse(
                            status: HTTPResponse.Status(code: status), headerFields: fields),
                        body: Array(body.utf8)))
            }
        }

        /// Whether the run ends at once: it is true of all that could be asked.
        var endsRun: Bool { failure.stopsRun }
        /// Whether the run ends with the second one.
        var isForeign: Bool { failure.name == "foreign" }

        /// Failures that are no entity's and no collection's for what they are.
        static let all = [
            Case(.broken(.offline), .offline("so"), "pending"),
            Case(.broken(.timeout), .timeout("so"), "unknown"),
            Case(.broken(.connectionLost), .timeout("so"), "unknown"),
            Case(.broken(.cancelled), .cancelled, "unknown"),
            Case(.status(500), .server(status: 500, retryAfterSeconds: nil), "unknown"),
            Case(.status(502), .server(status: 502, retryAfterSeconds: nil), "unknown"),
            Case(.status(504), .server(status: 504, retryAfterSeconds: nil), "unknown"),
            Case(
                .status(503, retryAfter: "7"), .server(status: 503, retryAfterSeconds: 7),
                "pending"),
            Case(
                .status(429, retryAfter: "7"), .tooManyRequests(retryAfterSeconds: 7), "pending"),
            Case(.status(429), .tooManyRequests(retryAfterSeconds: nil), "pending"),
            Case(
                .status(409, retryAfter: "7"), .server(status: 409, retryAfterSeconds: 7),
                "pending"),
            Case(.status(410), .apiDeprecated, "pending"),
            Case(
                .broken(.redirectRefused), .foreign("a redirect that is not followed: so"),
                "unknown"),
            Case(.status(302), .foreign("status 302"), "unknown"),
            Case(.status(200), .foreign("200 without a JSON object in it"), "unknown"),
            Case(.status(404), .foreign("404 without a JSON object in it"), "pending"),
        ]
    }

    /// Failures that are one collection's.
    static let malformed = [
        Case(
            .broken(.tooLarge),
            .malformed(
                "an answer that is too large; of a list, let the model's pageSize be smaller"),
            "unknown")
    ]

    @Test(arguments: malformed)
    func `that nobody understands are their collection's own, and the others go on`(_ it: Case)
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("lists/a", "{}")
            try device.put("tasks/t1", "{}")
            device.wire.tap { request, _, pass in
                request.path?.contains("/lists/") == true ? it.answer : await pass()
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.failed == ["lists": it.failure])
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(try device.outbox() == ["lists/a unknown"])
            try device.verify()
        }
    }

    @Test(arguments: malformed)
    func `that nobody understands leave a write unknown, until it is read back`(_ it: Case)
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            device.wire.tap { request, _, pass in
                let answer = await pass()
                return request.isWrite ? it.answer : answer
            }

            #expect(try await device.sync().unsettled == 1)
            #expect(try device.outbox() == ["tasks/t1 unknown"])

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            try device.verify()
        }
    }

    @Test(arguments: Case.all)
    func `on everything end the run, at once or when three calls in a row met them`(_ it: Case)
        async throws
    {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/t1", "{}")
            device.wire.tap { _, _, _ in it.answer }

            let outcome = try await device.sync()

            #expect(outcome.failure == it.failure)
            #expect(outcome.pending == 1 && !outcome.isSynced)
            #expect(device.wire.count == (it.endsRun ? 1 : it.isForeign ? 2 : 3))
            let isSent = !it.endsRun && !it.isForeign
            #expect(try device.outbox() == ["tasks/t1 \(isSent ? it.write : "pending")"])
            try device.verify()
        }
    }

    @Test(arguments: Case.all)
    func `on a write are its own, and it is unknown only when it may have arrived`(_ it: Case)
        async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"tea"}"#)
            try device.put("tasks/t2", "{}")
            device.wire.tap { request, _, pass in request.isWrite ? it.answer : await pass() }

            let outcome = try await device.sync()

            // Two pages in a row say that somebody else answers.
            #expect(outcome.failure == (it.endsRun || it.isForeign ? it.failure : nil))
            #expect(device.wire.count == (it.endsRun ? 3 : 4))
            let other = it.endsRun ? "pending" : it.write
            #expect(try device.outbox() == ["tasks/t1 \(it.write)", "tasks/t2 \(other)"])
            try device.verify()

            device.wire.tap(nil)
            world.clock.advance(by: .seconds(8))
            #expect(try await device.sync().isSynced)
            // What was sent in vain goes after what was not.
            let order = it.endsRun ? ["t2", "t1"] : ["t1", "t2"]
            #expect(world.writes == order.map { "PUT tasks/\($0) * 201" })
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            try device.verify()
        }
    }

    @Test(arguments: Case.all)
    func `on a read-back leave the write unknown`(_ it: Case) async throws {
        let world = SyncWorld([FaultRule(.dropAfterHandling, method: .put, nth: 1)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            try await device.sync()
            device.wire.tap { _, _, _ in it.answer }

            let outcome = try await device.sync()

            #expect(outcome.failure == (it.endsRun || it.isForeign ? it.failure : nil))
            #expect(try device.outbox() == ["tasks/t1 unknown"])
            #expect(device.wire.count == (it.endsRun ? 1 : 3))
            try device.verify()
        }
    }

    @Test func `keep the body of the answer in the log`() async throws {
        try await SyncDevice.with(SyncWorld([FaultRule(.answer(status: 500))])) { device in
            try await device.sync()

            let answer = try #require(
                try device.events().first { $0.event.kind == .requestAnswered })
            let payload = try JSONDocument(parsing: answer.event.payload)
            #expect(payload.value("status")?.int64Value == 500)
            #expect(payload.value("failure")?.stringValue == "server")
            #expect(payload.value("body")?["errno"]?.int64Value == 999)
        }
    }

    @Test(arguments: [.get, .put] as [HTTPRequest.Method])
    func `keep a long body beside the log, whole and once`(_ method: HTTPRequest.Method)
        async throws
    {
        let long = Array(String(repeating: "<p>the gateway is down</p>", count: 20_000).utf8)
        let fault = FaultAction.answer(status: 502, body: long)
        let world = SyncWorld([FaultRule(fault, method: method, occurrences: 1...2)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            for _ in 1...2 { try await device.sync() }

            let answers = try device.events().filter {
                $0.event.kind == .requestAnswered && $0.event.namedBody != nil
            }
            #expect(answers.count == 2)
            for answer in answers {
                let payload = try JSONDocument(parsing: answer.event.payload)
                #expect(payload.value("bodyBytes")?.int64Value == Int64(long.count))
                #expect(payload.value("bodyText") == nil)
                let shown = try #require(try device.replica.journal.show(answer.position))
                #expect(shown.body == long)
                let lines = EventLine.verbose(answer.position, shown.event, body: shown.body)
                let body = "  body        \(long.count) bytes: <p>the gateway"
                #expect(lines.contains { $0.hasPrefix(body) })
            }
            let journal = device.replica.journal
            let records = try journal.environment.read { try $0.count(journal.log.bodies) }
            #expect(records == 1)
            try device.verify()
        }
    }

    @Test func `say whether waiting may mend them`() {
        let transient = Case.all.filter(\.failure.isTransient).map(\.failure.name)

        #expect(Set(transient) == ["offline", "timeout", "server", "tooManyRequests", "foreign"])
        #expect(!SyncFailure.unauthorized.isTransient && !SyncFailure.forbidden.isTransient)
    }
}

@Suite(.serialized) struct `a pause that the server asks for` {
    /// A device that was told to wait for half a minute.
    private func pause(
        status: Int, method: HTTPRequest.Method,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let fault = FaultAction.answer(status: status, fields: [.retryAfter: "30"])
        let world = SyncWorld([FaultRule(fault, method: method, nth: 1)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            #expect(try await device.sync().failure?.retryAfterSeconds == 30)
            world.server.clearRequestLog()
            try await body(world, device)
        }
    }

    @Test(arguments: [429, 503], [HTTPRequest.Method.get, .put])
    func `is kept to the second, then everything goes on`(
        _ status: Int, _ method: HTTPRequest.Method
    ) async throws {
        try await pause(status: status, method: method) { world, device in
            for left in [30, 20, 10] as [Int64] {
                #expect(
                    try await device.sync().failure
                        == .tooManyRequests(retryAfterSeconds: left))
                world.clock.advance(by: .seconds(left == 10 ? 9 : 10))
            }
            world.clock.advance(by: .milliseconds(999))
            #expect(
                try await device.sync().failure == .tooManyRequests(retryAfterSeconds: 1))
            #expect(world.requests == [])

            world.clock.advance(by: .milliseconds(1))
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["PUT tasks/t1 * 201"])
            try device.verify()
        }
    }

    @Test func `is kept after the store was closed and opened again`() async throws {
        let fault = FaultAction.tooManyRequests(retryAfterSeconds: 30)
        let world = SyncWorld([FaultRule(fault, nth: 1)])
        let doors = Dependencies.seeded(1, clock: world.clock)
        let adapter = try SyncWorld.remote.makeAdapter()
        let replica = try Replica.temporary(
            model: world.model, remote: SyncWorld.remote, dependencies: doors)
        _ = try await SyncDevice.engine(replica, world.server, adapter: adapter).sync()
        try await replica.close()
        #expect(world.server.requestLog.count == 1)

        let reopened = try await Replica.open(existing: replica.directory, dependencies: doors)
        let engine = SyncDevice.engine(reopened, world.server, adapter: adapter)
        world.clock.advance(by: .seconds(29))
        #expect(try await engine.sync().failure == .tooManyRequests(retryAfterSeconds: 1))
        #expect(world.server.requestLog.count == 1)

        world.clock.advance(by: .seconds(1))
        #expect(try await engine.sync().isSynced)
        try reopened.deleteTemporary()
    }

    @Test func `does not last for ever when the clock is set back`() async throws {
        try await pause(status: 429, method: .get) { world, device in
            world.clock.advance(by: .seconds(-3600))
            let outcome = try await device.sync()

            #expect(outcome.isSynced)
        }
    }

    @Test func `does not keep edits from being made`() async throws {
        try await pause(status: 429, method: .get) { world, device in
            try device.patch("tasks/t1", #"{"title":"tea"}"#)

            #expect(try await device.sync().pending == 2)
            #expect(try device.document("tasks/t1") == #"{"title":"tea"}"#)
        }
    }
}
