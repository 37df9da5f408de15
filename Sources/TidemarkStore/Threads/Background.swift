// Background.swift — work that goes on beside the writer thread: hashing what it is about to store.

/// A value that is computed on a thread of its own while its maker goes on.
package final class Background<Value: Sendable>: Sendable {
    private let result = Monitor<Value?>(nil)

    /// Begins at once; where the system has no thread to give, the caller does the work here.
    package init(_ work: @escaping @Sendable () -> Value) {
        let result = result
        do throws(SystemNumber) {
            try Platform.startThread(named: "tidemark.work") {
                let value = work()
                result.withLock { $0 = value }
                result.wakeAll()
            }
        } catch {
            let value = work()
            result.withLock { $0 = value }
        }
    }

    /// Whether the value is there.
    package var isDone: Bool { result.withLock { $0 != nil } }

    /// Blocks until the value is there.
    package var value: Value { result.waitUntil { $0 } }

    /// The same for the only one who asks: nobody else has the value then.
    package func takeValue() -> Value { result.waitUntil { $0.take() } }
}
