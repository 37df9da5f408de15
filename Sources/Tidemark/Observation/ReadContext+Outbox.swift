// ReadContext+Outbox.swift — the changes that wait for the server, or for a person.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// A change that was made here and waits: for the server, or, refused by it, for a person.
    public struct OutboxEntry: Sendable, Hashable {
        /// What the change is.
        @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// The entity was made.
            case created
            /// The entity was changed, by an edit or by a rule of the model.
            case updated
            /// The entity was deleted.
            case deleted
            /// The server is to do something: ``WriteContext/request(_:of:parameters:)``.
            case requested
        }

        /// How a change stands.
        @nonexhaustive public enum State: String, Sendable, Hashable, CaseIterable {
            /// It waits for a run, or for its turn in one.
            case pending
            /// The run in progress sent it, and the outcome is not known yet; also one that was cut
            /// off, until the next one begins.
            case uploading
            /// A run that has ended sent it, and the server did not say what became of it; the next
            /// one asks, or waits for an answer that was promised.
            case unknown
            /// It waits for other entities, or for what was refused of its own:
            /// ``Replica/OutboxEntry/blockedBy``.
            case blocked
            /// The server refused it, or it is in a conflict about which a person is asked: an open
            /// ``SyncIssue`` says so.
            case refused
        }

        /// The position that the edit, the deletion or the request returned; of what follows from
        /// another change by a rule of the model, that of the other one.
        public let position: Position
        /// The entity.
        public let key: EntityKey
        /// What the change is.
        public let kind: Kind
        /// The fields that an update touches; else empty.
        public let fields: [String]
        /// When it was made, by the device's clock.
        public let recordedAt: Timestamp
        /// How it stands.
        public let state: State
        /// The entities that hold it back, in the order of their keys: they were refused, or are
        /// out of reach.
        public let blockedBy: [EntityKey]

        private static let kinds: [EventKind: Kind] = [
            .localCreated: .created, .localDeleted: .deleted, .localRequested: .requested,
        ]

        /// - Parameter run: the run in progress, if there is one.
        fileprivate init(_ entry: TidemarkViews.OutboxEntry, during run: Position?) {
            let mutation = entry.mutation
            (position, key, fields) = (entry.position, mutation.key, mutation.fields)
            (recordedAt, blockedBy) = (mutation.recordedAt, entry.blockers)
            kind = Self.kinds[mutation.kind] ?? .updated
            let isUnderWay = if let run, let call = mutation.call { call > run } else { false }
            state =
                switch entry.state {
                case _ where mutation.outcome != nil: .refused
                case .pending: .pending
                case .unknown: isUnderWay ? .uploading : .unknown
                case .blocked: .blocked
                }
        }
    }
}

extension ReadContext {
    /// The changes that wait, deletions among them, in the order in which they were made; what
    /// follows from one by rules of the model comes after it, by key.
    ///
    /// ``outboxCount()`` is their number.
    ///
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func outbox() throws -> [Replica.OutboxEntry] {
        let last = try views.lastSyncRun()
        let run = last?.row.finished == nil ? last?.position : nil
        return try views.outbox(all: false).map { Replica.OutboxEntry($0, during: run) }
    }
}
