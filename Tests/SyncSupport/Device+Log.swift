// Device+Log.swift — what tests read of a device's log and rows.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

extension Device {
    /// The last position.
    func position() throws -> Position { try replica.read { $0.position } }

    /// The events after a position.
    func events(after start: Position = .start) throws -> [(position: Position, event: Event)] {
        var filter = EventFilter()
        filter.from = start.next
        var events: [(position: Position, event: Event)] = []
        let damaged = try replica.journal.dump(filter) { events.append(($0, $1)) }
        #expect(damaged.isEmpty)
        return events
    }

    /// The kinds of the events after a position.
    func kinds(after start: Position = .start) throws -> [String] {
        try events(after: start).map(\.event.kind.description)
    }

    /// The kinds of an entity's events.
    func kinds(of key: String) throws -> [String] {
        let key = try self.key(key)
        return try events().filter { $0.event.key == key }.map(\.event.kind.description)
    }

    /// The events about an entity after a position.
    func events(
        of key: String, after start: Position = .start
    ) throws -> [(position: Position, event: Event)] {
        let key = try self.key(key)
        return try events(after: start).filter { $0.event.key == key }
    }

    /// How many events of a kind there are.
    func count(_ kind: String) throws -> Int { try kinds().count { $0 == kind } }

    /// The collections of the pages in the log, in order.
    func pages() throws -> [String] {
        try events().filter { $0.event.kind == .pullPage }
            .compactMap(\.event.collection?.rawValue)
    }

    /// How the runs in the log ended.
    func outcomes() throws -> [String] {
        try events().filter { $0.event.kind == .syncFinished }.map { _, event in
            try JSONDocument(parsing: event.payload).value("outcome")?.stringValue ?? ""
        }
    }

    func commits() throws -> Int { try replica.journal.stats().commits }

    /// The Merkle root, after proving log and rows.
    @discardableResult
    func verify(
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try replica.journal.verify(.deep)
        #expect(result.findings == [], comment, sourceLocation: sourceLocation)
        return result.root
    }

    /// The log as JSON lines.
    func dump() throws -> [String] {
        try events().map { String(decoding: EventLine.json($0, $1), as: UTF8.self) }
    }

    /// Every row of the views as its bytes, by what it is about.
    func rows() throws -> [String: [UInt8]] {
        var rows: [String: [UInt8]] = [:]
        try replica.journal.read { views in
            try views.forEachEntity { key, row in
                rows["entity \(key)"] = row.encoded
                return true
            }
            try views.forEachMutation { position, row in
                rows["mutation \(position)"] = row.encoded
                return true
            }
            try views.forEachMutation(openOnly: true) { position, _ in
                rows["open \(position)"] = []
                return true
            }
            try views.forEachDecision { position, row in
                rows["decision \(position) \(row.inputs)"] = row.encoded
                return true
            }
            try views.forEachSyncRun { position, row in
                rows["run \(position)"] = row.encoded
                return true
            }
            for collection in model.collections {
                rows["watermark \(collection.name)"] = try views.watermark(
                    PullTarget(collection.name))?.encoded
            }
            for name in ["opened", "model"] {
                rows["fact \(name)"] = try views.fact(name)?.encoded
            }
            let gates = try views.gates()
            for name in SyncGate.Name.allCases { rows["gate \(name)"] = gates[name]?.encoded }
        }
        return rows
    }
}
