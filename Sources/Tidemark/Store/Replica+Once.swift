// Replica+Once.swift — writes that may be repeated safely: after a crash, it is not known whether
// the last write was committed.

public import TidemarkEvents
import TidemarkSync
import TidemarkViews

/// The commit that a write under an idempotency key made.
public struct CommitReceipt: Sendable, Hashable {
    /// The first event of the write.
    public var first: Position
    /// Whether an earlier call made it, so that this one wrote nothing.
    public var isRepeated: Bool
}

extension Replica {
    /// A new idempotency key for one write; keep it until the write has returned.
    public func makeIdempotencyKey() -> IdempotencyKey {
        IdempotencyKey(at: dependencies.now(), (dependencies.random(), dependencies.random()))
    }

    /// Writes one commit, unless one was written under the same key before.
    ///
    /// If a process dies before a write has returned, it is not known whether the commit was made.
    /// With the key, the write can be repeated: `body` is run only when nothing was written under
    /// the key. The key is logged with the commit itself.
    ///
    /// - Returns: the commit; nil when `body` changed nothing, which is not remembered.
    /// - Throws: ``TidemarkError``: `keyExpired` when the key was made more than 30 days of logged
    ///   time ago, and what the other `write` throws.
    @discardableResult
    public func write(
        once key: IdempotencyKey, _ body: sending (WriteContext) throws -> Void
    ) throws -> CommitReceipt? {
        try TidemarkError.mapped {
            try checkWritable()
            return try journal.write(at: dependencies.now()) { draft in
                try draft.once(key, dependencies, journal, body)
            }
        }
    }

    /// The same without blocking the caller's thread.
    @discardableResult
    public func write(
        once key: IdempotencyKey, _ body: @escaping @Sendable (WriteContext) throws -> Void
    ) async throws -> CommitReceipt? {
        let (journal, dependencies) = (journal, dependencies)
        do {
            try checkWritable()
            return try await journal.write(at: dependencies.now()) { draft in
                try draft.once(key, dependencies, journal, body)
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}

extension Draft {
    fileprivate func once(
        _ key: IdempotencyKey, _ dependencies: Dependencies, _ journal: Journal,
        _ body: (WriteContext) throws -> Void
    ) throws -> CommitReceipt? {
        switch try fold.write(under: key, at: now) {
        case .made(let position): return CommitReceipt(first: position, isRepeated: true)
        case .expired:
            throw TidemarkError(
                .keyExpired,
                "the key \(key) was made at \(key.madeAt), more than "
                    + "\(IdempotencyKey.daysValid) days ago: whether its write was made is not "
                    + "known any more; look for what it would have changed, and use a new key")
        case .new: break
        }
        // What tells of the opening is no part of the write.
        try noteOpening(dependencies, journal.account)
        let first = nextPosition
        idempotencyKey = key
        try WriteContext.run(self, dependencies, journal, body)
        return nextPosition == first ? nil : CommitReceipt(first: first, isRepeated: false)
    }
}
