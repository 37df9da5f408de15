// DigestComparison.swift — whether a fold makes the rows that a commit recorded, by the digests of
// the commit (RowDigest.swift), and which rows differ where it does not.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore

/// A row of which a commit recorded something else than a fold makes now.
package struct DigestDifference {
    package var view: View
    /// CRC32C of the row's key; 0 where the digest differs, and no checksum of a row does.
    package var key: UInt32
    /// The key itself, where the fold wrote the row.
    package var row: RowKey?
    /// CRC32C of the value that was recorded, 0 for a row removed; nil where none was written.
    package var recorded: UInt32?
    /// The value that the fold makes; nil where it removes the row or does not write it.
    package var value: [UInt8]?
    /// Whether the fold writes the row.
    package var isMade: Bool
}

/// The comparison of recorded digests with those of a fold, commit by commit.
///
/// Rows that other rules made can't be told right from wrong; nor can rows of a view in which a
/// commit recorded none, unless today's rules made those before.
package struct DigestComparison: Sendable {
    /// By which rules each view was made when a commit last wrote to it, by the view's number.
    private var fingerprints: [UInt32: [UInt8]] = [:]

    /// - Parameter fingerprints: those of the rows before the first commit, of all views in their
    ///   order; empty where nothing was before.
    package init(after fingerprints: [UInt8] = []) {
        for (index, view) in View.allCases.enumerated() {
            let bytes = fingerprints.dropFirst(index * 4).prefix(4)
            if bytes.count == 4 { self.fingerprints[view.rawValue] = Array(bytes) }
        }
    }

    /// Compares what the next commit recorded with what a fold makes of it, view by view.
    package mutating func compare(
        _ recorded: [ViewDigest], _ changes: RowChanges
    ) -> [ViewComparison] {
        let made = ViewDigest.of(changes)
        return View.allCases.map { view in
            let before = recorded.first { $0.view == view.rawValue }
            if let before { fingerprints[view.rawValue] = before.fingerprint }
            return ViewComparison(
                view: view, recorded: before, made: made.first { $0.view == view.rawValue },
                isComparable: fingerprints[view.rawValue] == view.fingerprint)
        }
    }
}

/// What a commit recorded of a view, and what a fold makes.
package struct ViewComparison {
    package let view: View
    package let recorded: ViewDigest?
    package let made: ViewDigest?
    /// Whether today's rules made the rows when they were recorded.
    package let isComparable: Bool

    package var isDifferent: Bool { isComparable && recorded != made }

    /// The rows that differ, in the order of their keys as far as those are known; one at least,
    /// when the digests do.
    ///
    /// - Parameter changes: what the fold made of the commit.
    package func differences(_ changes: RowChanges) -> [DigestDifference] {
        let rows = changes.filter { $0.key.view == view }
        let hashed = Array(zip(made?.shortHashes ?? [], rows))
        var found: [DigestDifference] = []
        for case let (made, recorded) in paired(
            hashed, by: { $0.0.key }, with: recorded?.shortHashes ?? [], by: { $0.key })
        where made?.0.value != recorded?.value {
            found.append(
                DigestDifference(
                    view: view, key: made?.0.key ?? recorded?.key ?? 0, row: made?.1.key,
                    recorded: recorded?.value, value: made?.1.value, isMade: made != nil))
        }
        guard found.isEmpty, recorded != made else { return found }
        // The bytes differ, and their checksums are the same.
        return [DigestDifference(view: view, key: 0, isMade: false)]
    }
}
