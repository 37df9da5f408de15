// FoldReplayDigests.swift — which digests of a capsule's commits can be compared with those of a
// new fold, and the first row that differs.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkViews

/// The comparison of a capsule's digests with those of a new fold, commit by commit.
struct CapsuleDigests {
    private(set) var compared = 0
    private(set) var undigested = 0
    private var skippedViews: [View: [UInt8]] = [:]
    private var digests: DigestComparison

    private let ignoring: Set<View>

    /// Whether digests were recorded at all; if so, a commit without digests made no rows.
    private let isDigested: Bool
    /// Whether digests were removed together with the names in their rows.
    private let isNameless: Bool

    init(_ capsule: Capsule, ignoring: Set<View>) {
        self.ignoring = ignoring
        isDigested = capsule.commits.contains { !$0.views.isEmpty }
        isNameless = !capsule.provenance.namesRemote
        let base = capsule.base
        digests = DigestComparison(after: base.position > .start ? base.fingerprints : [])
    }

    var skipped: [ReplayReport.SkippedView] {
        View.allCases.compactMap { view in
            skippedViews[view].map {
                ReplayReport.SkippedView(
                    view: "\(view)", recorded: view.version(of: $0), current: view.version)
            }
        }
    }

    /// The first row of a commit that differs, and the number of other rows that differ.
    mutating func difference(
        _ commit: Capsule.Commit, _ changes: RowChanges
    ) -> (row: DigestDifference, others: Int)? {
        guard isDigested else {
            undigested += 1
            return nil
        }
        var found: [DigestDifference] = []
        for view in digests.compare(commit.views, changes) where !ignoring.contains(view.view) {
            guard view.isComparable else {
                if let recorded = view.recorded, recorded.fingerprint != view.view.fingerprint {
                    skippedViews[view.view] = recorded.fingerprint
                }
                continue
            }
            if view.recorded == nil, isNameless, Self.isTakenOut(view.view, of: commit) {
                continue
            }
            if view.recorded != nil || view.made != nil { compared += 1 }
            if view.isDifferent { found += view.differences(changes) }
        }
        return found.first.map { ($0, found.count - 1) }
    }

    /// Whether a commit's digest of a view was removed with the names in an event, where names
    /// were removed.
    static func isTakenOut(_ view: View, of commit: Capsule.Commit) -> Bool {
        commit.entries.contains { isTakenOut(view, with: $0.event) }
    }

    private static func isTakenOut(_ view: View, with event: Event) -> Bool {
        switch (view, event.kind) {
        case (.syncRuns, .syncFinished): true
        case (.watermarks, .pullPage), (.watermarks, .pullCompleted):
            [event.payload, event.revision?.rawValue ?? []].contains {
                String(decoding: $0, as: UTF8.self).contains(Capsule.namelessHost)
            }
        default: false
        }
    }
}
