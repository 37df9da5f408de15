// SyncScope.swift — what a sync run is to do; logged with it.

/// What a sync run is to do.
public enum SyncScope: Sendable, Hashable {
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

    /// Whether only some collections are pulled, so that what they refer to does not come along.
    public var isPartialPull: Bool {
        switch self {
        case .pull, .fetch, .select: true
        case .all, .push, .cleanUp: false
        }
    }

    /// Whether it reads entities by their ids.
    package var isFetch: Bool { if case .fetch = self { true } else { false } }

    /// The shape of the payload that names it.
    package var schema: UInt32 {
        switch self {
        case .all, .push, .pull, .cleanUp: 0
        case .fetch: 1
        case .select: 2
        }
    }

    /// The member `scope` of `sync.started`; nil for ``all``, which is not written.
    package var json: JSONValue? {
        switch self {
        case .all: nil
        case .push: "push"
        case .pull(let names): .array(names.map { .string($0.rawValue) })
        case .fetch(let keys):
            .object(["fetch": .array(keys.map { .string($0.description) })])
        case .select(let parts): .object(["select": .array(parts.map(\.json))])
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
            if let parts = object["select"]?.array {
                self = .select(parts.compactMap { Selection($0) })
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
