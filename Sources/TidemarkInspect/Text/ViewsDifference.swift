// ViewsDifference.swift — the difference between two states of the views: of two positions of a
// log, of two stores, or of one history under two policies.

package import TidemarkEvents
package import TidemarkViews

/// The difference between two states of the views: entities and their fields, the outbox, and other
/// rows.
package struct ViewsDifference: Sendable, Hashable {
    package enum Change: String, Sendable {
        case added, removed, changed
    }

    /// The visible state of an entity.
    package struct State: Sendable, Hashable {
        package var status: EntityStatus
        /// Nil while its deletion is pending.
        package var document: [UInt8]?
    }

    /// A member of a document that differs.
    package struct Field: Sendable, Hashable {
        package var name: String
        /// The JSON texts, verbatim; nil where there is none.
        package var before: [UInt8]?
        package var after: [UInt8]?
    }

    /// An entity whose visible state differs, by its key before.
    package struct Entity: Sendable, Hashable {
        package var key: EntityKey
        package var before: State?
        package var after: State?
        /// The members that differ, where there is a document on both sides.
        package var fields: [Field]

        package var change: Change { .of(before, after) }
    }

    /// A mutation whose state in the outbox differs.
    package struct Mutation: Sendable, Hashable {
        package var before: OutboxEntry?
        package var after: OutboxEntry?

        package var change: Change { .of(before, after) }
    }

    /// A row whose difference the other lists do not show.
    package struct Row: Sendable, Hashable {
        package var key: RowKey
        package var change: Change
    }

    /// Sorted by key.
    package private(set) var entities: [Entity] = []
    /// Sorted by position, then by entity.
    package private(set) var mutations: [Mutation] = []
    /// Sorted by key: watermarks, bindings, decisions, sync runs, and invisible parts of entities.
    package private(set) var rows: [Row] = []

    /// Whether neither an entity nor a mutation differs; rows may.
    package var isEmpty: Bool { entities.isEmpty && mutations.isEmpty }

    /// Removes the rows of a view that is not to be compared.
    package mutating func removeRows(of view: View) { rows.removeAll { $0.key.view == view } }

    /// Compares all rows, but for those that went with their events on one side; memory grows with
    /// the differences and the mutations.
    package init(before: ViewReader, after: ViewReader) throws {
        let dropped = try [before, after].compactMap { try $0.droppedRows() }
        try compareRows(before, after)
        try compareOutboxes(before, after)
        mutations.removeAll { mutation in
            guard mutation.change != .changed, let entry = mutation.before ?? mutation.after else {
                return false
            }
            return !entry.mutation.isOpen && dropped.take(.settled(entry.position))
        }
        rows.removeAll { $0.key == .dropped || $0.change != .changed && dropped.take($0.key) }
        entities.sort { $0.key < $1.key }
        rows.sort { $0.key < $1.key }
    }

    private mutating func compareRows(_ before: ViewReader, _ after: ViewReader) throws {
        try before.forEachDifference(from: after) { key, old, new in
            if let old {
                let new = try new ?? after.counterpart(of: key, in: before)
                if new != old { try note(key, old, new) }
            } else if try before.counterpart(of: key, in: after) == nil {
                try note(key, nil, new)
            }
            return true
        }
    }

    /// Notes a row that differs: as the entity's visible state if that differs, otherwise as a row.
    private mutating func note(_ key: RowKey, _ before: [UInt8]?, _ after: [UInt8]?) throws {
        if let name = key.tree == .rows ? EntityKey(bytes: key.bytes) : nil {
            let entity = Entity(name, try State(row: before), try State(row: after))
            if let entity { return entities.append(entity) }
        }
        // Mutations are compared together with what they wait for, which is in no row.
        let kind = key.tree == .ledger ? Array(key.bytes.prefix(1)) : []
        let isMutation = Ledger.outbox.contains(kind)
        if !isMutation { rows.append(Row(key: key, change: .of(before, after))) }
    }

    private mutating func compareOutboxes(_ before: ViewReader, _ after: ViewReader) throws {
        var left = try before.outbox(all: true)[...]
        var right = try after.outbox(all: true)[...]
        while true {
            switch (left.first, right.first) {
            case (let old?, let new?) where old.isPlaced(as: new):
                if !old.stands(as: new) { mutations.append(Mutation(before: old, after: new)) }
                (left, right) = (left.dropFirst(), right.dropFirst())
            case (let old?, let new?) where new.precedes(old):
                mutations.append(Mutation(before: nil, after: new))
                right = right.dropFirst()
            case (let old?, _):
                mutations.append(Mutation(before: old, after: nil))
                left = left.dropFirst()
            case (nil, let new?):
                mutations.append(Mutation(before: nil, after: new))
                right = right.dropFirst()
            case (nil, nil): return
            }
        }
    }
}

extension [DroppedRow] {
    /// Whether a row goes, or went, with its event.
    fileprivate func take(_ key: RowKey) -> Bool { contains { $0.takes(key) } }
}

extension ViewReader {
    /// The row of the same entity in another store, where its permanent key may have another id.
    fileprivate func counterpart(of key: RowKey, in other: ViewReader) throws -> [UInt8]? {
        guard key.tree == .rows, let name = EntityKey(bytes: key.bytes) else { return nil }
        for id in try other.ids(of: name) {
            let found = try found(EntityKey(name.collection, id))
            if let found { return try get(.entity(found.key)) }
        }
        return nil
    }
}

extension ViewsDifference.Change {
    fileprivate static func of<T>(_ before: T?, _ after: T?) -> Self {
        before == nil ? .added : after == nil ? .removed : .changed
    }
}

extension ViewsDifference.State {
    /// The visible state of the entity with this row; nil when it is not visible.
    fileprivate init?(row: [UInt8]?) throws {
        guard let row = try row.map({ try EntityRow(parsing: $0) }) else { return nil }
        let document = row.document
        guard document != nil || !row.pending.isEmpty, !row.isHidden else { return nil }
        self.init(status: row.status, document: document)
    }
}

extension ViewsDifference.Entity {
    /// Nil when the visible state is the same.
    fileprivate init?(
        _ key: EntityKey, _ before: ViewsDifference.State?, _ after: ViewsDifference.State?
    ) {
        var fields: [ViewsDifference.Field] = []
        if let old = before?.document, let new = after?.document, old != new {
            fields = ViewsDifference.Field.between(old, new)
        }
        let isSame =
            fields.isEmpty && before?.status == after?.status
            && (before?.document == nil) == (after?.document == nil)
        guard !isSame else { return nil }
        self.init(key: key, before: before, after: after, fields: fields)
    }
}

extension ViewsDifference.Field {
    /// The members that differ, in the order of the old document, then of the new one.
    ///
    /// Documents that are no objects differ as a whole, in a field without a name.
    fileprivate static func between(_ before: [UInt8], _ after: [UInt8]) -> [Self] {
        guard let old = try? JSONDocument(parsing: before),
            let new = try? JSONDocument(parsing: after)
        else { return [Self(name: "", before: before, after: after)] }
        var fields: [Self] = []
        for member in old.members {
            let value = Array(old.bytes[member.valueRange])
            let other = new.rawValue(member.key).map { Array($0) }
            if other != value {
                fields.append(Self(name: member.key, before: value, after: other))
            }
        }
        for member in new.members where old.rawValue(member.key) == nil {
            let value = Array(new.bytes[member.valueRange])
            fields.append(Self(name: member.key, before: nil, after: value))
        }
        return fields
    }
}

extension OutboxEntry {
    /// Whether both are the same mutation: derived ones share the position of their cause.
    fileprivate func isPlaced(as other: OutboxEntry) -> Bool {
        position == other.position && mutation.key == other.mutation.key
            && mutation.isDerived == other.mutation.isDerived
    }

    fileprivate func precedes(_ other: OutboxEntry) -> Bool {
        if position != other.position { return position < other.position }
        if mutation.isDerived != other.mutation.isDerived { return other.mutation.isDerived }
        return mutation.key < other.mutation.key
    }

    /// Whether both have the same state in the outbox.
    fileprivate func stands(as other: OutboxEntry) -> Bool {
        word == other.word && blockers == other.blockers
            && mutation.proof == other.mutation.proof
            && mutation.attempts == other.mutation.attempts
            && mutation.kind == other.mutation.kind
    }
}
