// PullMode.swift — how much a sync run lists, and whether what it lists stands against everything
// that is pending.

/// How a sync run pulls.
package enum PullMode: Sendable, Hashable, Comparable {
    /// What changed, where the server can tell.
    case changes
    /// Every list whole.
    case whole
    /// Every list whole; what is pending on an entity that the server sends is dropped, whatever
    /// the collection's conflict policy.
    case overwriting

    package init(isFull: Bool, overwrites: Bool) {
        self = overwrites ? .overwriting : isFull ? .whole : .changes
    }

    /// The shape of the payload that says ``overwriting``.
    package static let schema: UInt32 = 4

    /// Whether every collection is listed whole.
    package var isFull: Bool { self != .changes }

    /// Whether the server's word stands against everything that is pending.
    package var overwrites: Bool { self == .overwriting }
}
