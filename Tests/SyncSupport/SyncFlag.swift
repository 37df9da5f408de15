// SyncFlag.swift — small things that closures of a test hand over.

import Synchronization

/// A flag that is raised once.
final class SyncFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Raises the flag; whether it was not up yet.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .sequentiallyConsistent) }
}

/// A value that comes later.
final class SyncBox<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    var value: Value? {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}

/// A number that counts up.
final class SyncCounter: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    /// Counts one more; the number before.
    func count() -> Int { number.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue }
}
