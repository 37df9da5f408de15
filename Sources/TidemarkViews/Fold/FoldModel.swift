// FoldModel.swift — the change of the model: pending edits of removed fields, and lists that begin
// anew, or are made whole once more.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Takes in a model.
    ///
    /// Edits of nothing but removed fields are superseded: nothing is left to send. Other edits are
    /// sent without such fields, whose values are lost.
    func register(_ event: Event, _ position: Position) throws {
        let before = try model()
        replacedModel = before
        try keep("model", event, position)
        try widenElements(of: before)
        try readEditsAnew(of: before)
        try forgetSets(of: before)
        try forgetFeeds(of: before, event)
        try forgetFolders(of: before)
        try endLists(of: before)
        try forgetHeld(of: before, position)
        try forgetFailingLists(of: before)
        try forgetVersions(of: before)
        try forgetListsOfLocal(of: before)
        try oweLists(of: before, event, position)
        let changed = try model().collections.filter { collection in
            let known = before[collection.name]?.migrations ?? []
            return collection.migrations.dropFirst(known.count).contains { $0.isRemoval }
        }
        guard !changed.isEmpty else { return }
        var superseded: [(key: EntityKey, mutations: Set<Position>)] = []
        // Nothing of them is written before each mutation was looked at.
        var rows: [EntityKey: EntityRow] = [:]
        for mutation in try openMutations() {
            guard let key = try self.mutation(mutation)?.key,
                let collection = changed.first(where: { $0.name == key.collection })
            else { continue }
            let row = try rows[key] ?? entity(key)
            rows[key] = row
            guard
                let item = row.pending.first(where: {
                    $0.position == mutation && !$0.isDerived
                }), item.kind == .update || item.kind == .create
            else { continue }
            // A sent write is judged by its answer.
            if row.isCarried(item) { continue }
            let patch = try item.patch
            let known = before[collection.name] ?? CollectionModel(collection.name)
            let isAllGone =
                item.kind == .update && !patch.isEmpty && collection.read(patch).isEmpty
            let lost = patch.fieldNames.filter { field in
                let alone = patch.only(field)
                return collection.read(alone).isEmpty && !known.read(alone).isEmpty
            }
            guard isAllGone || !lost.isEmpty else { continue }
            var decision = Self.removal(of: lost, from: patch, isAllGone, key, row)
            var items = [item]
            if isAllGone {
                items = row.carried(by: item) + items
                superseded.append((key, Set(items.map(\.position))))
            } else {
                try lose(lost, of: item, key)
            }
            for item in items {
                if isAllGone {
                    try settle(item, of: key, .superseded, proof: position, revision: nil)
                }
                decision.inputs = [item.position, position]
                try note(decision, position)
            }
        }
        for (key, mutations) in superseded {
            var row = try entity(key)
            row.pending.removeAll { mutations.contains($0.position) && !$0.isDerived }
            if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
            try endQuestions(&row, key)
            try refresh(&row, key)
            try put(row, key)
        }
    }
}

extension Fold {
    /// Notes of edits that were sent before which of their fields are sent no more, as the model
    /// has removed them since: it was never told what became of what the model before sent.
    func loseRemoved(
        _ items: some Sequence<EntityRow.Pending>, of row: EntityRow, _ key: EntityKey,
        _ position: Position
    ) throws {
        guard let collection = try known(key.collection)?.model,
            collection.migrations.contains(where: { $0.isRemoval })
        else { return }
        for item in items where !item.isDerived && (item.kind == .update || item.kind == .create) {
            // Those that never were sent were judged with the model.
            guard let mutation = try mutation(item.position), mutation.attempts > 0
            else { continue }
            let known = Set(mutation.lost.map { ExactString($0) })
            let patch = try item.patch
            let lost = patch.fieldNames.filter { field in
                !known.contains(ExactString(field)) && collection.read(patch.only(field)).isEmpty
            }
            guard !lost.isEmpty else { continue }
            let isAllGone = item.kind == .update && collection.read(patch).isEmpty
            var decision = Self.removal(of: lost, from: patch, isAllGone, key, row)
            decision.inputs = [item.position, position]
            try note(decision, position)
            try lose(lost, of: item, key)
        }
    }

    /// The decision about an edit of which fields are removed, without its inputs.
    ///
    /// - Parameter isAllGone: whether it was of nothing else.
    private static func removal(
        of lost: [String], from patch: Patch, _ isAllGone: Bool, _ key: EntityKey, _ row: EntityRow
    ) -> DecisionRow {
        var decision = DecisionRow(
            key: key, rule: "removedField", ruleVersion: 2,
            result: isAllGone ? "superseded" : "merged", inputs: [],
            fields: isAllGone ? patch.fieldNames : lost, base: row.basePosition)
        if !isAllGone {
            decision.superseded = lost
            decision.kept = patch.fieldNames.filter { !lost.contains($0) }
        }
        return decision
    }

    /// Whether an edit was of nothing but fields that the model had removed when it was sent again.
    func isAllRemoved(
        _ item: EntityRow.Pending, in collection: CollectionModel
    ) throws -> Bool {
        guard item.kind == .update, collection.migrations.contains(where: { $0.isRemoval }),
            let mutation = try mutation(item.position), !mutation.lost.isEmpty
        else { return false }
        let patch = try item.patch
        // A field may be lost for another reason, or removed since.
        let lost = Set(mutation.lost.map { ExactString($0) })
        return !patch.isEmpty && patch.fieldNames.allSatisfy { lost.contains(ExactString($0)) }
            && collection.read(patch).isEmpty
    }
}

extension Fold {
    /// A collection's part of the model; the default one for a collection that it does not name.
    func collection(_ name: CollectionName) throws -> CollectionModel {
        try knownCollection(name) ?? CollectionModel(name)
    }
}

extension EntityRow.Pending {
    /// What an edit changes; of a creation all of its fields.
    fileprivate var patch: Patch {
        get throws {
            try kind == .create
                ? Patch(settingAllOf: JSONDocument(parsing: payload)) : Patch(parsing: payload)
        }
    }
}

extension Fold {
    /// Forgets at which versions the folders of a tree were listed, where a new model takes another
    /// tree of them: the next list brings what it asks for.
    fileprivate func forgetFolders(of before: SyncModel) throws {
        let model = try model()
        for old in before.collections where old.tree != nil && model[old.name]?.tree != old.tree {
            let prefix = Ledger.watermarks + EntityKey.prefix(of: old.name)
            for (place, _) in try ledgerRows(prefix)
            where PullTarget(bytes: place.bytes.dropFirst())?.folder != nil {
                put(place, nil)
            }
        }
    }

    /// Ends lists of everything that were cut off, where a new model asks for others, takes
    /// something else from them, or concludes something else: their first pages are not its own.
    fileprivate func endLists(of before: SyncModel) throws {
        let model = try model()
        for old in before.collections {
            if let new = model[old.name], new.goesOn(withListsOf: old) { continue }
            for (place, _) in try ledgerRows(Ledger.listed + EntityKey.prefix(of: old.name)) {
                guard let target = PullTarget(bytes: place.bytes.dropFirst()),
                    try listed(target)?.state != nil
                else { continue }
                try endList(target)
            }
        }
    }

    /// Forgets which entities were absent from lists that a new model has no more: no list answers
    /// that question by itself, and the new ones may name them.
    ///
    /// Where the model has such a list again, it is made whole.
    fileprivate func forgetHeld(of before: SyncModel, _ position: Position) throws {
        let model = try model()
        for old in before.collections where model[old.name]?.localOnly != true {
            let new = model[old.name]
            guard new == nil || new?.lists != old.lists else { continue }
            for (place, _) in try ledgerRows(Ledger.held + EntityKey.prefix(of: old.name)) {
                guard let target = PullTarget(bytes: place.bytes.dropFirst()),
                    new?.mayList(target) != true
                else { continue }
                put(place, nil)
                try owe(target, position)
            }
        }
    }

    /// Forgets that lists failed of collections of which a new model has none any more: no run
    /// lists them, unless somebody selects a part.
    fileprivate func forgetFailingLists(of before: SyncModel) throws {
        let model = try model()
        for old in before.collections where old.lists?.isEmpty != true {
            guard let new = model[old.name], new.localOnly || new.lists?.isEmpty == true else {
                continue
            }
            try forgetFailing(.list(of: old.name))
        }
    }

    /// Forgets the versions of entities of which a new model drops fewer members: a document that
    /// is sent whole would lack them, so that each is read before it is written.
    fileprivate func forgetVersions(of before: SyncModel) throws {
        let model = try model()
        for old in before.collections {
            // Others are written without a version, too, and then over whatever is there.
            guard let new = model[old.name], new.dropsLess(than: old), new.updates == .whole,
                new.ids == .client, !new.isByPath
            else { continue }
            var keys: [EntityKey] = []
            try forEachEntity(in: old.name) { key, row in
                if row.baseState == .live, row.revision != nil { keys.append(key) }
                return true
            }
            for key in keys {
                var row = try entity(key)
                row.revision = nil
                try put(row, key)
            }
        }
    }

    /// Forgets the lists of collections that a new model keeps on this device alone: no run goes on
    /// with them.
    fileprivate func forgetListsOfLocal(of before: SyncModel) throws {
        let local = try model().collections.filter {
            $0.localOnly && before[$0.name]?.localOnly != true
        }
        let names = Set(local.map(\.name))
        guard !names.isEmpty else { return }
        let prefixes = [
            Ledger.watermarks, Ledger.owed, Ledger.listed, Ledger.listedPages, Ledger.held,
            Ledger.unreadable,
        ]
        for prefix in prefixes { try drop(prefix, of: { names.contains($0) }) }
    }

    /// Has lists made whole once more where a new model takes more out of their records, or more
    /// records: what was listed before is in no list of changes.
    ///
    /// Larger limits are told by the watermark, which says how many it is of.
    fileprivate func oweLists(
        of before: SyncModel, _ event: Event, _ position: Position
    ) throws {
        let model = try model()
        let gained = model.collections.filter { collection in
            let old = before[collection.name] ?? CollectionModel(collection.name)
            return collection.takesMore(than: old, model, before)
                || collection.reachesFurther(than: old, at: event.recordedAt)
        }
        for collection in model.bringing(Set(gained.map(\.name))) {
            if collection.feed != nil {
                // Its backfill begins anew, unless it never began, and its ids are listed.
                let isListed = try [PullTarget.back, PullTarget.forward].contains {
                    try get(.watermark(PullTarget(collection.name, scope: $0))) != nil
                }
                if isListed { try owe(PullTarget(collection.name), position) }
                continue
            }
            for target in try knownTargets(of: collection) {
                let isListed = try get(.watermark(target)) != nil || listed(target) != nil
                if isListed { try owe(target, position) }
            }
        }
    }

    /// Makes edits of elements edits of whole lists, where a new model does not tell a list's
    /// elements any more, or tells them by another member.
    fileprivate func widenElements(of before: SyncModel) throws {
        let model = try model()
        var lists: [CollectionName: [KeyedList]] = [:]
        for old in before.collections {
            guard let new = model[old.name] else { continue }
            let gone = old.keyed.filter { list in
                new.keyed.list(in: new.renamed(list.field, since: old))?.key != list.key
            }
            if !gone.isEmpty { lists[old.name] = gone }
        }
        if lists.isEmpty { return }
        for key in try openKeys() {
            guard let gone = lists[key.collection], let old = before[key.collection] else {
                continue
            }
            var row = try entity(key)
            let changes = try row.changes(in: old)
            let wide = PendingChange.widened(changes, gone, on: try row.baseValue(in: old))
            let places = row.pending.indices.filter { !row.pending[$0].isAction }
            for (place, index) in places.enumerated() where wide[place] != changes[place] {
                guard case .update(let patch) = wide[place].change else { continue }
                row.pending[index].payload = patch.encoded
                try updateMutation(row.pending[index], of: key) { $0.fields = patch.fieldNames }
            }
            try refresh(&row, key)
            try put(row, key)
        }
    }

    /// How many edits are pending or refused in collections of the registered model that another
    /// one lacks, by name.
    ///
    /// What follows from a rule is withdrawn with its rule, and counts only where it was sent.
    package func strandedEdits(
        by model: SyncModel
    ) throws -> [(collection: CollectionName, count: Int)] {
        let dropped = try self.model().collections.map(\.name).filter { model[$0] == nil }
        guard !dropped.isEmpty else { return [] }
        var counts: [CollectionName: Int] = [:]
        for position in try openMutations() {
            guard let key = try mutation(position)?.key else { continue }
            counts[key.collection, default: 0] += 1
        }
        for (place, _) in try ledgerRows(Ledger.openDerived) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst(9)) else { continue }
            let row = try entity(key)
            if row.pending.contains(where: { $0.isDerived && row.isCarried($0) }) {
                counts[key.collection, default: 0] += 1
            }
        }
        return dropped.sorted().compactMap { name in counts[name].map { (name, $0) } }
    }

    /// The first collection of another model whose entities here were kept on this device alone and
    /// would be synced, or the other way round; nil for none.
    package func localOnlyChanged(by model: SyncModel) throws -> CollectionModel? {
        let before = try self.model()
        return try model.collections.first { collection in
            // Where the registered model has no such collection, entities of an earlier one may
            // be here.
            guard before[collection.name]?.localOnly != collection.localOnly else { return false }
            var isChanged = false
            try forEachEntity(in: collection.name) { _, row in
                // No run of the other model would ever ask what came of a write.
                let isHere =
                    row.baseState == .live || !row.pending.isEmpty || row.attempt != nil
                isChanged = isHere && row.isLocalOnly != collection.localOnly
                return !isChanged
            }
            return isChanged
        }
    }
}

extension EntityRow {
    /// The mutations whose change another one carries: they share its fate.
    fileprivate func carried(by carrier: Pending) -> [Pending] {
        let before = pending.filter {
            $0.position < carrier.position && !$0.isDerived && !$0.isAction && !isCarried($0)
        }
        return Array(before.reversed().prefix { $0.kind == .carried }.reversed())
    }
}

extension Patch {
    /// What it does to one field.
    fileprivate func only(_ field: String) -> Patch {
        let name = ExactString(field)
        return Patch(
            set: set.filter { ExactString($0.name) == name },
            unset: unset.filter { ExactString($0) == name })
    }
}

extension CollectionModel {
    /// Whether a list that another model began is one that it would have begun.
    fileprivate func goesOn(withListsOf old: CollectionModel) -> Bool {
        window == old.window && since == old.since && feed == old.feed && lists == old.lists
            && embeds == old.embeds && drops == old.drops && isSwept == old.isSwept
            && access.hidesAbsent == old.access.hidesAbsent
    }

    /// Whether it has a list of a target, or would have by some values in documents.
    fileprivate func mayList(_ target: PullTarget) -> Bool {
        if listTargets.contains(target) { return true }
        let names = Set(target.parameters.all.map { ExactString($0.name) })
        return (lists ?? []).contains { rule in
            let own = rule.parameters.all
            let named = own.map(\.name) + rule.from.map(\.parameter)
            return !rule.from.isEmpty && Set(named.map { ExactString($0) }) == names
                && own.allSatisfy { target.parameters[$0.name] == $0.value }
        }
    }

    /// Whether it takes more out of the records of its lists than it did in the model before:
    /// members, entities that stand in them, or placeholders for what they refer to.
    fileprivate func takesMore(
        than old: CollectionModel, _ model: SyncModel, _ before: SyncModel
    ) -> Bool {
        if dropsLess(than: old) || embeds.contains(where: { !old.embeds.contains($0) }) {
            return true
        }
        return references.contains { reference in
            guard reference.placeholder == .always,
                model[reference.collection]?.placeholder != nil
            else { return false }
            let made = old.references.contains {
                ExactString($0.field) == ExactString(reference.field)
                    && $0.collection == reference.collection && $0.placeholder == .always
            }
            return !made || before[reference.collection]?.placeholder == nil
        }
    }
}

extension CollectionModel {
    /// Whether members stay in its records that another model drops.
    fileprivate func dropsLess(than old: CollectionModel) -> Bool {
        let names = Set(drops.map { ExactString($0) })
        return old.drops.contains { !names.contains(ExactString($0)) }
    }

    /// Whether its lists reach further than those of another model, or it keeps what that one takes
    /// for too old.
    fileprivate func reachesFurther(than old: CollectionModel, at now: Timestamp) -> Bool {
        func isLonger(_ span: TimeSpan?, than known: TimeSpan?) -> Bool {
            guard let known else { return false }
            return span.map { now.subtracting($0) < now.subtracting(known) } ?? true
        }
        return isLonger(window?.back, than: old.window?.back)
            || isLonger(window?.ahead, than: old.window?.ahead)
            || isLonger(retention?.ageMax, than: old.retention?.ageMax)
            || agesOtherwise(than: old)
    }

    /// Whether it tells the age of entities by another field than another model, or reads the
    /// field's time otherwise.
    private func agesOtherwise(than old: CollectionModel) -> Bool {
        guard let field = retention?.field, let known = old.retention?.field else { return false }
        return dates != old.dates
            || ExactString(field) != ExactString(renamed(known, since: old))
    }
}

extension FieldMigration {
    fileprivate var isRemoval: Bool { if case .remove = self { true } else { false } }
}
