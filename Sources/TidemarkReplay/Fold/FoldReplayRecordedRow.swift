// FoldReplayRecordedRow.swift — finds a recorded row by its checksum, all that was kept of it, by
// trying small variations of today's row.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// The row with a checksum, and its differences from today's row.
struct RecordedRow {
    /// The row; nil where it was removed.
    var value: [UInt8]?
    /// The members that differ from today's row; empty where one of the two rows is missing.
    var members: [String] = []

    /// Searches for the row; nil where it is none of the likely ones.
    ///
    /// - Parameters:
    ///   - before: the row before the commit.
    ///   - after: today's row.
    init?(checksum: UInt32, _ key: RowKey, before: [UInt8]?, after: [UInt8]?) {
        if checksum == 0 {
            value = nil
            return
        }
        var bytesLeft = Self.triedBytesMax
        func isIt(_ bytes: [UInt8]) -> Bool {
            bytesLeft -= bytes.count + 64
            return CRC32C.checksum(of: bytes) == checksum
        }
        // Possible for any row: nothing changed.
        let old = before.flatMap { isIt($0) ? $0 : nil }
        guard key.tree == .rows, let today = after.flatMap({ try? EntityRow(parsing: $0) }) else {
            guard let old else { return nil }
            value = old
            return
        }
        let earlier = before.flatMap { try? EntityRow(parsing: $0) } ?? EntityRow()
        let found =
            old.flatMap { try? EntityRow(parsing: $0) }
            ?? Self.search(today, Self.variants(earlier, today)) {
                bytesLeft > 0 ? isIt($0.encoded) : nil
            }
        guard let found else { return nil }
        value = found.encoded
        members = Self.differences(found, today)
    }

    /// How many bytes of rows are tried at most; a stranger's capsule may hold rows of any size.
    private static let triedBytesMax = 32 << 20

    private typealias Change = (inout EntityRow) -> Void

    /// Tries today's row with up to three groups of members varied.
    ///
    /// - Parameter isIt: whether a row is the one; nil ends the search.
    private static func search(
        _ today: EntityRow, _ variants: [[Change]], _ isIt: (EntityRow) -> Bool?
    ) -> EntityRow? {
        var isOver = false
        func search(_ row: EntityRow, _ rest: ArraySlice<[Change]>, _ depth: Int) -> EntityRow? {
            guard depth > 0 else {
                let answer = isIt(row)
                isOver = answer == nil
                return answer == true ? row : nil
            }
            for (index, group) in zip(rest.indices, rest) {
                for change in group where !isOver {
                    var changed = row
                    change(&changed)
                    if let found = search(changed, rest[(index + 1)...], depth - 1) {
                        return found
                    }
                }
            }
            return nil
        }
        for depth in 1...3 where !isOver {
            if let found = search(today, variants[...], depth) { return found }
        }
        return nil
    }

    /// For each group of members its other likely values: those before the commit, and empty ones.
    private static func variants(_ before: EntityRow, _ today: EntityRow) -> [[Change]] {
        let none = EntityRow()
        func group<Value: Hashable & Sendable>(
            _ member: WritableKeyPath<EntityRow, Value>, _ others: [Value] = []
        ) -> [Change] {
            let values = [before[keyPath: member], none[keyPath: member]] + others
            var changes: [Change] = []
            var seen: Set<Value> = [today[keyPath: member]]
            for value in values where seen.insert(value).inserted {
                changes.append { $0[keyPath: member] = value }
            }
            return changes
        }
        let contents = [before.base, before.content ?? [], today.base, today.content ?? []]
        var bases: [Change] = [before, none].map { row in
            { changed in
                changed.baseState = row.baseState
                changed.base = row.base
                changed.basePosition = row.basePosition
            }
        }
        for content in contents where !content.isEmpty {
            bases.append { changed in
                changed.baseState = .live
                changed.base = content
            }
        }
        var pending: [[EntityRow.Pending]] = []
        // In a very long list, one item more or less is not tried.
        for known in [before.pending, today.pending] where known.count <= 32 {
            for index in known.indices {
                var fewer = known
                fewer.remove(at: index)
                pending.append(fewer)
            }
        }
        return [
            group(\.pending, pending), group(\.current, contents), bases, group(\.attempt),
            group(\.refusal), group(\.issuesAt), group(\.relay),
            group(\.asOf, [today.basePosition, before.basePosition]),
            group(\.basePosition), group(\.revision), group(\.serverTime),
            group(\.isAssumed, [true]), group(\.isUntold, [true]), group(\.isPlaceholder, [true]),
            group(\.isPartial, [true]), group(\.isHidden, [true]), group(\.isOrphan, [true]),
            group(\.hasOrphans, [true]), group(\.isEntered, [true]),
            group(\.prunedDigest), group(\.prunedAt),
        ].filter { !$0.isEmpty }
    }

    private static func differences(_ one: EntityRow, _ other: EntityRow) -> [String] {
        let members: [(String, Bool)] = [
            ("status", one.status != other.status),
            ("base", one.baseState != other.baseState || one.base != other.base),
            ("base position", one.basePosition != other.basePosition),
            ("as of", one.asOf != other.asOf), ("revision", one.revision != other.revision),
            ("server time", one.serverTime != other.serverTime),
            ("pending", one.pending != other.pending),
            ("shown", one.content != other.content), ("attempt", one.attempt != other.attempt),
            ("refusal", one.refusal != other.refusal),
            ("issues", one.issuesAt != other.issuesAt), ("relay", one.relay != other.relay),
            ("assumed", one.isAssumed != other.isAssumed || one.isUntold != other.isUntold),
            ("placeholder", one.isPlaceholder != other.isPlaceholder),
            ("partial", one.isPartial != other.isPartial),
            ("out of reach", one.isHidden != other.isHidden),
            ("in a deleted one", one.isOrphan != other.isOrphan),
            ("pruned", one.prunedDigest != other.prunedDigest),
        ]
        return members.filter(\.1).map(\.0)
    }
}
