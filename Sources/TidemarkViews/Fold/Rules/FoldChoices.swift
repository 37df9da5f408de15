// FoldChoices.swift — the rule `choices`: fields that must name one of the entities of a
// collection. Where they name none and there is just one, it is that one.

import TidemarkEvents
import TidemarkRules

/// Chooses the only entity that can be chosen.
struct FoldChoices: FoldRule {
    let name = ChoiceRule.name
    let moments: FoldMoments = [.meet, .follow]

    func isRule(of collection: CollectionModel) -> Bool { !collection.choices.isEmpty }

    /// Notes whether a choice of the entity is open.
    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let open = fold.memory(OpenChoices.self)
        let name = entity.collection.name
        guard open.keys[name] != nil else { return }
        let collection = entity.collection
        if entity.ownOnceSeen().map({ collection.hasOpenChoice(in: $0) }) ?? false {
            open.keys[name]?.insert(entity.key)
        } else {
            open.keys[name]?.remove(entity.key)
        }
    }

    func isAsked(
        by event: Event, _ collection: CollectionModel, _ model: SyncModel, _ fold: Fold
    ) -> Bool {
        switch event.kind.family {
        case .model, .runEnd: true
        case .list:
            event.collection == collection.name || event.collection == model.collections.last?.name
                || collection.choices.contains { $0.collection == event.collection }
        case .store, .local, .app, .runStart, .request, .answer, .word, .notice, .push,
            .asset, .unknown:
            false
        }
    }

    func follow(
        _ collection: CollectionModel, _ model: SyncModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws { try fold.choose(collection, model, event, position) }

    func derives(_ fields: [String], _ collection: CollectionModel) -> Bool {
        fields.allSatisfy { field in collection.choices.contains { $0.field == field } }
    }

    func isOpen(
        _ field: String, in document: JSONDocument, _ collection: CollectionModel
    ) -> Bool {
        collection.choices.first { $0.field == field }?.isOpen(in: document) ?? false
    }
}

/// The entities with a choice that is open, of the collections that were asked for; hidden ones,
/// too.
private final class OpenChoices: FoldMemory {
    var keys: [CollectionName: Set<EntityKey>] = [:]
}

extension ChoiceRule {
    package static let name = "choice"
    fileprivate static let version: UInt64 = 1

    /// Whether a document names none of the entities.
    fileprivate func isOpen(in document: JSONDocument) -> Bool {
        guard let value = document.rawValue(field) else { return true }
        return value.elementsEqual("null".utf8)
    }
}

extension CollectionModel {
    fileprivate func hasOpenChoice(in document: JSONDocument) -> Bool {
        choices.contains { $0.isOpen(in: document) }
    }
}

extension Fold {
    /// Makes the open choices of a collection's entities, and withdraws those that no longer hold.
    fileprivate func choose(
        _ collection: CollectionModel, _ model: SyncModel, _ event: Event, _ position: Position
    ) throws {
        let keys = try undecided(collection).sorted()
        guard !keys.isEmpty else { return }
        let only = try collection.choices.map { try onlyEntity(of: $0.collection) }
        let now = try ruleTime(event)
        for key in keys {
            var row = try entity(key)
            guard let own = try? row.ownDocument(in: collection) else { continue }
            var patch = Patch()
            var inputs = [row.basePosition].compactMap(\.self)
            for (choice, only) in zip(collection.choices, only) {
                guard let only, choice.isOpen(in: own) else { continue }
                let value =
                    model[choice.collection]?.idValue(only.key.id) ?? .string(only.key.id)
                patch.set.append(Patch.Field(choice.field, value.encoded()))
                inputs += [only.row.basePosition].compactMap(\.self)
            }
            let known = row.pending.last { $0.rule == ChoiceRule.name }
            if let known, row.isCarried(known) { continue }
            guard (known?.payload ?? []) != (patch.isEmpty ? [] : patch.encoded) else { continue }
            if let known { try withdraw(known, from: &row, key, proof: position) }
            // One event makes one change of an entity at most.
            guard !patch.isEmpty,
                !row.pending.contains(where: { $0.isDerived && $0.position == position })
            else { continue }
            let decision = DecisionRow(
                key: key, rule: ChoiceRule.name, ruleVersion: ChoiceRule.version, result: "chosen",
                inputs: inputs, fields: patch.fieldNames, base: row.basePosition)
            try note(decision, position)
            try derive(ChoiceRule.name, patch, on: &row, key, event, position, now: now)
        }
    }

    /// The entities of a collection with a choice that is open, also those that are hidden for want
    /// of what they refer to: they may be seen without being met again.
    private func undecided(_ collection: CollectionModel) throws -> Set<EntityKey> {
        let open = memory(OpenChoices.self)
        if let known = open.keys[collection.name] { return known }
        var keys: Set<EntityKey> = []
        if let some = try mayBeUndecided(collection) {
            for key in some {
                let own = try? takenRow(at: .entity(key)).ownDocumentOnceSeen(in: collection)
                if let own, collection.hasOpenChoice(in: own) { keys.insert(key) }
            }
        } else {
            try forEachEncoded(in: collection.name) { key, value in
                let own = try? EntityRow(parsing: value).ownDocumentOnceSeen(in: collection)
                if let own, collection.hasOpenChoice(in: own) { keys.insert(key) }
                return true
            }
        }
        open.keys[collection.name] = keys
        return keys
    }

    /// The entities of a collection with a choice that may be open, by the indexes of the fields;
    /// nil where these don't tell.
    private func mayBeUndecided(_ collection: CollectionModel) throws -> Set<EntityKey>? {
        // What lies in a deleted entity is in no index.
        guard collection.tree == nil else { return nil }
        var found: Set<EntityKey> = []
        for choice in collection.choices {
            let index = IndexModel([IndexField(choice.field)])
            guard let open = try keys(in: index, [nil], of: collection) else { return nil }
            found.formUnion(open)
        }
        // Nor is what this fold wrote, and what is hidden; and a choice that was made has a value.
        for (key, _) in entitiesTaken(in: collection.name) { found.insert(key) }
        found.formUnion(try danglingKeys(in: collection))
        for (place, _) in try ledgerRows(Ledger.openDerived) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst(9)),
                key.collection == collection.name
            else { continue }
            found.insert(key)
        }
        return found
    }

    /// The entity of a collection that the server has and that is seen, where there is just one.
    private func onlyEntity(
        of collection: CollectionName
    ) throws -> (key: EntityKey, row: EntityRow)? {
        var found: (key: EntityKey, row: EntityRow)?
        var count = 0
        try forEachEncoded(in: collection) { key, value in
            let row = try EntityRow(parsing: value)
            guard row.baseState == .live, !row.isPlaceholder, row.document != nil else {
                return true
            }
            found = (key, row)
            count += 1
            return count < 2
        }
        return count == 1 ? found : nil
    }
}
