// SyncIssue.swift — an issue that a person has to decide on, or should know of.

public import TidemarkEvents
package import TidemarkViews

/// Something that a sync run could not settle, or settled against a local edit.
public struct SyncIssue: Sendable, Hashable, Identifiable {
    /// What an issue is about.
    @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The server refused a pending mutation of an entity; it waits, and so do mutations that
        /// depend on it.
        case rejected
        /// The server has something to say about an entity whose write it did not refuse: it took
        /// it with a warning, or the write is sent again.
        ///
        /// It is forgotten with the next answer to a write of the entity.
        case warned
        /// Both sides changed the same field, and the server's side won, or a rule of the app
        /// decided and gave up other fields of the edit, too; the local change is kept in the log.
        /// Or, where the policy is to ask, nobody won yet: what is pending waits.
        case conflict
        /// A whole list did not name more than half of a collection; nothing was deleted.
        case absent
        /// The server sent a record that is not a valid entity; its bytes are kept in the log.
        case unreadable
        /// Calls about an entity fail repeatedly: a write, a read of its state, or a file of the
        /// user's that it names and that is sent first.
        ///
        /// They are repeated automatically, at growing intervals.
        case unsettled
        /// An entity is hidden, as what it refers to can't be had: ``Reference/missing``.
        ///
        /// It takes no answer: the entity comes back with what it refers to.
        case dangling
        /// A file of an entity that somebody asked for can't be had: the server refused it, or
        /// answered three times in a row with another one, or that it is not there.
        ///
        /// It is asked for again automatically, at growing intervals, and the issue goes when it
        /// comes, when the entity names another one, or when nobody asks for it any more.
        case unfetched
    }

    /// What a server says of a part of an entity.
    public struct Detail: Sendable, Hashable {
        /// Whether the server did not take the write for it.
        public let isError: Bool
        /// The server's code for it, where it has one.
        public let code: String?
        /// The server's words.
        public let message: String
        /// A field, or an element of one of ``CollectionModel/keyed`` by its name; nil for the
        /// entity as a whole.
        public let path: String?
        /// The value that it is about, as a text.
        public let value: String?

        init(_ issue: ServerIssue) {
            isError = issue.severity == .error
            (code, message) = (issue.code, issue.message)
            (path, value) = (issue.path, issue.value)
        }
    }

    /// Identifies an issue: the event that raised it, and the issue's index among those of that
    /// event.
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

    /// The identifier to answer it by.
    public let id: ID
    /// The kind of issue.
    public let kind: Kind
    /// The collection that it is about.
    public let collection: CollectionName
    /// The entity that it is about; nil where it is not about a single one.
    public let key: EntityKey?
    /// The fields of the mutation that was refused, or lost in a conflict, but in a conflict that
    /// the server won none that it has with the same value; empty for whole entities.
    ///
    /// Elements of ``CollectionModel/keyed`` lists are among them by their names.
    public let fields: [String]
    /// For a conflict, the fields that both sides changed; empty where one of them deleted the
    /// entity, and for an edit that a rule gave up with one in conflict.
    ///
    /// Where a person is asked, all that are in question still.
    public let conflictingFields: [String]
    /// Whether it is a conflict that waits for a person, by ``ConflictPolicy/ask``: nothing is
    /// decided, and what is pending on the entity waits, with every edit that is made meanwhile.
    ///
    /// Of any other conflict the server's side is there already.
    public let isAsked: Bool
    /// The problem, in a sentence.
    public let message: String
    /// What the server says of each part of the entity, where it says that.
    public let details: [Detail]
    /// The answers that it takes.
    public private(set) var answers: [IssueAnswer]

    package init(_ row: IssueRow) {
        id = ID(row.position, index: row.index)
        collection = row.collection
        key = row.key
        fields = row.fields
        conflictingFields = row.conflicting
        isAsked = row.isAsked
        message = row.message
        details = row.details.map { Detail($0) }
        (kind, answers) =
            switch row.kind {
            case .rejected: (.rejected, [.retry, .discard, .keepMine, .keepTheirs])
            case .warned: (.warned, [.discard])
            case .conflict: (.conflict, [.keepMine, .keepTheirs])
            case .absent: (.absent, [.keepMine, .keepTheirs])
            case .unreadable: (.unreadable, [.retry, .discard])
            case .unsettled: (.unsettled, [.retry, .discard])
            case .dangling: (.dangling, [])
            case .unfetched: (.unfetched, [.retry, .discard])
            }
        if row.keepsBoth { answers.append(.keepBoth) }
    }
}

/// An answer to an issue.
@nonexhaustive public enum IssueAnswer: String, Sendable, Hashable, CaseIterable {
    /// Send a refused mutation again; read an unreadable record again; repeat failing calls, or
    /// ask for a file, at once.
    case retry
    /// Discard a refused or pending mutation, in a tree with what lies in what is not there then:
    /// all that ``ReadContext/changes(builtOn:)`` names but what took a name; accept that a record
    /// was unreadable, or what the server warns of; take back what anybody wants of a file.
    case discard
    /// Keep the local side: a refused mutation is sent again, a lost change is made again as a new
    /// edit, but for what was edited since, and entities that the list did not name are created on
    /// the server: of files that the server knows by their paths those whose content is here, and
    /// the others are deleted.
    ///
    /// Where a person was asked (``SyncIssue/isAsked``), all that is pending is sent over what the
    /// server has, with the edits that were made since, as of a merge.
    ///
    /// In a tree, what would lie in something that is not there any more gets a place that is; and
    /// where the server has moved that into it, that is moved out of it first.
    case keepMine
    /// Keep the server's side: a refused mutation is discarded, a lost change stays lost, and
    /// entities that the list did not name are deleted.
    ///
    /// Where a person was asked (``SyncIssue/isAsked``), what is pending is given up, also a merge
    /// that was written since: only later edits of fields that are not in conflict go on. In a tree
    /// such an edit gets another name if its own is taken by now, and a move is left out if its
    /// folder is gone or lies in the entity itself.
    case keepTheirs
    /// Keep both sides, in a tree: what the server has stays under its name, and what was made here
    /// goes beside it under another one.
    ///
    /// It is taken by what was refused because its name is taken, and by conflicts about the
    /// content of a file that the server knows by its path.
    case keepBoth
}

extension ReadContext {
    /// The open issues, in the order in which they were raised.
    ///
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func issues() throws -> [SyncIssue] { try views.issuesInFull().map { SyncIssue($0) } }
}

extension Replica {
    /// The open issues, in the order in which they were raised.
    ///
    /// - Throws: what ``read(_:)`` throws.
    public func issues() throws -> [SyncIssue] { try read { try $0.issues() } }

    /// Answers an issue, in a commit of its own; the resulting edits are sent like any others.
    ///
    /// - Throws: ``TidemarkError``: `notFound` when there is no such open issue; `invalidAnswer`
    ///   when it does not take that answer; `pendingChanges` where it would put an entity back into
    ///   what was deleted since, or delete what took its name; `unfitFile` for a file that can't be
    ///   made again, as its content is not here; and what ``WriteContext/put(_:_:)`` throws, where
    ///   an edit can't be made again. Nothing has changed then.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    public func answer(_ issue: SyncIssue.ID, _ answer: IssueAnswer) throws {
        let asked = try asked(issue, answer)
        try write { tx in try tx.settle(issue, asked, answer) }
    }

    /// The same without blocking the caller's thread.
    public func answer(_ issue: SyncIssue.ID, _ answer: IssueAnswer) async throws {
        let asked = try asked(issue, answer)
        try await write { tx in try tx.settle(issue, asked, answer) }
    }

    /// An issue that takes an answer, and what that is made by.
    private func asked(
        _ issue: SyncIssue.ID, _ answer: IssueAnswer
    ) throws -> (raised: IssueRow, sides: IssueSides) {
        try read { store in
            let views = store.views
            let found = try views.issue(at: issue.position, index: issue.index)
            guard let raised = try found.map(views.inFull) else {
                throw TidemarkError(noIssue: issue)
            }
            guard SyncIssue(raised).answers.contains(answer) else {
                let names = SyncIssue(raised).answers.map(\.rawValue).joined(separator: ", ")
                throw TidemarkError(
                    .invalidAnswer, "\(issue) does not take \(answer.rawValue); it takes \(names)")
            }
            return (raised, try IssueSides(raised, views))
        }
    }
}

extension WriteContext {
    fileprivate func settle(
        _ issue: SyncIssue.ID, _ asked: (raised: IssueRow, sides: IssueSides),
        _ answer: IssueAnswer
    ) throws {
        // Another caller may have answered in between.
        guard try draft.fold.isOpen(asked.raised) else { throw TidemarkError(noIssue: issue) }
        try settle(asked.raised, asked.sides, answer)
    }
}

extension TidemarkError {
    fileprivate init(noIssue issue: SyncIssue.ID) {
        self.init(.notFound, "there is no open issue \(issue)")
    }
}

extension SyncIssue.ID: Codable {
    /// Reads `@41` or `@41.1`.
    ///
    /// - Throws: `DecodingError` for a text that is no such id.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(
            ofText: { SyncIssue.ID($0) }, else: "is no id of an issue: @41")
    }

    /// Writes `@41`, or `@41.1` for the second one of that event.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
