// LogError.swift — what can be wrong with a log.

package import TidemarkEvents

/// Damage found while reading the log, and where.
package struct LogError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// An event's bytes are not what was written.
        case corruptEvent
        /// A position between the first and the last holds no event.
        case missingEvent
        /// The record of a commit is damaged, missing, or does not join its neighbours.
        case corruptCommit
        /// The recomputed Merkle root is not the stored one.
        case rootMismatch
        /// The right edge is damaged or does not fit the log.
        case corruptEdge
        /// A body that an event refers to is not in the store.
        case missingBody
        /// A body is not what the event that refers to it says.
        case corruptBody
        /// An answer that is kept beside the log is not what the event says that names it; nothing
        /// but a replay of its run needs it.
        case corruptAnswer
        /// The store is of a format that this version does not know.
        case newerFormat
        /// The store's own description is damaged.
        case corruptMeta
        /// The log has lost its end since, or is another one than identity.json knows.
        case rolledBack
        /// The data file and identity.json are of different stores.
        case otherStore
        /// The pages in which the store keeps the log, or its tables, are damaged.
        case corruptTable
        /// A view row is not what the log and its commits say, or a page of rows or of indexes is
        /// damaged; they can be made again.
        case corruptRow
        /// What a commit recorded about the views is not what its events make.
        case corruptDigest
        /// A snapshot of the views is not what was written; it can be made again.
        case corruptSnapshot
        /// What is left of events that were dropped is not what was written.
        case corruptBase
        /// A file beside an entity is not there, or not what was stored.
        case corruptFile
        /// The event was dropped when the log was truncated.
        case dropped
        /// The event can't be dropped.
        case needed
        /// An older checkpoint is not of this log.
        case otherCheckpoint
        /// Events that an older checkpoint covers were dropped, so that nothing proves it.
        case droppedCheckpoint
    }

    package var code: Code
    /// The event, or the last event of the commit; `@0` when it is about the whole log.
    package var position: Position
    package var detail: String

    package init(_ code: Code, at position: Position, _ detail: String) {
        self.code = code
        self.position = position
        self.detail = detail
    }

    /// What an event's damaged bytes mean for the log.
    package init(damage: any Error, at position: Position) {
        switch damage as? EventFrame.Damage {
        case .newerFormat, .unknownFlags, .sealed(.newerFormat, _):
            self.init(.newerFormat, at: position, "\(damage); use a newer tidemark")
        default: self.init(.corruptEvent, at: position, "\(damage)")
        }
    }

    /// What a body's damaged bytes mean for the event that refers to it.
    init(damage: StoredBody.Damage, to reference: BodyReference, at position: Position) {
        if case .newerFormat = damage {
            self.init(
                .newerFormat, at: position,
                "body \(reference.digits): \(damage); use a newer tidemark")
        } else {
            self.init(.corruptBody, at: position, "body \(reference.digits): \(damage)")
        }
    }

    package var description: String { "\(position): \(code.rawValue): \(detail)" }
}
