// Dependencies.swift — the doors to the outside, all injected: clock, ids, randomness, waiting.

public import TidemarkEvents

/// Everything that a store and its engine take from the outside world but the network.
public struct Dependencies: Sendable {
    /// The device's clock.
    public var now: @Sendable () -> Timestamp
    /// A new id for an entity, never given out before.
    public var makeID: @Sendable () -> String
    /// Sixty-four random bits.
    public var random: @Sendable () -> UInt64
    /// Which boot of the device this is, and the microseconds since it began.
    public var uptime: @Sendable () -> Uptime
    /// Which device this is, for as long as it is the same; nil when that can't be told.
    ///
    /// A store that was last used on another device is not opened before it was adopted.
    public var deviceID: @Sendable () -> String?
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Called at the moments a process may die at; for tests.
    package var reach: @Sendable (Checkpoint) -> Void

    /// The doors; see ``live`` for the real ones.
    public init(
        now: @escaping @Sendable () -> Timestamp, makeID: @escaping @Sendable () -> String,
        random: @escaping @Sendable () -> UInt64, uptime: @escaping @Sendable () -> Uptime,
        deviceID: @escaping @Sendable () -> String? = { nil },
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.makeID = makeID
        self.random = random
        self.uptime = uptime
        self.deviceID = deviceID
        self.sleep = sleep
        reach = { _ in }
    }
}

/// Which boot of the device, and for how long it has been running.
public struct Uptime: Sendable, Hashable {
    /// Names the boot; another one after a restart.
    public var bootID: String
    /// Microseconds since the boot, by a clock that nobody sets.
    public var microseconds: Int64

    /// A boot and the time since.
    public init(bootID: String, microseconds: Int64) {
        self.bootID = bootID
        self.microseconds = microseconds
    }
}

/// The moments around a push at which a process may die.
package enum Checkpoint: String, Sendable, CaseIterable {
    /// The write was decided, nothing of it is logged.
    case beforeAppend
    /// `request.sent` is on disk.
    case afterAppend
    /// The request is about to leave.
    case beforeSend
    /// The server has answered, and nobody here has seen it.
    case afterSend
    /// The answer is understood, nothing of it is logged.
    case beforeAnswer
    /// The answer is on disk.
    case afterAnswer
}
