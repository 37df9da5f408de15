// SeededDependencies.swift — dependencies that give the same values in every run.

import Synchronization
import TidemarkEvents
public import TidemarkSync

extension Dependencies {
    /// Time, ids and random numbers as functions of a seed and a clock: the same seed, calls and
    /// times give the same log.
    ///
    /// Ids begin with the seed and count up: `00000007-0000-4000-8000-000000000001`. Waiting moves
    /// the clock on and lets other tasks run; nothing ever sleeps.
    ///
    /// - Parameter movesClock: whether waiting moves the clock; if false, it lasts until the test
    ///   does.
    public static func seeded(
        _ seed: UInt64, clock: ManualClock, movesClock: Bool = true
    ) -> Dependencies {
        let source = SeededSource(seed)
        var dependencies = Dependencies(
            now: { clock.now },
            makeID: { source.nextID() },
            random: { source.nextNumber() },
            uptime: {
                let boot = clock.boot
                let restarts = boot.restarts == 0 ? "" : "-\(boot.restarts)"
                return Uptime(bootID: "boot-\(seed)\(restarts)", microseconds: boot.uptime)
            },
            sleep: { duration in
                guard movesClock else { return try await clock.sleep(for: duration) }
                try Task.checkCancellation()
                clock.advance(by: duration)
                await Task.yield()
            })
        // What is waited for meanwhile takes no time.
        dependencies.alarm = { try await clock.sleep(for: $0, isAside: true) }
        return dependencies
    }
}

/// Ids, and random numbers by SplitMix64 of Steele, Lea and Flood, for any number of threads.
final class SeededSource: Sendable {
    private let prefix: String
    private let idsMade = Atomic<UInt64>(0)
    private let state: Atomic<UInt64>

    init(_ seed: UInt64) {
        prefix =
            (seed & 0xFFFF_FFFF).hexadecimal(digits: 8) + "-"
            + (seed >> 32 & 0xFFFF).hexadecimal(digits: 4) + "-4000-8000-"
        state = Atomic(seed)
    }

    func nextID() -> String {
        prefix + idsMade.wrappingAdd(1, ordering: .relaxed).newValue.hexadecimal(digits: 12)
    }

    func nextNumber() -> UInt64 {
        var z = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension UInt64 {
    fileprivate func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}
