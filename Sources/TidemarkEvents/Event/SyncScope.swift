// SyncScope.swift — what a sync run is to do; logged with it.

/// What a sync run is to do.
@nonexhaustive public enum SyncScope: Sendable, Hashable {
    /// Read back, pull every collection, prune where the model says so, push.
    case all
    /// Read back, and push what is pending.
    case push
    /// Pull some collections, and nothing else: a light pull.
    case pull([CollectionName])
    /// Read some entities by their ids, and nothing else: what a notification of the server names.
    ///
    /// One that the server does not have is removed here.
    case fetch([EntityKey])
    /// Pull some parts of collections, and nothing else: what the user works with next.
    ///
    /// Each has a watermark of its own, by its parameters.
    case select([Selection])
    /// List some folders of trees that the server knows by paths, and nothing else: where a
    /// notification says that something changed, or what the user opens.
    ///
    /// What lies in a folder directly is taken as a list of the whole tree has it. Where something
    /// is missing in it, that was moved, or is gone: then the whole tree is listed as well, which
    /// tells. Of a collection that is listed otherwise everything is pulled.
    case folders([Folder])
    /// Have the server reserve values of some of the model's pools, and nothing else.
    case reserve([Reservation])
    /// Prune what need not be kept.
    case cleanUp

    /// A part of a collection that is listed.
    public struct Selection: Sendable, Hashable {
        /// The collection.
        public var collection: CollectionName
        /// Of which of its entities the list is; what they mean the server's adapter says.
        public var parameters: ListParameters
        /// How many entities the list asks for at most; nil for all.
        public var limit: Int?

        /// The part of `collection` with these parameters.
        public init(
            _ collection: CollectionName, _ parameters: ListParameters = [:], limit: Int? = nil
        ) {
            self.collection = collection
            self.parameters = parameters
            self.limit = limit
        }
    }

    /// A folder of a tree.
    public struct Folder: Sendable, Hashable {
        /// The collection.
        public var collection: CollectionName
        /// The folder's id; nil for the root.
        public var id: String?

        /// The folder with this id; without one the root.
        public init(_ collection: CollectionName, _ id: String? = nil) {
            self.collection = collection
            self.id = id?.isEmpty == true ? nil : id
        }

        /// The folder that is this entity.
        public init(_ key: EntityKey) { self.init(key.collection, key.id) }
    }

    /// Values of a pool that are to be reserved: ``SyncModel/pools``.
    public struct Reservation: Sendable, Hashable {
        /// The name of the pool.
        public var pool: String
        /// What the values are of.
        public var key: [String]
        /// How many are to be there, from 1 to 1,000; nil for as many as the model says, or an
        /// earlier run was asked for.
        ///
        /// Values are asked for where fewer are left. From then on it is what the pool has for
        /// this key after it was filled.
        public var count: Int?

        /// Values of a pool for `key`.
        public init(_ pool: String, _ key: [String], count: Int? = nil) {
            self.pool = pool
            self.key = key
            self.count = count
        }
    }

    /// Whether only some collections are pulled, so that what they refer to does not come along.
    package var isPartialPull: Bool {
        switch self {
        case .pull, .fetch, .select, .folders: true
        case .all, .push, .reserve, .cleanUp: false
        }
    }

    /// Whether it lists folders of trees.
    package var isOfFolders: Bool { if case .folders = self { true } else { false } }

    /// Whether it reads entities by their ids.
    package var isFetch: Bool { if case .fetch = self { true } else { false } }

    /// The shape of the payload that names it.
    package var schema: UInt32 {
        switch self {
        case .all, .push, .pull, .cleanUp: 0
        case .fetch: 1
        case .select: 2
        case .reserve: 3
        case .folders: 5
        }
    }

    /// The newest shape of a payload that names one.
    package static let newestSchema: UInt32 = 5

    /// The member `scope` of `sync.started`; nil for ``all``, which is not written.
    package var json: JSONValue? {
        switch self {
        case .all: nil
        case .push: "push"
        case .pull(let names): .array(names.map { .string($0.rawValue) })
        case .fetch(let keys):
            .object(["fetch": .array(keys.map { .string($0.description) })])
        case .select(let parts): .object(["select": .array(parts.map(\.json))])
        case .folders(let folders): .object(["folders": .array(folders.map(\.json))])
        case .reserve(let wanted): .object(["reserve": .array(wanted.map(\.json))])
        case .cleanUp: "cleanUp"
        }
    }

    /// Reads what ``json`` gave; whatever else there is counts as ``all``.
    package init(_ value: JSONValue?) {
        switch value {
        case .string("push"): self = .push
        case .string("cleanUp"): self = .cleanUp
        case .array(let names):
            self = .pull(names.compactMap(\.stringValue).map { CollectionName($0) })
        case .object(let object):
            if let wanted = object["reserve"]?.array {
                self = .reserve(wanted.compactMap { Reservation($0) })
                return
            }
            if let parts = object["select"]?.array {
                self = .select(parts.compactMap { Selection($0) })
                return
            }
            if let folders = object["folders"]?.array {
                self = .folders(folders.compactMap { Folder($0) })
                return
            }
            let names = object["fetch"]?.array?.compactMap(\.stringValue) ?? []
            self = names.isEmpty ? .all : .fetch(names.compactMap { EntityKey($0) })
        default: self = .all
        }
    }
}

extension SyncScope.Selection {
    /// The target of its list.
    package var target: PullTarget { PullTarget(collection, parameters, limit: limit) }

    fileprivate var json: JSONValue {
        var object: JSONObject = ["collection": .string(collection.rawValue)]
        if !parameters.isEmpty { object["parameters"] = .object(parameters.json) }
        if let limit { object["limit"] = .number(JSONNumber(Int64(limit))) }
        return .object(object)
    }

    fileprivate init?(_ value: JSONValue) {
        guard let object = value.object, let name = object["collection"]?.stringValue else {
            return nil
        }
        self.init(CollectionName(name))
        if let given = object["parameters"] {
            guard let parameters = ListParameters(given) else { return nil }
            self.parameters = parameters
        }
        limit = object["limit"]?.int64Value.flatMap(Int.init(exactly:))
    }
}

extension SyncScope.Folder {
    /// The target of its list.
    package var target: PullTarget { .folder(id, of: collection) }

    /// `files/F7`, of a root `files`.
    fileprivate var json: JSONValue {
        .string(id.map { EntityKey(collection, $0).description } ?? collection.rawValue)
    }

    fileprivate init?(_ value: JSONValue) {
        guard let text = value.stringValue else { return nil }
        self = EntityKey(text).map { Self($0) } ?? Self(CollectionName(text))
    }
}

extension SyncScope.Reservation {
    /// The pool, and what of it.
    package var place: PoolKey { PoolKey(pool, key) }

    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "pool": .string(pool), "key": .array(key.map { .string($0) }),
        ]
        if let count { object["count"] = .number(JSONNumber(Int64(count))) }
        return .object(object)
    }

    fileprivate init?(_ value: JSONValue) {
        guard let object = value.object, let pool = object["pool"]?.stringValue,
            let key = object["key"]?.array
        else { return nil }
        self.init(
            pool, key.compactMap(\.stringValue),
            count: object["count"]?.int64Value.flatMap(Int.init(exactly:)))
    }
}
