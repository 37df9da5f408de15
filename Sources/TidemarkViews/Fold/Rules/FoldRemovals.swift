// FoldRemovals.swift — the rule `removal` of a reference: an entity that the server deletes is
// taken out of what refers to it, because the server does so, too, without saying it of each.
//
//   deleted   in the server's word and in edits of all that refer to it, by its ids and, where the
//             rule has them, by its name: a name without an id may be another's
//   later     in edits that name it all the same, by its ids
//
// The server's words on what referred to it are in the log as they came. Nothing of this is sent,
// but for what the user changed beside it.

import TidemarkEvents
import TidemarkRules

/// Takes deleted entities out of what refers to them.
struct FoldRemovals: FoldRule {
    let name = CollectionModel.RemovalRule.ruleName
    let moments: FoldMoments = [.hear, .meet]

    func isRule(of collection: CollectionModel) -> Bool {
        collection.references.contains { $0.removal != nil }
    }

    /// Any entity may be one that others refer to.
    func isHeard(of collection: CollectionModel) -> Bool { true }

    func hear(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] {
        guard event.kind == .serverDeleted else { return [] }
        let model = try fold.model()
        // By referring collection: one entity may name it in several fields.
        let groups = model.collections.map { referring in
            referring.references.compactMap { reference in
                reference.removal.flatMap { rule in
                    reference.collection == key.collection
                        ? RemovalPlace(referring, reference.field, rule) : nil
                }
            }
        }
        guard groups.contains(where: { !$0.isEmpty }) else { return [] }
        let known = (try? fold.entity(key).baseValue(in: collection))?.document
        let last = known ?? (try? JSONDocument(parsing: event.payload))
        return [
            {
                // What is older than what is known deletes nothing.
                guard try fold.entity(key).basePosition == position else { return }
                for places in groups { try fold.remove(key, last, from: places, position) }
            }
        ]
    }

    /// Takes out of edits what was deleted before.
    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        guard !entity.row.pending.isEmpty else { return }
        for reference in entity.collection.references {
            guard let rule = reference.removal else { continue }
            let place = RemovalPlace(entity.collection, reference.field, rule)
            var (row, inputs) = (entity.row, [position])
            let changed = try place.changePending(of: &row) { id in
                let target = try fold.entity(
                    try fold.resolve(EntityKey(reference.collection, id)))
                guard target.baseState == .deleted, target.pending.isEmpty else { return false }
                inputs += [target.basePosition].compactMap(\.self)
                return true
            }
            guard !changed.isEmpty else { continue }
            try fold.noteRemoval(of: changed, in: &row, entity.key, inputs: inputs, position)
            entity.row = row
        }
    }
}

extension CollectionModel.RemovalRule {
    /// The rule's name in decisions.
    package static let ruleName = "removal"
    fileprivate static let version: UInt64 = 1
}

/// A field out of which entities are taken.
private struct RemovalPlace {
    let collection: CollectionModel
    let field: String
    let rule: CollectionModel.RemovalRule

    init(_ collection: CollectionModel, _ field: String, _ rule: CollectionModel.RemovalRule) {
        self.collection = collection
        self.field = field
        self.rule = rule
    }

    /// A field's value without what is gone; nil where nothing of it is.
    private func without(
        _ raw: ArraySlice<UInt8>, where isGone: (JSONValue) throws -> Bool
    ) throws -> [UInt8]? {
        guard let value = try? JSONValue(parsing: raw) else { return nil }
        guard case .array(let list) = value else {
            return try isGone(value) ? Array("null".utf8) : nil
        }
        let left = try list.filter { try !isGone($0) }
        return left.count == list.count ? nil : JSONValue.array(left).encoded()
    }

    /// The new values of the fields, of those that change.
    ///
    /// - Parameters:
    ///   - value: the value of a field, where there is one.
    ///   - name: the name of what is gone.
    ///   - isNamed: whether what was read before names it by its id; then whether this does, where
    ///     it has the field.
    private func changes(
        _ value: (String) -> ArraySlice<UInt8>?, name: JSONValue?, _ isNamed: inout Bool,
        _ isGone: (String) throws -> Bool
    ) throws -> [(key: String, value: [UInt8])] {
        var changes: [(key: String, value: [UInt8])] = []
        if let raw = value(field) {
            let left = try without(raw, where: { try $0.idText.map(isGone) ?? false })
            isNamed = left != nil
            if let left { changes.append((field, left)) }
        }
        // A name without the id may be another's.
        if isNamed, let names = rule.names, let name, let raw = value(names),
            let left = try without(raw, where: { $0 == name })
        {
            changes.append((names, left))
        }
        return changes
    }

    /// Changes the server's word; returns the fields.
    ///
    /// - Parameter isNamed: set to whether it names by its id what is gone.
    func changeBase(
        of row: inout EntityRow, name: JSONValue?, _ isNamed: inout Bool,
        _ isGone: (String) throws -> Bool
    ) throws -> [String] {
        guard row.baseState == .live,
            let document = try row.baseValue(in: collection).document
        else { return [] }
        let changes = try changes(document.rawValue, name: name, &isNamed, isGone)
        if changes.isEmpty { return [] }
        // Where no field has another name, the bytes stay the server's.
        let base = collection.migrations.isEmpty ? try JSONDocument(parsing: row.base) : document
        row.base = base.applying(set: changes)
        return changes.map(\.key)
    }

    /// Changes the user's edits; returns the fields.
    ///
    /// - Parameter isNamed: whether the server's word named by its id what is gone.
    func changePending(
        of row: inout EntityRow, name: JSONValue? = nil, isNamed: Bool = false,
        _ isGone: (String) throws -> Bool
    ) throws -> [String] {
        var changed: [String] = []
        var isNamed = isNamed
        for index in row.pending.indices where !row.pending[index].isDerived {
            let item = row.pending[index]
            switch item.kind {
            case .create:
                let document = try JSONDocument(parsing: item.payload)
                let changes = try changes(document.rawValue, name: name, &isNamed, isGone)
                guard !changes.isEmpty else { continue }
                row.pending[index].payload = document.applying(set: changes)
                changed += changes.map(\.key)
            case .update:
                var patch = try Patch(parsing: item.payload)
                let changes = try changes(
                    { patch.value(of: $0)?[...] }, name: name, &isNamed, isGone)
                guard !changes.isEmpty else { continue }
                for change in changes {
                    let name = ExactString(change.key)
                    for place in patch.set.indices
                    where ExactString(patch.set[place].name) == name {
                        patch.set[place].value = change.value
                    }
                }
                row.pending[index].payload = patch.encoded
                changed += changes.map(\.key)
            case .delete, .carried, .action: continue
            }
        }
        return changed
    }
}

/// What may be taken out of entities, of collections in which one fold looks for many that were
/// deleted.
private final class RemovalMemory: FoldMemory {
    struct Source: Hashable {
        var referring: CollectionName
        var target: CollectionName
    }

    /// How many deletions were looked for without it.
    var deletions: [Source: Int] = [:]
    var known: [Source: NamedInFields] = [:]
    /// After how many it is read what all entities name, which takes as long as many looks.
    static let few = 16
}

/// Which entities name others in some fields by their ids: all that do, and some that did.
private final class NamedInFields {
    private var ids: [ExactString: Set<EntityKey>] = [:]
    /// Those that could not be read: they may name any.
    private var unread: Set<EntityKey> = []
    /// After how many writes of the fold it is up to date.
    var count: Int

    init(count: Int) { self.count = count }

    func note(_ key: EntityKey, _ row: EntityRow, _ places: [RemovalPlace]) {
        do {
            for place in places {
                try place.forEachValue(of: row) { value in
                    if let id = value.idText { ids[ExactString(id), default: []].insert(key) }
                }
            }
        } catch {
            unread.insert(key)
        }
    }

    /// The entities that may name one with some ids.
    func naming(_ ids: Set<ExactString>) -> Set<EntityKey> {
        var found = unread
        for id in ids { found.formUnion(self.ids[id] ?? []) }
        return found
    }
}

extension RemovalPlace {
    /// Calls `body` with the values in the field, and with each of lists: of the server's word and
    /// of the user's edits.
    fileprivate func forEachValue(of row: EntityRow, _ body: (JSONValue) -> Void) throws {
        var values: [(String) -> ArraySlice<UInt8>?] = []
        if row.baseState == .live, let document = try row.baseValue(in: collection).document {
            values.append(document.rawValue)
        }
        for item in row.pending where !item.isDerived {
            switch item.kind {
            case .create:
                let document = try JSONDocument(parsing: item.payload)
                values.append(document.rawValue)
            case .update:
                let patch = try Patch(parsing: item.payload)
                values.append({ patch.value(of: $0)?[...] })
            case .delete, .carried, .action: continue
            }
        }
        for read in values {
            guard let raw = read(field), let value = try? JSONValue(parsing: raw) else { continue }
            if case .array(let list) = value {
                for element in list { body(element) }
            } else {
                body(value)
            }
        }
    }
}

extension Fold {
    /// Takes an entity that was deleted out of all that refers to it in one collection.
    ///
    /// - Parameters:
    ///   - last: the last that is known of it.
    ///   - places: fields of that collection.
    fileprivate func remove(
        _ key: EntityKey, _ last: JSONDocument?, from places: [RemovalPlace], _ position: Position
    ) throws {
        guard let referring = places.first?.collection.name else { return }
        let ids = Set(try self.ids(of: key).map(ExactString.init))
        let texts = ids.map { Array($0.text.utf8) }
        let named = places.map { (place: $0, name: last?.value($0.rule.name)) }
        var found: [(key: EntityKey, row: EntityRow, fields: [String])] = []
        // Read before anything is written.
        func look(at other: EntityKey, _ value: [UInt8]) throws {
            // Most name another one: their bytes say so without being taken apart, but where some
            // of them may stand for other characters.
            guard other != key,
                value.contains(UInt8(ascii: "\\"))
                    || texts.contains(where: { value.span.firstPlace(of: $0.span, from: 0) != nil })
            else { return }
            var row = try EntityRow(parsing: value)
            func isGone(_ id: String) -> Bool { ids.contains(ExactString(id)) }
            var fields: [String] = []
            for (place, name) in named {
                var isNamed = false
                fields += try place.changeBase(of: &row, name: name, &isNamed, isGone)
                fields += try place.changePending(of: &row, name: name, isNamed: isNamed, isGone)
            }
            if !fields.isEmpty { found.append((other, row, fields)) }
        }
        if let some = try mayName(key.collection, ids, places) {
            for other in some.sorted() {
                let row = try takenRow(at: .entity(other))
                if !row.isEmpty { try look(at: other, row.encoded) }
            }
        } else {
            try forEachEncoded(in: referring) { other, value in
                try look(at: other, value)
                return true
            }
        }
        guard !found.isEmpty else { return }
        // The walk's order depends on what this fold has written.
        found.sort { $0.key < $1.key }
        for (other, changed, fields) in found {
            var row = changed
            try noteRemoval(of: fields, in: &row, other, inputs: [position], position)
        }
    }

    /// The entities that may name one of a collection in some fields of theirs; nil as long as this
    /// fold looked for few, where a look at all is faster.
    private func mayName(
        _ target: CollectionName, _ ids: Set<ExactString>, _ places: [RemovalPlace]
    ) throws -> Set<EntityKey>? {
        guard let referring = places.first?.collection.name else { return nil }
        let memory = memory(RemovalMemory.self)
        let source = RemovalMemory.Source(referring: referring, target: target)
        guard memory.deletions[source, default: 0] >= RemovalMemory.few else {
            memory.deletions[source, default: 0] += 1
            return nil
        }
        let count = followTaken()
        if let known = memory.known[source] {
            for (key, row) in entitiesTaken(in: referring, after: known.count) {
                known.note(key, row, places)
            }
            known.count = count
            return known.naming(ids)
        }
        let known = NamedInFields(count: count)
        try forEachEntity(in: referring) { key, row in
            known.note(key, row, places)
            return true
        }
        memory.known[source] = known
        return known.naming(ids)
    }

    /// Writes an entity out of which others were taken, and why.
    fileprivate func noteRemoval(
        of fields: [String], in row: inout EntityRow, _ key: EntityKey, inputs: [Position],
        _ position: Position
    ) throws {
        var seen: Set<ExactString> = []
        let fields = fields.filter { seen.insert(ExactString($0)).inserted }
        try refresh(&row, key)
        try put(row, key)
        let decision = DecisionRow(
            key: key, rule: CollectionModel.RemovalRule.ruleName,
            ruleVersion: CollectionModel.RemovalRule.version, result: "removed", inputs: inputs,
            fields: fields, base: row.basePosition)
        try note(decision, position)
    }
}
