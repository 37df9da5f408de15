// Capsule+Archive.swift — the first events of a log as a file, before they are dropped.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Capsule {
    /// Writes a log's events up to a position to a new file, reads it again, and proves what it
    /// holds by the root that the log has there.
    ///
    /// It is a capsule of all of them, with server, account and device; every reader takes it in
    /// the place of a store.
    ///
    /// - Parameters:
    ///   - last: the last event, where a commit ends.
    ///   - scratch: a new directory for the views before them; the caller removes it.
    /// - Throws: ``CapsuleError``: `tooLarge` where one file can't hold them; ``LogError`` where
    ///   what was written is not what the log holds; the file is no archive then.
    package static func archive(
        of journal: Journal, through last: Position, to path: String, build: String,
        scratch: String, progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws -> Capsule {
        let (begun, edge) = try journal.environment.read { transaction in
            let base = try journal.log.base(transaction)
            return (base?.position ?? .start, base?.edge ?? MerkleEdge())
        }
        let limits = CapsuleLimits()
        let most = begun.rawValue + UInt64(limits.eventsMax)
        guard last.rawValue <= most else {
            throw CapsuleError(
                .tooLarge,
                "one archive holds \(limits.eventsMax) events: drop those up to @\(most) or "
                    + "before, and then the rest into another one")
        }
        let capsule = try Capsule(
            of: journal, through: last, build: build, scratch: scratch, progress: progress)
        try capsule.write(to: path)
        let read = try Capsule(file: path)
        guard read.base.position == begun, read.last == last,
            read.root(after: edge) == capsule.provenance.root
        else {
            throw LogError(
                .rootMismatch, at: last, "\(path) does not hold what the log does up to there")
        }
        return read
    }

    /// The Merkle root over its events, where it has all of them behind those of an edge; else nil.
    private func root(after edge: MerkleEdge) -> Hash? {
        var edge = edge
        for entry in commits.lazy.flatMap(\.entries) {
            guard entry.position.rawValue == edge.size + 1 else { return nil }
            let frame = EventFrame(entry.event)
            edge.append(
                leaf: MerkleEdge.leaf(
                    position: entry.position, header: frame.header,
                    payloadHash: frame.payload.hash))
        }
        return edge.root
    }
}
