// ManualClock.swift — a clock that stands still until a test moves it.

import Synchronization
public import TidemarkEvents

/// A clock that the test controls; several replicas and a server may share it.
public final class ManualClock: Sendable {
    private struct State {
        var elapsed: Int64 = 0
        /// How far the device's clock was set, relative to the elapsed time.
        var offset: Int64 = 0
        var restarts = 0
        /// When the device was started last, relative to the elapsed time.
        var started: Int64 = 0
        var sleepsMade = 0
        /// The number of the last one to sleep, aside or not.
        var lastSleeper = 0
        var sleepers: [Sleeper] = []
        var watchers: [CheckedContinuation<Void, Never>] = []

        /// When the first one wakes that does not sleep aside.
        var firstWaking: Int64? { sleepers.lazy.filter { !$0.isAside }.map(\.until).min() }
    }

    private struct Sleeper {
        var number: Int
        var until: Int64
        var isAside: Bool
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// The clock's initial time.
    public let start: Timestamp
    private let state = Mutex(State())

    /// A clock that stands at `start`, by default at 2026-11-18 11:06:40 UTC.
    public init(start: Timestamp = Timestamp(milliseconds: 1_795_000_000_000)) {
        self.start = start
    }

    /// The device's clock.
    public var now: Timestamp {
        state.withLock { Timestamp(microseconds: start.rawValue + $0.elapsed + $0.offset) }
    }

    /// How often the device was restarted, and for how many microseconds it has been running since.
    var boot: (restarts: Int, uptime: Int64) {
        state.withLock { ($0.restarts, $0.elapsed - $0.started) }
    }

    /// Microseconds since the clock was made, by the clock that can't be set.
    public var elapsed: Int64 { state.withLock(\.elapsed) }

    /// Moves the clock on, and wakes the sleepers whose time has come.
    ///
    /// A negative duration moves it back, as if that time had not passed.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.elapsed += duration.wholeMicroseconds
            let now = state.elapsed
            let due = state.sleepers.filter { $0.until <= now }.sorted { $0.until < $1.until }
            state.sleepers.removeAll { $0.until <= now }
            return due.map(\.continuation)
        }
        for sleeper in due { sleeper.resume(returning: true) }
    }

    /// Moves the device's clock, as a user may do; no time elapses.
    public func adjust(by duration: Duration) {
        state.withLock { $0.offset += duration.wholeMicroseconds }
    }

    /// Restarts the device: another boot, whose uptime begins anew; no time elapses.
    public func restart() {
        state.withLock { state in
            state.restarts += 1
            state.started = state.elapsed
        }
    }

    /// Sleeps until the clock was moved on by a duration; returns at once if it is zero.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep(for: duration, isAside: false)
    }

    /// The same.
    ///
    /// - Parameter isAside: whether it is beside something else, for which that may take too long:
    ///   whether it begins before the other ends is chance, so it is not told.
    func sleep(for duration: Duration, isAside: Bool) async throws {
        let number = state.withLock { state in
            if !isAside { state.sleepsMade += 1 }
            state.lastSleeper += 1
            return state.lastSleeper
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                    // A sleep of no time does not wait for the clock to move.
                    guard !Task.isCancelled, duration > .zero else { return nil }
                    let until = state.elapsed + duration.wholeMicroseconds
                    state.sleepers.append(
                        Sleeper(
                            number: number, until: until, isAside: isAside,
                            continuation: continuation))
                    guard !isAside else { return [] }
                    defer { state.watchers = [] }
                    return state.watchers
                }
                guard let watchers else {
                    return continuation.resume(returning: !Task.isCancelled)
                }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let index = state.sleepers.firstIndex { $0.number == number }
                return index.map { state.sleepers.remove(at: $0).continuation }
            }
            sleeper?.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }

    /// How many sleeps have begun that ``firstSleep()`` tells.
    public var sleepsMade: Int { state.withLock(\.sleepsMade) }

    /// Waits until there is a sleeper.
    ///
    /// The time that a run with a deadline gives its credentials is not told.
    ///
    /// - Returns: how long the first one still has to sleep.
    public func firstSleep() async -> Duration {
        while true {
            let left = state.withLock { state in
                state.firstWaking.map { $0 - state.elapsed }
            }
            if let left { return .microseconds(left) }
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    let isLate = state.firstWaking != nil
                    if !isLate { state.watchers.append(continuation) }
                    return isLate
                }
                if isLate { continuation.resume() }
            }
        }
    }
}
