// RollUpStatus.swift — how an entity stands with all that counts in it: the worst of them.

package import TidemarkEvents

/// What the status of an entity counts as in another one.
package enum RollUpClass: UInt8, Sendable, Hashable, CaseIterable {
    /// Was sent another way, and arrived.
    case confirmed = 5
    /// Was sent another way.
    case relayed = 4
    /// Waits for the server.
    case pending = 0
    /// Is on the server, which warns of it.
    case warning = 3
    case error = 1
    /// Is known in part.
    case stub = 6
    case placeholder = 2

    /// What a status counts as; nil for nothing.
    package init?(_ status: EntityStatus) {
        switch status {
        case .synced: return nil
        case .created, .updated, .deleted, .uploading: self = .pending
        case .relayed: self = .relayed
        case .confirmed: self = .confirmed
        case .warning: self = .warning
        case .error: self = .error
        case .stub: self = .stub
        case .placeholder: self = .placeholder
        }
    }

    package var status: EntityStatus {
        switch self {
        case .confirmed: .confirmed
        case .relayed: .relayed
        case .pending: .updated
        case .warning: .warning
        case .error: .error
        case .stub: .stub
        case .placeholder: .placeholder
        }
    }
}

/// A set of what counts in an entity.
package struct RollUpClasses: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package init(_ one: RollUpClass?) { self.init(rawValue: one.map { 1 << $0.rawValue } ?? 0) }

    /// What does not keep a list's word from being taken: ``CollectionModel/withholdsTrees``.
    package static let clean: RollUpClasses = [
        RollUpClasses(.placeholder), RollUpClasses(.stub), RollUpClasses(.confirmed),
    ]

    /// Those in it, from the mildest on.
    package var all: [RollUpClass] {
        RollUpClass.allCases.filter { contains(RollUpClasses($0)) }
    }

    /// The status of all together: that of a placeholder before that of a stub, that before an
    /// error, that before a warning, and that before anything that waits for the server, whether
    /// it was made, changed, deleted or sent; after these what was sent another way, and last what
    /// arrived so.
    package var status: EntityStatus { all.last?.status ?? .synced }
}
