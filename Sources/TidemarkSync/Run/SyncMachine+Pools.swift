// SyncMachine+Pools.swift — values of pools in a run: after everything was sent, each key of which
// too few are left is filled once. What fails there fails nothing else.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// What the views know of a key of a pool.
package struct PoolFacts: Sendable, Hashable {
    package var key: PoolKey
    /// How many values can be used, of those that were made as the server makes them now.
    package var left: Int
    package var row: PoolRow?
    /// How the server makes them now, where that is known.
    package var pattern: String?

    package init(_ key: PoolKey, left: Int, _ row: PoolRow? = nil, pattern: String? = nil) {
        self.key = key
        self.left = left
        self.row = row
        self.pattern = pattern
    }
}

/// A key of a pool that is to be filled.
package struct Refill: Sendable, Hashable {
    package var key: PoolKey
    /// How many values are asked for.
    package var count: Int
    /// How the server makes them now, where that is known.
    package var pattern: String?

    package init(_ key: PoolKey, count: Int, pattern: String? = nil) {
        self.key = key
        self.count = count
        self.pattern = pattern
    }

    var call: ServerCall {
        .reserve(pool: key.pool, key: key.texts, pattern: pattern, count: count)
    }
}

extension SyncScope {
    /// Whether a run of this scope fills pools.
    var refills: Bool {
        switch self {
        case .all, .push, .reserve: true
        case .pull, .fetch, .select, .folders, .cleanUp: false
        }
    }

    /// What is to be filled; nil for every key of every pool.
    var reservations: [Reservation]? {
        if case .reserve(let wanted) = self { wanted } else { nil }
    }
}

extension SyncMachine {
    /// The next key to fill; nil when there is none.
    mutating func nextRefill() -> SyncAction? {
        let asksAny = scope.refills && !(model.pools.isEmpty && scope.reservations == nil)
        if asksAny, refills == nil {
            refills = []
            let keys = usableKeys()
            return look(.pools(keys, at: begun.now))
        }
        if let refill = refills?.popLast() { return perform(.refill(refill)) }
        // A run of nothing else has no failed calls to make again.
        state = scope.pushes ? .askingLate : .ended
        return nil
    }

    /// The keys that the run was asked to fill; nil for all that there are.
    ///
    /// What can't be filled as it was asked for is told in the outcome.
    private mutating func usableKeys() -> [PoolKey]? {
        guard let wanted = scope.reservations else { return nil }
        var keys: [PoolKey] = []
        for wanted in wanted {
            if let problem = problem(with: wanted) {
                outcome.refills.append(
                    SyncOutcome.Refill(wanted.place, .client(status: 0, problem)))
            } else if !keys.contains(wanted.place) {
                keys.append(wanted.place)
            }
        }
        return keys
    }

    private func problem(with wanted: SyncScope.Reservation) -> String? {
        if let problem = model.problem(with: wanted.place) { return problem.words }
        guard !wanted.isUsable, let count = wanted.count else { return nil }
        let range = ReservedPool.fillRange
        return "\(count) values of \(wanted.pool): \(range.lowerBound) to \(range.upperBound) can "
            + "be had"
    }

    /// Decides which keys are filled.
    mutating func plan(_ facts: [PoolFacts]) {
        var due: [Refill] = []
        for known in facts {
            guard let pool = model.pool(known.key.pool) else { continue }
            // Of a key that was asked for twice the last number counts that can be had.
            let explicit = scope.reservations?.last {
                $0.place == known.key && $0.count != nil && problem(with: $0) == nil
            }
            let count = RefillRule.count(
                left: known.left, of: pool, explicit: explicit?.count, remembered: known.row?.fill)
            guard count > 0 else { continue }
            let wait = isUrgent ? 0 : known.row?.gate?.left(at: begun) ?? 0
            if wait > 0 {
                outcome.refills.append(
                    SyncOutcome.Refill(known.key, .backoff(seconds: wait.inWholeSeconds)))
            } else {
                due.append(Refill(known.key, count: count, pattern: known.pattern))
            }
        }
        refills = due.reversed()
    }

    /// A key could not be filled.
    ///
    /// Where the server itself failed, it is not asked for the others in this run.
    mutating func pass(_ refill: Refill, _ failure: SyncFailure) {
        outcome.refills.append(SyncOutcome.Refill(refill.key, failure))
        guard failure.isServers else { return }
        outcome.refills += (refills ?? []).reversed().map { SyncOutcome.Refill($0.key, failure) }
        refills = []
        // There is nothing else that the run was for.
        if scope.reservations != nil { outcome.failure = failure }
    }
}
