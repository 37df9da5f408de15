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
    /// Prune what need not be kept.
    case cleanUp

    /// Whether only some collections are pulled, so that what they refer to does not come along.
    public var isPartialPull: Bool {
        switch self {
        case .pull, .fetch: true
        case .all, .push, .cleanUp: false
        }
    }

    /// Whether it reads entities by their ids.
    package var isFetch: Bool { if case .fetch = self { true } else { false } }

    /// The shape of the payload that names it.
    package var schema: UInt32 { if case .fetch = self { 1 } else { 0 } }

    /// The member `scope` of `sync.started`; nil for ``all``, which is not written.
    package var json: JSONValue? {
        switch self {
        case .all: nil
        case .push: "push"
        case .pull(let names): .array(names.map { .string($0.rawValue) })
        case .fetch(let keys):
            .object(["fetch": .array(keys.map { .string($0.description) })])
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
            let names = object["fetch"]?.array?.compactMap(\.stringValue) ?? []
            self = names.isEmpty ? .all : .fetch(names.compactMap { EntityKey($0) })
        default: self = .all
        }
    }
}
