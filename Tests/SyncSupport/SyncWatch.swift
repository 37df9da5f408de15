// SyncWatch.swift — a device whose engine runs by itself, on a clock that only the test moves, and
// somebody who watches it.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// Reads an engine's status, one after another.
final class SyncWatch {
    let device: SyncDevice
    private var iterator: AsyncStream<EngineStatus>.Iterator
    /// What was seen last.
    private(set) var last: EngineStatus?

    init(_ device: SyncDevice) {
        self.device = device
        iterator = device.engine.statuses.makeAsyncIterator()
    }

    /// A device with somebody who watches it, for the time of a test; its engine is stopped then.
    static func with(
        _ world: SyncWorld, _ triggers: SyncTriggers? = nil,
        _ body: (SyncDevice, SyncWatch) async throws -> Void
    ) async throws {
        try await SyncDevice.make(world, movesClock: false).lendAndVerify { device in
            let watch = SyncWatch(device)
            if let triggers { await device.engine.start(triggers) }
            try await body(device, watch)
        }
    }

    /// The next status that is so.
    @discardableResult
    func until(_ isSo: (EngineStatus) -> Bool) async throws -> EngineStatus {
        while let status = await iterator.next(isolation: #isolation) {
            last = status
            if isSo(status) { return status }
        }
        throw Ended()
    }

    private struct Ended: Error {}

    /// Waits for the end of a run, and for what the engine does then.
    @discardableResult
    func run() async throws -> EngineStatus {
        try await until { $0.progress?.phase == .cleaning }
        return try await until { $0.progress == nil }
    }

    /// Moves the clock on to when the engine wakes by itself.
    @discardableResult
    func wake() async -> Duration {
        let left = await device.world.clock.firstSleep()
        device.world.clock.advance(by: left)
        return left
    }
}

extension EngineStatus {
    /// Whether it waits for a time, and for what.
    var waitsFor: SyncWaitReason? {
        if case .waiting(_, let reason) = activity { reason } else { nil }
    }
}

extension SyncDevice {
    /// The triggers of the runs in the log: `userRequested`, `retry timer`.
    func triggers() throws -> [String] {
        try events().compactMap { _, event in
            guard event.kind == .syncStarted || event.kind == .syncFinished && event.sync == nil
            else { return nil }
            let payload = try JSONDocument(parsing: event.payload)
            guard case .array(let several)? = payload.value("triggers") else {
                return payload.value("trigger")?.stringValue
            }
            return several.compactMap(\.stringValue).joined(separator: " ")
        }
    }

    /// What keeps runs from beginning.
    func gates() throws -> SyncGates { try replica.journal.read { try $0.gates() } }
}
