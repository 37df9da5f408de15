// FoldModel.swift — another model: what is pending on fields that it removed.

import TidemarkEvents

extension Fold {
    /// Takes in a model.
    ///
    /// Edits of nothing but fields that it removed are superseded: there is nothing of them left to
    /// be sent. What other edits say of such a field is left out when they are sent.
    func register(_ event: Event, _ position: Position) throws {
        let before = try model()
        replacedModel = before
        try keep("model", event, position)
        let changed = try model().collections.filter { collection in
            let known = before[collection.name]?.migrations ?? []
            return collection.migrations.dropFirst(known.count).contains { $0.isRemoval }
        }
        guard !changed.isEmpty else { return }
        var superseded: [(key: EntityKey, mutation: Position)] = []
        for mutation in try openMutations() {
            guard let key = try self.mutation(mutation)?.key,
                let collection = changed.first(where: { $0.name == key.collection })
            else { continue }
            let row = try entity(key)
            // What is under way is judged by its answer.
            if let attempt = row.attempt, mutation <= attempt.covers { continue }
            guard
                let item = row.pending.first(where: {
                    $0.position == mutation && !$0.isDerived
                }), item.kind == .update
            else { continue }
            let patch = try Patch(parsing: item.payload)
            guard !patch.isEmpty, collection.migrated(patch).isEmpty else { continue }
            let decision = DecisionRow(
                key: key, rule: "removedField", ruleVersion: 1, result: "superseded",
                inputs: [mutation, position], fields: patch.fieldNames, base: row.basePosition)
            put(.decision(position, superseded.count), decision.encoded)
            try settle(item, of: key, .superseded, proof: position, revision: nil)
            superseded.append((key, mutation))
        }
        for (key, mutation) in superseded {
            var row = try entity(key)
            row.pending.removeAll { $0.position == mutation && !$0.isDerived }
            if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
            try refresh(&row, key)
            try put(row, key)
        }
    }
}

extension FieldMigration {
    fileprivate var isRemoval: Bool { if case .removed = self { true } else { false } }
}
