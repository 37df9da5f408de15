// PlaceRows.swift — where entities were before events that moved them, or that changed them and
// name another one, as rows of the ledger: by them and the log it is told what came, changed and
// went since a position, without the rows of that time.
//
//   'T' 'b' position, collection 0 id   where the entity was before the event
//   'T' 'd'                             up to which event rows are dropped, as the log begins later
//   'T' 's' collection                  from which event on it is told of the collection
//   'T' 's'                             the same of all collections together
//
// An entity of a tree without such a row after a position is where it was then: rows are written
// where it comes, goes or moves to another folder. Of others the events that name them tell, and
// rows are written only where they changed by another event: as a consequence of a rule, or with
// the end of a list. An id that names another entity from an event on has a row, too.

package import TidemarkEvents

/// Where an entity was before an event: 'T' 'b' position, collection 0 id.
package struct PlaceRow: Sendable, Hashable {
    /// Whether it was seen.
    package var isSeen = false
    /// In which entity of its tree it lay; nil at the root, and in no tree.
    package var parent: String?

    package init(isSeen: Bool = false, parent: String? = nil) {
        self.isSeen = isSeen
        self.parent = parent
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        // Never empty: that a row is lost is known by the checksum of its bytes, 0 for none.
        writer.varint(1, isSeen ? 1 : 2)
        writer.string(2, parent ?? "")
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init()
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: isSeen = try field.unsigned() == 1
            case 2: parent = try field.string()
            default: continue
            }
        }
    }
}

extension RowKey {
    /// Where an entity was before an event.
    package static func place(before position: Position, of key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.places + position.bigEndianBytes))
    }

    /// Up to which event no row is needed.
    package static let placesDropped = RowKey(.ledger, Ledger.placesDropped)

    /// From which event on it is told of a collection; of nil, of all of them together.
    package static func placesSince(_ collection: CollectionName?) -> RowKey {
        RowKey(.ledger, Ledger.placesSince + (collection?.rawValue ?? "").utf8)
    }

    /// The entity of which the row tells where it was; nil for any other row.
    package var entityOfPlace: EntityKey? {
        guard tree == .ledger, bytes.starts(with: Ledger.places) else { return nil }
        return EntityKey(bytes: bytes.dropFirst(Ledger.places.count + 8))
    }
}

extension Ledger {
    package static let places = LedgerSort.places.prefix + "b".utf8
    package static let placesDropped = LedgerSort.places.prefix + "d".utf8
    package static let placesSince = LedgerSort.places.prefix + "s".utf8
}

extension RowReading {
    /// The event from which on it is told what came and went in a collection, or in all of them
    /// together; `@0` where all of the log does.
    package func placesSince(_ collection: CollectionName?) throws -> Position {
        try get(.placesSince(collection)).flatMap { Position(bigEndianBytes: $0[...]) } ?? .start
    }

    /// Walks over where entities were before events after a position, in the order of the events.
    func forEachPlace(
        after position: Position, _ body: (EntityKey, PlaceRow) throws -> Void
    ) throws {
        let first = Ledger.places + position.next.bigEndianBytes
        try walk(.ledger, Ledger.places, from: first) { bytes, value in
            if let key = EntityKey(bytes: bytes.dropFirst(first.count)) {
                try body(key, try PlaceRow(parsing: value))
            }
            return true
        }
    }

    /// Where an entity is, or was, by its row.
    func place(of row: EntityRow, in collection: CollectionModel) throws -> PlaceRow {
        guard row.document != nil else { return PlaceRow() }
        guard let tree = collection.tree else { return PlaceRow(isSeen: true) }
        guard let document = row.treeDocument(in: collection) else { return PlaceRow() }
        let spot = try treeSpot(document, in: collection.name, tree)
        return PlaceRow(isSeen: true, parent: spot.parent)
    }
}
