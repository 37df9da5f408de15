// FoldReplayRecordedRow.swift — what a recorded row was, of which nothing but a checksum is kept:
// found by trying rows that are a little otherwise than today's.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// A row with a checksum, and how it differs from the one that is made today.
struct RecordedRow {
    /// The row; nil where it was removed.
    var value: [UInt8]?
    /// The members that differ from today's row; empty where one of both is not there.
    var members: [String] = []

    /// Looks for it; nil where it is none of those that are likely.
    ///
    /// - Parameters:
    ///   - before: the row before the commit.
    ///   - after: the row as it is made today.
    init?(checksum: UInt32, _ key: RowKey, before: [UInt8]?, after: [UInt8]?) {
        if checksum == 0 {
            value = nil
            return
        }
        func isIt(_ bytes: [UInt8]) -> Bool { CRC32C.checksum(of: bytes) == checksum }
        // Of any row: that nothing changed.
        let old = before.flatMap { isIt($0) ? $0 : nil }
        guard key.tree == .rows, let today = after.flatMap({ try? EntityRow(parsing: $0) }) else {
            guard let old else { return nil }
            value = old
            return
        }
        let earlier = before.flatMap { try? EntityRow(parsing: $0) } ?? EntityRow()
        let found =
            old.flatMap { try? EntityRow(parsing: $0) }
            ?? Self.search(today, Self.variants(earlier, today)) { isIt($0.encoded) }
        guard let found else { return nil }
        value = found.encoded
        members = Self.differences(found, today)
    }

    private typealias Change = (inout EntityRow) -> Void

    /// Tries today's row with up to three groups of members otherwise.
    private static func search(
        _ today: EntityRow, _ variants: [[Change]], _ isIt: (EntityRow) -> Bool
    ) -> EntityRow? {
        for depth in 1...3 {
            if let found = search(today, variants[...], depth, isIt) { return found }
        }
        return nil
    }

    private static func search(
        _ row: EntityRow, _ variants: ArraySlice<[Change]>, _ depth: Int,
        _ isIt: (EntityRow) -> Bool
    ) -> EntityRow? {
        guard depth > 0 else { return isIt(row) ? row : nil }
        for (index, group) in zip(variants.indices, variants) {
            for change in group {
                var changed = row
                change(&changed)
                let rest = variants[(index + 1)...]
                if let found = search(changed, rest, depth - 1, isIt) { return found }
            }
        }
        return nil
    }

    /// For each group of members what else they may have been: as before, or as if nothing were.
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
        for known in [before.pending, today.pending] {
            for index in known.indices {
                var fewer = known
                fewer.remove(at: index)
                pending.append(fewer)
            }
        }
        return [
            group(\.pending, pending), group(\.current, contents), bases, group(\.attempt),
            group(\.refusal), group(\.asOf, [today.basePosition, before.basePosition]),
            group(\.basePosition), group(\.revision), group(\.serverTime),
            group(\.isAssumed, [true]), group(\.isPlaceholder, [true]),
            group(\.isHidden, [true]), group(\.prunedDigest),
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
            ("assumed", one.isAssumed != other.isAssumed),
            ("placeholder", one.isPlaceholder != other.isPlaceholder),
            ("out of reach", one.isHidden != other.isHidden),
            ("pruned", one.prunedDigest != other.prunedDigest),
        ]
        return members.filter(\.1).map(\.0)
    }
}
