// FoldReplayNamedRow.swift — a row that differs: its name, and its recorded and its replayed
// contents in words.

import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkStore
import TidemarkViews

/// The first row that differs at a commit.
struct NamedRow {
    private let difference: DigestDifference
    /// The row's key; nil where only its short hash is known.
    private let key: RowKey?
    /// The entity that the row is about.
    let entity: EntityKey?
    /// The recorded row, in one line.
    let recorded: String
    /// The replayed row, in one line; nil for none.
    let replayed: String?
    /// The members that differ, where they are known.
    private let members: [String]

    /// - Parameters:
    ///   - before: the rows before the commit.
    ///   - after: the rows after it.
    init(
        _ difference: DigestDifference, _ commit: Capsule.Commit, before: MemoryRows,
        after: MemoryRows
    ) {
        self.difference = difference
        let key = difference.row ?? Self.key(of: difference, commit, before)
        self.key = key
        entity = key.flatMap { Self.entity(of: $0, after[$0] ?? before[$0]) }
        let today = key.flatMap { difference.isMade ? difference.value : after[$0] }
        replayed =
            difference.isMade
            ? key.map { key in today.map { RowText.words(key, $0) } ?? "no row any more" }
            : difference.key == 0
                ? "other bytes of the same short hashes"
                : today.flatMap { value in
                    key.map { "not written; it stays " + RowText.words($0, value) }
                }
        guard let hash = difference.recorded, let key else {
            recorded =
                difference.recorded.map { "a row with checksum \(Self.digits($0))" }
                ?? (difference.key == 0 ? "a digest" : "no such row written")
            members = []
            return
        }
        let old = before[key]
        let found = RecordedRow(checksum: hash, key, before: old, after: today)
        members = found?.members ?? []
        if let found {
            recorded = found.value.map { RowText.words(key, $0) } ?? "no row any more"
        } else {
            recorded = "another row: its checksum was \(Self.digits(hash))"
        }
    }

    /// The row, its view, and which members differ where that is known.
    func place(others: Int) -> String {
        var text = key.map { EventText.printable("\($0)") } ?? "a row"
        text += " in view \(difference.view)"
        if !members.isEmpty { text += ": " + members.joined(separator: ", ") }
        if others > 0 { text += others == 1 ? "; 1 other row" : "; \(others) other rows" }
        return text
    }

    /// The last event of the commit that is about the row, or else the commit's last event.
    func event(in commit: Capsule.Commit, _ rows: MemoryRows) -> Position {
        let about = commit.entries.last { entry in
            if let mutation, entry.position == mutation { return true }
            guard let named = entry.event.key, let entity else { return false }
            return named == entity || rows[.binding(named)] == entity.bytes
        }
        return about?.position ?? commit.last
    }

    /// The mutation that the row is about.
    private var mutation: Position? {
        guard let key, key.tree == .ledger, let sort = key.bytes.first,
            Ledger.outbox.contains([sort])
        else { return nil }
        return Position(bigEndianBytes: key.bytes.dropFirst().prefix(8))
    }

    private static func digits(_ number: UInt32) -> String {
        Hexadecimal.encode((0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }

    /// The key for a short hash: that of a row before the commit, or of a row that its events name.
    private static func key(
        of difference: DigestDifference, _ commit: Capsule.Commit, _ before: MemoryRows
    ) -> RowKey? {
        guard difference.key != 0 else { return nil }
        func isIt(_ key: RowKey) -> Bool {
            key.view == difference.view && CRC32C.checksum(of: key.bytes) == difference.key
        }
        for entry in commit.entries {
            var keys: [RowKey] = [
                .settled(entry.position), .open(entry.position), .syncRun(entry.position),
                .decision(entry.position, 0), .decision(entry.position, 1),
                .lost(entry.position, 0), .sides(entry.position),
            ]
            if let mutation = entry.event.mutation {
                keys += [.settled(mutation), .open(mutation)]
            }
            if let key = entry.event.key {
                keys += [
                    .entity(key), .binding(key), .aliases(key), .attempt(key), .rival(key),
                    .placeholder(key), .settledDerived(entry.position, key),
                    .openDerived(entry.position, key), .overtaken(entry.position, key),
                    .failing(key), .contents(of: key),
                    .warned(key), .withheld(key), .dangling(key), .staged(key),
                    .place(before: entry.position, of: key),
                ]
            }
            if let key = entry.event.key, let requested = entry.event.read(LocalRequested.self) {
                keys.append(.grant(key, requested.action))
            }
            if let call = entry.event.call { keys.append(.ticket(call)) }
            keys += RowKey.contents(by: entry.event, entry.position)
            if let collection = entry.event.collection {
                let scope = entry.event.read(PullCompleted.self)?.scope ?? ""
                let target = PullTarget(collection, scope: scope)
                keys += [.watermark(target), .listed(target), .held(target)]
                keys += [.owed(target), .failing(.list(of: collection))]
                let list = entry.event.read(PullPage.self)?.list?.state
                if let list { keys.append(.listedPage(target, list.page)) }
                let folders = entry.event.read(PullPage.self)?.folders ?? []
                keys += folders.map { .watermark(.folder($0.id, of: collection)) }
                let ids = entry.event.read(PullPage.self)?.ids ?? []
                keys += ids.map { .withheld(EntityKey(collection, $0)) }
            }
            if let key = keys.first(where: isIt) { return key }
        }
        var found: RowKey?
        before.forEach { key, _ in if found == nil, isIt(key) { found = key } }
        return found
    }

    private static func entity(of key: RowKey, _ value: [UInt8]?) -> EntityKey? {
        switch key.sort {
        case .settled, .open: value.flatMap { try? MutationRow(parsing: $0).key }
        case .decisions: value.flatMap { try? DecisionRow(parsing: $0).key }
        default: key.namedEntity
        }
    }
}
