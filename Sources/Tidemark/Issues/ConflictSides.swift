// ConflictSides.swift — what a screen shows that merges both sides: the entity as the server had it
// before, as it was here, and as the server has it.

public import TidemarkEvents
package import TidemarkViews

/// An entity that both sides changed, as each of them had it; nil where there was none.
///
/// What they were then: the entity as it is now is read like any other.
public struct ConflictSides<Document: Sendable>: Sendable {
    public var key: EntityKey
    /// What both sides changed: what the server had said, or taken, before.
    public var base: Document?
    /// The entity as it was here, with every edit that the server had not taken.
    public var mine: Document?
    /// What the server said.
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
    /// The sides of an issue, as today's model reads them; nil for one of no single entity.
    package init?(_ issue: IssueRow, _ views: ViewReader) throws {
        guard let key = issue.key else { return nil }
        let collection = try views.model()[key.collection]
        func read(_ document: [UInt8]?) throws -> [UInt8]? {
            guard let document, !document.isEmpty else { return nil }
            return try collection?.migrated(document) ?? document
        }
        func said(at position: Position?) throws -> [UInt8]? {
            let event = try position.flatMap { try views.event(at: $0) }
            return event?.kind == .serverUpserted ? event?.payload : nil
        }
        switch issue.kind {
        case .rejected, .unsettled:
            guard let row = try views.entity(key) else { return nil }
            let theirs = try read(row.baseState == .live ? row.base : nil)
            self.init(key: key, base: theirs, mine: try read(row.document), theirs: theirs)
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
    /// Both sides of an open issue, as documents; nil when there is no such issue, or when it is
    /// about no single entity.
    ///
    /// Of a conflict, as they were when it was decided. Of what the server refused, or of what
    /// is unsettled, as they are now, where `base` and `theirs` are the same.
    public func sides(of issue: SyncIssue.ID) throws -> ConflictSides<[UInt8]>? {
        let row = try views.issues().first { SyncIssue.ID($0.position, index: $0.index) == issue }
        return try row.flatMap { try ConflictSides($0, views) }
    }

    /// Both sides of an open issue, as entities; nil also when it is about one of another
    /// collection.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when a side can't be read as the type.
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
