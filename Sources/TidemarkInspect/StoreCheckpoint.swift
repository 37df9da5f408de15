// StoreCheckpoint.swift — what a store is now, or was at a position, as a text to keep elsewhere.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// The checkpoint of the whole log, or of the commits up to a position, recomputed.
    ///
    /// - Throws: ``LogError`` when the log is damaged or no commit ends at the position.
    package func checkpoint(at position: Position? = nil) throws -> LogCheckpoint {
        let origin = try origin
        guard let position else {
            let edge = try environment.read { transaction in try log.edge(transaction) }
            return LogCheckpoint(origin: origin, size: edge.size, root: edge.root)
        }
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

    /// What a checkpoint calls this log: by the id of the store.
    var origin: String {
        get throws {
            let storeID = try environment.read { transaction in try log.storeID(transaction) } ?? ""
            let isWord = storeID.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return "tidemark/" + (storeID.isEmpty || !isWord ? Self.unknownName : storeID)
        }
    }

    private static let unknownName = "unknown"

    /// What is wrong with checkpoints that name another log.
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
