// ServerCall.swift — a call to a server, and the request that an adapter makes of it.

public import HTTPTypes
public import TidemarkEvents

/// A call to a server.
@nonexhaustive public indirect enum ServerCall: Sendable, Hashable {
    /// The identity of each collection, which changes when one is dropped and created again; asked
    /// only with ``ServerTraits/describesCollections``. `page` is the next page of an earlier
    /// answer.
    case describe([CollectionModel], page: String? = nil)
    /// The entities of a collection that changed since a cursor, or all of them; `page` is the
    /// ``ListPage/next`` of an earlier page.
    ///
    /// Of a tree that the server knows by paths, ``CollectionModel/TreeRule/isByPath``, `page` is
    /// the path of a folder, nil for the root. The answer names what lies in it directly, by paths;
    /// that there is no such folder is ``ServerAnswer/absent``. The ids of all other calls are
    /// paths as well.
    case list(CollectionModel, after: Revision?, page: String?)
    /// The entities of a collection whose time lies in its window: ``CollectionModel/window``.
    case listWindow(CollectionModel, from: Timestamp, to: Timestamp, page: String?)
    /// The entities of a part of a collection that changed since a cursor, or all of them; asked
    /// only with ``ServerTraits/hasListParameters``.
    ///
    /// What the parameters mean the adapter says. The cursor is that of this part.
    case listPart(CollectionModel, ListParameters, after: Revision?, page: String?)
    /// A block of a collection's feed: ``CollectionModel/feed``; asked only with
    /// ``ServerTraits/hasFeeds``.
    case feed(CollectionModel, FeedBlock)
    /// What the lists of several collections would bring, as far as one request brings it; asked
    /// only for ``ServerTraits/combined``.
    ///
    /// It only adds and changes: a collection or an entity that is missing says nothing.
    case combined([CollectionModel])
    /// The entities of some placeholders, by another way than ``fetch(_:ids:)``; `together` is the
    /// id that they all refer to in the field ``CollectionModel/RefetchRule/together``.
    case refetch(CollectionModel, ids: [String], together: String?)
    /// One entity as it is now.
    case read(CollectionModel, id: String)
    /// Several entities as they are now, at most ``ServerTraits/entitiesPerFetchMax``.
    case fetch(CollectionModel, ids: [String])
    /// Create an entity that must not exist yet; where the server names entities, `id` is the local
    /// id, which is not in the body.
    case create(CollectionModel, id: String, body: [UInt8])
    /// Change an entity if it still has a version; an empty version means unconditionally.
    ///
    /// `body` is the whole document, for a server that replaces it. `changes` is for one that takes
    /// single fields: an object of those in which the document differs from what the server said
    /// last, with null for a field that is gone; empty where that is not known.
    case update(
        CollectionModel, id: String, body: [UInt8], changes: [UInt8] = [], revision: Revision)
    /// Delete an entity if it still has a version; an empty version means unconditionally.
    case delete(CollectionModel, id: String, revision: Revision)
    /// Do something with an entity: an action of the model, ``CollectionModel/actions``, with what
    /// it needs by name.
    ///
    /// The answer is ``ServerAnswer/stored(id:_:issues:)``, ``ServerAnswer/refused(_:)`` or
    /// ``ServerAnswer/ignored(_:)``. Where it is lost it is asked for once more, so that the server
    /// may do it twice.
    ///
    /// With a `document`, the entity that it makes of another one, whose id on the server is the
    /// parameter that the model names: ``CollectionModel/ActionRule/source``. Where that answer is
    /// lost, the entity is read first.
    case perform(
        CollectionModel, id: String, action: String, parameters: [String: String],
        document: [UInt8]? = nil)
    /// So many values of a pool, for this device alone: ``SyncModel/pools``; asked only with
    /// ``ServerTraits/reservesValues``.
    ///
    /// `pattern` is what ``ServerAdapter/pattern(of:in:_:)`` told.
    case reserve(pool: String, key: [String], pattern: String?, count: Int)
    /// Several writes in one request, at most ``ServerTraits/writesPerRequestMax``. Each has an
    /// outcome of its own.
    case batch([ServerCall])
    /// The answer to some writes that the server promised; asked only after
    /// ``ServerAnswer/deferred(_:)``.
    ///
    /// The writes are as what they carried is now. In a later run those are left out of which it is
    /// known by then what became of them.
    case poll(String, of: [ServerCall])

    /// The version that the call is conditional on, where it is.
    package var revision: Revision? {
        switch self {
        case .update(_, _, _, _, let revision), .delete(_, _, let revision): revision
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .read, .fetch, .refetch,
            .create, .perform, .batch, .poll, .reserve:
            nil
        }
    }

    /// The server's id of the one entity that the call changes, and the whole document that it
    /// sends; nil for any other call.
    package var write: (id: String, body: [UInt8]?)? {
        switch self {
        case .create(_, let id, let body), .update(_, let id, let body, _, _): (id, body)
        case .perform(_, let id, _, _, let body): (id, body)
        case .delete(_, let id, _): (id, nil)
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .read, .fetch, .refetch,
            .reserve, .batch, .poll:
            nil
        }
    }

    /// Whether it has the server do something, beside taking changes.
    package var isAction: Bool { if case .perform = self { true } else { false } }

    /// Whether the call changes one entity on the server.
    package var isWriteOfOne: Bool { write != nil }

    /// Whether the call changes anything on the server.
    package var isWrite: Bool {
        if case .batch = self { true } else { isWriteOfOne }
    }

    /// The collection of the call; of a batch, that of its first write; nil for
    /// ``describe(_:page:)``,
    /// ``combined(_:)``, ``reserve(pool:key:pattern:count:)`` and ``poll(_:of:)``.
    public var collection: CollectionModel? {
        switch self {
        case .list(let collection, _, _), .listWindow(let collection, _, _, _),
            .listPart(let collection, _, _, _), .feed(let collection, _),
            .read(let collection, _), .fetch(let collection, _), .refetch(let collection, _, _),
            .create(let collection, _, _), .update(let collection, _, _, _, _),
            .delete(let collection, _, _), .perform(let collection, _, _, _, _):
            collection
        case .batch(let calls): calls.first?.collection
        case .describe, .combined, .poll, .reserve: nil
        }
    }

    /// The members that its collections drop: ``CollectionModel/drops``.
    package var drops: [String] {
        switch self {
        case .combined(let collections): return collections.flatMap(\.drops)
        case .batch(let calls), .poll(_, let calls):
            var drops: [String] = []
            for name in calls.flatMap(\.drops) where !drops.contains(name) { drops.append(name) }
            return drops
        case .list, .listWindow, .listPart, .feed, .read, .fetch, .refetch, .create, .update,
            .delete, .perform, .describe, .reserve:
            return collection?.drops ?? []
        }
    }
}

/// A request without origin and credentials; all of it may be logged.
public struct ServerRequest: Sendable, Hashable {
    public var method: HTTPRequest.Method
    /// Path and query below the remote's origin, percent-encoded: ``percentEncoded(_:)``.
    public var path: String
    /// Header fields, preconditions among them; never credentials, also not in a field of another
    /// name: a server may give back what it gets, and only ``Credentials`` are masked in answers.
    public var headers: HTTPFields
    /// The body, or nil.
    public var body: [UInt8]?
    /// A file of the store's that is the body, read while it is sent; nil for none.
    public var file: ContentName?

    public init(
        method: HTTPRequest.Method, path: String, headers: HTTPFields = [:], body: [UInt8]? = nil,
        file: ContentName? = nil
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
        self.file = file
    }
}

extension ServerRequest {
    /// A text as it stands in a ``path``: one part between slashes, such as an id, or a value of
    /// the query.
    ///
    /// All is percent-encoded but what RFC 3986 calls unreserved: the letters and digits of ASCII,
    /// `-`, `.`, `_` and `~`. The ids `.` and `..` are no part of any path: in every writing they
    /// are another place. Where the server may have them, refuse such writes
    /// (``ServerAdapter/refusal(of:)``).
    public static func percentEncoded(_ text: some StringProtocol) -> String {
        percentEncoded(text.utf8)
    }

    /// Bytes, percent-encoded as a text is.
    package static func percentEncoded(_ bytes: some Sequence<UInt8>) -> String {
        String(percentEncoding: bytes)
    }
}
