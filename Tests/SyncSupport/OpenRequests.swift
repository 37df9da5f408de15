// OpenRequests.swift — how many requests are on their way at the same time.

import Synchronization

/// Counts requests.
///
/// Some of them wait for each other, so that they are all open at once where the sender does not
/// wait for one of them.
final class OpenRequests: Sendable {
    private struct State {
        var open = 0
        var most = 0
        var asked: [String] = []
        var met = 0
    }
    private let state = Mutex(State())
    private let together: Range<Int>

    /// - Parameter together: the numbers of those that wait for each other, from 1.
    init(together: Range<Int> = 0..<0) { self.together = together }

    /// A request begins.
    ///
    /// - Returns: its number, from 1.
    @discardableResult
    func begin(_ name: String) async -> Int {
        let number = state.withLock { state in
            state.open += 1
            state.most = max(state.most, state.open)
            state.asked.append(name)
            if together.contains(state.asked.count) { state.met += 1 }
            return state.asked.count
        }
        guard together.contains(number) else { return number }
        // One that is never joined goes on at last, and the test fails.
        for _ in 0..<1_000_000 where state.withLock({ $0.met < together.count }) {
            await Task.yield()
        }
        return number
    }

    func end() { state.withLock { $0.open -= 1 } }

    var most: Int { state.withLock(\.most) }
    var asked: [String] { state.withLock(\.asked) }
}
