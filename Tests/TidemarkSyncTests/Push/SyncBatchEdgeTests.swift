// SyncBatchEdgeTests.swift — batches that are refused as a whole, undone in part, or overtaken
// while they are made.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a batch` {
    private func withEdits(
        count: Int, faults: [FaultRule] = [], adapter: (any ServerAdapter)? = nil,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let model = SyncModel(name: "todo", collections: SyncWorld.usualModel.collections)
        let world = SyncWorld(model: model, faults)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            for number in 0..<count { try device.put("tasks/t\(number)", #"{"n":\#(number)}"#) }
            try await body(world, device)
            try device.verify()
        }
    }

    private static let oneByOne = (0..<3).map { "PUT tasks/t\($0) * 201" }

    @Test(arguments: [400, 404, 413])
    func `that is refused as a whole is sent one by one`(_ status: Int) async throws {
        let refused = FaultRule(.answer(status: status), method: .post)
        try await withEdits(count: 3, faults: [refused]) { world, device async throws in
            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  \(status)"] + Self.oneByOne)
            #expect(try device.mutations("tasks/t1") == ["accepted"])
        }
    }

    @Test func `too large for a machine in between is sent one by one`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                guard request.method == .post else { return await pass() }
                let answer = TransportResponse(
                    response: HTTPResponse(status: 413), body: Array("<html>413</html>".utf8))
                return .success(answer)
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == Self.oneByOne)
        }
    }

    @Test func `with too few answers is undecided, and none of its writes is sent twice`()
        async throws
    {
        let adapter = HookedAdapter(answersTooFew: true)
        try await withEdits(count: 3, adapter: adapter) { world, device async throws in
            let outcome = try await device.sync()
            #expect(outcome.failure == nil && outcome.unsettled == 3)
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) unknown" })
            let answers = try device.events(after: .start).map(\.event).filter {
                $0.kind == .requestAnswered
            }
            let texts = answers.map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(texts.contains { $0.contains(#""failure":"malformed""#) })

            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["POST  200"])
        }
    }

    @Test func `of which the server promises a part has that asked for, and not sent again`()
        async throws
    {
        let adapter = HookedAdapter(promised: ["t1"])
        try await withEdits(count: 3, adapter: adapter) { world, device async throws in
            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200"])
            #expect(try device.mutations("tasks/t1") == ["accepted"])
            let promises = try device.events(after: .start).map(\.event).filter {
                $0.kind == .pushDeferred
            }
            #expect(promises.map(\.key) == [EntityKey("tasks", "t1")])
            #expect(try await device.sync().counts.readBack == 0)
        }
    }

    @Test func `of which no request can be made is not held against its entities`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                request.method == .post ? .failure(TransportError(.invalidRequest)) : await pass()
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == Self.oneByOne)
        }
    }

    @Test(arguments: [500, 503])
    func `in which the server failed once is undecided, since it may be undone`(_ status: Int)
        async throws
    {
        try await withEdits(count: 3) { world, device async throws in
            device.wire.tap { request, _, pass in
                let answer = await pass()
                guard request.method == .post else { return answer }
                // The last one fails, and the server's transaction takes the others back.
                for number in 0..<3 { world.rivalDeletes("tasks/t\(number)") }
                world.server.withModel { $0.purgeTombstones() }
                return answer.map { answer in
                    let parts = answer.text.split(
                        separator: #""status":201"#, omittingEmptySubsequences: false)
                    let text = parts.dropLast().joined(separator: #""status":201"#)
                    return answer.with(body: text + #""status":\#(status)"# + (parts.last ?? ""))
                }
            }
            let outcome = try await device.sync()
            #expect(outcome.failure == nil && outcome.unsettled == 3)
            #expect(try device.outbox() == (0..<3).map { "tasks/t\($0) unknown" })

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            for number in 0..<3 {
                #expect(world.record("tasks/t\(number)") == #"{"n":\#(number)}"#)
            }
        }
    }

    @Test func `is decided anew when one of its entities is given up before it is logged`()
        async throws
    {
        let late = LateDevice()
        let adapter = HookedAdapter { _ in
            late.once { try $0.discard("tasks/t1") }
            return nil
        }
        try await withEdits(count: 3, adapter: adapter) { world, device async throws in
            late.set(device)

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["POST  200"])
            #expect(world.record("tasks/t1") == nil)
            #expect(try device.mutations("tasks/t1") == ["discarded"])
            #expect(try device.mutations("tasks/t2") == ["accepted"])
        }
    }

    @Test func `goes without those that the server would not take`() async throws {
        try await withEdits(count: 3) { world, device async throws in
            try device.put("tasks/no id", "{}")
            try device.put("tasks/z", "{}")

            let outcome = try await device.sync()

            #expect(outcome.refused == 1 && outcome.pending == 0)
            #expect(world.writes == ["POST  200"])
            #expect(try device.mutations("tasks/no id") == ["rejected"])
            #expect(try device.mutations("tasks/z") == ["accepted"])
        }
    }

    @Test func `refuses nothing that was given up or edited before the refusal is logged`()
        async throws
    {
        let late = LateDevice()
        let adapter = HookedAdapter { call in
            guard case .create(_, let id, _) = call, id == "t1" else { return nil }
            late.once { device in
                try device.discard("tasks/t1")
                try device.put("tasks/t2", #"{"edited":true}"#)
            }
            return ServerRefusal(status: 0, message: "never")
        }
        try await withEdits(count: 3, adapter: adapter) { world, device async throws in
            late.set(device)

            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.rejected == 0)
            #expect(try device.kinds().contains("push.rejected") == false)
            #expect(try device.mutations("tasks/t1") == ["discarded"])
            #expect(world.record("tasks/t2") == #"{"edited":true}"#)
        }
    }
}
