// ConflictSides.swift — both sides of a conflict, for a screen that merges them: the server's
// entity before, the local one, and the server's new one.

public import TidemarkEvents
package import TidemarkViews

/// Both sides of an entity that both changed; nil where a side had none.
///
/// They are as they were then; the entity's current state is read as usual.
///
/// What a person makes of both is written by ``WriteContext/save(_:editedFrom:)``, as an edit of
/// what the entity then was: of `mine` where ``SyncIssue/isAsked``, else of `theirs`. So what was
/// changed since stays. Then the conflict is answered: with ``IssueAnswer/keepMine`` where it is
/// asked about, which sends it, as ``IssueAnswer/keepTheirs`` would give it up; else with
/// `keepTheirs`, as `keepMine` would make the edit that lost once more.
public struct ConflictSides<Document: Sendable>: Sendable {
    public var key: EntityKey
    /// The common base: the server's entity before both sides changed it.
    ///
    /// Where the server had taken a write without showing the entity, it is what was sent, with
    /// what the server is known to have made of it. Of several questions it is that of the first.
    ///
    /// Of a conflict that is asked about, nil also where the event with it had been dropped from
    /// the log.
    public var base: Document?
    /// The local entity, with every edit that the server had not acknowledged.
    public var mine: Document?
    /// The entity that the server sent.
    public var theirs: Document?

    /// Sides from their parts.
    public init(key: EntityKey, base: Document?, mine: Document?, theirs: Document?) {
        self.key = key
        self.base = base
        self.mine = mine
        self.theirs = theirs
    }

    /// The same sides in another form.
    func map<Other: Sendable>(
        _ transform: (Document) throws -> Other
    ) rethrows -> ConflictSides<Other> {
        ConflictSides<Other>(
            key: key, base: try base.map(transform), mine: try mine.map(transform),
            theirs: try theirs.map(transform))
    }
}

extension ConflictSides: Equatable where Document: Equatable {}
extension ConflictSides: Hashable where Document: Hashable {}

extension ConflictSides<[UInt8]> {
    /// The sides of an issue, as today's model reads them; nil for an issue without a single
    /// entity.
    package init?(_ issue: IssueRow, _ views: ViewReader) throws {
        guard let key = issue.key else { return nil }
        let collection = try views.model()[key.collection]
        func read(_ document: [UInt8]?) throws -> [UInt8]? {
            guard let document, !document.isEmpty else { return nil }
            return try collection?.read(document) ?? document
        }
        func said(at position: Position?) throws -> [UInt8]? {
            let event = try position.flatMap { try views.event(at: $0) }
            return event?.kind == .serverUpserted ? event?.payload : nil
        }
        switch issue.kind {
        case .conflict where issue.isAsked:
            guard let row = try views.entity(key), let refusal = row.refusal else { return nil }
            // The first of the questions that are open: since then both sides may have changed.
            let question = try views.openQuestions(of: row).first
            let base =
                refusal.base.isEmpty
                ? try said(at: question.flatMap { try views.question(at: $0)?.base })
                : refusal.base
            self.init(
                key: key, base: try read(base), mine: try read(row.content),
                theirs: try read(row.baseState == .live ? row.base : nil))
        case .rejected, .warned, .unsettled, .dangling, .unfetched:
            guard let row = try views.entity(key) else { return nil }
            let theirs = try read(row.baseState == .live ? row.base : nil)
            self.init(key: key, base: theirs, mine: try read(row.content), theirs: theirs)
        case .conflict:
            guard let decision = try views.decision(issue.position, issue.index),
                let row = try views.sides(issue.position)
            else { return nil }
            let base = row.base.isEmpty ? try said(at: decision.base) : row.base
            self.init(
                key: key, base: try read(base), mine: try read(row.mine),
                theirs: try read(try said(at: issue.position)))
        case .absent, .unreadable: return nil
        }
    }
}

extension ReadContext {
    /// Both sides of an open issue, as documents; nil when there is no such issue, and for the
    /// kinds `absent` and `unreadable`, which are about no entity that is here.
    ///
    /// For a conflict, they are as they were when it was decided; of one that is not, `mine` and
    /// `theirs` are the current ones. For any other kind, all are the current ones, also of an
    /// entity that is hidden, and `base` and `theirs` are the same.
    public func sides(of issue: SyncIssue.ID) throws -> ConflictSides<[UInt8]>? {
        let row = try views.issue(at: issue.position, index: issue.index)
        return try row.flatMap { try ConflictSides($0, views) }
    }

    /// Both sides of an open issue, as entities; nil also when it is about an entity of another
    /// collection.
    ///
    /// - Throws: ``TidemarkError``: `noModel` when the model lacks the collection, `undecodable`
    ///   when a side can't be read as the type.
    public func sides<T: Entity>(
        of issue: SyncIssue.ID, as type: T.Type
    ) throws -> ConflictSides<T>? {
        guard let sides = try sides(of: issue), sides.key.collection == T.collection else {
            return nil
        }
        let reader = try reader(type)
        return try sides.map { try reader.entity(sides.key, $0, at: issue.position) }
    }
}

extension Replica {
    /// Both sides of an open issue, as documents; see ``ReadContext/sides(of:)``.
    public func sides(of issue: SyncIssue.ID) throws -> ConflictSides<[UInt8]>? {
        try read { try $0.sides(of: issue) }
    }

    /// Both sides of an open issue, as entities; see ``ReadContext/sides(of:as:)``.
    public func sides<T: Entity>(
        of issue: SyncIssue.ID, as type: T.Type
    ) throws -> ConflictSides<T>? {
        try read { try $0.sides(of: issue, as: type) }
    }
}
