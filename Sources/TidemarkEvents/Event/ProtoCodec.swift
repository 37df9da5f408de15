// ProtoCodec.swift — the canonical subset of protobuf that headers and view rows are written in:
// fields ascending, defaults omitted, varints minimal, wire types 0 (varint) and 2 (length) only.

/// Writes fields in ascending order; a zero or an empty value is omitted.
package struct ProtoWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// A writer with room for so many bytes.
    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Begins again in the same memory.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func varint(_ field: UInt32, _ value: UInt64) {
        guard value != 0 else { return }
        append(UInt64(field) << 3)
        append(value)
    }

    package mutating func signed(_ field: UInt32, _ value: Int64) {
        varint(field, UInt64(bitPattern: value))
    }

    package mutating func flag(_ field: UInt32, _ value: Bool) { varint(field, value ? 1 : 0) }

    package mutating func position(_ field: UInt32, _ value: Position?) {
        varint(field, value?.rawValue ?? 0)
    }

    // No generics: callers in other modules would look up their types at each call.

    package mutating func bytes(_ field: UInt32, _ value: [UInt8]) {
        if !value.isEmpty { message(field, value) }
    }

    package mutating func bytes(_ field: UInt32, _ value: ArraySlice<UInt8>) {
        if !value.isEmpty { message(field, value) }
    }

    package mutating func string(_ field: UInt32, _ value: String) {
        if !value.isEmpty { message(field, value) }
    }

    /// Like ``bytes(_:_:)``, but written also when empty: one element of a repeated field.
    package mutating func message(_ field: UInt32, _ value: [UInt8]) {
        begin(field, bytes: value.count)
        bytes.append(contentsOf: value)
    }

    package mutating func message(_ field: UInt32, _ value: ArraySlice<UInt8>) {
        begin(field, bytes: value.count)
        bytes.append(contentsOf: value)
    }

    package mutating func message(_ field: UInt32, _ value: String) {
        begin(field, bytes: value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// Writes a field as it was read.
    package mutating func write(_ field: ProtoField) {
        if field.isVarint {
            varint(field.number, field.varint)
        } else {
            message(field.number, field.source[field.range])
        }
    }

    /// Writes what is no field.
    package mutating func raw(_ byte: UInt8) { bytes.append(byte) }

    /// Writes bytes that are no field.
    package mutating func raw(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Writes a number over bytes that were written, little-endian.
    package mutating func replace(at index: Int, bytes count: Int, by number: UInt32) {
        for place in 0..<count {
            bytes[index + place] = UInt8(truncatingIfNeeded: number >> (8 * UInt32(place)))
        }
    }

    /// Writes a varint that is no field.
    package mutating func raw(varint value: UInt64) { append(value) }

    /// Begins a message of so many bytes, which are written next.
    package mutating func begin(_ field: UInt32, bytes count: Int) {
        append(UInt64(field) << 3 | 2)
        append(UInt64(count))
    }

    /// How many bytes a field of that many bytes takes, with a number below 16.
    package static func size(ofBytes count: Int) -> Int {
        guard count > 0 else { return 0 }
        return 1 + (64 - count.leadingZeroBitCount + 6) / 7 + count
    }

    @inline(__always)
    private mutating func append(_ value: UInt64) {
        if value < 0x80 { return bytes.append(UInt8(truncatingIfNeeded: value)) }
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Why bytes are not of the canonical subset.
package enum ProtoError: Error, Hashable, Sendable, CustomStringConvertible {
    case truncated
    case varintNotMinimal
    case defaultWritten(UInt32)
    case fieldOrder(UInt32)
    case wireType(UInt32)
    case invalidUTF8(UInt32)
    case valueOutOfRange(UInt32)

    package var description: String {
        switch self {
        case .truncated: "the bytes end inside a field"
        case .varintNotMinimal: "a varint is longer than it need be"
        case .defaultWritten(let field): "field \(field) is written though it says nothing"
        case .fieldOrder(let field): "field \(field) is out of order"
        case .wireType(let field): "field \(field) has an unexpected wire type"
        case .invalidUTF8(let field): "field \(field) is not UTF-8"
        case .valueOutOfRange(let field): "field \(field) is out of range"
        }
    }
}

/// One field as it was read.
package struct ProtoField: Sendable {
    package let number: UInt32
    /// The value of wire type 0; 0 for wire type 2, as no written value is.
    fileprivate let varint: UInt64
    fileprivate let source: [UInt8]
    fileprivate let range: Range<Int>
    fileprivate var isVarint: Bool { varint != 0 }

    fileprivate init(number: UInt32, varint: UInt64, source: [UInt8], range: Range<Int>) {
        self.number = number
        self.varint = varint
        self.source = source
        self.range = range
    }

    /// Whether it has no bytes, which only an element of a repeated field may.
    package var isEmpty: Bool { varint == 0 && range.isEmpty }

    package func unsigned() throws(ProtoError) -> UInt64 {
        guard varint != 0 else { throw .wireType(number) }
        return varint
    }

    package func signed() throws(ProtoError) -> Int64 { Int64(bitPattern: try unsigned()) }

    package func flag() throws(ProtoError) -> Bool { try unsigned() != 0 }

    package func small() throws(ProtoError) -> UInt32 {
        guard let value = UInt32(exactly: try unsigned()) else { throw .valueOutOfRange(number) }
        return value
    }

    /// The number of an enumeration's case; those above 2³¹ − 1 are negative to other readers.
    package func enumeration() throws(ProtoError) -> UInt32 {
        let value = try small()
        guard value <= Int32.max else { throw .valueOutOfRange(number) }
        return value
    }

    package func position() throws(ProtoError) -> Position { Position(try unsigned()) }

    package func bytes() throws(ProtoError) -> [UInt8] {
        guard varint == 0 else { throw .wireType(number) }
        return Array(source[range])
    }

    /// ``bytes()`` without copying them.
    package func slice() throws(ProtoError) -> ArraySlice<UInt8> {
        guard varint == 0 else { throw .wireType(number) }
        return source[range]
    }

    package func string() throws(ProtoError) -> String {
        guard varint == 0 else { throw .wireType(number) }
        guard let text = String(utf8: source[range]) else {
            throw .invalidUTF8(number)
        }
        return text
    }
}

/// Reads fields one after another; refuses what ``ProtoWriter`` would not have written.
package struct ProtoReader: Sendable {
    private let bytes: [UInt8]
    private var offset = 0
    private var last: UInt32 = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A reader of the fields that begin at an offset.
    package init(_ bytes: [UInt8], from offset: Int) {
        self.bytes = bytes
        self.offset = min(offset, bytes.count)
    }

    /// The varint at the place of the next field.
    package mutating func rawVarint() throws(ProtoError) -> UInt64 { try varint() }

    /// The next field, or nil at the end.
    ///
    /// A field may repeat, but never come after a higher one.
    package mutating func next() throws(ProtoError) -> ProtoField? {
        guard offset < bytes.count else { return nil }
        let tag = try varint()
        guard let number = UInt32(exactly: tag >> 3), number >= last, number > 0,
            number < 1 << 29
        else {
            throw .fieldOrder(UInt32(truncatingIfNeeded: tag >> 3))
        }
        last = number
        switch tag & 7 {
        case 0:
            let value = try varint()
            guard value != 0 else { throw .defaultWritten(number) }
            // Its bytes are not looked at again, so that nobody holds them.
            return ProtoField(number: number, varint: value, source: [], range: 0..<0)
        case 2:
            let length = try varint()
            guard length <= UInt64(bytes.count - offset) else { throw .truncated }
            let range = offset..<offset + Int(length)
            offset = range.upperBound
            return ProtoField(number: number, varint: 0, source: bytes, range: range)
        default:
            throw .wireType(number)
        }
    }

    private mutating func varint() throws(ProtoError) -> UInt64 {
        if offset < bytes.count, bytes[offset] < 0x80 {
            offset += 1
            return UInt64(bytes[offset - 1])
        }
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63, byte > 1 { throw .varintNotMinimal }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                if byte == 0, shift > 0 { throw .varintNotMinimal }
                return value
            }
            shift += 7
            if shift > 63 { throw .varintNotMinimal }
        }
        throw .truncated
    }
}
