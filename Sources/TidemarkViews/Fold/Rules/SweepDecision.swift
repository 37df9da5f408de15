// SweepDecision.swift — which files a sweep removes, from the rows.

package import TidemarkEvents
import TidemarkRules

/// What a sweep removes.
package struct SweepDecision: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        package var digest: String
        package var reason: AssetRemoved.Reason
    }

    /// The most files that one sweep removes; the next one goes on.
    package static let itemsMax = 10_000

    package private(set) var items: [Item] = []

    package var isEmpty: Bool { items.isEmpty }

    /// - Parameters:
    ///   - now: by the device's clock.
    ///   - isInFlight: whether a file is being fetched or sent.
    init(
        _ rows: some RowReading, at now: Timestamp,
        isInFlight: (_ digest: String, ContentRow) -> Bool
    ) throws {
        let rule = ContentRetention(try rows.model())
        // Without options nothing goes that is referenced, so that only the rest is looked at.
        var contents: [ContentStanding] = []
        let abandoned = try rows.abandonedContents()
        func take(_ digest: String, _ row: ContentRow) {
            guard var standing = row.standing(digest, at: now) else { return }
            if abandoned.contains(ExactString(digest)) {
                (standing.fields, standing.isOwn) = ([], false)
            }
            standing.isInFlight = isInFlight(digest, row)
            contents.append(standing)
        }
        if rule.looksAtReferenced {
            try rows.forEachContent { digest, row in take(digest, row) }
        } else {
            for prefix in [Ledger.unreferencedContents, Ledger.letGo] {
                for (key, _) in try rows.ledgerRows(prefix) {
                    guard let digest = key.text(after: prefix), let row = try rows.content(digest),
                        prefix == Ledger.unreferencedContents || row.isReferenced
                    else { continue }
                    take(digest, row)
                }
            }
            for digest in abandoned.inOrder {
                if let row = try rows.content(digest) { take(digest, row) }
            }
        }
        let removals = rule.removals(of: contents, at: now)
        guard !removals.isEmpty else { return }
        let atIssue = try rows.textAtIssue()
        let free = removals.lazy.filter { removal in
            !atIssue.contains { $0.firstRange(of: removal.digest.utf8) != nil }
        }
        items = free.prefix(Self.itemsMax).map { Item(digest: $0.digest, reason: $0.reason) }
    }
}

extension RowReading {
    /// What a sweep removes now; not to be called while an event is folded that wrote something.
    package func sweepDecision(
        at now: Timestamp,
        isInFlight: (_ digest: String, ContentRow) -> Bool = { _, _ in false }
    ) throws -> SweepDecision {
        try SweepDecision(self, at: now, isInFlight: isInFlight)
    }

    /// Whether a document of a conflict that waits for an answer names a file.
    func isAtIssue(_ digest: String) throws -> Bool {
        try textAtIssue().contains { $0.firstRange(of: digest.utf8) != nil }
    }

    /// The documents of both sides of conflicts that wait for an answer.
    fileprivate func textAtIssue() throws -> [[UInt8]] {
        var texts: [[UInt8]] = []
        try walk(.ledger, Ledger.sides) { _, value in
            let sides = try ConflictRow(parsing: value)
            texts += [sides.mine, sides.base]
            return true
        }
        return texts
    }
}
