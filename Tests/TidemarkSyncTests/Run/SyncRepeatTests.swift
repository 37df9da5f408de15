// SyncRepeatTests.swift — a platform that sends a request again behind the caller's back.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a request that was sent twice` {
    /// Deletes a task; the first of two deletions arrives, and the second one is told to wait.
    private func outcome(mayRepeat: Bool) async throws -> String? {
        let world = SyncWorld()
        return try await SyncDevice.with(world) { device in
            try device.put("tasks/a", #"{"title":"tea"}"#)
            try await device.sync()
            try device.delete("tasks/a")
            if mayRepeat { device.wire.sayRepeats() }
            device.wire.tap { request, _, pass in
                guard request.method == .delete else { return await pass() }
                _ = await pass()
                let busy = HTTPResponse(
                    status: .tooManyRequests, headerFields: [.retryAfter: "10"])
                return .success(TransportResponse(response: busy, body: []))
            }
            #expect(try await device.sync().failure == .tooManyRequests(retryAfterSeconds: 10))
            device.wire.tap(nil)
            world.clock.advance(by: .seconds(60))
            // The list tells of the deletion before anything is sent again.
            try await device.sync(.pull(["tasks"]))
            #expect(try await device.sync().isSynced)
            return try device.mutations("tasks/a").last
        }
    }

    @Test func `is told as what it is: the deletion was carried out`() async throws {
        #expect(try await outcome(mayRepeat: true) == "accepted")
    }

    @Test func `is taken for someone else's where every request is sent once`() async throws {
        #expect(try await outcome(mayRepeat: false) == "merged")
    }

    @Test func `may be one of URLSession's`() {
        #expect(URLSessionTransport().mayRepeat)
        #expect(!SyncWorld().server.mayRepeat)
    }
}
