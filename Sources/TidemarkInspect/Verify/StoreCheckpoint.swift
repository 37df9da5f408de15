// StoreCheckpoint.swift — the checkpoint of a store, now or at a position, as text to keep
// elsewhere.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// A position inside a commit, which has no Merkle root.
package struct InsideCommit: Error {
    package let position: Position
    /// The first and the last event of that commit.
    package let first: Position
    package let last: Position

    /// The nearest ends of commits.
    package var ends: String {
        first.rawValue > 1 ? "@\(first.rawValue - 1) or \(last)" : "\(last)"
    }
}

extension Journal {
    /// The checkpoint of the whole log, or of the commits up to a position, recomputed.
    ///
    /// - Throws: ``InsideCommit`` where no commit ends at the position; ``LogError`` when the log
    ///   is damaged or ends before it.
    package func checkpoint(at position: Position? = nil) throws -> LogCheckpoint {
        let origin = try origin
        guard let position else {
            let edge = try environment.read { transaction in try log.edge(transaction) }
            return LogCheckpoint(origin: origin, size: edge.size, root: edge.root)
        }
        return try lookAgain { try checkpoint(of: origin, at: position) }
    }

    private func checkpoint(of origin: String, at position: Position) throws -> LogCheckpoint {
        if let base = try environment.read({ try log.base($0) }), position <= base.position {
            guard position == base.position else { throw base.dropped(position) }
            return LogCheckpoint(origin: origin, size: base.edge.size, root: base.edge.root)
        }
        if let inside = try inside(position) { throw inside }
        var check = try environment.read { transaction in
            try LogCheck(log, upTo: position, transaction)
        }
        guard check.last == position else {
            throw LogError(.missingEvent, at: position, "the log ends at \(check.last)")
        }
        while try check.step(in: environment) {}
        let result = check.finished()
        if let finding = result.findings.first { throw finding }
        return LogCheckpoint(origin: origin, size: position.rawValue, root: result.root)
    }

    /// The commit that a position divides; nil where a commit ends there, or where the log is
    /// shorter.
    private func inside(_ position: Position) throws -> InsideCommit? {
        guard position > .start,
            let last = try environment.read({
                try log.commitEnd(from: position, reversed: false, $0)
            }), last > position
        else { return nil }
        let before = try environment.read { try log.commitEnd(from: position, reversed: true, $0) }
        return InsideCommit(
            position: position, first: try (before ?? base()).next, last: last)
    }

    /// The last event that was dropped; `@0` for none.
    private func base() throws -> Position {
        try environment.read { try log.base($0)?.position ?? .start }
    }

    /// The name of this log in checkpoints, by the store's id.
    var origin: String {
        get throws {
            let storeID = try environment.read { transaction in try log.storeID(transaction) } ?? ""
            let isWord = storeID.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return "tidemark/" + (storeID.isEmpty || !isWord ? Self.unknownName : storeID)
        }
    }

    private static let unknownName = "unknown"

    /// The problems with checkpoints that name another log.
    func foreign(_ checkpoints: [LogCheckpoint]) throws -> [LogError] {
        guard !checkpoints.isEmpty else { return [] }
        let own = try origin
        let unknown = "tidemark/" + Self.unknownName
        let before = try environment.read { transaction in try log.origin(transaction) }
        return checkpoints.compactMap { checkpoint in
            let place = Position(checkpoint.size)
            if checkpoint.origin == own || checkpoint.origin == unknown || own == unknown {
                return nil
            }
            guard let before, checkpoint.origin == "tidemark/" + before.storeID else {
                return LogError(
                    .otherCheckpoint, at: place,
                    "the checkpoint is of the log \(checkpoint.origin), this one is \(own)")
            }
            guard place > before.proven else { return nil }
            return LogError(
                .otherCheckpoint, at: place,
                "the checkpoint is of the log \(checkpoint.origin), of which only the events up to "
                    + "\(before.proven) were salvaged")
        }
    }
}
