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
        var bytesLeft = Self.triedBytesMax
        func isIt(_ bytes: [UInt8]) -> Bool {
            bytesLeft -= bytes.count + 64
            return CRC32C.checksum(of: bytes) == checksum
        }
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
            ?? Self.search(today, Self.variants(earlier, today)) {
                bytesLeft > 0 ? isIt($0.encoded) : nil
            }
        guard let found else { return nil }
        value = found.encoded
        members = Self.differences(found, today)
    }

    /// How many bytes of rows are tried at most: a capsule of a stranger may have rows of any size.
    private static let triedBytesMax = 32 << 20

    private typealias Change = (inout EntityRow) -> Void

    /// Tries today's row with up to three groups of members otherwise.
    ///
    /// - Parameter isIt: nil ends the search.
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
        // Of very many, one more or less is not looked for.
        for known in [before.pending, today.pending] where known.count <= 32 {
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
            group(\.isHidden, [true]), group(\.prunedDigest), group(\.prunedAt),
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
