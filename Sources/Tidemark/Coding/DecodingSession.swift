// DecodingSession.swift — the decoding of one document, and the field names that are remembered
// from one document to the next.

import Foundation
import TidemarkEvents

/// A document that is being decoded as a value of the app's types.
final class DecodingSession {
    let tape: JSONTape
    /// The entity's own id, as a value of its id type.
    let ownID: any Sendable
    let names: ServerNames
    /// Where to look first for an object's next member: after the last one that was found.
    private var hint = (object: -1, key: 0)
    /// How many elements the arrays have that were counted, by their nodes.
    private var counts: [Int: Int] = [:]
    /// The keys that were given out for members whose names are not of the style.
    private var exactKeys: Set<ExactKey> = []

    /// A key of one type, for one object.
    private struct ExactKey: Hashable {
        var object: Int
        var type: ObjectIdentifier
        var text: ExactString
    }

    init(_ names: ServerNames, ownID: any Sendable, _ bytes: [UInt8]) throws {
        self.names = names
        self.ownID = ownID
        tape = try JSONTape(parsing: bytes)
    }

    func kind(_ node: Int) -> JSONTape.Kind { tape.nodes[node].kind }

    // MARK: Members

    /// The value of an object's member, or nil when there is none.
    ///
    /// - Parameter isData: whether the key is the member's name: a dictionary's, which no key style
    ///   changes, or one of ``isExact(_:of:)``.
    func member(_ codingKey: String, of object: Int, isData: Bool) -> Int? {
        let field = isData ? Array(codingKey.utf8) : names.field(codingKey)
        let from = hint.object == object ? hint.key : object + 1
        guard let value = tape.member(field, of: object, from: from) else { return nil }
        expectNext(after: value, of: object)
        return value
    }

    /// Notes that a key is the name of a member as it is, and not in the key style.
    func noteExact<Key: CodingKey>(_ key: Key, of object: Int) {
        exactKeys.insert(exactKey(key, object))
    }

    /// Whether that was noted.
    func isExact<Key: CodingKey>(_ key: Key, of object: Int) -> Bool {
        !exactKeys.isEmpty && exactKeys.contains(exactKey(key, object))
    }

    private func exactKey<Key: CodingKey>(_ key: Key, _ object: Int) -> ExactKey {
        ExactKey(
            object: object, type: ObjectIdentifier(Key.self), text: ExactString(key.stringValue))
    }

    /// Makes the search for the next member begin after this one.
    func expectNext(after value: Int, of object: Int) {
        hint = (object, tape.nodes[value].next)
    }

    /// Whether the value asked for is the entity's own id.
    func isOwnID(_ type: Any.Type, _ codingKey: String) -> Bool {
        type == names.idType
            && (codingKey == "id" || names.field(codingKey) == names.idField)
    }

    // MARK: Values

    /// The value at a node.
    func value<T: Decodable>(_ type: T.Type, at node: Int) throws -> T {
        // Types that are decoded here and do not decode themselves.
        if type == String.self, let value = try String(reading: node, of: self) as? T {
            return value
        }
        if type == Int.self, let value = try Int(reading: node, of: self) as? T { return value }
        if type == Date.self, let value = try Date(reading: node, of: self) as? T { return value }
        if type == Double.self, let value = try Double(reading: node, of: self) as? T {
            return value
        }
        if type == Bool.self, let value = try Bool(reading: node, of: self) as? T { return value }
        if type == URL.self, let value = try URL(reading: node, of: self) as? T { return value }
        if type == Data.self, let value = try Data(reading: node, of: self) as? T { return value }
        if type == Decimal.self, let value = try Decimal(reading: node, of: self) as? T {
            return value
        }
        if type == JSONValue.self, let value = try JSONValue(reading: node, of: self) as? T {
            return value
        }
        if type == JSONNumber.self, let value = try JSONNumber(reading: node, of: self) as? T {
            return value
        }
        if type == [String].self, let value = try texts(at: node) as? T { return value }
        let isData = names.style != .verbatim && type is any KeyedByData.Type
        return try T(from: EntityDecoder(session: self, node: node, isData: isData))
    }

    private func texts(at node: Int) throws -> [String] {
        var elements = try array(at: node)
        var texts: [String] = []
        while !elements.isAtEnd { texts.append(try elements.decode(String.self)) }
        return texts
    }

    // MARK: Containers

    func object<Key: CodingKey>(
        _ type: Key.Type, at node: Int, isData: Bool
    ) throws -> KeyedDecodingContainer<Key> {
        guard kind(node) == .object else { throw mismatch("an object", [String: Any].self, node) }
        return KeyedDecodingContainer(
            FieldDecoding<Key>(session: self, object: node, isData: isData))
    }

    func array(at node: Int) throws -> ElementDecoding {
        guard kind(node) == .array else { throw mismatch("a list", [Any].self, node) }
        return ElementDecoding(session: self, array: node)
    }

    /// How many elements an array has; counted when that is asked, as few types do.
    func count(of array: Int) -> Int {
        if let known = counts[array] { return known }
        var (node, count) = (array + 1, 0)
        while node < tape.nodes[array].next {
            node = tape.nodes[node].next
            count += 1
        }
        counts[array] = count
        return count
    }
}

/// The field names of a collection by coding key, learned while decoding.
final class ServerNames {
    let style: KeyStyle
    let dates: DateFormat
    /// The type of the entity's own id.
    let idType: Any.Type
    /// The id field's name in UTF-8.
    let idField: [UInt8]
    /// The known names in the order of first use, which is that of the next document.
    private var known: [(codingKey: String, field: [UInt8])] = []
    private var expected = 0
    private static let knownMax = 64

    init(_ collection: CollectionModel, idType: Any.Type) {
        (style, dates) = (collection.keys, collection.dates)
        self.idType = idType
        idField = Array(collection.idField.utf8)
    }

    /// The field name of a coding key, in UTF-8.
    func field(_ codingKey: String) -> [UInt8] {
        if expected < known.count, known[expected].codingKey == codingKey {
            expected += 1
            return known[expected - 1].field
        }
        if let index = known.firstIndex(where: { $0.codingKey == codingKey }) {
            expected = index + 1
            return known[index].field
        }
        let field = Array(style.fieldName(codingKey).utf8)
        if known.count < Self.knownMax { known.append((codingKey, field)) }
        expected = known.count
        return field
    }
}

/// A type whose coding keys are data, not field names.
protocol KeyedByData {}
extension Dictionary: KeyedByData {}

/// A type that has a value for a missing member.
protocol Absentable {}
extension Optional: Absentable {}
