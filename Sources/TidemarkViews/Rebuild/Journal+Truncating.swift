// Journal+Truncating.swift — dropping the first events of a log.
//
//   1. what is to go is proven once more, and nothing may need it (TruncationLimit.swift)
//   2. a snapshot of the views at its last event, unless there is one, in transactions of its own:
//      a crash leaves a snapshot, which is disposable
//   3. in one transaction the event that tells of it is appended, the snapshot becomes the base of
//      the log, and blocks and bodies are removed
//
// So a crash at any point leaves the log as it was before, or without these events.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore

/// Events that are to be dropped with a commit, and what came of it.
final class TruncationToMake: Sendable {
    let plan: TruncationPlan
    /// The snapshot that becomes the base.
    let manifest: SnapshotManifest
    let made = Lock<Truncation?>(nil)

    init(_ plan: TruncationPlan, _ manifest: SnapshotManifest) {
        (self.plan, self.manifest) = (plan, manifest)
    }
}

extension Journal {
    /// Drops the events up to a position, where a commit ends among the sealed ones.
    ///
    /// Rows and later roots are as if they were there, but for rows of what is over, which go, too
    /// (FoldDropped.swift); what was before can't be read any more.
    ///
    /// - Parameters:
    ///   - now: what the event that tells of it is recorded at.
    ///   - scratch: makes a directory to fold in, where no snapshot is at hand; the caller removes
    ///     it.
    /// - Throws: ``LogError``: `dropped`, `needed`, or what is damaged; ``StoreError`` `busy`
    ///   while a snapshot is taken. Nothing is dropped then.
    @discardableResult
    package func truncate(
        through position: Position, at now: Timestamp, in scratch: () throws -> String,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws -> Truncation {
        try noteNewerEvents(through: position)
        let limit = try truncationLimit(withRuns: false)
        guard position < limit.first else {
            throw LogError(
                .needed, at: limit.first,
                limit.reason.isEmpty
                    ? "the log ends before it" : "it can't be dropped: \(limit.reason)")
        }
        guard shared.beginSnapshot() else {
            throw StoreError(.busy, during: "truncate", detail: "a snapshot is being taken")
        }
        defer { shared.endSnapshot() }
        let plan = try log.planTruncation(at: position, in: environment) {
            try progress(RebuildProgress(done: $0, last: $1))
        }
        let manifest = try snapshot(at: position, in: scratch, progress)
        // Behind what is dropped no root could be compared with the one beside the store.
        try guardian?.writeDown()
        let truncation = TruncationToMake(plan, manifest)
        try write(at: now) { draft in
            let told = LogTruncated(
                last: position, root: plan.edge.root, views: manifest.digest)
            try draft.append(Event(.logTruncated, recordedAt: now, json: told.encoded))
            draft.truncation = truncation
        }
        guard let made = truncation.made.withLock(\.self) else {
            preconditionFailure("a commit was stored without what belongs to it")
        }
        return made
    }

    /// The snapshot of the views at a position, by today's rules; made where there is none.
    private func snapshot(
        at position: Position, in scratch: () throws -> String,
        _ progress: (RebuildProgress) throws -> Void
    ) throws -> SnapshotManifest {
        let known = try environment.read { transaction in
            try snapshots.manifests(transaction).first { $0.position == position && $0.isCurrent }
        }
        if let known, try environment.read({ try snapshots.problem(of: known, $0) }) == nil {
            return known
        }
        let past = try PastViews(of: self, at: position, in: try scratch(), progress: progress)
        defer { try? past.close() }
        var packer = SnapshotPacker(
            SnapshotManifest(position: position, fingerprints: View.allFingerprints))
        func put(_ chunk: SnapshotPacker.Chunk?) throws {
            guard let chunk else { return }
            try environment.write { try self.snapshots.put(chunk, $0) }
        }
        for tree in Tree.allCases {
            try past.walk(tree) { key, value in
                try put(try packer.add(RowKey(tree, key), value))
                return true
            }
        }
        try put(try packer.end())
        let manifest = packer.manifest
        try environment.write { try self.snapshots.put(manifest, $0) }
        // Soon nothing else may say what it says.
        if let problem = try environment.read({ try snapshots.problem(of: manifest, $0) }) {
            throw problem
        }
        return manifest
    }

    /// Drops events in the transaction of the commit that tells of it.
    func drop(
        _ truncation: TruncationToMake, edge: inout MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws {
        let (plan, manifest) = (truncation.plan, truncation.manifest)
        let whole = try snapshots.manifests(transaction)
        guard whole.contains(manifest) else {
            throw manifest.damaged("it is gone")
        }
        let live = (try views.state(transaction) ?? ViewTables.State()).generation
        let named = try views.named(through: plan.last, live, transaction)
        // A rebuild that is under way needs what its rows name. Others that are not live are never
        // read: they may be damaged, or those of another version.
        let isRebuilding = shared.rebuilding.withLock { $0 != nil }
        let others =
            isRebuilding ? try views.named(through: plan.last, live.other, transaction) : []
        let made = try log.truncate(
            plan, views: manifest.encoded, named: named, others: others, edge: &edge, transaction)
        try snapshots.becomeBase(manifest, transaction)
        truncation.made.withLock { $0 = made }
    }
}
