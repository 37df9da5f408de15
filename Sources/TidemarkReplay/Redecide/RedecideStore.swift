// RedecideStore.swift — the store that a replay writes: events keep their recorded positions,
// whatever is missing between them.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Capsule {
    /// A new store with the capsule's first views, and none of its events.
    func begun(in directory: String) throws -> Journal {
        var start = self
        start.commits = []
        start.bodies = []
        start.answers = []
        let journal = try start.unpacked(in: directory)
        do { try journal.goOn(at: base.position) } catch {
            try? journal.close()
            throw error
        }
        return journal
    }
}

extension Journal {
    /// Continues the log after a position, which counts as that of the last event from now on.
    func goOn(at last: Position) throws {
        let isThere = try environment.read { transaction in
            try log.edge(transaction).size == last.rawValue
                && (last == .start || log.lastPosition(transaction) == last)
        }
        guard !isThere else { return }
        try environment.write { transaction in try log.skip(to: last, transaction) }
    }

    /// Appends a commit as recorded.
    ///
    /// - Parameter bodies: the payloads that events name by hash.
    func append(_ commit: Capsule.Commit, bodies: [BodyReference: [UInt8]]) throws {
        var rest = commit.entries[...]
        while let first = rest.first {
            // A gap in the commit divides it.
            let count =
                rest.enumerated().first { index, entry in
                    entry.position.rawValue != first.position.rawValue + UInt64(index)
                }?.offset ?? rest.count
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            try goOn(at: Position(first.position.rawValue - 1))
            try write(at: first.event.recordedAt) { draft in
                for entry in part {
                    let named = entry.event.namedBody.flatMap { bodies[$0] }
                    try draft.append(entry.event, bodies: named.map { [$0] } ?? [])
                }
            }
        }
    }

    /// The digests of the last commit.
    func lastDigests() throws -> [ViewDigest] {
        try environment.read { transaction in
            var views: [ViewDigest] = []
            let last = try log.lastPosition(transaction)
            try log.forEachCommit(from: last, transaction) { record in
                views = record.views
                return true
            }
            return views
        }
    }
}
