// EntityEncoder.swift — the encoder for `encode(to:)` of the app's types.

import TidemarkEvents

/// A node of a document that is being built.
struct EntityEncoder: Encoder, SingleValueEncodingContainer {
    let collection: CollectionModel
    /// The type of the entity's own id.
    let idType: Any.Type
    let node: EncodedNode
    var codingPath: [any CodingKey] = []
    /// Whether the value's keys are data, as in a dictionary, and not field names.
    var isData = false

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.makeObject()
        return KeyedEncodingContainer(FieldEncoding<Key>(self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.makeArray()
        return ElementEncoding(self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.set(Array("null".utf8)) }

    func encode<T: Encodable & JSONWritable>(_ value: T) throws {
        node.set(try value.json(for: self))
    }

    func encode<T: Encodable>(_ value: T) throws {
        if let value = value as? any JSONWritable {
            node.set(try value.json(for: self))
        } else {
            var encoder = self
            encoder.isData = collection.keys != .verbatim && value is any KeyedByData
            let before = node.content
            do { try value.encode(to: encoder) } catch {
                // The type may go on, with another value instead.
                node.restore(before)
                throw error
            }
            guard node.isArray else { return }
            if value is any Unordered {
                node.sort(by: 1)
            } else if value is any KeyedByData {
                node.sort(by: 2)
            }
        }
    }

    /// An encoder for a value within this one.
    fileprivate func inner(_ node: EncodedNode, _ key: any CodingKey) -> EntityEncoder {
        EntityEncoder(
            collection: collection, idType: idType, node: node, codingPath: codingPath + [key])
    }
}

extension EntityEncoder: JSONTextEncoder {
    func encode(json value: JSONValue) {
        switch value {
        case .object(let members):
            node.makeObject()
            for (name, member) in members {
                node.member(name).set(member.encoded(sortedKeys: true))
            }
        case .array(let elements):
            node.makeArray()
            for element in elements {
                let inner = EncodedNode()
                inner.set(element.encoded(sortedKeys: true))
                node.add(inner)
            }
        case .null, .bool, .number, .string: node.set(value.encoded(sortedKeys: true))
        }
    }
}

/// A type whose elements are in no order.
private protocol Unordered {}
extension Set: Unordered {}

/// The members of an object.
private struct FieldEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let encoder: EntityEncoder

    init(_ encoder: EntityEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws { value(key).encodeNil() }

    func encode<T: Encodable & JSONWritable>(_ value: T, forKey key: Key) throws {
        let node = EncodedNode()
        try encoder.inner(node, key).encode(value)
        let name = name(key)
        encoder.node.add(node, as: name, keyText: text(key, name))
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let isOwnID =
            codingPath.isEmpty && T.self == encoder.idType && key.stringValue == "id"
        let name = isOwnID ? encoder.collection.idField : name(key)
        // What throws leaves nothing, as the type may go on without it.
        let node = EncodedNode()
        try encoder.inner(node, key).encode(value)
        encoder.node.add(node, as: name, keyText: isOwnID ? nil : text(key, name))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key, isObject: true).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key, isObject: false).unkeyedContainer()
    }

    /// What is opened for the same key again goes on where it was.
    private func nested(_ key: Key, isObject: Bool) -> EntityEncoder {
        let name = name(key)
        let node = encoder.node.container(name, keyText: text(key, name), isObject: isObject)
        return encoder.inner(node, key)
    }

    func superEncoder() -> any Encoder {
        encoder.inner(encoder.node.member("super"), AnyCodingKey("super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder { value(key) }

    private func name(_ key: Key) -> String {
        let name = key.stringValue
        return encoder.isData ? name : encoder.collection.keys.fieldName(name)
    }

    /// The text of a key that could be a name as it is, as the type takes any, and is another one.
    private func text(_ key: Key, _ name: String) -> String? {
        let text = key.stringValue
        return name != text && Key(stringValue: name)?.stringValue == name ? text : nil
    }

    private func value(_ key: Key) -> EntityEncoder {
        let name = name(key)
        return encoder.inner(encoder.node.member(name, keyText: text(key, name)), key)
    }
}

/// The elements of an array, one after another.
private struct ElementEncoding: UnkeyedEncodingContainer {
    private let encoder: EntityEncoder

    init(_ encoder: EntityEncoder) { self.encoder = encoder }

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.elementCount }

    func encodeNil() throws { element().encodeNil() }

    func encode<T: Encodable & JSONWritable>(_ value: T) throws {
        let node = EncodedNode()
        try inner(node).encode(value)
        encoder.node.add(node)
    }

    func encode<T: Encodable>(_ value: T) throws {
        let node = EncodedNode()
        try inner(node).encode(value)
        encoder.node.add(node)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> { element().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

    func superEncoder() -> any Encoder { element() }

    private func element() -> EntityEncoder {
        let element = inner(EncodedNode())
        encoder.node.add(element.node)
        return element
    }

    /// An encoder for the next element.
    private func inner(_ node: EncodedNode) -> EntityEncoder {
        encoder.inner(node, AnyCodingKey(intValue: count))
    }
}
