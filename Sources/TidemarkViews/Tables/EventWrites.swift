// EventWrites.swift — what one event writes, until the fold takes it in.

struct EventWrites {
    /// Rows but those of entities and mutations.
    var rows = WrittenRows()
    /// In the order in which they were written.
    private(set) var entities: [(entry: FoldedEntities.Entry, row: EntityRow)] = []
    /// Where the last row of each entity stands, once there are many.
    private var indexes: [ObjectIdentifier: Int] = [:]
    /// Few are searched from the last one.
    private static let few = 16
    var mutations = WrittenMutations()
    /// The entity without pending changes that the event changed in its place.
    private(set) var unpended: RowKey?
    /// Where that one was before, of a tree.
    private(set) var unpendedPlace: PlaceRow?

    var isEmpty: Bool { unpended == nil && hasNoRows }

    /// Whether it is no more than that an entity of no tree changed in its place.
    var isUnpendedAlone: Bool { unpended != nil && unpendedPlace == nil && hasNoRows }

    private var hasNoRows: Bool { entities.isEmpty && rows.isEmpty && mutations.isEmpty }

    mutating func append(_ row: EntityRow, of entry: FoldedEntities.Entry) {
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
        if !rows.isEmpty { rows.removeAll() }
        if !entities.isEmpty { entities.removeAll(keepingCapacity: true) }
        if !indexes.isEmpty { indexes = [:] }
        if !mutations.isEmpty { mutations.removeAll() }
        unpended = nil
        if unpendedPlace != nil { unpendedPlace = nil }
    }
}
