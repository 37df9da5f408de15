// Replica+Relay.swift — pending changes that the app sends another way, as by a text message where
// the server can't be reached.

public import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// Notes that what is pending on an entity was sent another way than by sync runs, which still
    /// send it.
    ///
    /// Its status is ``EntityStatus/relayed`` until it is edited again or a run has sent it.
    ///
    /// - Parameters:
    ///   - key: the entity.
    ///   - channel: the way, such as `sms`; it stands in the log.
    ///   - position: the log's last position when that was read which was sent: later edits were
    ///     not in it. All that is pending unless it is given.
    /// - Returns: the position of the event, or nil where nothing of it is pending any more,
    ///   because a run was faster.
    /// - Throws: ``TidemarkError``: `notFound` where the log knows nothing of the entity,
    ///   `invalidKey`, `noModel`.
    @discardableResult
    public func markRelayed(
        _ key: EntityKey, via channel: String? = nil, asOf position: Position? = nil
    ) throws -> Position? {
        try note(PushRelayed(via: channel, isConfirmed: false), key, position)
    }

    /// Notes that the other side said that it has what was sent another way: unless `position`
    /// says otherwise, what ``markRelayed(_:via:asOf:)`` was told of, or all that is pending.
    ///
    /// Its status is ``EntityStatus/confirmed``. Where it is not edited again, what the server says
    /// of the entity next, asked after this, is what became of it: it is pending no more. What the
    /// server then has otherwise is told as a conflict that the server won. Until then runs still
    /// send it.
    ///
    /// - Returns: like ``markRelayed(_:via:asOf:)``, which it also throws like.
    @discardableResult
    public func markConfirmed(
        _ key: EntityKey, via channel: String? = nil, asOf position: Position? = nil
    ) throws -> Position? {
        try note(PushRelayed(via: channel, isConfirmed: true), key, position)
    }

    private func note(
        _ relay: PushRelayed, _ named: EntityKey, _ asOf: Position?
    ) throws -> Position? {
        let (key, _) = try check(named)
        let row = try draft.fold.entity(key)
        guard !row.isEmpty else { throw notFound(key) }
        let known = relay.isConfirmed && asOf == nil ? row.relay?.covers : nil
        let sent = row.pending.last { item in
            (known ?? asOf).map { item.position <= $0 } ?? true
        }
        guard let sent, row.relay.map({ $0.covers <= sent.position }) ?? true else { return nil }
        return try draft.append(
            Event(
                .pushRelayed, recordedAt: draft.now, key: key, mutation: sent.position,
                json: relay.encoded))
    }
}

extension Replica {
    /// Notes for one entity by itself that it was sent another way; otherwise like
    /// ``WriteContext/markRelayed(_:via:asOf:)``.
    @discardableResult
    public func markRelayed(
        _ key: EntityKey, via channel: String? = nil, asOf position: Position? = nil
    ) async throws -> Position? {
        try await write { tx in try tx.markRelayed(key, via: channel, asOf: position) }
    }

    /// Notes for one entity by itself that it arrived another way; otherwise like
    /// ``WriteContext/markConfirmed(_:via:asOf:)``.
    @discardableResult
    public func markConfirmed(
        _ key: EntityKey, via channel: String? = nil, asOf position: Position? = nil
    ) async throws -> Position? {
        try await write { tx in try tx.markConfirmed(key, via: channel, asOf: position) }
    }

    /// The same of an entity by its type.
    @discardableResult
    public func markRelayed<T: Entity>(
        _ type: T.Type, _ id: ID<T>, via channel: String? = nil, asOf position: Position? = nil
    ) async throws -> Position? { try await markRelayed(T.key(id), via: channel, asOf: position) }

    /// The same of an entity by its type.
    @discardableResult
    public func markConfirmed<T: Entity>(
        _ type: T.Type, _ id: ID<T>, via channel: String? = nil, asOf position: Position? = nil
    ) async throws -> Position? { try await markConfirmed(T.key(id), via: channel, asOf: position) }
}
