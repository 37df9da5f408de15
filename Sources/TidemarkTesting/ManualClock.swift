// ManualClock.swift — a clock that stands still until a test moves it.

import Synchronization
public import TidemarkEvents

/// A clock in the test's hand; may be shared by several replicas and a server.
public final class ManualClock: Sendable {
    /// Where the clock stood when it was made.
    public let start: Timestamp
    private let elapsedMicroseconds = Atomic<Int64>(0)

    /// A clock that stands at `start`: 2026-11-18 11:06:40 UTC unless said otherwise.
    public init(start: Timestamp = Timestamp(milliseconds: 1_795_000_000_000)) {
        self.start = start
    }

    /// The moment at which the clock stands.
    public var now: Timestamp { Timestamp(microseconds: start.rawValue + elapsed) }

    /// Microseconds since the clock was made.
    public var elapsed: Int64 { elapsedMicroseconds.load(ordering: .relaxed) }

    /// Moves the clock on.
    ///
    /// A negative duration sets it back, as a user may do.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        elapsedMicroseconds.add(
            seconds * 1_000_000 + attoseconds / 1_000_000_000_000, ordering: .relaxed)
    }
}
