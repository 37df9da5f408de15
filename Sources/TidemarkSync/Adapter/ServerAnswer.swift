// ServerAnswer.swift — what an adapter makes of an answer: entities as the server has them, and
// what became of a call.

public import TidemarkEvents

/// An entity as a server said it is.
public struct ServerRecord: Sendable, Hashable {
    public var id: String
    /// The version, where it has one.
    public var revision: Revision?
    /// The last change by the server's clock, where it is known.
    public var serverTime: Timestamp?
    /// The server's bytes, verbatim: the document, or what it says of a deleted one, if anything.
    public var document: [UInt8]?
    /// Whether the entity is gone.
    public var isDeleted: Bool

    /// A record; without a document it is that of a deleted entity.
    public init(
        id: String, revision: Revision?, serverTime: Timestamp? = nil, document: [UInt8]?,
        isDeleted: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
        self.document = document
        self.isDeleted = isDeleted || document == nil
    }
}

/// An entity that a list names without its document.
public struct ServerReference: Sendable, Hashable {
    public var id: String
    /// The version, where it is known: an entity whose version is here already is not fetched.
    public var revision: Revision?
    /// The last change by the server's clock, where it is known; of an entity that is gone, the
    /// time of its deletion.
    public var serverTime: Timestamp?

    public init(id: String, revision: Revision?, serverTime: Timestamp? = nil) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
    }
}

/// A record of a server's answer that is not a valid entity.
public struct UnreadableRecord: Sendable, Hashable {
    /// The server's id, where that much can be read.
    public var id: String?
    /// The server's bytes, verbatim.
    public var bytes: [UInt8]
    /// What is wrong with them, in a few words.
    public var problem: String

    /// Bytes that are no entity.
    public init(id: String?, bytes: [UInt8], problem: String) {
        self.id = id
        self.bytes = bytes
        self.problem = problem
    }
}

/// What a server says of a collection.
public struct CollectionDescription: Sendable, Hashable {
    public var name: CollectionName
    /// Differs once the collection was dropped and created again: its watermark is then discarded,
    /// and everything is listed.
    public var epoch: Revision

    public init(name: CollectionName, epoch: Revision) {
        self.name = name
        self.epoch = epoch
    }
}

/// What became of one write of a batch.
public struct BatchedAnswer: Sendable, Hashable {
    /// Its own HTTP status.
    public var status: Int
    /// What that means.
    public var answer: ServerAnswer
    /// What it proves of the write.
    public var effect: WriteEffect

    /// An answer among others.
    ///
    /// - Parameters:
    ///   - status: its own HTTP status.
    ///   - answer: what it means.
    ///   - effect: what it proves; when nil what the status usually proves, unless the answer says
    ///     that the write was done.
    public init(status: Int, _ answer: ServerAnswer, effect: WriteEffect? = nil) {
        self.status = status
        self.answer = answer
        self.effect = effect ?? answer.usualEffect(status: status)
    }
}

extension ServerAnswer {
    /// What an answer with a status usually proves of a write.
    public func usualEffect(status: Int) -> WriteEffect {
        switch self {
        case .record, .stored, .deleted: .done
        // A success that can't be understood proves nothing.
        case .failure where (200..<300).contains(status): .unknown
        case .description, .page, .unchanged, .cursorExpired, .records, .absent, .conflict,
            .conflictUnknown, .refused, .batch, .failure:
            WriteEffect(status: status)
        }
    }
}

/// What a server's answer means.
public indirect enum ServerAnswer: Sendable, Hashable {
    /// The collections that there are.
    case description([CollectionDescription])
    /// One page of a list.
    case page(ListPage)
    /// Nothing changed since the cursor.
    case unchanged
    /// The server does not know the cursor any more: everything has to be listed again.
    case cursorExpired
    /// The current state of the entities that were asked for; those left out do not exist.
    case records([ServerRecord])
    /// The entity as it is now: read, made or replaced.
    case record(ServerRecord)
    /// The write was accepted, and the answer does not hold the entity; with its version, where it
    /// has one.
    case stored(id: String, Revision?)
    /// The entity is deleted, by this call.
    case deleted(ServerRecord)
    /// There is no such entity.
    case absent
    /// The precondition failed; with the entity as it is now.
    case conflict(ServerRecord)
    /// The precondition failed, and the answer does not hold the entity: it is read.
    case conflictUnknown
    /// The server refuses the write because of the entity's content.
    case refused(ServerRefusal)
    /// What became of each write of a batch, in order.
    case batch([BatchedAnswer])
    /// The call failed for a reason that is not the entity's.
    case failure(SyncFailure)
}

/// One page of a list.
public struct ListPage: Sendable, Hashable {
    /// The entities, in the server's order.
    public var records: [ServerRecord]
    /// Entities that the list only names; they are fetched.
    public var references: [ServerReference]
    /// Records that are not valid entities; they are logged, and skipped.
    public var unreadable: [UnreadableRecord]
    /// The token of the next page; nil on the last one.
    public var next: String?
    /// The cursor of a later list: the first page's, or that of the last page with ``movesCursor``.
    public var cursor: Revision?
    /// Whether the cursor is the end of this page, so that the last page's counts.
    public var movesCursor: Bool

    public init(
        records: [ServerRecord], references: [ServerReference] = [],
        unreadable: [UnreadableRecord] = [], next: String?, cursor: Revision?,
        movesCursor: Bool = false
    ) {
        self.records = records
        self.references = references
        self.unreadable = unreadable
        self.next = next
        self.cursor = cursor
        self.movesCursor = movesCursor
    }
}

/// Why a server refused an entity.
public struct ServerRefusal: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The server's words.
    public var message: String

    public init(status: Int, message: String) {
        self.status = status
        self.message = message
    }

    /// A machine in between refuses a write, while the server answers others.
    static func page(_ status: Int) -> ServerRefusal {
        ServerRefusal(status: status, message: "a page in the place of an answer")
    }

    /// A write is told again and again that its precondition fails, and nothing explains it.
    static let unexplained = ServerRefusal(
        status: 412,
        message: "its precondition fails, and what the server says of it agrees with it")

    /// The server gives no version, so that a write could undo what others did.
    static let unversioned = ServerRefusal(
        status: 0,
        message: "the server names no version of it that a write could ask for (a strong ETag)")

    /// The messages that are ours alone, and say nothing of what people wrote.
    package static var ownMessages: [String] {
        [page(0).message, unexplained.message, unversioned.message]
    }
}
