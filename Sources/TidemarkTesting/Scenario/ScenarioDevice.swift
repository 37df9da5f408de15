// ScenarioDevice.swift — the device of a scenario: its clocks, and how long the engine slept.

import Synchronization
import TidemarkEvents
import TidemarkSync

/// The device: its clock, and how long the engine slept.
final class ScenarioDevice: Sendable {
    private struct State {
        var ahead = Duration.zero
        var waits: [Int64] = []
    }
    private let state = Mutex(State())
    private let clock: ManualClock
    private let seeded: Dependencies

    init(_ clock: ManualClock, seed: UInt64) {
        self.clock = clock
        seeded = .seeded(seed, clock: clock)
    }

    /// How far the device's clock is ahead of the server's.
    var ahead: Duration {
        get { state.withLock(\.ahead) }
        set { state.withLock { $0.ahead = newValue } }
    }

    /// The time until midnight in UTC, by the device's clock.
    var leftOfDay: Duration {
        let day: Int64 = 86_400_000_000
        let now = dependencies.now().rawValue % day
        return .microseconds(day - (now < 0 ? now + day : now))
    }

    /// The engine's sleeps, each in microseconds.
    var waits: [Int64] { state.withLock(\.waits) }

    func clearWaits() { state.withLock { $0.waits = [] } }

    var dependencies: Dependencies {
        var dependencies = seeded
        dependencies.now = {
            let ahead = self.ahead.wholeMicroseconds
            return Timestamp(microseconds: self.clock.now.rawValue + ahead)
        }
        let sleep = seeded.sleep
        dependencies.sleep = { duration in
            self.state.withLock { $0.waits.append(duration.wholeMicroseconds) }
            try await sleep(duration)
        }
        return dependencies
    }
}
