// FoldRollUps.swift — the rule `rollUp` of a reference: what waits for the server, was refused or
// is a placeholder counts in the entities that it refers to, and in those that these refer to.
//
// A row counts how many of those that refer to it hold something of each kind. What an entity
// counts as goes on to its own parents only when that changes: an edit of what is pending already
// changes no row, and an edit in a clean tree one row for each level above it.

import TidemarkEvents
import TidemarkRules

/// Counts how entities stand in those that they refer to.
struct FoldRollUps: FoldRule {
    let name = "rollUp"
    let moments: FoldMoments = .meet
    let notesConsequences = true

    func isRule(of collection: CollectionModel) -> Bool { collection.rollsUp }

    /// What entities refer to has a row, too, when it waits for the server itself.
    func isMet(by collection: CollectionModel, in model: SyncModel) -> Bool {
        model.hasRollUps(of: collection.name)
    }

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        try fold.noteRollUp(of: entity.key, entity.row, entity.collection)
    }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let model = try fold.model()
        let names = Set(before.collections.map(\.name) + model.collections.map(\.name))
        let isOther = names.contains { name in
            let (old, new) = (before[name], model[name])
            return old?.rollUps != new?.rollUps
                || (new?.rollsUp == true && old?.migrations != new?.migrations)
        }
        guard isOther else { return }
        for (place, _) in try fold.ledgerRows(Ledger.rollUps) { fold.put(place, nil) }
        for collection in model.collections where model.hasRollUps(of: collection.name) {
            var keys: [EntityKey] = []
            try fold.forEachEntity(in: collection.name) { key, row in
                if row.rollUpClass != nil { keys.append(key) }
                return true
            }
            for key in keys { try fold.noteRollUp(of: key, try fold.entity(key), collection) }
        }
    }
}

extension Fold {
    /// Counts an entity as what it is now, where it refers to now.
    fileprivate func noteRollUp(
        of key: EntityKey, _ row: EntityRow, _ collection: CollectionModel
    ) throws {
        let before = try rollUp(key)
        var after = before ?? RollUpRow()
        after.counted = RollUpClasses(row.rollUpClass).union(after.belowClasses)
        after.parents = after.counted.isEmpty ? [] : try rollUpParents(of: row, collection)
        guard after != before ?? RollUpRow() else { return }
        put(.rollUp(key), after.isEmpty ? nil : after.encoded)
        let old = try (before?.parents ?? []).map { try resolve($0) }
        let gone = before?.counted ?? []
        // What stays is not taken away first: that would go up to the root, and back.
        for parent in old where !after.parents.contains(parent) {
            try change(below: parent) { $0.add(gone, -1) }
        }
        for parent in after.parents {
            let known = old.contains(parent) ? gone : []
            guard known != after.counted else { continue }
            try change(below: parent) { row in
                row.add(known.subtracting(after.counted), -1)
                row.add(after.counted.subtracting(known), 1)
            }
        }
    }

    private func change(below key: EntityKey, _ change: (inout RollUpRow) -> Void) throws {
        var row = try rollUp(key) ?? RollUpRow()
        let before = row.belowClasses
        change(&row)
        put(.rollUp(key), row.isEmpty ? nil : row.encoded)
        guard row.belowClasses != before else { return }
        try noteRollUp(
            of: key, try heldRow(at: .entity(key)), try collection(key.collection))
    }

    /// Counts what was counted in an entity in the one that it turned out to be.
    func moveRollUps(from other: EntityKey, to key: EntityKey) throws {
        guard let row = try rollUp(other) else { return }
        put(.rollUp(other), nil)
        for parent in row.parents {
            try change(below: try resolve(parent)) { $0.add(row.counted, -1) }
        }
        try change(below: key) { $0.add(row) }
    }

    /// The entities in which one counts, each once.
    private func rollUpParents(
        of row: EntityRow, _ collection: CollectionModel
    ) throws -> [EntityKey] {
        guard collection.rollsUp else { return [] }
        let own = try? row.document(in: collection)
        // Deleted here it is where it was.
        guard let bytes = try own ?? row.baseValue(in: collection).document?.bytes,
            let document = try? JSONDocument(parsing: bytes)
        else { return [] }
        var parents: [EntityKey] = []
        for reference in collection.references {
            switch reference.rollUp {
            case nil: continue
            case .always: break
            case .whereTrue(let field): guard document.value(field) == true else { continue }
            }
            for id in document.ids(in: reference.field) {
                let named = EntityKey(reference.collection, id)
                guard named.isValid else { continue }
                let parent = try resolve(named)
                if !parents.contains(parent) { parents.append(parent) }
            }
        }
        return parents
    }
}

extension CollectionModel {
    /// Whether its entities count in others.
    var rollsUp: Bool { references.contains { $0.rollUp != nil } }

    /// What says where its entities count.
    fileprivate var rollUps: [Reference] { references.filter { $0.rollUp != nil } }
}
