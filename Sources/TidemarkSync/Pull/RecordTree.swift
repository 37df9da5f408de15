// RecordTree.swift — what stands in the records of an answer: entities of other collections, which
// become records of their own, parents before children. Nothing is written anew: a record loses the
// members that hold others, and keeps the bytes of all the rest.
//
//   records      {"id":"p1","visits":[{"id":"v1","patient":"p1"}],"name":"Ada"}
//   the record   {"id":"p1","name":"Ada"}
//   below it     visits/v1 {"id":"v1","patient":"p1"}
//
// A record below another one is put aside where it does not name that one, or stands there twice.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What stands in the records of an answer.
package struct RecordTree: Sendable {
    /// A record that stands in another one.
    struct Node: Sendable {
        /// Without what stands in it.
        var record: ServerRecord
        let collection: CollectionName
        /// Which of the answer's records it stands in, by index.
        let root: Int
    }

    /// The entities of one member of a record.
    struct Members: Sendable {
        /// The record that has the member, by the server's id.
        let parent: EntityKey
        /// Its index among ``RecordTree/nodes``; nil where it is one of the answer's.
        let node: Int?
        let root: Int
        let collection: CollectionModel
        /// The fields by which they refer to the parent: of a link one of several does.
        let references: [Reference]
        /// The nodes in it, by index.
        var nodes: [Int] = []
        /// The ids of what in it can't be read.
        var unreadable: Set<ExactString> = []
        /// Whether it holds something without an id, or its record is deleted: then nothing follows
        /// from what it leaves out.
        var isDoubtful = false
    }

    private(set) var nodes: [Node] = []
    private(set) var members: [Members] = []
    /// What can't be read, or does not belong where it stands.
    private(set) var unreadable: [(collection: CollectionName, record: UnreadableRecord)] = []
    /// The nodes by what they are of.
    private var seen: [EntityKey: Int] = [:]
    /// Whether anything may stand in several records: it links them.
    private(set) var hasLinks = false

    /// The indexes of members that hold entities of one collection in records of one other, in the
    /// order in which the first of each came.
    var places: [(collection: CollectionModel, members: [Int])] {
        var places: [(collection: CollectionModel, members: [Int])] = []
        for (index, list) in members.enumerated() {
            let known = places.firstIndex { place in
                let other = members[place.members[0]]
                return other.collection.name == list.collection.name
                    && other.parent.collection == list.parent.collection
            }
            if let known {
                places[known].members.append(index)
            } else {
                places.append((list.collection, [index]))
            }
        }
        return places
    }

    /// Takes out of records what stands in them; nil where the model embeds nothing in their
    /// collection.
    package init?(
        _ records: inout [ServerRecord], of collection: CollectionModel, in model: SyncModel
    ) {
        guard !collection.embeds.isEmpty else { return nil }
        for index in records.indices {
            records[index] = cut(records[index], collection, root: index, node: nil, model)
        }
    }

    /// A record without what stands in it, which is added.
    private mutating func cut(
        _ record: ServerRecord, _ collection: CollectionModel, root: Int, node: Int?,
        _ model: SyncModel
    ) -> ServerRecord {
        guard !collection.embeds.isEmpty, !record.children.isEmpty, let bytes = record.document,
            let document = try? JSONDocument(parsing: bytes)
        else { return record }
        var names: [String] = []
        for rule in collection.embeds {
            guard let held = record.children.first(where: { $0.member == rule.member }),
                let child = model[rule.collection]
            else { continue }
            let references = child.references.filter { $0.collection == collection.name }
            guard !references.isEmpty else { continue }
            if references.count > 1 { hasLinks = true }
            names.append(rule.member)
            let place = members.count
            members.append(
                Members(
                    parent: EntityKey(collection.name, record.id), node: node, root: root,
                    collection: child, references: references))
            // Of one that is deleted nothing follows from what it does not hold: all below it goes.
            // What it says of that is said.
            members[place].isDoubtful = record.isDeleted
            for inner in held.records where !record.isDeleted || inner.isDeleted {
                take(inner, in: place, model)
            }
            for inner in held.unreadable where !record.isDeleted { putAside(inner, in: place) }
        }
        return names.isEmpty ? record : record.cutting(names, from: document)
    }

    private mutating func take(_ record: ServerRecord, in place: Int, _ model: SyncModel) {
        let list = members[place]
        let key = EntityKey(list.collection.name, record.id)
        let known = seen[key]
        // A link may stand at each of its ends, and is said once.
        let isLink = list.references.count > 1
        if isLink, let known, !list.nodes.contains(known) {
            members[place].nodes.append(known)
            return
        }
        if let problem = problem(of: record, list) {
            return putAside(
                UnreadableRecord(
                    id: record.id, bytes: record.document ?? [], problem: problem), in: place)
        }
        let index = nodes.count
        seen[key] = index
        members[place].nodes.append(index)
        nodes.append(Node(record: record, collection: list.collection.name, root: list.root))
        nodes[index].record = cut(
            record, list.collection, root: list.root, node: index, model)
    }

    private mutating func putAside(_ record: UnreadableRecord, in place: Int) {
        unreadable.append((members[place].collection.name, record))
        if let id = record.id {
            members[place].unreadable.insert(ExactString(id))
        } else {
            members[place].isDoubtful = true
        }
    }

    /// Why a record does not belong where it stands; nil where it does.
    private func problem(of record: ServerRecord, _ list: Members) -> String? {
        let key = EntityKey(list.collection.name, record.id)
        guard key.isValid else { return "what stands in \(list.parent) has an id that is no key" }
        if seen[key] != nil { return "\(key) is there twice in one answer" }
        guard let bytes = record.document else { return nil }
        guard let document = try? JSONDocument(parsing: bytes) else {
            return "\(key), which stands in \(list.parent), is no JSON object"
        }
        let fields = list.references.map { "\"\($0.field)\"" }.joined(separator: " or ")
        let ids = list.references.flatMap { document.ids(in: $0.field) }
        guard let id = ids.first else {
            return record.isDeleted
                ? nil : "\(key) stands in \(list.parent), but does not name it in \(fields)"
        }
        let isNamed = ids.contains { ExactString($0) == ExactString(list.parent.id) }
        guard isNamed, ids.count <= list.references.count else {
            return "\(key) stands in \(list.parent), but names \(id) in \(fields)"
        }
        return nil
    }
}

extension ViewReader {
    /// The entities that are here below records of an answer: of each member of a record those that
    /// refer to it, by the members' indexes.
    package func known(below tree: RecordTree) throws -> [[String]] {
        var known = tree.members.map { _ in [String]() }
        for (collection, places) in tree.places {
            for reference in tree.members[places[0]].references {
                try look(for: reference, collection, below: tree, places, &known)
            }
        }
        return known
    }

    /// Adds those that are here below some members' records by one of their references.
    private func look(
        for reference: Reference, _ collection: CollectionModel, below tree: RecordTree,
        _ places: [Int], _ known: inout [[String]]
    ) throws {
        let index = IndexModel([IndexField(reference.field)])
        if try hasIndex(index, in: collection.name) {
            for place in places {
                known[place] += try ids(
                    naming: tree.members[place].parent.id, by: index, in: collection)
            }
            // An index does not tell of what is hidden.
            for key in try danglingKeys(in: collection) {
                let named = try entity(key)?.named(by: reference, collection) ?? []
                for place in places
                where named.contains(ExactString(tree.members[place].parent.id)) {
                    known[place].append(key.id)
                }
            }
            return
        }
        // Without an index one look at the collection serves all records.
        var below: [ExactString: [Int]] = [:]
        for place in places {
            below[ExactString(tree.members[place].parent.id), default: []].append(place)
        }
        try forEachEntity(in: collection.name) { key, row in
            for place in try row.named(by: reference, collection).flatMap({ below[$0] ?? [] }) {
                known[place].append(key.id)
            }
            return true
        }
    }

    private func ids(
        naming id: String, by index: IndexModel, in collection: CollectionModel
    ) throws -> [String] {
        let values = OrderKey.values(ofID: id, dates: collection.dates)
        return try indexed(values, by: index, in: collection.name).map(\.id)
    }
}

extension EntityRow {
    /// The ids to which the server's word on the entity refers, each once.
    func named(
        by reference: Reference, _ collection: CollectionModel
    ) throws -> Set<ExactString> {
        guard baseState == .live, let document = try baseValue(in: collection).document else {
            return []
        }
        return Set(document.ids(in: reference.field).map(ExactString.init))
    }

    /// Whether an answer that leaves the entity out may delete it: nothing is pending on it, and
    /// nothing newer is known.
    func isClean(asOf: Position) -> Bool {
        baseState == .live && pending.isEmpty && attempt == nil && !isPlaceholder
            && (self.asOf.map { $0 <= asOf } ?? true)
    }
}
