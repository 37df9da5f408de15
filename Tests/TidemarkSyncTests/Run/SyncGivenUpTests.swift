// SyncGivenUpTests.swift — what is deleted here while its creation is on its way.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a creation that is given up while it is on its way` {
    @Test func `waits for nothing when another's was in its place, and is gone`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world, adapter: SilentAdapter()) { device async throws in
            try device.put("tasks/t1", "{}")
            device.wire.tap { request, _, pass in
                guard request.isWrite else { return await pass() }
                world.rivalPuts("tasks/t1", #"{"theirs":true}"#)
                let answer = await pass()
                try device.delete("tasks/t1")
                world.rivalDeletes("tasks/t1")
                return answer
            }

            #expect(try await device.sync().isSynced)

            #expect(device.wire.problem == nil)
            #expect(world.writes == ["PUT tasks/t1 * 412"])
            #expect(try device.outbox() == [])
            #expect(try device.document("tasks/t1") == nil)
            try device.verify()
        }
    }
}

/// A server that does not say how the entity is when a precondition does not hold.
private struct SilentAdapter: ServerAdapter {
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try kinto.request(for: call)
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let answer = kinto.answer(to: call, response, body: body)
        if case .conflict = answer { return .conflictUnknown }
        return answer
    }
}
