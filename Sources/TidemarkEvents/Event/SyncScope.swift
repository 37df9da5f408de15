// SyncScope.swift — what a sync run is to do; logged with it.

/// What a sync run is to do.
public enum SyncScope: Sendable, Hashable {
    /// Read back, pull every collection, prune where the model says so, push.
    case all
    /// Read back, and push what is pending.
    case push
    /// Pull some collections, and nothing else: a light pull.
    case pull([CollectionName])
    /// Prune what need not be kept.
    case cleanUp

    /// Whether only some collections are pulled, so that what they refer to does not come along.
    public var isPartialPull: Bool { if case .pull = self { true } else { false } }

    /// The member `scope` of `sync.started`; nil for ``all``, which is not written.
    package var json: JSONValue? {
        switch self {
        case .all: nil
        case .push: "push"
        case .pull(let names): .array(names.map { .string($0.rawValue) })
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
        default: self = .all
        }
    }
}
