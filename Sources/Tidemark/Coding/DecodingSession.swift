// DecodingSession.swift — one document while it is read, and what is remembered from one document
// to the next: the names of fields.

import Foundation
import TidemarkEvents

/// A document that is read as a value of the app's types.
final class DecodingSession {
    private(set) var tape: JSONTape
    let collection: CollectionModel
    /// The type that the entity's own id has.
    private let idType: Any.Type
    private let idField: [UInt8]
    /// The entity's own id.
    private(set) var id: String

    /// A coding key's name and the field it stands for.
    private struct Name {
        var codingKey: String
        var field: [UInt8]
    }
    /// The names that were asked for, in the order of the first asking, which is that of the next.
    private var names: [Name] = []
    private var expectedName = 0
    private static let namesMax = 64

    /// Where in an object the next member is looked for first: where the last one ended.
    private var hint = (object: -1, key: 0)

    init(_ collection: CollectionModel, idType: Any.Type, id: String, _ bytes: [UInt8]) throws {
        self.collection = collection
        self.idType = idType
        self.id = id
        idField = Array(collection.idField.utf8)
        tape = try JSONTape(parsing: bytes)
    }

    /// Takes the next document.
    func start(_ bytes: [UInt8], id: String) throws {
        try tape.replace(by: bytes)
        self.id = id
        hint = (-1, 0)
    }

    func kind(_ node: Int) -> JSONTape.Kind { tape.nodes[node].kind }

    // MARK: Members

    /// The value of an object's member, or nil when there is none.
    ///
    /// - Parameter isData: whether the key is one of a dictionary, which no style of names changes.
    func member(_ codingKey: String, of object: Int, isData: Bool) -> Int? {
        let field = field(codingKey, isData: isData)
        let from = hint.object == object ? hint.key : object + 1
        guard let value = tape.member(field, of: object, from: from) else { return nil }
        expectNext(after: value, of: object)
        return value
    }

    /// Looks for the next member behind this one.
    func expectNext(after value: Int, of object: Int) {
        hint = (object, tape.nodes[value].next)
    }

    /// Whether this is where the entity's own id is asked for.
    func isOwnID(_ type: Any.Type, _ codingKey: String, of object: Int) -> Bool {
        object == 0 && type == idType
            && (codingKey == "id" || field(codingKey, isData: false) == idField)
    }

    private func field(_ codingKey: String, isData: Bool) -> [UInt8] {
        if isData { return Array(codingKey.utf8) }
        if expectedName < names.count, names[expectedName].codingKey == codingKey {
            expectedName += 1
            return names[expectedName - 1].field
        }
        if let index = names.firstIndex(where: { $0.codingKey == codingKey }) {
            expectedName = index + 1
            return names[index].field
        }
        let name = Name(
            codingKey: codingKey, field: Array(collection.keys.fieldName(codingKey).utf8))
        if names.count < Self.namesMax { names.append(name) }
        expectedName = names.count
        return name.field
    }

    // MARK: Values

    /// The value at a node.
    func value<T: Decodable>(_ type: T.Type, at node: Int) throws -> T {
        if let value = try commonValue(type, at: node) { return value }
        let isData = collection.keys != .verbatim && type is any KeyedByData.Type
        return try T(from: EntityDecoder(session: self, node: node, isData: isData))
    }

    /// The value of a type that is read here; nil for all others, which read themselves.
    private func commonValue<T>(_ type: T.Type, at node: Int) throws -> T? {
        if type == String.self { return try String(reading: node, of: self) as? T }
        if type == Int.self { return try Int(reading: node, of: self) as? T }
        if type == Date.self { return try Date(reading: node, of: self) as? T }
        if type == Double.self { return try Double(reading: node, of: self) as? T }
        if type == Bool.self { return try Bool(reading: node, of: self) as? T }
        if type == URL.self { return try URL(reading: node, of: self) as? T }
        if type == Data.self { return try Data(reading: node, of: self) as? T }
        if type == Decimal.self { return try Decimal(reading: node, of: self) as? T }
        if type == JSONValue.self { return try JSONValue(reading: node, of: self) as? T }
        if type == JSONNumber.self { return try JSONNumber(reading: node, of: self) as? T }
        return nil
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
}

/// A type whose coding keys are data, not names of fields.
protocol KeyedByData {}
extension Dictionary: KeyedByData {}

/// A type that has a value for what is not there.
protocol Absentable {}
extension Optional: Absentable {}
