// FoldPools.swift — values that a server reserved: what is added, taken and over, how many a run
// was asked to have, and how long none are asked for.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// `reserved.added`.
    func added(_ event: Event, _ added: ReservedAdded, _ position: Position) throws {
        guard let key = added.place.key else { return }
        for left in try values(of: key) {
            let isReplaced = added.replaces && left.pattern != added.pattern
            guard isReplaced || left.until <= event.recordedAt else { continue }
            put(.leftValue(key, left.value, until: left.until), nil)
            put(.reservedValue(key, left.value), nil)
        }
        for (index, value) in added.values.enumerated() where try isNew(value, of: key) {
            let until = index < added.until.count ? added.until[index] : nil
            // 0 stands for a time that is not known.
            if until?.rawValue == 0 { continue }
            let row = ReservedValueRow(value, until: until, position, added.pattern)
            put(.leftValue(key, value, until: row.until), row.encoded)
            put(
                .reservedValue(key, value),
                ReservedValueState.left(key, until: row.until).encoded)
        }
        var row = try pool(key) ?? unaskedPool(key)
        (row.pattern, row.gate) = (added.pattern, nil)
        put(.pool(key), row.encoded)
    }

    /// `reserved.taken`.
    func taken(_ taken: ReservedTaken, _ position: Position) throws {
        guard let key = taken.place.key, PoolKey.isUsable(value: taken.value) else { return }
        let place = RowKey.reservedValue(key, taken.value)
        switch try get(place).map({ try ReservedValueState(parsing: $0) }) {
        case .taken: return
        case .left(let key, let until): put(.leftValue(key, taken.value, until: until), nil)
        case nil: break
        }
        put(place, ReservedValueState.taken(position).encoded)
    }

    /// The row of a key that no run was asked to fill.
    private func unaskedPool(_ key: PoolKey) throws -> PoolRow {
        var row = PoolRow()
        row.isOnlyNamed = try model().poolKeys.contains(key)
        return row
    }

    /// Remembers which keys a run is asked to fill, and how many values it is to have.
    func remember(_ scope: SyncScope) throws {
        guard case .reserve(let wanted) = scope else { return }
        let model = try model()
        for wanted in wanted where wanted.isUsable && model.pool(wanted.pool) != nil {
            let known = try pool(wanted.place)
            var row = known ?? PoolRow()
            row.isOnlyNamed = false
            if let count = wanted.count { row.fill = count }
            if row != known { put(.pool(wanted.place), row.encoded) }
        }
    }

    /// Notes how a call for values ended.
    ///
    /// - Parameter failure: its name; nil where it succeeded.
    func noteEnd(
        of event: Event, _ place: PoolPlace, _ failure: String?, uptime: Int64?,
        _ position: Position
    ) throws {
        guard let key = place.key else { return }
        var row = try pool(key) ?? unaskedPool(key)
        row.gate = try failure.map { failure in
            let failures = min(row.gate?.failures ?? 0, Int(Int32.max)) + 1
            return try backoff(event, failures, failure, uptime: uptime, position)
        }
        put(.pool(key), row.encoded)
    }
}

extension SyncScope.Reservation {
    /// Whether it names a key and a number that a pool can have.
    package var isUsable: Bool {
        place.problem == nil
            && count.map { ReservedPool.fillRange.contains(Int64($0)) } ?? true
    }
}
