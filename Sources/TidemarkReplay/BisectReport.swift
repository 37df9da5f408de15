// BisectReport.swift — what is to be told of the event at which an answer turns: itself, and what
// it changed.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// One thing that an event changed in the views.
package struct SeenChange: Sendable, Hashable, CustomStringConvertible {
    /// The entity, or the mutation: `tasks/1`, `@12`.
    package var subject: String
    /// The field, or `status`, `document`, `outcome`.
    package var member: String
    /// What it was; nil where there was nothing.
    package var before: String?
    package var after: String?

    package var description: String {
        "\(subject) \(member): \(before ?? "nothing") → \(after ?? "nothing")"
    }
}

extension Bisect {
    /// What the events after one position, up to another one, changed in entities and outbox.
    package func changes(after before: Position, to position: Position) throws -> [SeenChange] {
        var folds = HistoryFolds(journal)
        let old = try folds.fold(at: before)
        let new = try folds.fold(at: position)
        return try SeenChange.between(old, new)
    }

    /// The event at a position.
    package func event(at position: Position) throws -> Event? {
        try journal.environment.read { try journal.log.event(at: position, $0) }
    }
}

extension SeenChange {
    /// What differs between two folds, in the order of the rows.
    static func between(_ old: CapsuleFold, _ new: CapsuleFold) throws -> [SeenChange] {
        var keys: [RowKey] = []
        new.rows.forEach { key, value in if old.rows[key] != value { keys.append(key) } }
        old.rows.forEach { key, _ in if new.rows[key] == nil { keys.append(key) } }
        return try keys.sorted().flatMap { key in
            if key.tree == .rows {
                return try entity(key, old.rows[key], new.rows[key])
            }
            guard key.bytes.starts(with: Ledger.mutations),
                let position = Position(bigEndianBytes: key.bytes.dropFirst())
            else { return [] }
            let (before, after) = (try word(old.rows[key]), try word(new.rows[key]))
            guard before != after else { return [] }
            return [
                SeenChange(
                    subject: "\(position)", member: "outcome", before: before, after: after)
            ]
        }
    }

    private static func word(_ row: [UInt8]?) throws -> String? {
        try row.map { try MutationRow(parsing: $0).outcome?.rawValue ?? "pending" }
    }

    private static func entity(
        _ place: RowKey, _ old: [UInt8]?, _ new: [UInt8]?
    ) throws -> [SeenChange] {
        let (old, new) = (
            try old.map { try EntityRow(parsing: $0) }, try new.map { try EntityRow(parsing: $0) }
        )
        var changes: [SeenChange] = []
        func note(_ member: String, _ before: String?, _ after: String?) {
            guard before != after else { return }
            changes.append(
                SeenChange(
                    subject: "\(place)", member: member, before: before, after: after))
        }
        let before = old?.document, after = new?.document
        if let before = before.flatMap({ try? JSONDocument(parsing: $0) }),
            let after = after.flatMap({ try? JSONDocument(parsing: $0) })
        {
            for name in before.keys + after.keys.filter({ before.rawValue($0) == nil }) {
                note(name, text(before.rawValue(name)), text(after.rawValue(name)))
            }
        } else {
            note("document", text(before?[...]), text(after?[...]))
        }
        note("status", status(old), status(new))
        return changes
    }

    private static func status(_ row: EntityRow?) -> String? {
        row.flatMap { $0.content == nil && $0.pending.isEmpty ? nil : $0.status.rawValue }
    }

    private static func text(_ bytes: ArraySlice<UInt8>?) -> String? {
        bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
