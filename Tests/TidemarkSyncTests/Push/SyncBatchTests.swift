// SyncBatchTests.swift — several writes in one request, each with an outcome of its own.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `writes in batches` {
    private static let model = SyncModel(
        name: "todo", collections: SyncWorld.usualModel.collections)

    private func withEdits(
        count: Int, faults: [FaultRule] = [],
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld(model: Self.model, faults)
        try await SyncDevice.with(world) { device in
            for number in 0..<count { try device.put("tasks/t\(number)", #"{"n":\#(number)}"#) }
            try await body(world, device)
            try device.verify()
        }
    }

    /// Answers to a batch, with one of them changed.
    private static func tamper(
        _ answer: SyncWire.Answer, _ old: String, _ new: String
    ) -> SyncWire.Answer {
        answer.map { $0.with(body: $0.text.replacing(old, with: new, maxReplacements: 1)) }
    }

    @Test func `go as many at a time as the server takes`() async throws {
        try await withEdits(count: 60) { world, device async throws in
            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200", "POST  200", "POST  200"])
            #expect(world.record("tasks/t59") == #"{"n":59}"#)
            #expect(try device.mutations("tasks/t7") == ["accepted"])
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `each carry their own precondition, and say so in the log`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            try await device.sync()

            let sent = try device.events(after: .start).filter { $0.event.kind == .requestSent }
            let batch = try #require(sent.first { $0.event.asText.contains(#""writes":3"#) })
            let writes = sent.filter { $0.event.cause == batch.position }
            #expect(writes.map(\.event.entity) == ["t0", "t1", "t2"])
            #expect(writes.allSatisfy { $0.event.asText.contains(#""If-None-Match":"*""#) })
            let body = try #require(world.server.requestLog.last { $0.method == .post }?.body)
            #expect(
                String(decoding: body, as: UTF8.self).matches(of: /"If-None-Match":"\*"/).count == 3
            )
        }
    }

    @Test func `meet another's record alone, and the others are taken`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                if request.method == .post { world.rivalPuts("tasks/t1", #"{"m":1}"#) }
                return await pass()
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200", "PUT tasks/t1 = 200"])
            #expect(world.record("tasks/t1") == #"{"m":1,"n":1}"#)
            #expect(world.record("tasks/t2") == #"{"n":2}"#)
        }
    }

    @Test func `are all undecided when one of them is answered with 409`() async throws {
        try await withEdits(count: 4) { world, device async throws in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.method == .post else { return answer }
                return Self.tamper(answer, #""status":201"#, #""status":409"#)
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.unsettled == 4)
            #expect(try device.outbox() == (0..<4).map { "tasks/t\($0) unknown" })

            // What the server had done all the same is not done again, what it undid is.
            device.wire.tap(nil)
            world.rivalDeletes("tasks/t2")
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  200", "PUT tasks/t2 * 201"])
            #expect(try device.mutations("tasks/t2") == ["accepted"])
        }
    }

    @Test func `whose answer is lost are read back one by one, and none is sent twice`()
        async throws
    {
        let lost = FaultRule(.dropAfterHandling, method: .post, nth: 1)
        try await withEdits(count: 3, faults: [lost]) { world, device async throws in
            #expect(try await device.sync().unsettled == 3)
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) unknown" })

            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  lost"])
            #expect(try device.mutations("tasks/t2") == ["accepted"])
        }
    }

    @Test func `that never left are pending, and go again`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                request.method == .post ? .failure(TransportError(.offline)) : await pass()
            }
            #expect(try await device.sync().failure?.name == "offline")
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) pending" })

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  200"])
        }
    }

    @Test(arguments: [429, 503])
    func `that are turned away are pending, and the pause is kept`(_ status: Int) async throws {
        let busy = FaultRule(
            .answer(status: status, fields: [.retryAfter: "30"]), method: .post, nth: 1)
        try await withEdits(count: 3, faults: [busy]) { world, device async throws in
            #expect(try await device.sync().failure?.retryAfterSeconds == 30)
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) pending" })
            #expect(
                try await device.sync().failure == .tooManyRequests(retryAfterSeconds: 30))

            world.clock.advance(by: .seconds(30))
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  \(status)", "POST  200"])
        }
    }

    /// Answers to a batch, the first of which is that there are too many.
    private static func turningAway(_ answer: SyncWire.Answer) throws -> SyncWire.Answer {
        let answer = try answer.get()
        let parts = try #require(try JSON.arrayElements(of: answer.body, at: "responses"))
        let others = parts.dropFirst().map { String(decoding: answer.body[$0], as: UTF8.self) }
        let first = #"{"status":429,"headers":{"Retry-After":"30"},"body":{}}"#
        let list = ([first] + others).joined(separator: ",")
        return .success(answer.with(body: #"{"responses":[\#(list)]}"#))
    }

    @Test func `of which one is turned away keep the pause that its answer asks for`()
        async throws
    {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.method == .post else { return answer }
                world.rivalDeletes("tasks/t0")
                world.server.withModel { $0.purgeTombstones() }
                return try Self.turningAway(answer)
            }
            #expect(try await device.sync().failure?.retryAfterSeconds == 30)
            #expect(device.wire.problem == nil)
            #expect(try device.outbox() == ["tasks/t0 pending"])
            device.wire.tap(nil)
            // It is measured by the clock that nobody sets.
            world.clock.adjust(by: .seconds(-3600))
            let held = try await device.sync().failure
            #expect(held == .tooManyRequests(retryAfterSeconds: 30))

            world.clock.advance(by: .seconds(30))
            // The clock was set, so that the server's time is in doubt.
            let outcome = try await device.sync()
            #expect(outcome.failure == nil && outcome.pending == 0)
            #expect(world.writes == ["POST  200", "PUT tasks/t0 * 201"])
        }
    }

    @Test(arguments: [
        #"{"responses":[]}"#, #"{"responses":[{"status":201},{"status":201},{}]}"#, "{",
    ])
    func `with an answer that nobody understands are unknown`(_ body: String) async throws {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                return request.method == .post ? answer.map { $0.with(body: body) } : answer
            }
            #expect(try await device.sync().unsettled == 3)
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) unknown" })

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  200"])
        }
    }

    @Test func `are decided anew when one of their entities is edited before they are logged`()
        async throws
    {
        try await withEdits(count: 2) { world, device async throws in
            device.wire.tap { _, number, pass in
                // The last list before the push.
                if number == 2 { try device.patch("tasks/t0", #"{"n":100}"#) }
                return await pass()
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200"])
            #expect(world.record("tasks/t0") == #"{"n":100}"#)
            #expect(try device.mutations("tasks/t0") == ["accepted", "accepted"])
        }
    }

    @Test func `hold what refers to them back until they are there`() async throws {
        try await withEdits(count: 0) { world, device async throws in
            try device.put("tasks/child", #"{"parent":"mother"}"#)
            try device.put("tasks/mother", #"{}"#)
            try device.put("tasks/alone", #"{}"#)

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200", "PUT tasks/child * 201"])
        }
    }

    @Test func `do not mix deletions with the rest`() async throws {
        try await withEdits(count: 2) { world, device async throws in
            try await device.sync()
            world.server.clearRequestLog()
            try device.delete("tasks/t0")
            try device.delete("tasks/t1")
            try device.put("tasks/new", "{}")

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["PUT tasks/new * 201", "POST  200"])
            #expect(try device.mutations("tasks/t1") == ["accepted", "accepted"])
        }
    }
}

extension Event {
    fileprivate var asText: String { String(decoding: payload, as: UTF8.self) }
}
