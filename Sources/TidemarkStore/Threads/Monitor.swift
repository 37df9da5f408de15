// Monitor.swift — a lock that contains its value and lets threads wait for a state of it.

/// A value behind a mutex, with waiting; for state that only needs a lock there is ``Lock``.
@safe package final class Monitor<Value>: @unchecked Sendable {
    // @unchecked because: `value` is touched only while `lock` is held.
    private let lock = PlatformLock()
    private var value: Value

    package init(_ value: Value) { self.value = value }

    /// Runs `body` exclusively; after changing what others wait for, call `wakeAll`.
    package func withLock<R, E>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    /// Blocks until `body` answers something, asking again after every `wakeAll`.
    package func waitUntil<R>(_ body: (inout Value) -> R?) -> R {
        lock.lock()
        defer { lock.unlock() }
        while true {
            if let answer = body(&value) { return answer }
            lock.wait()
        }
    }

    /// Lets every waiting thread ask again.
    package func wakeAll() { lock.wakeAll() }
}
