// SyncIssue.swift — what is left for a person to decide, or to know.

public import TidemarkEvents
package import TidemarkViews

/// Something that a sync run could not settle by itself, or settled against what was done here.
public struct SyncIssue: Sendable, Hashable, Identifiable {
    /// What an issue is about.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The server refused what is pending on an entity; it waits, and so does what depends on
        /// it.
        case rejected
        /// Both sides changed the same, and the server's side won; the local one is kept in the
        /// log.
        case conflict
        /// A list of everything did not name more than half of a collection; nothing was deleted.
        case absent
        /// The server sent what is no entity; its bytes are kept in the log.
        case unreadable
        /// Calls about an entity fail again and again: a write of it, or asking how it stands.
        ///
        /// It is asked again by itself, ever more seldom.
        case unsettled
    }

    /// Names an issue: the event that raised it, and which of several that one raised.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        /// The event.
        public let position: Position
        /// Counted from 0.
        public let index: Int

        /// The issue of an event.
        public init(_ position: Position, index: Int = 0) {
            self.position = position
            self.index = index
        }

        /// Reads ``description``.
        public init?(_ text: String) {
            let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
            guard let first = parts.first, let position = Position(first) else { return nil }
            let index = parts.count > 1 ? Int(parts[1]) : 0
            guard let index, index >= 0 else { return nil }
            self.init(position, index: index)
        }

        /// `@41`, or `@41.1` for the second one of that event.
        public var description: String { index == 0 ? "\(position)" : "\(position).\(index)" }
    }

    /// The name to answer it by.
    public let id: ID
    /// What it is about.
    public let kind: Kind
    /// The collection that it is about.
    public let collection: CollectionName
    /// The entity that it is about, where it is about one.
    public let key: EntityKey?
    /// The fields of the mutation that was refused, or given up in a conflict; empty for whole
    /// entities.
    public let fields: [String]
    /// Of a conflict, the fields that both sides changed; empty where one of them deleted the
    /// entity.
    public let conflictingFields: [String]
    /// What is wrong, in a sentence.
    public let message: String
    /// The answers that it takes.
    public let answers: [IssueAnswer]

    package init(_ row: IssueRow) {
        id = ID(row.position, index: row.index)
        collection = row.collection
        key = row.key
        fields = row.fields
        conflictingFields = row.conflicting
        message = row.message
        (kind, answers) =
            switch row.kind {
            case .rejected: (.rejected, [.retry, .discard, .keepMine, .keepTheirs])
            case .conflict: (.conflict, [.keepMine, .keepTheirs])
            case .absent: (.absent, [.keepMine, .keepTheirs])
            case .unreadable: (.unreadable, [.retry, .discard])
            case .unsettled: (.unsettled, [.retry, .discard])
            }
    }
}

/// What is to become of an issue.
public enum IssueAnswer: String, Sendable, Hashable, CaseIterable {
    /// Send again what was refused; read again what could not be read; ask again at once.
    case retry
    /// Give up what was refused, or what is pending; be done with what could not be read.
    case discard
    /// The local side after all: what was refused is sent again, what lost is edited anew with all
    /// that was given up of it, what the server did not name is created there.
    case keepMine
    /// The server's side: what was refused is given up, what lost stays lost, what the server did
    /// not name is deleted.
    case keepTheirs
}

extension ReadContext {
    /// The open issues, in the order in which they were raised.
    public func issues() throws -> [SyncIssue] { try views.issues().map { SyncIssue($0) } }
}

extension Replica {
    /// The open issues, in the order in which they were raised.
    public func issues() throws -> [SyncIssue] { try read { try $0.issues() } }

    /// Answers an issue, in a commit of its own; what follows from it is edited and sent like any
    /// edit.
    ///
    /// - Throws: ``TidemarkError``: `notFound` when there is no such issue, or no more;
    ///   `invalidDocument` when it does not take that answer.
    public func answer(_ issue: SyncIssue.ID, _ answer: IssueAnswer) throws {
        let raised = try read { store in
            try store.views.issues().first { SyncIssue.ID($0.position, index: $0.index) == issue }
        }
        let none = TidemarkError(.notFound, "there is no open issue \(issue)")
        guard let raised else { throw none }
        guard SyncIssue(raised).answers.contains(answer) else {
            let names = SyncIssue(raised).answers.map(\.rawValue).joined(separator: ", ")
            throw TidemarkError(
                .invalidAnswer, "\(issue) does not take \(answer.rawValue); it takes \(names)")
        }
        let sides = try read { try IssueSides(raised, $0.views) }
        try write { tx in
            // Another caller may have answered in between.
            guard try tx.draft.fold.isOpen(raised) else { throw none }
            try tx.settle(raised, sides, answer)
        }
    }
}
