// FoldFailing.swift — calls that fail for reasons of their own: how long each waits, and when it is
// no more.

package import TidemarkEvents
import TidemarkRules

/// What an answer, or that there was none, says of the call.
struct CallEnd {
    var concern: FailureConcern?
    /// The failure's name; nil where the call did not fail.
    var failure: String?
    var status = 0
    /// Microseconds since the device's boot, where it is told.
    var uptime: Int64?
}

extension Fold {
    /// What fails: entities, and lists by an empty id.
    private func failing() throws -> Set<EntityKey> {
        if let knownFailing { return knownFailing }
        let keys = try ledgerRows(Ledger.failing).compactMap {
            EntityKey(bytes: $0.key.bytes.dropFirst())
        }
        knownFailing = Set(keys)
        return Set(keys)
    }

    /// The calls about an entity that fail, or about a collection's list.
    package func failing(_ key: EntityKey) throws -> FailingRow? {
        guard try failing().contains(key) else { return nil }
        return try get(.failing(key)).map { try FailingRow(parsing: $0) }
    }

    private func set(_ row: FailingRow?, _ key: EntityKey) throws {
        var keys = try failing()
        if row == nil { keys.remove(key) } else { keys.insert(key) }
        knownFailing = keys
        put(.failing(key), row?.encoded)
    }

    /// Forgets that calls about an entity fail, or about a collection's list.
    func forgetFailing(_ key: EntityKey) throws {
        if try failing().contains(key) { try set(nil, key) }
    }

    /// Takes note of how a call ended.
    ///
    /// - Parameter isWrite: whether it was one.
    func noteEnd(of event: Event, _ end: CallEnd, isWrite: Bool, _ position: Position) throws {
        let isList = end.concern == .list
        guard
            let key = try isList
                ? event.collection.map({ EntityKey.list(of: $0) }) : event.key.map(resolve)
        else { return }
        guard let failure = end.failure else {
            // A precondition that fails says nothing of what comes next.
            if isWrite, end.status == 412 { return }
            return try noteAnswer(to: key, isWrite: isWrite)
        }
        // Other failures end the run, and say nothing of what was asked for.
        guard let concern = end.concern else { return }
        var row = try failing(key) ?? FailingRow(first: position)
        let failures = min(row.gate.failures, Int(Int32.max)) + 1
        let settings = try model().settings
        // What failed in one run is not asked again all at once.
        let seed = (try started(event)?.seed ?? 0) ^ (position.rawValue &* 0x9E37_79B9_7F4A_7C15)
        row.gate = SyncGate(
            since: try moment(event, uptime: end.uptime),
            microseconds: BackoffRule.microseconds(
                failures: failures, seed: seed, secondsMin: settings.backoff.min.seconds,
                secondsMax: settings.backoff.max.seconds),
            failures: failures, reason: failure, position: position)
        row.status = UInt32(clamping: end.status)
        if isWrite {
            (row.isWrite, row.reads, row.isAbsent) = (true, 0, false)
        } else if !isList {
            row.reads = min(row.reads, Int(Int32.max)) + 1
            if concern == .absent { row.isAbsent = true }
        }
        try set(row, key)
    }

    private func noteAnswer(to key: EntityKey, isWrite: Bool) throws {
        guard var row = try failing(key) else { return }
        guard row.isWrite, !isWrite, !key.id.isEmpty else { return try set(nil, key) }
        // The write is to be made still.
        row.reads = 0
        try set(row, key)
    }

    /// Forgets the failing calls of entities that the current event changed, where there is nothing
    /// left to ask: no mutation is open, or the server said how the entity is.
    func settleFailing(_ position: Position) throws {
        guard try !failing().isEmpty else { return }
        for place in writtenPlaces {
            guard let key = EntityKey(bytes: place.bytes), var failing = try failing(key) else {
                continue
            }
            let row = try entity(at: place)
            let isSaid = row.basePosition == position
            let isDone = row.attempt == nil && row.pending.allSatisfy(\.isRefused)
            // Who names entities can't be asked for one that is not there.
            let isGone =
                try isDone && row.baseState == .absent && namesEntities(key.collection)
            if failing.isWrite ? isDone : isSaid || isGone {
                try set(nil, key)
            } else if isSaid, failing.reads > 0 {
                failing.reads = 0
                try set(failing, key)
            }
        }
    }

    /// The entities of a collection that a list of everything did not name and that can't be asked
    /// after.
    package func absentInDoubt(_ collection: CollectionName) throws -> Set<ExactString> {
        let keys = try failing().filter { key in
            guard key.collection == collection, let row = try failing(key) else { return false }
            return row.isAbsent
        }
        return Set(keys.map { ExactString($0.id) })
    }

    /// Takes note that a page names entities that are here as it says: they are not absent.
    func namedAgain(_ page: PullPage, of collection: CollectionName) throws {
        guard try !failing().isEmpty else { return }
        for id in page.same + (page.list?.same ?? []) {
            let key = try resolve(EntityKey(collection, id))
            guard var row = try failing(key), row.isAbsent else { continue }
            row.isAbsent = false
            let isAnswered = try !row.isWrite && entity(key).attempt == nil
            try set(isAnswered ? nil : row, key)
        }
    }

    /// Asks again at once, because the user wants it.
    func retryFailing(_ key: EntityKey) throws {
        guard var row = try failing(key) else { return }
        row.gate.microseconds = 0
        try set(row, key)
    }

    /// The entities of a collection with a write whose outcome is not known and that can't be asked
    /// after.
    func unreadableAttempts(_ collection: CollectionName) throws -> [EntityKey] {
        try failing().filter { key in
            guard key.collection == collection, !key.id.isEmpty, let row = try failing(key) else {
                return false
            }
            return row.reads > 0
        }
        .sorted()
    }

    /// Whether a write whose outcome is not known is given up with what it carried: it can't be
    /// asked after, and the next list tells what is there.
    func isGivenUp(_ row: EntityRow, _ key: EntityKey) throws -> Bool {
        guard row.attempt != nil, let failing = try failing(key), failing.reads > 0 else {
            return false
        }
        return try row.baseState == .live || !namesEntities(key.collection)
    }
}
