// ShrinkRows.swift — removes entities that don't matter from the views that a log begins with.
//
// An entity is removed together with all of its ledger rows. Rows about the whole store stay:
// model, schedule, watermarks and sync runs. An entity also stays if it is hidden, or if the server
// may have it although that is not known here, because other rows count or list it.

import TidemarkCapsule
import TidemarkEvents
import TidemarkViews

extension Shrinker {
    /// Removes entities from the views that the log begins with.
    mutating func shrinkRows() throws {
        guard !source.base.rows.isEmpty else { return }
        var groups = try BaseRows(source.base).groups
        let before = groups.count
        report(.rows, before: before, now: before)
        defer { report(.rows, before: before, now: groups.count) }
        var touched: Set<EntityKey> = []
        for index in current.indexes {
            if let key = source.entries[index].event.key { touched.insert(key) }
        }
        let idle = groups.filter { !touched.contains($0.key) }
        if try leaveOut(idle) { groups.removeAll { !touched.contains($0.key) } }
        var size = max(1, groups.count / 2)
        while !groups.isEmpty {
            var at = 0
            var isLess = false
            while at < groups.count {
                let end = min(at + size, groups.count)
                if try leaveOut(Array(groups[at..<end])) {
                    groups.removeSubrange(at..<end)
                    isLess = true
                } else {
                    at = end
                }
            }
            guard size > 1 || isLess else { break }
            size = max(1, size / 2)
        }
    }

    private mutating func leaveOut(_ groups: [BaseRows.Group]) throws -> Bool {
        guard !groups.isEmpty else { return false }
        let old = source.base.rows
        let gone = Set(groups.flatMap(\.rows))
        source.base.rows.removeAll { gone.contains($0.key) }
        do {
            try checkGoingOn()
            var trial = ShrinkHistory(source)
            try trial.add(current.indexes, source, goesOn: checkGoingOn)
            tries += 1
            // Otherwise the predicate would hold without any event.
            let begins = try failure.needsDigests ? nil : judge(ShrinkHistory(source))
            if begins == nil, trial.indexes == current.indexes, try judge(trial) == signature {
                current = trial
                passed = []
                return true
            }
            source.base.rows = old
            return false
        } catch {
            source.base.rows = old
            throw error
        }
    }
}

/// Rows, grouped by their entity.
private struct BaseRows {
    struct Group {
        var key: EntityKey
        var rows: [RowKey]
    }

    /// The entities that can be removed, by key.
    private(set) var groups: [Group] = []

    init(_ base: Capsule.Base) throws {
        var byKey: [EntityKey: [RowKey]] = [:]
        var fixed: Set<EntityKey> = []
        var listed: Set<EntityKey> = []
        for row in base.rows {
            if row.key.tree == .ledger, row.key.bytes.starts(with: Ledger.unanswered) {
                let name = String(decoding: row.key.bytes.dropFirst(), as: UTF8.self)
                var ids = ProtoReader(row.value)
                while let field = try ids.next() {
                    listed.insert(EntityKey(CollectionName(name), try field.string()))
                }
            }
            guard let key = try Self.entity(of: row) else { continue }
            byKey[key, default: []].append(row.key)
            guard row.key.tree == .rows else { continue }
            if try EntityRow(parsing: row.value).isHidden { fixed.insert(key) }
        }
        for (key, rows) in byKey.sorted(by: { $0.key < $1.key })
        where !fixed.contains(key) && !listed.contains(key) {
            groups.append(Group(key: key, rows: rows))
        }
    }

    /// The entity that a row is about; nil where it is about more than one.
    private static func entity(of row: SnapshotRow) throws -> EntityKey? {
        switch row.key.sort {
        case .settled, .open: try MutationRow(parsing: row.value).key
        case .decisions: try DecisionRow(parsing: row.value).key
        case .bindings, .lost: EntityKey(bytes: row.value)
        default: row.key.namedEntity
        }
    }
}
