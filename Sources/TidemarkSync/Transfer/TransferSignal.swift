// TransferSignal.swift — has a pass look for more to do while its requests are on their way: an
// edit named a file, somebody asked for one, or waits for all of them from now on.

import TidemarkStore

/// What a pass is told while it goes on, and what it tells of itself.
package final class TransferSignal: Sendable {
    private struct State: Sendable {
        /// How many wait for the pass.
        var waiting = 0
        var outcome = TransferOutcome()
    }
    private let calls: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let state = Lock(State())

    package init(isAwaited: Bool) {
        (calls, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        if isAwaited { state.withLock { $0.waiting = 1 } }
    }

    /// Has the pass look whether anything is due.
    package func look() { continuation.yield() }

    /// Somebody waits for the pass, and so for all that is due.
    ///
    /// - Returns: what came of it so far.
    package func join() -> TransferOutcome {
        let outcome = state.withLock { state in
            state.waiting += 1
            return state.outcome
        }
        look()
        return outcome
    }

    /// One who waited does not any more.
    package func leave() { state.withLock { $0.waiting -= 1 } }

    /// Whether somebody waits for the pass.
    package var isAwaited: Bool { state.withLock { $0.waiting > 0 } }

    /// What came of the pass so far.
    package var outcome: TransferOutcome { state.withLock(\.outcome) }

    func note(_ outcome: TransferOutcome) { state.withLock { $0.outcome = outcome } }

    /// Waits for a call to look, or until the task is cancelled.
    func called() async {
        var calls = calls.makeAsyncIterator()
        await calls.next()
    }
}

extension TransferOutcome {
    /// Adds what came of another pass since it had come to `start`.
    package mutating func add(_ other: TransferOutcome, since start: TransferOutcome) {
        stored += other.stored - start.stored
        sent += other.sent - start.sent
        bytes += other.bytes - start.bytes
        failed += other.failed - start.failed
        refused += other.refused - start.refused
    }
}
