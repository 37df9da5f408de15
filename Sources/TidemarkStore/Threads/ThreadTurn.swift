// ThreadTurn.swift — a turn that one thread has at a time, which may ask for it again within it.

/// Has threads do something one after another; the one whose turn it is may begin anew within it.
package final class ThreadTurn: Sendable {
    private struct Turn {
        let thread: UInt64
        /// How often it was begun.
        var depth = 1
    }

    private let turn = Monitor<Turn?>(nil)

    package init() {}

    /// Runs `body` once no other thread has the turn.
    package func take<R>(_ body: () throws -> R) rethrows -> R {
        let me = Platform.threadID
        turn.waitUntil { turn -> Void? in
            guard let current = turn else {
                turn = Turn(thread: me)
                return ()
            }
            guard current.thread == me else { return nil }
            turn?.depth += 1
            return ()
        }
        defer {
            turn.withLock { turn in
                guard let current = turn, current.depth > 1 else { return turn = nil }
                turn?.depth -= 1
            }
            turn.wakeAll()
        }
        return try body()
    }
}
