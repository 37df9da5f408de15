// Dependencies+Live.swift — the real dependencies: the only place where clock, ids and randomness
// are taken from the system.

import Foundation
import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension Dependencies {
    /// The system's clock, random UUIDs, the system's random numbers.
    ///
    /// The id of the device is that of Linux or macOS; on iOS an app sets ``deviceID``.
    public static var live: Dependencies {
        Dependencies(
            now: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000)) },
            makeID: { UUID().uuidString.lowercased() },
            random: { UInt64.random(in: .min ... .max) },
            uptime: {
                Uptime(bootID: bootID, microseconds: Int64(secondsSinceBoot * 1_000_000))
            },
            deviceID: { deviceID },
            sleep: { duration in try await Task.sleep(for: duration) })
    }

    /// Counts sleep, too; the uptime of ProcessInfo stops while the device sleeps.
    private static var secondsSinceBoot: Double {
        #if canImport(Darwin)
            return Double(clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW)) / 1e9
        #else
            let text = try? String(contentsOfFile: "/proc/uptime", encoding: .utf8)
            let seconds = text?.prefix { $0 != " " }.description
            return seconds.flatMap(Double.init) ?? ProcessInfo.processInfo.systemUptime
        #endif
    }

    /// A hash of the id that Linux or macOS gives the machine, which itself must not leave it.
    private static let deviceID: String? = {
        let text = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        return StoreIdentity.device(systemFile: text, hostID: SystemDevice.hostID)
    }()

    /// The id that Linux or Darwin gives each boot.
    private static let bootID: String = {
        let file = "/proc/sys/kernel/random/boot_id"
        return Uptime.bootID([
            try? String(contentsOfFile: file, encoding: .utf8), SystemDevice.bootSession,
        ])
    }()
}
