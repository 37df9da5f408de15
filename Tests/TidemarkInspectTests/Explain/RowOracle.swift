// RowOracle.swift — the rows of all entities after each event, made without what is tested: every
// event is folded by itself on the rows of before.

import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

/// What each event of a log made of the entities.
struct RowOracle {
    struct Change {
        var position: Position
        var event: Event
        var row: EntityRow
    }

    /// By key, in the order of the log.
    private(set) var changes: [EntityKey: [Change]] = [:]

    init(_ journal: Journal) throws {
        var rows = MemoryRows()
        let models = ModelCache()
        _ = try journal.dump(EventFilter()) { position, event in
            let changed = try rows.withFold(models) { fold in
                try fold.apply(event, at: position)
                return fold.sortedChanges
            }
            for (key, value) in changed where key.tree == .rows {
                guard let name = EntityKey(bytes: key.bytes), rows[key] != value else { continue }
                let row = try value.map { try EntityRow(parsing: $0) } ?? EntityRow()
                changes[name, default: []].append(
                    Change(position: position, event: event, row: row))
            }
            rows.write(changed)
        }
    }

    /// The event at which each field of an entity got the value that it has in the end.
    func authors(_ key: EntityKey, _ collection: CollectionModel?) -> [String: Position] {
        var authors: [String: Position] = [:]
        var before: JSONDocument?
        var wasMadeUp = false
        for change in changes[key] ?? [] {
            let document = change.row.content.flatMap { try? JSONDocument(parsing: $0) }
                .flatMap { (try? collection?.read($0)) ?? $0 }
            // What was made up is the server's, once the server says the entity.
            let isSaid = wasMadeUp && !change.row.isPlaceholder && change.event.key != nil
            var now: [String: Position] = [:]
            for name in document?.keys ?? [] {
                let isSame = !isSaid && before?.value(name) == document?.value(name)
                now[name] = isSame ? authors[name] : change.position
            }
            authors = now
            before = document
            wasMadeUp = change.row.isPlaceholder
        }
        return authors
    }
}
