// CredentialScene.swift — a device that has something to send, and whose engine asks a test for
// credentials.

import Testing
import Tidemark
import TidemarkHTTP
import TidemarkStore
import TidemarkSync

@testable import SyncSupport

extension SyncDevice {
    /// Runs `body` with such a device and its engine.
    ///
    /// - Parameter credentials: gets the engine, and how often it asked before.
    static func asking(
        _ world: SyncWorld = SyncWorld(),
        for credentials:
            @escaping @Sendable (SyncEngine, _ number: Int) async throws ->
            Credentials,
        _ body: (SyncDevice, SyncEngine) async throws -> Void
    ) async throws {
        let asked = SyncCounter()
        let engines = Lock<SyncEngine?>(nil)
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) {
                let number = asked.count()
                return try await credentials(try #require(engines.withLock(\.self)), number)
            }
            engines.withLock { $0 = engine }
            try await body(device, engine)
            engines.withLock { $0 = nil }
        }
    }
}
