// FoldPlacesDropped.swift — rows of where entities were that no anchor needs any more, as the log
// begins later (PlaceRows.swift).

import TidemarkEvents

extension Fold {
    private static let droppedAtOnce = 1_000
    static let droppedWithOne = 2
    private static let readAtOnce = 256

    /// `log.truncated`: no anchor is before the last event that was dropped, so that the rows up to
    /// there are not needed.
    ///
    /// Some go at once, the others two by two with each that comes: so they become fewer, and no
    /// commit pays for many.
    func dropPlaces(through last: Position) throws {
        guard try hasLedgerRow(Ledger.places) else { return }
        let known = memory(NotedPlaces.self)
        (known.dropped, known.isRead, known.due, known.rest) = (last, true, [], Ledger.places)
        put(.placesDropped, last.bigEndianBytes)
        try dropPlaces(atMost: Self.droppedAtOnce)
    }

    /// Drops so many of them.
    func dropPlaces(atMost count: Int) throws {
        let known = memory(NotedPlaces.self)
        if !known.isRead {
            known.dropped = try get(.placesDropped).flatMap { Position(bigEndianBytes: $0[...]) }
            known.isRead = true
        }
        guard let last = known.dropped else { return }
        for _ in 0..<count {
            guard let place = try nextPlace(through: last, of: known) else {
                known.dropped = nil
                return put(.placesDropped, nil)
            }
            put(place, nil)
        }
    }

    /// The next of them that is still there: others went with their collection.
    private func nextPlace(through last: Position, of known: NotedPlaces) throws -> RowKey? {
        while true {
            if known.due.isEmpty { try readPlaces(through: last, into: known) }
            guard let place = known.due.popLast() else { return nil }
            if try get(place) != nil { return place }
        }
    }

    /// Reads some more of the rows up to an event, in the order of the events.
    private func readPlaces(through last: Position, into known: NotedPlaces) throws {
        var due: [RowKey] = []
        try walk(.ledger, Ledger.places, from: known.rest) { bytes, _ in
            let position = bytes.dropFirst(Ledger.places.count).prefix(8)
            guard let position = Position(bigEndianBytes: position), position <= last else {
                return false
            }
            due.append(RowKey(.ledger, bytes))
            return due.count < Self.readAtOnce
        }
        if let end = due.last { known.rest = end.bytes + [0] }
        known.due = due.reversed()
    }
}
