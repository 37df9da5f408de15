// PlaceRows.swift — where entities of trees were before events that moved them, as rows of the
// ledger: by them it is told what came, changed and went since a position, without the rows of
// that time.
//
//   'T' 'b' position, collection 0 id   where the entity was before the event
//   'T' 'd'                             up to which event rows are dropped, as the log begins later
//   'T' 's' collection                  from which event on the collection's tree is told of so
//
// An entity without such a row after a position is where it was then. Rows are written where an
// entity comes, goes or moves to another folder, also where that follows from another's deletion.

package import TidemarkEvents

/// Where an entity of a tree was before an event: 'T' 'b' position, collection 0 id.
package struct PlaceRow: Sendable, Hashable {
    /// Whether it was seen.
    package var isSeen = false
    /// In which entity it lay; nil at the root.
    package var parent: String?

    package init(isSeen: Bool = false, parent: String? = nil) {
        self.isSeen = isSeen
        self.parent = parent
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.flag(1, isSeen)
        writer.string(2, parent ?? "")
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init()
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: isSeen = try field.flag()
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

    /// From which event on a collection's tree is told of.
    package static func placesSince(_ collection: CollectionName) -> RowKey {
        RowKey(.ledger, Ledger.placesSince + collection.rawValue.utf8)
    }

    /// The entity of which the row tells where it was; nil for any other row.
    package var entityOfPlace: EntityKey? {
        guard tree == .ledger, bytes.starts(with: Ledger.places) else { return nil }
        return EntityKey(bytes: bytes.dropFirst(Ledger.places.count + 8))
    }
}

extension Ledger {
    package static let places = Array("Tb".utf8)
    package static let placesDropped = Array("Td".utf8)
    package static let placesSince = Array("Ts".utf8)
}

extension RowReading {
    /// The event from which on it is told what came and went in a collection's tree; `@0` where all
    /// of the log does.
    package func placesSince(_ collection: CollectionName) throws -> Position {
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

    /// Where an entity of a tree is, or was, by its row.
    func place(of row: EntityRow, in collection: CollectionModel) throws -> PlaceRow {
        guard let tree = collection.tree, row.document != nil,
            let document = row.treeDocument(in: collection)
        else { return PlaceRow() }
        let spot = try treeSpot(document, in: collection.name, tree)
        return PlaceRow(isSeen: true, parent: spot.parent)
    }
}
