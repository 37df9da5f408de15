// ServerAdapter.swift — the translation between Tidemark's calls and one kind of server. Pure:
// bytes in, values out, and back.

public import HTTPTypes
public import TidemarkEvents

/// What is asked of a server.
public enum ServerCall: Sendable, Hashable {
    /// The entities of a collection that changed since a cursor, or all of them; `page` is what an
    /// earlier page named as the next one.
    case list(CollectionModel, after: Revision?, page: String?)
    /// One entity as it is now.
    case read(CollectionModel, id: String)
    /// Make an entity that must not exist yet.
    case create(CollectionModel, id: String, body: [UInt8])
    /// Replace an entity that must still be of a version.
    case update(CollectionModel, id: String, body: [UInt8], revision: Revision)
    /// Delete an entity that must still be of a version.
    case delete(CollectionModel, id: String, revision: Revision)

    /// The version that the entity must still be of, where the call demands one.
    package var revision: Revision? {
        switch self {
        case .update(_, _, _, let revision), .delete(_, _, let revision): revision
        case .list, .read, .create: nil
        }
    }

    /// Whether the call changes something on the server.
    package var isWrite: Bool {
        switch self {
        case .create, .update, .delete: true
        case .list, .read: false
        }
    }

    /// The collection that is asked about.
    public var collection: CollectionModel {
        switch self {
        case .list(let collection, _, _), .read(let collection, _), .create(let collection, _, _),
            .update(let collection, _, _, _), .delete(let collection, _, _):
            collection
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

/// What a server's answer means.
public enum ServerAnswer: Sendable, Hashable {
    /// One page of a list.
    case page(ListPage)
    /// Nothing changed since the cursor.
    case unchanged
    /// The entity as it is now: read, made or replaced.
    case record(ServerRecord)
    /// The entity is deleted, by this call.
    case deleted(ServerRecord)
    /// There is no such entity.
    case absent
    /// The precondition did not hold; with the entity as it is now, or nil when there is none.
    case conflict(ServerRecord?)
    /// The server refuses this entity for what it is.
    case refused(ServerRefusal)
    /// The call failed for a reason that is not the entity's.
    case failure(SyncFailure)
}

/// One page of a list.
public struct ListPage: Sendable, Hashable {
    /// The entities, in the server's order.
    public var records: [ServerRecord]
    /// What to ask for the next page, or nil on the last one.
    public var next: String?
    /// Where a later list goes on, if this was the first page.
    public var cursor: Revision?

    /// A page.
    public init(records: [ServerRecord], next: String?, cursor: Revision?) {
        self.records = records
        self.next = next
        self.cursor = cursor
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

/// One kind of server.
public protocol ServerAdapter: Sendable {
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
    /// The server is always to be asked.
    public func refusal(of call: ServerCall) -> ServerRefusal? { nil }
}
