// StoredRow.swift — how an entity's row lies in its table: a document that is the payload of an
// event is named by that event, which the row knows, instead of being there twice.
//
//   offset  width  field    notes
//        0      1  0        a row that names nothing begins with another byte, and is as it is
//        1      …  named    varint: bit 0 for the base, the others for the pending mutations in
//                           their order, without those whose payload lies in a row of its own
//        …      …  row      EntityRow without what is named
//
// Whoever reads a table gets the row as it is.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// An entity's row as it lies in its table.
enum StoredRow {
    private static let mark: UInt8 = 0
    /// A shorter document costs less where it is than the look at its event.
    private static let documentBytesMin = 64
    private static let pendingMax = 62

    private enum Field {
        static let (base, basePosition, pending): (UInt32, UInt32, UInt32) = (2, 3, 7)
        static let (position, payload, isOvertaken): (UInt32, UInt32, UInt32) = (1, 3, 9)
    }

    /// What to store of a row.
    ///
    /// - Parameter isPayload: whether a document is the payload of the event at a position.
    static func encode(
        _ row: [UInt8], isPayload: (Position, ArraySlice<UInt8>) throws -> Bool
    ) throws -> [UInt8] {
        guard row.count >= documentBytesMin else { return row }
        var named: UInt64 = 0
        var base: ArraySlice<UInt8> = []
        var count = 0
        var reader = ProtoReader(row)
        while let field = try reader.next() {
            switch field.number {
            case Field.base: base = try field.slice()
            case Field.basePosition:
                if try isNamed(base, field.position(), isPayload) { named |= 1 }
            case Field.pending:
                let item = try pending(field.bytes())
                if item.isOvertaken { continue }
                count += 1
                guard count <= pendingMax else { continue }
                if try isNamed(item.payload, item.position, isPayload) {
                    named |= 1 << UInt64(count)
                }
            default: continue
            }
        }
        return named == 0 ? row : try encode(row, named)
    }

    private static func isNamed(
        _ document: ArraySlice<UInt8>, _ position: Position,
        _ isPayload: (Position, ArraySlice<UInt8>) throws -> Bool
    ) throws -> Bool {
        try document.count >= documentBytesMin && isPayload(position, document)
    }

    private static func pending(
        _ bytes: [UInt8]
    ) throws(ProtoError) -> (position: Position, payload: ArraySlice<UInt8>, isOvertaken: Bool) {
        var position = Position.start
        var payload: ArraySlice<UInt8> = []
        var isOvertaken = false
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case Field.position: position = try field.position()
            case Field.payload: payload = try field.slice()
            case Field.isOvertaken: isOvertaken = try field.flag()
            default: continue
            }
        }
        return (position, payload, isOvertaken)
    }

    private static func encode(_ row: [UInt8], _ named: UInt64) throws(ProtoError) -> [UInt8] {
        var stored = ProtoWriter(capacity: 64)
        stored.raw(mark)
        stored.raw(varint: named)
        var count: UInt64 = 0
        var reader = ProtoReader(row)
        while let field = try reader.next() {
            switch field.number {
            case Field.base where named & 1 == 1: continue
            case Field.pending where named >> count > 1:
                let isCounted = try !pending(field.bytes()).isOvertaken
                if isCounted { count += 1 }
                guard isCounted, count <= pendingMax, named >> count & 1 == 1 else {
                    stored.write(field)
                    continue
                }
                var rest = ProtoWriter(capacity: 24)
                var inner = ProtoReader(try field.bytes())
                while let part = try inner.next() {
                    if part.number != Field.payload { rest.write(part) }
                }
                stored.message(Field.pending, rest.bytes)
            default: stored.write(field)
            }
        }
        return stored.bytes
    }

    /// The events up to one that are named by what is stored of a row.
    static func named(
        in stored: Span<UInt8>, through last: Position
    ) throws(ProtoError) -> [Position] {
        guard stored.count > 1, stored[0] == mark else { return [] }
        var reader = ProtoReader(stored.copied(), from: 1)
        let named = try reader.rawVarint()
        var positions: [Position] = []
        var count: UInt64 = 0
        while let field = try reader.next() {
            switch field.number {
            case Field.basePosition where named & 1 == 1:
                positions.append(try field.position())
            case Field.pending where named >> count > 1:
                let item = try pending(field.bytes())
                if item.isOvertaken { continue }
                count += 1
                guard count <= pendingMax, named >> count & 1 == 1 else { continue }
                positions.append(item.position)
            default: continue
            }
        }
        return positions.filter { $0 <= last }
    }

    /// The row of what is stored.
    ///
    /// - Parameter payload: returns the payload of the event at a position.
    static func decode(
        _ stored: Span<UInt8>, payload: (Position) throws -> [UInt8]
    ) throws -> [UInt8] {
        let bytes = stored.copied()
        guard bytes.first == mark else { return bytes }
        var reader = ProtoReader(bytes, from: 1)
        let named = try reader.rawVarint()
        var row = ProtoWriter(capacity: bytes.count + 400)
        var count: UInt64 = 0
        while let field = try reader.next() {
            switch field.number {
            case Field.basePosition where named & 1 == 1:
                row.bytes(Field.base, try payload(field.position()))
                row.write(field)
            case Field.pending where named >> count > 1:
                let item = try field.bytes()
                let isCounted = try !pending(item).isOvertaken
                if isCounted { count += 1 }
                guard isCounted, count <= pendingMax, named >> count & 1 == 1 else {
                    row.write(field)
                    continue
                }
                row.message(Field.pending, try whole(item, payload))
            default: row.write(field)
            }
        }
        return row.bytes
    }

    private static func whole(
        _ rest: [UInt8], _ payload: (Position) throws -> [UInt8]
    ) throws -> [UInt8] {
        var whole = ProtoWriter(capacity: rest.count + 400)
        var position: Position?
        var reader = ProtoReader(rest)
        while let field = try reader.next() {
            if field.number > Field.payload, let before = position.take() {
                whole.bytes(Field.payload, try payload(before))
            }
            if field.number == Field.position { position = try field.position() }
            whole.write(field)
        }
        if let position { whole.bytes(Field.payload, try payload(position)) }
        return whole.bytes
    }
}
