// EventWrites.swift — what one event writes, until the fold takes it in.

import TidemarkEvents

struct EventWrites {
    /// Whether any row was written, but that of an entity in its place.
    private(set) var hasRows = false
    /// Rows but those of entities and mutations.
    private(set) var rows = WrittenRows()
    /// In the order in which they were written.
    private(set) var entities: [(entry: FoldedEntities.Entry, row: EntityRow)] = []
    /// Where the last row of each entity stands, once there are many.
    private var indexes: [ObjectIdentifier: Int] = [:]
    /// Few are searched from the last one.
    private static let few = 16
    private(set) var mutations = WrittenMutations()
    /// The entity without pending changes that the event changed in its place.
    private(set) var unpended: RowKey?
    /// Where that one was before, of a tree.
    private(set) var unpendedPlace: PlaceRow?

    mutating func append(_ key: RowKey, _ value: [UInt8]?) {
        hasRows = true
        rows.append(key, value)
    }

    mutating func append(_ row: MutationRow, at position: Position) {
        hasRows = true
        mutations.append(row, at: position)
    }

    mutating func append(_ row: EntityRow, of entry: FoldedEntities.Entry) {
        hasRows = true
        entities.append((entry, row))
        if !indexes.isEmpty { indexes[ObjectIdentifier(entry)] = entities.count - 1 }
    }

    /// The last row of an entity; nil where none was written.
    mutating func row(of entry: FoldedEntities.Entry) -> EntityRow? {
        guard entities.count > Self.few else { return entities.last { $0.entry === entry }?.row }
        if indexes.isEmpty {
            for (index, written) in entities.enumerated() {
                indexes[ObjectIdentifier(written.entry)] = index
            }
        }
        return indexes[ObjectIdentifier(entry)].map { entities[$0].row }
    }

    mutating func noteUnpended(_ place: RowKey, before: PlaceRow?) {
        (unpended, unpendedPlace) = (place, before)
    }

    mutating func removeAll() {
        hasRows = false
        if !rows.isEmpty { rows.removeAll() }
        if !entities.isEmpty { entities.removeAll(keepingCapacity: true) }
        if !indexes.isEmpty { indexes = [:] }
        if !mutations.isEmpty { mutations.removeAll() }
        unpended = nil
        if unpendedPlace != nil { unpendedPlace = nil }
    }
}
