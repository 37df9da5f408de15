// StoreGuard.swift — watches over a store that is open for writing: holds the lock on its directory
// and keeps identity.json at, or a little behind, the end of the log.

package import TidemarkEvents
package import TidemarkStore

/// The lock and the identity of one open store, shared by all who have it open in this process.
package final class StoreGuard: Sendable {
    /// Where the store is, by the path of the first opening, made absolute.
    package let directory: String
    private let lock: DirectoryLock
    private let state: Lock<State>

    private struct State {
        var identity: StoreIdentity
        var openings = 1
        /// Whether it is about to be removed.
        var isLeaving = false
        /// Whether it is being adopted, so that identity.json stays as it is.
        var isAdopting = false
        /// The recorded time of the commit that was last written down.
        var writtenAt: Timestamp?
        /// The checked tables that the opening found damaged, and what of them.
        var damaged: [String: String] = [:]
    }

    init(
        _ directory: String, _ lock: DirectoryLock, _ identity: StoreIdentity,
        damaged: [String: String] = [:], isAdopting: Bool = false
    ) {
        self.directory = StorePath.absolute(directory)
        self.lock = lock
        state = Lock(State(identity: identity, isAdopting: isAdopting, damaged: damaged))
    }

    /// What identity.json says, or will say soon.
    package var identity: StoreIdentity { state.withLock { $0.identity } }

    /// Which directory it is.
    package var place: FileIdentity { lock.identity }

    func checkPlace(during action: String) throws(StoreError) {
        try place.checkPlace(directory, during: action)
    }

    private func write(_ identity: StoreIdentity, isDurable: Bool) throws(StoreError) {
        try checkPlace(during: "write")
        try identity.write(to: directory, isDurable: isDurable)
    }

    /// The checked tables of which the opening found pages damaged, and what of them; each is told
    /// once, to who makes it again.
    package func takeDamagedTables() -> [String: String] {
        state.withLock { state in
            defer { state.damaged = [:] }
            return state.damaged
        }
    }

    /// Counts another opening by this process, and takes over what it names.
    func join(_ opening: StoreOpening) {
        state.withLock { state in
            state.openings += 1
            state.identity = opening.naming(state.identity)
        }
    }

    /// Between two writings of identity.json, in recorded time.
    private static let pauseMicroseconds: Int64 = 1_000_000

    /// Notes that a commit is on disk; to be called after each, in their order.
    ///
    /// Writes it down at most once a second of recorded time. When that fails the commit stays what
    /// it is, and the next one tries again.
    ///
    /// - Parameters:
    ///   - last: the position of its last event.
    ///   - root: the Merkle root up to there.
    ///   - now: what its events are recorded at.
    package func committed(last: Position, root: Hash, at now: Timestamp) {
        state.withLock { state in
            state.identity.position = last
            state.identity.root = root
            if state.isAdopting { return }
            if let written = state.writtenAt, now >= written,
                now.rawValue - written.rawValue < Self.pauseMicroseconds
            {
                return
            }
            do {
                try write(state.identity, isDurable: false)
                state.writtenAt = now
            } catch {
                state.writtenAt = nil
            }
        }
    }

    /// Writes the identity down as it is now, which ends an adoption.
    ///
    /// - Throws: ``StoreError``: why it could not be.
    package func writeDown() throws(StoreError) {
        let written = state.withLock { state in
            let result = Result { () throws(StoreError) in
                try write(state.identity, isDurable: true)
            }
            if case .success = result { state.isAdopting = false }
            return result
        }
        try written.get()
    }

    /// Closes one opening of the environment; the last one writes the identity down and lets other
    /// processes in.
    ///
    /// An identity that can't be written stays as it was: behind the log, which is allowed.
    ///
    /// - Throws: ``StoreError``: `closed` when it was closed before.
    package func close(_ environment: Environment) throws(StoreError) {
        try environment.close()
        Self.whileNobodyOpens(place) {
            state.withLock { state in
                state.openings -= 1
                guard state.openings == 0 else { return }
                state.identity.opening = nil
                state.identity.closed = environment.mark
                if !state.isAdopting { try? write(state.identity, isDurable: true) }
                lock.release()
            }
        }
    }

    // MARK: Removing

    /// Keeps this process from opening the store again, in order to remove it.
    ///
    /// - Throws: ``StoreError``: `busy` when this process has it open more than once, be it to
    ///   read; `invalidPath` when its path is a link.
    package func beginLeaving(_ environment: Environment) throws(StoreError) {
        try checkPlace(during: "remove")
        try StoreFiles.checkRemovable(directory)
        try stayAlone(with: environment, during: "remove")
    }

    /// Keeps this process from opening the store again, where nobody in it reads the store.
    ///
    /// - Throws: ``StoreError``: `busy`.
    func stayAlone(
        with environment: Environment, during action: String
    ) throws(StoreError) {
        try stayAlone(during: action)
        guard environment.isShared else { return }
        endLeaving()
        throw StoreError(
            .busy, during: action,
            detail: "who reads \(directory) in this process must close it first")
    }

    /// Keeps this process from opening the store again.
    ///
    /// - Throws: ``StoreError``: `busy` when it has the store open more than once.
    private func stayAlone(during action: String) throws(StoreError) {
        let others = Self.whileNobodyOpens(place) {
            state.withLock { state in
                if state.openings == 1, !state.isLeaving {
                    state.isLeaving = true
                    return 0
                }
                return max(1, state.openings - 1)
            }
        }
        guard others == 0 else {
            throw StoreError(
                .busy, during: action,
                detail: "\(others) other \(others == 1 ? "use" : "uses") of \(directory) in this "
                    + "process must be closed first")
        }
    }

    /// Takes ``beginLeaving(_:)`` or ``stayAlone(during:)`` back.
    package func endLeaving() { state.withLock { $0.isLeaving = false } }

    /// Closes the only opening and removes the store's folder; other processes are kept out until
    /// it has another name.
    ///
    /// - Throws: ``StoreError``: why it could not be removed; it is closed then, and stays.
    package func closeRemoving(_ environment: Environment) throws(StoreError) {
        try environment.close()
        let removal = Result { () throws(StoreError) in
            try checkPlace(during: "remove")
            try StoreFiles.remove(directory)
        }
        // Who opened it since to read must not go on with what is removed.
        if case .success = removal { environment.endReplaced("the store was removed") }
        Self.whileNobodyOpens(place) {
            state.withLock { state in
                state.openings = 0
                state.isLeaving = false
                if case .failure = removal {
                    state.identity.opening = nil
                    try? write(state.identity, isDurable: true)
                }
                lock.release()
            }
        }
        try removal.get()
    }

    /// Whether it is about to be removed.
    var isLeaving: Bool { state.withLock(\.isLeaving) }

    /// Whether somebody has it open.
    var isOpen: Bool { state.withLock { $0.openings > 0 } }
}
