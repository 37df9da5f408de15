// FoldReplayDigests.swift — which digests of a commit can be compared, and the first row that
// differs.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// A row of which a commit recorded something else than a new fold makes.
struct DigestDifference {
    var view: View
    /// CRC32C of the row's key.
    var key: UInt32
    /// The key itself, where the new fold wrote the row.
    var row: RowKey?
    /// CRC32C of the value that was recorded, 0 for a row removed; nil where none was written.
    var recorded: UInt32?
    /// The value that the new fold makes; nil where it removes the row or does not write it.
    var value: [UInt8]?
    /// Whether the new fold writes the row.
    var isMade: Bool
    /// How many other rows of the commit differ.
    var others: Int
}

/// The comparison of recorded digests with those of a new fold, commit by commit.
///
/// Rows that other rules made can't be told right from wrong; nor can rows of a view in which a
/// commit recorded none, unless today's rules made those before.
struct DigestComparison {
    private(set) var compared = 0
    private(set) var undigested = 0
    private var skippedViews: [View: [UInt8]] = [:]
    /// By which rules each view was made when a commit last wrote to it, by the view's number.
    private var fingerprints: [UInt32: [UInt8]] = [:]

    private let ignoring: Set<View>

    /// Whether digests were recorded at all: then a commit without any made no rows.
    private let isDigested: Bool
    /// Whether digests of runs were taken out with the names in them.
    private let isNameless: Bool

    init(_ capsule: Capsule, ignoring: Set<View>) {
        self.ignoring = ignoring
        isDigested = capsule.commits.contains { !$0.views.isEmpty }
        isNameless = !capsule.provenance.namesRemote
        let base = capsule.base
        guard base.position > .start else { return }
        for (index, view) in View.allCases.enumerated() {
            let bytes = base.fingerprints.dropFirst(index * 4).prefix(4)
            if bytes.count == 4 { fingerprints[view.rawValue] = Array(bytes) }
        }
    }

    var skipped: [ReplayReport.SkippedView] {
        View.allCases.compactMap { view in
            skippedViews[view].map {
                ReplayReport.SkippedView(
                    view: "\(view)", recorded: view.version(of: $0), current: view.version)
            }
        }
    }

    mutating func difference(
        _ commit: Capsule.Commit, _ changes: RowChanges
    ) -> DigestDifference? {
        guard isDigested else {
            undigested += 1
            return nil
        }
        let made = ViewDigest.of(changes)
        var first: DigestDifference?
        var count = 0
        for view in View.allCases where !ignoring.contains(view) {
            let recorded = commit.views.first { $0.view == view.rawValue }
            let today = made.first { $0.view == view.rawValue }
            if let recorded { fingerprints[view.rawValue] = recorded.fingerprint }
            guard fingerprints[view.rawValue] == view.fingerprint else {
                if let recorded, recorded.fingerprint != view.fingerprint {
                    skippedViews[view] = recorded.fingerprint
                }
                continue
            }
            let isTakenOut = recorded == nil && isNameless && view == .syncRuns
            if isTakenOut, commit.entries.contains(where: { $0.event.kind == .syncFinished }) {
                continue
            }
            if recorded != nil || today != nil { compared += 1 }
            guard recorded != today else { continue }
            let differences = Self.differences(
                view, recorded?.shortHashes ?? [], today?.shortHashes ?? [],
                changes.filter { $0.key.view == view })
            count += max(differences.count, 1)
            // Rows may differ where no short hash does.
            first =
                first ?? differences.first
                ?? DigestDifference(
                    view: view, key: 0, recorded: nil, value: nil, isMade: false, others: 0)
        }
        first?.others = count - 1
        return first
    }

    /// The rows that differ, in the order of their keys as far as those are known.
    private static func differences(
        _ view: View, _ recorded: [RowHash], _ made: [RowHash], _ changes: RowChanges
    ) -> [DigestDifference] {
        var left = Dictionary(recorded.map { ($0.key, $0.value) }) { first, _ in first }
        var found: [DigestDifference] = []
        for (hash, change) in zip(made, changes) {
            let known = left.removeValue(forKey: hash.key)
            if known == hash.value { continue }
            found.append(
                DigestDifference(
                    view: view, key: hash.key, row: change.key, recorded: known,
                    value: change.value, isMade: true, others: 0))
        }
        for hash in recorded where left[hash.key] != nil {
            found.append(
                DigestDifference(
                    view: view, key: hash.key, recorded: hash.value, value: nil, isMade: false,
                    others: 0))
        }
        return found
    }
}
