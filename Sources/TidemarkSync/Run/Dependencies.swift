// Dependencies.swift — everything from outside, injected: clock, ids, randomness, waiting.

public import TidemarkEvents

/// Everything that a store and its engine take from outside, except the network.
public struct Dependencies: Sendable {
    /// The device's clock.
    public var now: @Sendable () -> Timestamp
    /// A new id for an entity, never given out before.
    public var makeID: @Sendable () -> String
    /// Sixty-four random bits.
    public var random: @Sendable () -> UInt64
    /// The id of the device's current boot, and the microseconds since it began.
    public var uptime: @Sendable () -> Uptime
    /// A stable id of this device; nil when there is none.
    ///
    /// A store that was last used on another device is only opened after it was adopted; where
    /// there is no id nobody notices. ``live`` has one on Linux and macOS. It stays in the store's
    /// folder: what must not be kept there is hashed before.
    public var deviceID: @Sendable () -> String?
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Waits beside something else, for which that may take too long; throws as ``sleep`` does.
    package var alarm: @Sendable (Duration) async throws -> Void
    /// Called at the moments around a push at which a process may die; for tests.
    package var reach: @Sendable (Checkpoint) -> Void
    /// Called when a run sends nothing more before one of the writes on their way is answered; for
    /// tests.
    package var awaitAnswer: @Sendable () -> Void
    /// How much address space a store takes until it has to grow; nil for the usual.
    package var mapBytes: Int?

    /// The dependencies; see ``live`` for the real ones.
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
        alarm = sleep
        reach = { _ in }
        awaitAnswer = {}
    }
}

/// The device's boot, and for how long it has been running.
public struct Uptime: Sendable, Hashable {
    /// The boot id; it changes with a restart, and with nothing else.
    ///
    /// Empty where it is not known: how long ago something was is told by the device's clock then,
    /// which people set, and an opening can't tell that the device was restarted.
    public var bootID: String
    /// Microseconds since the boot, by a clock that can't be set.
    public var microseconds: Int64

    /// A boot and the time since.
    public init(bootID: String, microseconds: Int64) {
        self.bootID = bootID
        self.microseconds = microseconds
    }

    /// The id of a boot by the first name that a system gives it; empty where none does.
    ///
    /// Never made from a clock: whoever sets that would restart the device.
    package static func bootID(_ names: [String?]) -> String {
        for name in names {
            let id = (name ?? "").filter { !$0.isWhitespace }
            if !id.isEmpty { return id }
        }
        return ""
    }
}

/// The moments around a push at which a process may die.
package enum Checkpoint: String, Sendable, CaseIterable {
    /// The write is decided, and nothing of it is logged.
    case beforeAppend
    /// `request.sent` is on disk.
    case afterAppend
    /// The request is about to leave.
    case beforeSend
    /// The server has answered, and the answer has not been read.
    case afterSend
    /// The answer is understood, and nothing of it is logged.
    case beforeAnswer
    /// The answer is on disk.
    case afterAnswer
}
