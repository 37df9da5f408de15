// FoldReplayRowText.swift — a view row in words.

import TidemarkEvents
import TidemarkInspect
package import TidemarkViews

/// View rows as people read them.
package enum RowText {
    /// The row's contents in one line.
    package static func words(_ key: RowKey, _ value: [UInt8]) -> String {
        let words: String?
        do { words = try understood(key, value) } catch {
            return "\(value.count) bytes that are damaged: \(error)"
        }
        return words ?? "\(value.count) bytes \(Hexadecimal.encode(value.prefix(24)))"
    }

    private static func understood(_ key: RowKey, _ value: [UInt8]) throws -> String? {
        guard key.tree == .ledger, let sort = key.bytes.first else {
            return self.words(try EntityRow(parsing: value))
        }
        if key.view == .contents { return try contents(key, value) }
        switch [sort] {
        case Ledger.settled, Ledger.open, Ledger.settledDerived, Ledger.openDerived:
            return words(try MutationRow(parsing: value))
        case Ledger.decisions: return words(try DecisionRow(parsing: value))
        case Ledger.watermarks:
            let row = try WatermarkRow(parsing: value)
            return list([
                "moved by \(row.position)",
                row.cursor.map { "cursor \(EventText.onOneLine($0.rawValue))" },
                row.since.map { "since \($0)" }, row.fullAt.map { "whole at \($0)" },
                row.walkedAt.map { "all folders at \($0)" },
                row.isUnmoved ? "folder versions stay" : nil,
            ])
        case Ledger.syncRuns:
            let row = try SyncRunRow(parsing: value)
            return list([
                "started \(row.startedAt)",
                row.finished.map { "finished by \($0)" } ?? "unfinished",
                row.summary.isEmpty ? nil : EventText.onOneLine(row.summary),
            ])
        case Ledger.dropped:
            let row = try DroppedRow(parsing: value)
            return list([
                "up to \(row.last)", "\(row.runs.count) runs kept",
                row.isLeft ? "some rows left" : nil,
            ])
        case Ledger.store where key == .wipes: return nil
        case Ledger.store:
            let row = try StoreFactRow(parsing: value)
            return "said by \(row.position): " + excerpt(row.payload)
        case Ledger.tickets:
            let row = try TicketRow(.start, parsing: value)
            return list([
                "promised as \(EventText.printable(row.ticket))", "\(row.open) writes open",
                row.isLost ? "lost" : nil,
            ])
        case Ledger.bindings:
            return EntityKey(bytes: value).map { EventText.printable("\($0)") }
        default: return nil
        }
    }

    /// A file, or what an entity names.
    private static func contents(_ key: RowKey, _ value: [UInt8]) throws -> String? {
        if key.bytes.starts(with: Ledger.contents) {
            let row = try ContentRow(parsing: value)
            let holds = row.own + row.holds
            return list([
                row.stored.map { "stored by \($0.position), \($0.bytes) bytes" } ?? "not stored",
                "\(holds.reduce(0) { $0 + $1.references }) references",
                "\(holds.reduce(0) { $0 + $1.wanted }) of them wanted",
            ])
        }
        guard key.entityOfContents != nil else { return nil }
        let row = try EntityContentsRow(parsing: value)
        return list([
            "names "
                + row.names.map { EventText.printable("\($0.field) \($0.text)") }
                .joined(separator: " "),
            row.wants.isEmpty
                ? nil
                : "wanted by "
                    + row.wants.map { EventText.printable($0.by) }.joined(separator: " "),
        ])
    }

    /// An entity's status, base, pending mutations and visible document.
    package static func words(_ row: EntityRow) -> String {
        let base =
            switch row.baseState {
            case .absent: "unknown to the server"
            case .live: "base \(row.basePosition ?? .start)"
            case .deleted: "deleted on the server by \(row.basePosition ?? .start)"
            }
        let pending = row.pending.map { item in
            "\(item.position)" + (item.isRefused ? " refused" : "")
                + (item.isDerived ? " by \(item.rule)" : "")
        }
        return list([
            row.status.rawValue, base,
            pending.isEmpty ? nil : "pending \(pending.joined(separator: " "))",
            row.attempt.map { "sent by \($0.call)" },
            row.refusal.map { "refused by \($0.position)" },
            row.issuesAt.map { "spoken of by \($0)" },
            row.relay.map { "relayed by \($0.position)" },
            row.isPartial ? "a part" : row.isPlaceholder ? "made up" : nil,
            row.isHidden ? "out of reach" : nil, row.isOrphan ? "in a deleted one" : nil,
            row.prunedDigest.isEmpty ? nil : "pruned",
            row.content.map { excerpt($0) } ?? "nothing to be seen",
        ])
    }

    private static func words(_ row: MutationRow) -> String {
        list([
            EventText.printable("\(row.kind) of \(row.key)"), row.outcome?.rawValue ?? "open",
            row.proof.map { "by \($0)" },
            row.attempts == 0
                ? "never sent"
                : "sent \(row.attempts) times, last by "
                    + "\(row.call ?? .start)",
            row.isDerived ? "follows from \(row.rule)" : nil,
            row.lost.isEmpty ? nil : "lost \(row.lost.joined(separator: " "))",
        ])
    }

    private static func words(_ row: DecisionRow) -> String {
        list([
            EventText.printable("\(row.rule)/\(row.ruleVersion) of \(row.key)"), row.result,
            row.fields.isEmpty ? nil : "fields \(row.fields.joined(separator: " "))",
            row.kept.isEmpty ? nil : "kept \(row.kept.joined(separator: " "))",
            "from " + row.inputs.map(\.description).joined(separator: " "),
        ])
    }

    private static func list(_ parts: [String?]) -> String {
        parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func excerpt(_ bytes: [UInt8]) -> String {
        EventText.cut(EventText.onOneLine(bytes), to: 120)
    }
}
