// RecordsBelow.swift — what of the entities is logged that stand in the records of an answer, and
// which are deleted because their record leaves them out; decided by the rows before it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What stands in the records of an answer, and what is here of the same entities.
struct RecordsBelow: Sendable {
    let tree: RecordTree
    /// The entities that are here below each member's record.
    let known: [[String]]
    /// Of which entities the answer is; none for all.
    let parameters: ListParameters
    let adapter: any ServerAdapter

    init(
        _ tree: RecordTree, known: [[String]], parameters: ListParameters,
        adapter: any ServerAdapter
    ) {
        self.tree = tree
        self.known = known
        self.parameters = parameters
        self.adapter = adapter
    }

    /// What of it is logged.
    ///
    /// - Parameters:
    ///   - verdicts: those on the records themselves.
    ///   - withheld: the records that are left out with all that stands in them, by index.
    func decision(
        under verdicts: [ServerNews.Verdict], withheld: Set<Int> = [], _ exchange: ReadExchange,
        _ news: ServerNews
    ) throws -> TreeDecision {
        var decision = TreeDecision(tree)
        for node in tree.nodes {
            if withheld.contains(node.root) {
                let verdict = try news.verdict(
                    on: node.record, in: node.collection, asOf: exchange.asOf)
                if verdict == .new { decision.withheld.insert(node.root) }
                decision.verdicts.append(.same)
                continue
            }
            // Below a record that is outdated, all is.
            let isOutdated = verdicts[node.root] == .outdated
            decision.verdicts.append(
                isOutdated
                    ? .outdated
                    : try news.verdict(
                        on: node.record, in: node.collection, asOf: exchange.asOf))
        }
        decision.unreadable = try tree.unreadable.filter {
            try news.isNew($0.record, in: $0.collection)
        }
        // What stands at one end of a link is not gone because the other end leaves it out.
        var linked = try links(news.fold)
        for (index, list) in tree.members.enumerated() {
            let verdict = list.node.map { decision.verdicts[$0] } ?? verdicts[list.root]
            guard verdict != .outdated else { continue }
            let isWithheld = withheld.contains(list.root)
            if !isWithheld { decision.accepted.append(index) }
            guard !list.isDoubtful else { continue }
            var named = list.unreadable
            for node in list.nodes {
                let key = EntityKey(list.collection.name, tree.nodes[node].record.id)
                named.insert(ExactString(try news.fold.resolve(key).id))
            }
            let absent = try known[index].filter { !named.contains(ExactString($0)) }
                .map { EntityKey(list.collection.name, $0) }
                .filter { try !linked.contains($0) && isGone($0, list, exchange.asOf, news.fold) }
            if !isWithheld {
                decision.absent += absent
                if tree.hasLinks { linked.formUnion(absent) }
            } else if !absent.isEmpty {
                decision.withheld.insert(list.root)
            }
        }
        return decision
    }

    /// What stands in the records, where that may link several.
    private func links(_ fold: Fold) throws -> Set<EntityKey> {
        guard tree.hasLinks else { return [] }
        return Set(
            try tree.nodes.map { try fold.resolve(EntityKey($0.collection, $0.record.id)) })
    }

    /// Whether an entity that its record leaves out is deleted: the server's word on it is that it
    /// belongs there, it has no edit, and the list would have shown it.
    private func isGone(
        _ key: EntityKey, _ list: RecordTree.Members, _ asOf: Position, _ fold: Fold
    ) throws -> Bool {
        let row = try fold.entity(key)
        guard row.isClean(asOf: asOf),
            let document = try row.baseValue(in: list.collection).document,
            list.references.contains(where: {
                $0.holds(document, in: list.parent, isLink: list.references.count > 1)
            })
        else { return false }
        return adapter.shows(document, of: list.collection, in: parameters) { key in
            guard let bytes = try? fold.document(of: fold.resolve(key)) else { return nil }
            return try? JSONDocument(parsing: bytes)
        }
    }
}

extension Reference {
    /// Whether a document says that what it is of belongs to an entity: a link that goes one way
    /// belongs to its start.
    fileprivate func holds(
        _ document: JSONDocument, in parent: EntityKey, isLink: Bool
    ) -> Bool {
        if isLink, case .whereTrue(let field) = rollUp, document.value(field) != true {
            return false
        }
        return document.ids(in: field).contains { ExactString($0) == ExactString(parent.id) }
    }
}

/// What of the entities is logged that stand in the records of an answer.
struct TreeDecision {
    let tree: RecordTree
    /// What each node means for the log.
    var verdicts: [ServerNews.Verdict] = []
    /// What can't be read and was not noted yet.
    var unreadable: [(collection: CollectionName, record: UnreadableRecord)] = []
    /// The records, by index, of which something is left out that stands in them.
    var withheld: Set<Int> = []
    /// The members whose record is taken, by index.
    var accepted: [Int] = []
    /// Entities that their records leave out, and that are deleted.
    var absent: [EntityKey] = []
    /// Those in the records that say that they are deleted, each with its event once it is logged.
    fileprivate var deleted: [EntityKey: Position] = [:]

    init(_ tree: RecordTree) { self.tree = tree }

    /// Whether a node is skipped, as the log holds a newer answer.
    var isStale: Bool { verdicts.contains(.outdated) }

    /// Whether there is anything to log.
    var isNews: Bool { verdicts.contains(.new) || !unreadable.isEmpty || !absent.isEmpty }
}

extension SyncRecorder {
    /// Logs the entities that stand in the records of a page, and names them in it.
    mutating func append(
        _ given: inout TreeDecision?, to page: inout PullPage, _ read: LoggedCall,
        _ news: inout PageResult, _ draft: Draft
    ) throws {
        guard let decision = given else { return }
        var places: [PullPage.Place] = []
        for (node, verdict) in zip(decision.tree.nodes, decision.verdicts) {
            let before = news.count
            places.append(
                try append(node.record, verdict, node.collection, read, &news, draft))
            news.apply(node.collection, news.count - before)
            if node.record.isDeleted, case .event(let position) = places.last {
                given?.deleted[EntityKey(node.collection, node.record.id)] = position
            }
        }
        for (collection, record) in decision.unreadable {
            try append(record, collection, read, draft)
            news.count += 1
            news.apply(collection, 1)
        }
        page.within = decision.accepted.map { index in
            let list = decision.tree.members[index]
            var within = PullPage.Within()
            within.of = list.parent.description
            within.collection = list.collection.name.rawValue
            within.ids = list.nodes.map { decision.tree.nodes[$0].record.id }
            within.places = list.nodes.map { places[$0] }
            return within
        }
    }

    /// Logs the deletion of entities that their records leave out, of those that stand below
    /// deleted records, and of all below these.
    ///
    /// - Parameters:
    ///   - deleted: records of the page that say so, each with its event.
    ///   - page: the event of the page.
    mutating func append(
        absent decision: TreeDecision?, below deleted: [EntityKey: Position], _ page: Position,
        _ read: LoggedCall, _ news: inout PageResult, _ draft: Draft
    ) throws {
        var deleted = deleted
        for (key, position) in decision?.deleted ?? [:] { deleted[key] = position }
        for key in decision?.absent ?? [] {
            try gone(key, cause: page, in: read.start, asOf: read.asOf, &deleted, &news, draft)
        }
        try append(below: deleted, in: read.start, asOf: read.asOf, &news, draft)
    }

    /// Logs the deletion of what belongs to deleted entities, as far as it has no edits.
    ///
    /// The server deletes it with them, and does not say so of each.
    mutating func append(
        below deleted: [EntityKey: Position], in start: Position, asOf: Position,
        _ news: inout PageResult, _ draft: Draft
    ) throws {
        guard !deleted.isEmpty else { return }
        var deleted = deleted
        // A collection stands after those that it refers to.
        let model = try draft.fold.model()
        for owner in model.collections {
            for rule in owner.embeds
            where deleted.keys.contains(where: { $0.collection == owner.name }) {
                guard let child = model[rule.collection] else { continue }
                let references = child.references.filter { $0.collection == owner.name }
                var below: [(key: EntityKey, cause: Position)] = []
                try draft.fold.forEachReferrer(
                    to: Set(deleted.keys), by: references, in: child
                ) { key, row in
                    guard row.isClean(asOf: asOf), deleted[key] == nil,
                        let document = try row.baseValue(in: child).document
                    else { return true }
                    let ends = try references.compactMap { reference -> Position? in
                        try document.ids(in: reference.field).first.flatMap { id in
                            deleted[try draft.fold.resolve(EntityKey(owner.name, id))]
                        }
                    }
                    if let cause = ends.first { below.append((key, cause)) }
                    return true
                }
                for (key, cause) in below {
                    try gone(key, cause: cause, in: start, asOf: asOf, &deleted, &news, draft)
                }
            }
        }
    }

    private mutating func gone(
        _ key: EntityKey, cause: Position, in start: Position, asOf: Position,
        _ deleted: inout [EntityKey: Position], _ news: inout PageResult, _ draft: Draft
    ) throws {
        let event = Event(
            .serverDeleted, recordedAt: draft.now, key: key, cause: cause, sync: start, asOf: asOf)
        guard let position = try say(event, draft) else { return }
        deleted[key] = position
        news.count += 1
        news.apply(key.collection, 1)
    }

    /// The records of a page that say that they are deleted, each with its event.
    static func gone(
        _ records: [ServerRecord], in page: PullPage, _ collection: CollectionName
    ) -> [EntityKey: Position] {
        var gone: [EntityKey: Position] = [:]
        for (record, place) in zip(records, page.places) where record.isDeleted {
            if case .event(let position) = place {
                gone[EntityKey(collection, record.id)] = position
            }
        }
        return gone
    }
}

extension PageResult {
    /// Counts what was logged of a collection.
    fileprivate mutating func apply(_ collection: CollectionName, _ count: Int) {
        guard count > 0 else { return }
        if let index = applied.firstIndex(where: { $0.collection == collection }) {
            applied[index].count += count
        } else {
            applied.append(AppliedPage(collection: collection, count: count))
        }
    }
}
