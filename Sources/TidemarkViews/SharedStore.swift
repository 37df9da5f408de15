// SharedStore.swift — what all who have one store open in this process share: who is told of its
// commits, and which engine syncs it.

import TidemarkStore

/// What belongs to a store that is open, not to one of those who opened it.
package final class SharedStore: Sendable {
    /// Who is told of commits.
    package let feed = CommitFeed()
    /// Kept so that no other one gets its identity meanwhile.
    private let environment: Environment
    private let isTakingSnapshot = Lock(false)
    private let syncing = Lock<(who: ObjectIdentifier, count: Int)?>(nil)

    private init(_ environment: Environment) { self.environment = environment }

    private struct Weak: Sendable {
        weak let store: SharedStore?
    }

    private static let all = Lock<[ObjectIdentifier: Weak]>([:])

    /// What those share who have this environment open.
    static func of(_ environment: Environment) -> SharedStore {
        all.withLock { all in
            let identity = ObjectIdentifier(environment)
            if let store = all[identity]?.store { return store }
            all = all.filter { $0.value.store != nil }
            let store = SharedStore(environment)
            all[identity] = Weak(store: store)
            return store
        }
    }

    /// Lets one engine at a time do something; it may ask several times, and then ends as often.
    ///
    /// - Returns: false while it is another one's turn.
    package func beginSyncing(_ who: ObjectIdentifier) -> Bool {
        syncing.withLock { syncing in
            guard let current = syncing else {
                syncing = (who, 1)
                return true
            }
            guard current.who == who else { return false }
            syncing = (who, current.count + 1)
            return true
        }
    }

    /// Lets one at a time take a snapshot of the views; false while it is another one's turn.
    func beginSnapshot() -> Bool {
        isTakingSnapshot.withLock { isTaking in
            defer { isTaking = true }
            return !isTaking
        }
    }

    func endSnapshot() { isTakingSnapshot.withLock { $0 = false } }

    /// Ends what one ``beginSyncing(_:)`` began.
    package func endSyncing() {
        syncing.withLock { syncing in
            guard let current = syncing else { return }
            syncing = current.count > 1 ? (current.who, current.count - 1) : nil
        }
    }
}
