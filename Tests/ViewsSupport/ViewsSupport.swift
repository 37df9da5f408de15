// ViewsSupport.swift — a store in a directory of its own, a fold in memory, and looks inside.

import Foundation
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// A store in a directory of its own, which goes with the test.
final class ScratchStore {
    private(set) var journal: Journal
    var path: String { directory.path }
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-views-\(UUID().uuidString)")
        journal = try Journal.open(at: directory.path, create: true)
    }

    deinit {
        try? journal.close()
        try? FileManager.default.removeItem(at: directory)
    }

    func reopen(
        readOnly: Bool = false, isClosed: Bool = false, bootID: String? = nil
    ) throws {
        if !isClosed { try? journal.close() }
        journal = try Journal.open(
            at: directory.path, readOnly: readOnly, opening: StoreOpening(bootID: bootID))
    }

    /// Writes events as one commit.
    func write(_ events: Event...) throws {
        try journal.write(at: Timestamp(rawValue: 1)) { draft in
            for event in events { try draft.append(event) }
        }
    }

    func entity(_ key: EntityKey) throws -> EntityRow? {
        try journal.read { views in try views.entity(key) }
    }

    func mutation(_ number: UInt64) throws -> MutationRow? {
        try journal.read { views in try views.mutation(Position(number)) }
    }

    /// The rows of one generation in the order of their trees and keys, or of the live one.
    func rows(_ generation: Generation? = nil) throws -> [Row] {
        try journal.environment.read { transaction in
            let live = (try journal.views.state(transaction) ?? ViewTables.State()).generation
            var rows: [Row] = []
            for tree in Tree.allCases {
                try journal.views.scan(tree, generation ?? live, transaction) { key, value in
                    rows.append(Row(key: RowKey(tree, key), value: value))
                    return true
                }
            }
            return rows
        }
    }

    var generation: Generation {
        get throws {
            try journal.environment.read { transaction in
                (try journal.views.state(transaction) ?? ViewTables.State()).generation
            }
        }
    }

    /// Writes a row past the journal, or removes it.
    func damage(_ key: RowKey, _ value: [UInt8]?) throws {
        let table = journal.views.table(key.tree, try generation)
        try journal.environment.write { transaction in
            if let value {
                try transaction.put(table, key.bytes, value)
            } else {
                try transaction.delete(table, key.bytes)
            }
        }
    }

    /// The rows that a new fold beside the store makes differently.
    func differences(max: Int = 100) throws -> [RowDifference] {
        let comparison = try compare(max: max)
        #expect(comparison.commit == nil || !comparison.rows.isEmpty)
        return comparison.rows
    }

    func compare(max: Int = 100, eventsPerStep: Int = 20_000) throws -> RebuildComparison {
        let scratch = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-rebuilt-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        return try journal.compareWithRebuilt(
            in: scratch.path, differencesMax: max, eventsPerStep: eventsPerStep)
    }

    func commits() throws -> [CommitRecord] {
        try journal.environment.read { transaction in
            var records: [CommitRecord] = []
            try journal.log.forEachCommit(transaction) { record in
                records.append(record)
                return true
            }
            return records
        }
    }
}

struct Row: Hashable {
    var key: RowKey
    var value: [UInt8]
}

/// A fold over rows in memory.
final class MemoryFold {
    private(set) var rows: [RowKey: [UInt8]] = [:]
    private(set) var last = Position.start
    /// How often rows of the ledger were read, by the first byte of their keys.
    private(set) var reads: [UInt8: Int] = [:]
    /// How often rows of entities were read by their keys.
    private(set) var entityReads = 0
    /// How many rows walks came to.
    private(set) var walked = 0

    /// A fold over the rows as they are now.
    var fold: Fold { Fold(source, ModelCache()) }

    /// The rows as they are now, each reading counted.
    var source: RowSource {
        RowSource(
            get: { key in
                if key.tree == .rows { self.entityReads += 1 }
                if key.tree == .ledger, let sort = key.bytes.first {
                    self.reads[sort, default: 0] += 1
                }
                return self.rows[key]
            },
            walk: { tree, prefix, from, reversed, visit in
                let first = from.map { RowKey(tree, $0) }
                let found = self.rows.filter { key, _ in
                    key.tree == tree && key.bytes.starts(with: prefix)
                        && first.map { $0 <= key } ?? true
                }
                let sorted = found.sorted { ($0.key < $1.key) != reversed }
                for (key, value) in sorted {
                    self.walked += 1
                    guard try visit(key.bytes, value) else { return }
                }
            })
    }

    /// Folds events as one commit.
    @discardableResult
    func apply(_ events: [Event]) throws -> RowChanges {
        let fold = fold
        for event in events {
            last = last.next
            try fold.apply(event.checked, at: last)
        }
        for (key, value) in fold.sortedChanges { rows[key] = value }
        return fold.sortedChanges
    }

    /// Sets a row past the fold.
    func set(_ key: RowKey, _ value: [UInt8]) { rows[key] = value }

    func entity(_ key: EntityKey) throws -> EntityRow? {
        try rows[.entity(key)].map { try EntityRow(parsing: $0) }
    }

    func mutation(_ number: UInt64) throws -> MutationRow? {
        let row = rows[.open(Position(number))] ?? rows[.settled(Position(number))]
        return try row.map { try MutationRow(parsing: $0) }
    }

    /// The mutation of an entity that followed from an event by a rule.
    func derived(_ number: UInt64, _ key: EntityKey) throws -> MutationRow? {
        let position = Position(number)
        let row = rows[.openDerived(position, key)] ?? rows[.settledDerived(position, key)]
        return try row.map { try MutationRow(parsing: $0) }
    }

    /// The rows of what edits say that others overtake.
    var overtakenPlaces: [RowKey] {
        rows.keys.filter { $0.tree == .ledger && $0.bytes.starts(with: Ledger.overtaken) }
    }

    /// The decisions by a rule, in order.
    func decisions(by rule: String) throws -> [DecisionRow] {
        let found = rows.filter { $0.key.bytes.starts(with: Ledger.decisions) }
        return try found.sorted { $0.key < $1.key }.map { try DecisionRow(parsing: $0.value) }
            .filter { $0.rule == rule }
    }
}

extension Event {
    /// An event about an entity, with a JSON text for a payload.
    static func about(
        _ kind: EventKind, _ key: String, _ text: String? = nil, cause: UInt64? = nil,
        mutation: UInt64? = nil, call: UInt64? = nil, asOf: UInt64? = nil,
        revision: String? = nil
    ) -> Event {
        Event(
            kind, recordedAt: Timestamp(rawValue: 1), key: EntityKey(key),
            cause: cause.map { Position($0) }, mutation: mutation.map { Position($0) },
            call: call.map { Position($0) }, asOf: asOf.map { Position($0) },
            revision: revision.map { Revision($0) }, json: text.map { Array($0.utf8) })
    }

    /// The app drops all collections but some.
    static func wiped(keeping kept: [CollectionName] = []) -> Event {
        Event(
            .localWiped, recordedAt: Timestamp(rawValue: 1),
            json: LocalWiped(keeping: kept).encoded)
    }

    /// A model is registered.
    static func registered(
        _ model: SyncModel, at time: Timestamp = Timestamp(rawValue: 1)
    ) -> Event {
        Event(
            .modelRegistered, recordedAt: time, json: ModelRegistration(model: model).encoded)
    }

    /// A model of the collections `lists` and `tasks`.
    ///
    /// - Parameter hasPlaceholders: whether the lists that tasks refer to get placeholders.
    static func model(
        _ policy: ConflictPolicy, _ indexes: [IndexModel] = [], hasPlaceholders: Bool = false,
        rivals: RivalRule? = nil, choices: [ChoiceRule] = []
    ) -> Event {
        var model = SyncModel(
            name: "test",
            collections: ["lists", "tasks"].map {
                var collection = CollectionModel(
                    CollectionName($0), lastChangeField: "last_modified", conflict: policy,
                    indexes: indexes)
                collection.rivals = rivals
                return collection
            })
        if hasPlaceholders {
            model.collections[0].placeholder = PlaceholderRule(fields: ["a": 0], copies: ["b"])
            model.collections[1].references = [Reference("list", to: "lists", placeholder: .always)]
        }
        model.collections[0].choices = choices
        return .registered(model)
    }
}

func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
