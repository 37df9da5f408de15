// FoldMissing.swift — the rule `missing` of a reference: an entity is hidden while what it refers
// to can't be had.
//
//   can't be had   the log knows nothing of it, or that it was deleted; the server was asked for
//                  its placeholder in vain; or it is hidden itself, and of another collection
//
// What `retention` pruned can be had: the server has it, and showed it. Not where access may hide
// its collection: what was out of reach was pruned there, too.
//
// That depends on the rows alone, so the order in which both came does not matter. What is pending
// is never hidden, and what lies in a deleted entity is not looked at until it is seen again. Who
// waits for whom stands in rows (DanglingRows.swift), as indexes don't tell of what is hidden.

import TidemarkEvents
import TidemarkRules

/// Hides entities whose references lead nowhere.
struct FoldMissing: FoldRule {
    static let ruleName = "missing"
    /// Raised whenever the same inputs would give another result.
    static let version: UInt64 = 2

    let name = FoldMissing.ruleName
    let moments: FoldMoments = .meet
    let notesConsequences = true

    func isRule(of collection: CollectionModel) -> Bool { collection.hidesDangling }

    /// What entities refer to may come, or go.
    func isMet(by collection: CollectionModel, in model: SyncModel) -> Bool {
        collection.hidesDangling
            || model.collections.contains { !$0.hiding(for: collection.name).isEmpty }
    }

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        if entity.collection.hidesDangling {
            try fold.settleDangling(&entity.row, entity.key, entity.collection, position)
        }
        // What stays after a wipe is looked at when the next word on it comes.
        guard event.kind != .localWiped else { return }
        try fold.settleReferrers(to: entity.key, entity.row, event, position)
    }

    func note(_ rows: [(key: RowKey, value: [UInt8]?)], _ fold: Fold) {
        for (key, value) in rows where key.bytes.starts(with: Ledger.waitingLong) {
            fold.memory(MissingMemory.self).note(key, value)
        }
    }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let model = try fold.model()
        let names = Set(before.collections.map(\.name) + model.collections.map(\.name))
        for name in names.sorted() {
            let collection = model[name] ?? CollectionModel(name)
            guard collection.hidings(in: model) != before[name]?.hidings(in: before) ?? [] else {
                continue
            }
            var keys: [EntityKey] = []
            try fold.forEachEntity(in: name) { key, _ in
                keys.append(key)
                return true
            }
            for key in keys { try fold.settleDangling(key, collection, event, position) }
        }
    }
}

/// What of a model says whether an entity is hidden for want of another one.
private struct Hiding: Equatable {
    let field: ExactString
    let target: CollectionName
    /// Whether what was pruned of the other collection may have been out of reach.
    let isByAccess: Bool
}

/// What the rule remembers within one fold.
private final class MissingMemory: FoldMemory {
    /// The collections whose entities are hidden with those of another one.
    var referrers: [CollectionName: [(collection: CollectionModel, references: [Reference])]] = [:]
    /// The entities that wait for another one, where both names are too long for the key of a row,
    /// by what they wait for; nil before they were read.
    private(set) var longWaits: [EntityKey: Set<EntityKey>]?
    /// What each of them waits for.
    private var longTargets: [EntityKey: EntityKey] = [:]
    /// What came to wait within an event, by what it waits for: no walk finds its rows until the
    /// event was taken.
    private var addedWaits: [EntityKey: [EntityKey]] = [:]
    private var addedAt: Position?

    /// Remembers that an entity waits for another one since the current event.
    func noteWait(of key: EntityKey, for target: EntityKey, _ position: Position) {
        if addedAt != position {
            addedWaits = [:]
            addedAt = position
        }
        addedWaits[target, default: []].append(key)
    }

    /// What came to wait for an entity within the current event; it may not wait any more.
    func newWaits(for target: EntityKey, _ position: Position) -> [EntityKey] {
        addedAt == position ? (addedWaits[target] ?? []) : []
    }

    /// Takes in all of them, as they were read.
    func setLongWaits(_ waits: [(key: EntityKey, target: EntityKey)]) {
        longWaits = [:]
        longTargets = [:]
        for (key, target) in waits { setLongWait(of: key, for: target) }
    }

    /// Reads a row under ``Ledger/waitingLong``.
    func note(_ place: RowKey, _ value: [UInt8]?) {
        guard longWaits != nil,
            let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.waitingLong.count))
        else { return }
        let why = value.flatMap { try? DanglingRow(parsing: $0) }
        setLongWait(of: key, for: why?.target)
    }

    private func setLongWait(of key: EntityKey, for target: EntityKey?) {
        if let before = longTargets.removeValue(forKey: key) {
            longWaits?[before]?.remove(key)
        }
        guard let target else { return }
        longTargets[key] = target
        longWaits?[target, default: []].insert(key)
    }
}

extension Fold {
    /// Hides or shows an entity by what it refers to, and those that refer to it.
    func settleDangling(
        _ key: EntityKey, _ collection: CollectionModel, _ event: Event, _ position: Position
    ) throws {
        var row = try entity(key)
        guard try settleDangling(&row, key, collection, position) else { return }
        var entity = MetEntity(key, collection, row)
        for rule in try known(key.collection)?.meeting ?? [] where rule.notesConsequences {
            guard rule.name != FoldMissing.ruleName else { continue }
            try rule.meet(&entity, event, position, self)
        }
        try settleReferrers(to: key, row, event, position)
    }

    /// Hides or shows an entity by what it refers to; whether anything changed.
    @discardableResult
    fileprivate func settleDangling(
        _ row: inout EntityRow, _ key: EntityKey, _ collection: CollectionModel,
        _ position: Position
    ) throws -> Bool {
        let known = try dangling(key)
        let lack = try lack(of: row, collection)
        let isSame = known?.target == lack?.target && known?.field == lack?.field
        guard !isSame || row.isHidden != (lack != nil) else { return false }
        if !isSame { try note(lack, insteadOf: known, row, key, position) }
        guard !row.isEmpty, row.isHidden != (lack != nil) else { return true }
        row.isHidden = lack != nil
        try put(row, key)
        return true
    }

    private func note(
        _ lack: (field: String, target: EntityKey)?, insteadOf known: DanglingRow?,
        _ row: EntityRow, _ key: EntityKey, _ position: Position
    ) throws {
        if let known { putWait(of: key, for: known.target, nil) }
        if let lack {
            let why = DanglingRow(
                position: position, index: try freeDecision(at: position), target: lack.target,
                field: lack.field)
            put(.dangling(key), why.encoded)
            putWait(of: key, for: lack.target, why)
            memory(MissingMemory.self).noteWait(of: key, for: lack.target, position)
        } else {
            put(.dangling(key), nil)
        }
        // Of what is gone, or was pruned, nothing was decided.
        guard !row.isEmpty, row.prunedDigest.isEmpty else { return }
        let decision = DecisionRow(
            key: key, rule: FoldMissing.ruleName, ruleVersion: FoldMissing.version,
            result: lack == nil ? "shown" : "hidden", inputs: [position],
            fields: [lack?.field ?? known?.field].compactMap(\.self), base: row.basePosition)
        try note(decision, position)
    }

    /// Writes that an entity waits for another one, and why; nil where it does not any more.
    private func putWait(of key: EntityKey, for target: EntityKey, _ why: DanglingRow?) {
        let place = RowKey.waiting(key, for: target)
        guard place.bytes.starts(with: Ledger.waitingLong) else {
            return put(place, why == nil ? nil : [])
        }
        put(place, why?.encoded)
    }

    /// The entities that wait for another one, those whose names are short first, and those that
    /// came to wait within the current event last.
    private func waits(for target: EntityKey, _ position: Position) throws -> [EntityKey] {
        let prefix = RowKey.waiting(for: target)
        let short = try ledgerRows(prefix).compactMap { row in
            EntityKey(bytes: row.key.bytes.dropFirst(prefix.count))
        }
        let new = memory(MissingMemory.self).newWaits(for: target, position)
        return try short + longWaits(for: target).sorted() + new
    }

    private func longWaits(for target: EntityKey) throws -> Set<EntityKey> {
        let memory = memory(MissingMemory.self)
        if let known = memory.longWaits { return known[target] ?? [] }
        var waits: [(key: EntityKey, target: EntityKey)] = []
        for row in try ledgerRows(Ledger.waitingLong) {
            guard let key = EntityKey(bytes: row.key.bytes.dropFirst(Ledger.waitingLong.count)),
                let why = try DanglingRow(parsing: row.value)
            else { continue }
            waits.append((key, why.target))
        }
        memory.setLongWaits(waits)
        return memory.longWaits?[target] ?? []
    }

    /// What of an entity's references can't be had; the first one in the order of the model.
    private func lack(
        of row: EntityRow, _ collection: CollectionModel
    ) throws -> (field: String, target: EntityKey)? {
        guard collection.hidesDangling, row.baseState == .live, row.pending.isEmpty,
            row.attempt == nil, !row.isPlaceholder, !row.isOrphan,
            let document = try? row.baseValue(in: collection).document
        else { return nil }
        for reference in collection.references where reference.missing == .hides {
            for id in document.ids(in: reference.field) {
                let named = EntityKey(reference.collection, id)
                guard named.isValid, try isLacking(resolve(named), for: collection.name) else {
                    continue
                }
                return (reference.field, named)
            }
        }
        return nil
    }

    private func isLacking(_ key: EntityKey, for referrer: CollectionName) throws -> Bool {
        let row = try heldRow(at: .entity(key))
        return try isLacking(row, key) || (key.collection != referrer && row.isHidden)
    }

    /// Whether an entity can't be had: it is not here, and the server has none, or shows none, as
    /// far as is known.
    private func isLacking(_ row: EntityRow, _ key: EntityKey) throws -> Bool {
        if row.baseState == .live {
            return row.isPlaceholder && !row.isPartial && row.triedAt != nil
        }
        guard row.pending.isEmpty else { return false }
        // Where access hides, what was out of reach was pruned, too, and rows don't tell which.
        return try row.prunedDigest.isEmpty || collection(key.collection).canBeHidden
    }

    /// Shows those that were hidden for want of an entity, and hides those that refer to it.
    fileprivate func settleReferrers(
        to key: EntityKey, _ row: EntityRow, _ event: Event, _ position: Position
    ) throws {
        let referrers = try referrers(to: key.collection)
        guard !referrers.isEmpty else { return }
        var seen: Set<EntityKey> = []
        var found: [(key: EntityKey, collection: CollectionModel)] = []
        if try row.isHidden || isLacking(row, key) {
            for (collection, references) in referrers {
                try forEachReferrer(to: [key], by: references, in: collection) { other, _ in
                    // An index comes to all that have a list: who is settled must not depend on it.
                    let targets = try takenRow(at: .entity(other)).targets(
                        of: references, in: collection, self)
                    if targets.contains(key), seen.insert(other).inserted {
                        found.append((other, collection))
                    }
                    return true
                }
            }
        } else {
            for named in try keys(of: key) {
                for other in try waits(for: named, position) where seen.insert(other).inserted {
                    found.append((other, try collection(other.collection)))
                }
            }
        }
        for (other, collection) in found where other != key {
            try settleDangling(other, collection, event, position)
        }
    }

    /// The collections whose entities are hidden for want of those of one, and by which references.
    private func referrers(
        to name: CollectionName
    ) throws -> [(collection: CollectionModel, references: [Reference])] {
        let memory = memory(MissingMemory.self)
        if let known = memory.referrers[name] { return known }
        let found = try model().collections.compactMap { collection in
            let references = collection.hiding(for: name)
            return references.isEmpty ? nil : (collection: collection, references: references)
        }
        memory.referrers[name] = found
        return found
    }
}

extension CollectionModel {
    /// The references by which its entities are hidden for want of those of another collection.
    fileprivate func hiding(for name: CollectionName) -> [Reference] {
        references.filter { $0.missing == .hides && $0.collection == name }
    }

    /// By what its entities are hidden, in the order of the model.
    fileprivate func hidings(in model: SyncModel) -> [Hiding] {
        references.filter { $0.missing == .hides }.map { reference in
            Hiding(
                field: ExactString(reference.field), target: reference.collection,
                isByAccess: model[reference.collection]?.canBeHidden ?? false)
        }
    }
}
