// SharedStore.swift — what all who have one store open in this process share: who is told of its
// commits, and which engine syncs it.

import TidemarkEvents
package import TidemarkStore

/// What belongs to a store that is open, not to one of those who opened it.
package final class SharedStore: Sendable {
    /// Who is told of commits.
    package let feed = CommitFeed()
    /// Kept so that no other object gets its identity.
    private let environment: Environment
    /// Which tables hold a record that is not what was written.
    private let doubted = Lock<Doubt?>(nil)
    /// What the log makes, as far as it was needed; while tables are in doubt.
    private let lastFolded = Lock<FoldedRows?>(nil)
    private let isTakingSnapshot = Lock(false)
    private let isSealing = Lock(false)
    /// The last event as the last attempt to take one came to nothing.
    let snapshotGivenUp = Lock<Position?>(nil)
    /// The right edge of the tree as the last commit of this process wrote it.
    let writtenEdge = Lock<[UInt8]?>(nil)
    /// Which files of the contents are in use.
    package let contents = ContentUse()
    /// That of who looks whether the tables are to be made anew, and does so.
    let rebuildTurn = ThreadTurn()
    /// The first event that a newer version wrote, once one was found, and up to where it was
    /// looked for.
    let knownEvents = Lock<(newer: Position?, through: Position)>((nil, .start))
    /// Up to which event the log was found to have no more than so many bytes that are to be kept.
    let keptWhole = Lock<(bytes: Int, last: Position)?>(nil)
    /// How many rebuilds have begun: one that another has overtaken begins anew.
    let rebuilds = Lock<UInt64>(0)
    /// Which of them is under way; nil for none.
    let rebuilding = Lock<UInt64?>(nil)
    /// How many events are folded in memory where the tables can't be read; fewer in a test.
    ///
    /// A longer log would take more memory than a process may have.
    package let eventsInMemoryMax = Lock<UInt64>(200_000)
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

    /// Whether an engine does something.
    package var isSyncing: Bool { syncing.withLock { $0 != nil } }

    /// Lets one at a time take a snapshot of the views; false while it is another one's turn.
    func beginSnapshot() -> Bool {
        isTakingSnapshot.withLock { isTaking in
            defer { isTaking = true }
            return !isTaking
        }
    }

    func endSnapshot() { isTakingSnapshot.withLock { $0 = false } }

    /// Lets one at a time seal events; false while it is another one's turn.
    func beginSealing() -> Bool {
        isSealing.withLock { isSealing in
            defer { isSealing = true }
            return !isSealing
        }
    }

    func endSealing() { isSealing.withLock { $0 = false } }

    /// Ends what one ``beginSyncing(_:)`` began.
    package func endSyncing() {
        syncing.withLock { syncing in
            guard let current = syncing else { return }
            syncing = current.count > 1 ? (current.who, current.count - 1) : nil
        }
    }

    // MARK: Doubt

    private struct Doubt: Sendable {
        var generation: Generation
        var mendings: Int
        var found: StoreError
    }

    /// Why the tables of a state are not to be read; nil where nothing is known against it.
    func doubt(of state: ViewTables.State) -> StoreError? {
        doubted.withLock { doubt in
            guard let doubt, doubt.generation == state.generation,
                doubt.mendings == state.mendings
            else { return nil }
            return doubt.found
        }
    }

    /// What was found in the tables that were read last; nil for nothing.
    var foundDamage: String? { doubted.withLock { $0?.found.detail } }

    /// The first event that was passed over because it can't be read.
    let passedOver = Lock<(position: Position, why: String)?>(nil)

    /// Notes that a record of the tables of a state is not what was written.
    func doubt(_ error: StoreError, _ state: ViewTables.State) {
        doubted.withLock { doubt in
            guard doubt?.generation != state.generation || doubt?.mendings != state.mendings else {
                return
            }
            doubt = Doubt(generation: state.generation, mendings: state.mendings, found: error)
        }
    }

    /// The tables were rebuilt.
    func endDoubt() {
        doubted.withLock { $0 = nil }
        lastFolded.withLock { $0 = nil }
    }

    /// Rows that were folded up to a position, or not so far.
    func folded(upTo last: Position) -> FoldedRows? {
        lastFolded.withLock { $0.flatMap { $0.last <= last ? $0 : nil } }
    }

    func keep(_ folded: FoldedRows) { lastFolded.withLock { $0 = folded } }
}
