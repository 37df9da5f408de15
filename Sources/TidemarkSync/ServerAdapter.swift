// ServerAdapter.swift — the translation between Tidemark's calls and one kind of server. Pure:
// bytes in, values out, and back.

public import HTTPTypes
public import TidemarkEvents

/// What is asked of a server.
public enum ServerCall: Sendable, Hashable {
    /// What tells each collection from another one that gets its name later; asked only where
    /// ``ServerTraits/describesCollections`` says so.
    case describe([CollectionModel])
    /// The entities of a collection that changed since a cursor, or all of them; `page` is what an
    /// earlier page named as the next one.
    case list(CollectionModel, after: Revision?, page: String?)
    /// One entity as it is now.
    case read(CollectionModel, id: String)
    /// Several entities as they are now, at most ``ServerTraits/entitiesPerFetchMax``.
    case fetch(CollectionModel, ids: [String])
    /// Make an entity that must not exist yet.
    case create(CollectionModel, id: String, body: [UInt8])
    /// Replace an entity that must still be of a version.
    case update(CollectionModel, id: String, body: [UInt8], revision: Revision)
    /// Delete an entity that must still be of a version.
    case delete(CollectionModel, id: String, revision: Revision)
    /// Several writes in one request, at most ``ServerTraits/writesPerRequestMax``, each with an
    /// outcome of its own.
    case batch([ServerCall])

    /// The version that the entity must still be of, where the call demands one.
    package var revision: Revision? {
        switch self {
        case .update(_, _, _, let revision), .delete(_, _, let revision): revision
        case .describe, .list, .read, .fetch, .create, .batch: nil
        }
    }

    /// Whether the call changes one entity on the server.
    package var isWriteOfOne: Bool {
        switch self {
        case .create, .update, .delete: true
        case .describe, .list, .read, .fetch, .batch: false
        }
    }

    /// The collection that is asked about; of a batch, that of its first write; nil of a call about
    /// all of them.
    public var collection: CollectionModel? {
        switch self {
        case .list(let collection, _, _), .read(let collection, _), .fetch(let collection, _),
            .create(let collection, _, _), .update(let collection, _, _, _),
            .delete(let collection, _, _):
            collection
        case .batch(let calls): calls.first?.collection
        case .describe: nil
        }
    }
}

/// A request without origin and credentials; what is logged of it is all of it.
public struct ServerRequest: Sendable, Hashable {
    /// The method.
    public var method: HTTPRequest.Method
    /// Path and query below the remote's origin, percent-encoded.
    public var path: String
    /// Header fields, preconditions among them; never credentials.
    public var headers: HTTPFields
    /// The body, or nil.
    public var body: [UInt8]?

    /// A request.
    public init(
        method: HTTPRequest.Method, path: String, headers: HTTPFields = [:], body: [UInt8]? = nil
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// An entity as a server said it is.
public struct ServerRecord: Sendable, Hashable {
    /// The server's id.
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
    /// The server's id.
    public var id: String
    /// The version, where it is known: an entity of a version that is here is not fetched.
    public var revision: Revision?

    /// A reference.
    public init(id: String, revision: Revision?) {
        self.id = id
        self.revision = revision
    }
}

/// What a server sent as an entity, and is none.
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
    /// Its name.
    public var name: CollectionName
    /// Another one after the collection was dropped and made anew: then what is known of it counts
    /// for nothing, and everything is listed again.
    public var epoch: Revision

    /// A description.
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

    /// An answer among others.
    public init(status: Int, _ answer: ServerAnswer) {
        self.status = status
        self.answer = answer
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
    /// Those that were asked for, as they are now; the others are not there.
    case records([ServerRecord])
    /// The entity as it is now: read, made or replaced.
    case record(ServerRecord)
    /// The write was taken, and the answer does not say how the entity is now; with its version,
    /// where that is known.
    case stored(id: String, Revision?)
    /// The entity is deleted, by this call.
    case deleted(ServerRecord)
    /// There is no such entity.
    case absent
    /// The precondition did not hold; with the entity as it is now, or nil when there is none.
    case conflict(ServerRecord?)
    /// The precondition did not hold, and the answer does not say how the entity is now.
    case conflictUnknown
    /// The server refuses this entity for what it is.
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
    /// What stands where an entity should, and is none; kept, and passed over.
    public var unreadable: [UnreadableRecord]
    /// What to ask for the next page, or nil on the last one.
    public var next: String?
    /// Where a later list goes on, if this was the first page; or this page, if it moves it.
    public var cursor: Revision?
    /// Whether the cursor says how far this page goes, so that the last page's is what counts.
    public var movesCursor: Bool

    /// A page.
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

    /// A refusal.
    public init(status: Int, message: String) {
        self.status = status
        self.message = message
    }
}

/// What one kind of server can do.
public struct ServerTraits: Sendable, Hashable {
    /// Whether it can be asked what tells a collection from another one of the same name.
    public var describesCollections: Bool
    /// How many entities may be fetched at once.
    public var entitiesPerFetchMax: Int
    /// How many writes fit into one request; 1 for a server without batches.
    public var writesPerRequestMax: Int
    /// Whether a cursor stands for a state and not for a time, and comes back with the state.
    ///
    /// What was learned of an entity since the cursor is then asked after, unless a list names it.
    public var cursorIsState: Bool

    /// The traits of a server that can do none of it.
    public init(
        describesCollections: Bool = false, entitiesPerFetchMax: Int = 1,
        writesPerRequestMax: Int = 1, cursorIsState: Bool = false
    ) {
        self.describesCollections = describesCollections
        self.entitiesPerFetchMax = entitiesPerFetchMax
        self.writesPerRequestMax = writesPerRequestMax
        self.cursorIsState = cursorIsState
    }
}

/// One kind of server.
public protocol ServerAdapter: Sendable {
    /// What it can do.
    var traits: ServerTraits { get }

    /// The request for a call.
    ///
    /// - Throws: ``SyncFailure`` when no such request can be made, as for a page of another origin.
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest

    /// Why the server can't take a write, whatever it would answer; nil when it is to be asked.
    ///
    /// What is refused here is never sent.
    func refusal(of call: ServerCall) -> ServerRefusal?

    /// What the answer to a call means. Total: what is not understood is a failure `malformed`.
    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer
}

extension ServerAdapter {
    /// It can do none of what not every server can.
    public var traits: ServerTraits { ServerTraits() }

    /// The server is always to be asked.
    public func refusal(of call: ServerCall) -> ServerRefusal? { nil }
}
