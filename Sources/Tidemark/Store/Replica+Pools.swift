// Replica+Pools.swift — values that a server reserved in advance, handed out without it.

import TidemarkEvents
import TidemarkSync
import TidemarkViews

extension WriteContext {
    /// Takes a value that the server reserved for this device: ``SyncModel/pools``.
    ///
    /// It is taken with this commit or not at all, and handed out to nobody else, ever. Of those
    /// that can be used now, by the device's clock, it is the one whose time is over first. What is
    /// used up is filled by sync runs.
    ///
    /// - Parameters:
    ///   - pool: the name of the pool.
    ///   - key: what the value is of.
    /// - Throws: ``TidemarkError``: `poolEmpty` where none is left that can be used, `noModel`
    ///   where the model has no such pool, `invalidKey`.
    public func take(from pool: String, key: [String]) throws -> String {
        let key = try draft.fold.place(pool, key)
        guard let next = try draft.fold.nextValue(of: key, at: draft.now) else {
            throw TidemarkError(
                .poolEmpty,
                "no value of \(key) is left that can be used; where the server can be reached, "
                    + "sync with the scope reserve of this pool and key, and take it then")
        }
        let taken = ReservedTaken(next.value, of: key)
        try draft.append(
            Event(.reservedTaken, recordedAt: draft.now, json: taken.encoded))
        return next.value
    }
}

extension Replica {
    /// Takes a reserved value by itself, as for a form that is filled in; otherwise like
    /// ``WriteContext/take(from:key:)``.
    ///
    /// It is on disk when this returns that the value is taken. One that is not used after all is
    /// not handed out again.
    ///
    /// - Throws: ``TidemarkError``: `poolEmpty`, `noModel`, `invalidKey`, and what
    ///   `write` throws.
    public func take(from pool: String, key: [String]) throws -> String {
        try write { tx in try tx.take(from: pool, key: key) }
    }

    /// The same without blocking the caller's thread.
    public func take(from pool: String, key: [String]) async throws -> String {
        try await write { tx in try tx.take(from: pool, key: key) }
    }

    /// How many values of a pool are left for a key that can be used now, by the device's clock.
    ///
    /// - Throws: ``TidemarkError``: `noModel` where the model has no such pool, `invalidKey`.
    public func valuesLeft(in pool: String, key: [String]) throws -> Int {
        let now = dependencies.now()
        return try read { tx in
            try tx.views.countValues(of: tx.views.place(pool, key), at: now)
        }
    }
}

extension RowReading {
    /// A key of a pool that the model has.
    fileprivate func place(_ pool: String, _ key: [String]) throws -> PoolKey {
        let place = PoolKey(pool, key)
        if let problem = try model().problem(with: place) {
            throw TidemarkError(
                problem.code == .noPool ? .noModel : .invalidKey, problem.words)
        }
        return place
    }
}
