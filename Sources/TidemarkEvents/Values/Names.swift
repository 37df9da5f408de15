// Names.swift — how collections, entities and versions are called.

/// The name of a collection, as the server knows it: 1 to 100 bytes of UTF-8, no control
/// characters.
public struct CollectionName: RawRepresentable, Hashable, Comparable, Sendable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    public let rawValue: String

    /// That name, unchecked; see ``isValid``.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// That name, unchecked; see ``isValid``.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// That name, unchecked; see ``isValid``.
    public init(stringLiteral value: String) { rawValue = value }

    public var description: String { rawValue }

    /// The largest name, in bytes of UTF-8.
    public static let bytesMax = 100

    /// Whether the name can be used: not empty, not too long, no `/`, no control characters.
    public var isValid: Bool {
        let bytes = rawValue.utf8
        return !bytes.isEmpty && bytes.count <= Self.bytesMax
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    }

    /// Whether both are the same bytes.
    public static func == (left: CollectionName, right: CollectionName) -> Bool {
        ExactString(left.rawValue) == ExactString(right.rawValue)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ExactString(rawValue)) }

    /// Ordered by the bytes of the names.
    public static func < (left: CollectionName, right: CollectionName) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// Which entity: its collection and the id it keeps for life.
public struct EntityKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let collection: CollectionName
    /// The id: 1 to 400 bytes of UTF-8, no control characters.
    public let id: String

    /// The entity of that collection with that id, unchecked; see ``isValid``.
    public init(_ collection: CollectionName, _ id: String) {
        self.collection = collection
        self.id = id
    }

    /// The largest id, in bytes of UTF-8: collection, separator and id fit an LMDB key.
    public static let idBytesMax = 400

    /// Whether both parts can be used.
    public var isValid: Bool { collection.isValid && Self.isUsable(id: id) }

    /// Whether a text can be the id of an entity.
    package static func isUsable(id: String) -> Bool {
        let bytes = id.utf8
        return !bytes.isEmpty && bytes.count <= idBytesMax
            && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// Reads `collection/id`; the id may hold further slashes.
    ///
    /// Nil unless both parts can be used.
    public init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        self.init(CollectionName(String(text[..<slash])), String(text[text.index(after: slash)...]))
        guard isValid else { return nil }
    }

    /// `collection/id`.
    public var description: String { "\(collection)/\(id)" }

    /// Whether both parts are the same bytes.
    public static func == (left: EntityKey, right: EntityKey) -> Bool {
        ExactString(left.id) == ExactString(right.id) && left.collection == right.collection
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
        hasher.combine(ExactString(id))
    }

    /// Ordered by collection, then by the bytes of the id.
    public static func < (left: EntityKey, right: EntityKey) -> Bool {
        if left.collection != right.collection { return left.collection < right.collection }
        return left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
    }

    /// Collection, a zero byte, id.
    package var bytes: [UInt8] { bytes(after: []) }

    /// The same behind a prefix.
    package func bytes(after prefix: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let name = collection.rawValue.utf8
        bytes.reserveCapacity(prefix.count + name.count + 1 + id.utf8.count)
        bytes.append(contentsOf: prefix)
        bytes.append(contentsOf: name)
        bytes.append(0)
        bytes.append(contentsOf: id.utf8)
        return bytes
    }

    /// What the keys of all entities of a collection begin with.
    package static func prefix(of collection: CollectionName) -> [UInt8] {
        Array(collection.rawValue.utf8) + [0]
    }

    /// Reads what ``bytes`` wrote.
    package init?(bytes: [UInt8]) { self.init(bytes: bytes[...]) }

    /// Reads what ``bytes`` wrote.
    package init?(bytes: ArraySlice<UInt8>) {
        guard let zero = bytes.firstIndex(of: 0), let collection = String(utf8: bytes[..<zero]),
            let id = String(utf8: bytes[(zero + 1)...])
        else { return nil }
        self.init(CollectionName(collection), id)
    }
}

extension String {
    /// The text of UTF-8 bytes, nil where they are none; fast for ASCII, as nearly all names are.
    package init?(utf8 bytes: ArraySlice<UInt8>) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}

/// A version as the server names it (ETag, counter, token): opaque, compared for equality only.
public struct Revision: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The server's bytes.
    public let rawValue: [UInt8]

    /// The most bytes that a server may make a version of; what has more can't be read.
    package static let bytesMax = 16 << 10

    /// Those bytes.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// The bytes of that text.
    public init(_ text: String) { rawValue = Array(text.utf8) }

    /// The bytes as text, damaged parts replaced.
    public var description: String { String(decoding: rawValue, as: UTF8.self) }
}

extension Revision {
    /// Whether it is a weak entity tag, as HTTP writes it: it tells two contents apart, and names
    /// none that a request could demand.
    package var isWeak: Bool { description.hasPrefix(Self.weakMark) }

    /// The same without the mark of a weak one.
    package var tag: Substring { description.dropFirst(isWeak ? Self.weakMark.count - 1 : 0) }

    private static let weakMark = "W/\""
}

extension CollectionName: Codable {}

extension EntityKey: Codable {
    /// Reads `collection/id`.
    ///
    /// - Throws: `DecodingError` for a text that is no such key.
    public init(from decoder: any Decoder) throws {
        self = try decoder.value(ofText: { EntityKey($0) }, else: "is no key: collection/id")
    }

    /// Writes `collection/id`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Decoder {
    /// Reads a value that is written as a text.
    ///
    /// - Parameters:
    ///   - make: makes it of the text; nil where it can't be.
    ///   - problem: what is said of such a text.
    /// - Throws: `DecodingError`.
    package func value<Value>(
        ofText make: (String) -> Value?, else problem: String
    ) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = make(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" \(problem)")
        }
        return value
    }
}
