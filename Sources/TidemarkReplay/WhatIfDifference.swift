// WhatIfDifference.swift — how the outcomes of two replays differ: entities and their fields,
// mutations and what became of them, and which other rows.

public import TidemarkEvents
package import TidemarkViews

/// How two outcomes differ, by rows and fields.
public struct ReplayDifference: Sendable, Hashable {
    /// What became of a row.
    public enum Kind: String, Sendable, CaseIterable {
        /// Only the second outcome has it.
        case added
        /// Only the first outcome has it.
        case removed
        /// Both have it, each otherwise.
        case changed
    }

    /// A field with two values.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public var name: String
        /// JSON, or for what is no field of the document a word; nil where there is none.
        public var before: String?
        /// The same in the second outcome.
        public var after: String?
    }

    /// An entity that differs.
    public struct Entity: Sendable, Hashable {
        /// The entity.
        public var key: EntityKey
        /// Whether it is seen in one outcome only.
        public var kind: Kind
        /// The status in the first outcome; nil where it is unknown there.
        public var statusBefore: EntityStatus?
        /// The status in the second outcome.
        public var statusAfter: EntityStatus?
        /// The fields of the document that differ, in the order of the document.
        public var fields: [Field]
    }

    /// A mutation that ends otherwise.
    public struct Mutation: Sendable, Hashable {
        /// The mutation.
        public var position: Position
        /// Its entity.
        public var key: EntityKey
        /// How it stands in the first outcome: its outcome, or `open`; nil where there is none.
        public var before: String?
        /// How it stands in the second outcome.
        public var after: String?
    }

    /// The entities that differ, in the order of their keys.
    public var entities: [Entity] = []
    /// The mutations that end otherwise, in the order of the log.
    public var mutations: [Mutation] = []
    /// How many rows differ, by the names of the views.
    public var rows: [String: Int] = [:]

    /// Whether no row differs.
    public var isEmpty: Bool { rows.isEmpty }
}

extension ReplayDifference {
    /// Compares all rows, but for those of some views.
    package init(
        before: MemoryRows, after: MemoryRows, ignoring: Set<View> = []
    ) throws {
        var keys: [RowKey] = []
        before.forEach { key, value in if after[key] != value { keys.append(key) } }
        after.forEach { key, _ in if before[key] == nil { keys.append(key) } }
        for key in keys.sorted() where !ignoring.contains(key.view) {
            rows["\(key.view)", default: 0] += 1
            let sides = (before[key], after[key])
            if key.tree == .rows, let entity = EntityKey(bytes: key.bytes) {
                if let item = try Entity(
                    entity, before: try sides.0.map { try EntityRow(parsing: $0) },
                    after: try sides.1.map { try EntityRow(parsing: $0) })
                {
                    entities.append(item)
                }
            } else if key.tree == .ledger, let sort = key.bytes.first,
                [Ledger.mutations, Ledger.derived].contains([sort]),
                let position = Position(bigEndianBytes: key.bytes.dropFirst().prefix(8))
            {
                let one = try sides.0.map { try MutationRow(parsing: $0) }
                let other = try sides.1.map { try MutationRow(parsing: $0) }
                guard let entity = one?.key ?? other?.key else { continue }
                func word(_ row: MutationRow?) -> String? {
                    row.map { $0.outcome?.rawValue ?? "open" }
                }
                guard word(one) != word(other) else { continue }
                mutations.append(
                    Mutation(
                        position: position, key: entity, before: word(one), after: word(other)))
            }
        }
        mutations.sort { ($0.position, $0.key) < ($1.position, $1.key) }
    }
}

extension ReplayDifference.Entity {
    /// Nil where nothing that is seen of it differs.
    fileprivate init?(_ key: EntityKey, before: EntityRow?, after: EntityRow?) throws {
        self.key = key
        let (one, other) = (before?.document, after?.document)
        kind =
            one == nil && other != nil ? .added : one != nil && other == nil ? .removed : .changed
        statusBefore = before?.status
        statusAfter = after?.status
        fields = Self.fields(one, other)
        guard kind != .changed || !fields.isEmpty || statusBefore != statusAfter else { return nil }
    }

    private static func fields(
        _ before: [UInt8]?, _ after: [UInt8]?
    ) -> [ReplayDifference.Field] {
        guard before != after else { return [] }
        let one = before.flatMap { try? JSONDocument(parsing: $0) }
        let other = after.flatMap { try? JSONDocument(parsing: $0) }
        // What is no JSON object is one field without a name.
        guard (one != nil) == (before != nil), (other != nil) == (after != nil) else {
            return [
                ReplayDifference.Field(
                    name: "", before: before.map(EventText.onOneLine),
                    after: after.map(EventText.onOneLine))
            ]
        }
        var names = one?.keys ?? []
        names += (other?.keys ?? []).filter { !names.contains($0) }
        return names.compactMap { name in
            let values = (one?.rawValue(name), other?.rawValue(name))
            guard values.0 != values.1, one?.value(name) != other?.value(name) else { return nil }
            return ReplayDifference.Field(
                name: EventText.printable(name),
                before: values.0.map { EventText.onOneLine(Array($0)) },
                after: values.1.map { EventText.onOneLine(Array($0)) })
        }
    }
}

extension ReplayDifference: CustomStringConvertible {
    /// A line for each entity and field, each mutation, and one for the rows in all.
    public var description: String { lines.joined(separator: "\n") }

    /// The lines of ``description``.
    package var lines: [String] {
        var lines: [String] = []
        for entity in entities {
            lines.append(EventText.printable("\(entity.key)") + " " + entity.kind.rawValue)
            func add(_ name: String, _ before: String?, _ after: String?) {
                lines.append("  \(name): \(before ?? "none") → \(after ?? "none")")
            }
            if entity.statusBefore != entity.statusAfter {
                add("(status)", entity.statusBefore?.rawValue, entity.statusAfter?.rawValue)
            }
            for field in entity.fields { add(field.name, field.before, field.after) }
        }
        for mutation in mutations {
            lines.append(
                "mutation \(mutation.position) of " + EventText.printable("\(mutation.key)")
                    + ": \(mutation.before ?? "none") → \(mutation.after ?? "none")")
        }
        if lines.isEmpty, isEmpty { return ["no row differs"] }
        let counts = rows.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
        return lines + ["rows that differ: " + counts.joined(separator: ", ")]
    }

    /// An object for each entity, each mutation, and the counts.
    package var json: [JSONValue] {
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        var lines: [JSONValue] = entities.map { entity in
            [
                "entity": .string("\(entity.key)"), "kind": .string(entity.kind.rawValue),
                "statusBefore": text(entity.statusBefore?.rawValue),
                "statusAfter": text(entity.statusAfter?.rawValue),
                "fields": .array(
                    entity.fields.map {
                        [
                            "name": .string($0.name), "before": text($0.before),
                            "after": text($0.after),
                        ]
                    }),
            ]
        }
        lines += mutations.map { mutation in
            [
                "mutation": .number(JSONNumber(Int64(clamping: mutation.position.rawValue))),
                "entity": .string("\(mutation.key)"), "before": text(mutation.before),
                "after": text(mutation.after),
            ]
        }
        var counts = JSONObject()
        for (view, count) in rows.sorted(by: { $0.key < $1.key }) {
            counts[view] = .number(JSONNumber(count))
        }
        return lines + [["rows": .object(counts)]]
    }
}
