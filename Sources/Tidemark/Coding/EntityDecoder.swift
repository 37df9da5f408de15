// EntityDecoder.swift — the decoder for `init(from:)` of the app's types: a node of a document.

import TidemarkEvents

/// A value of a document, from which a type decodes itself.
struct EntityDecoder: Decoder, SingleValueDecodingContainer {
    let session: DecodingSession
    let node: Int
    /// Whether the value's keys are data, as in a dictionary, and not field names.
    var isData = false

    var codingPath: [any CodingKey] { session.codingPath(node) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try session.object(type, at: node, isData: isData)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try session.array(at: node) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { session.kind(node) == .null }

    func decode<T: Decodable & JSONReadable>(_ type: T.Type) throws -> T {
        try T(reading: node, of: session)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try session.value(type, at: node) }

    /// The text of an id: a string, or a whole number, as some servers send.
    func idText() throws -> String {
        switch session.kind(node) {
        case .string: return session.tape.text(node)
        case .number:
            let number = session.tape.number(node)
            if let whole = number.int64 { return String(whole) }
            if number.text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") && $0 | 0x20 != 0x65 }) {
                return number.text
            }
            fallthrough
        default: throw session.mismatch("an id", String.self, node)
        }
    }
}

extension EntityDecoder: JSONTextDecoder {
    func jsonValue() throws -> JSONValue { try JSONValue(reading: node, of: session) }

    func jsonNumber() throws -> JSONNumber { try JSONNumber(reading: node, of: session) }
}

/// The members of an object.
struct FieldDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let session: DecodingSession
    let object: Int
    let isData: Bool

    var codingPath: [any CodingKey] { session.codingPath(object) }

    var allKeys: [Key] {
        var keys: [Key] = []
        var node = object + 1
        while node < session.tape.nodes[object].next {
            if let key = key(of: session.tape.text(node)) { keys.append(key) }
            node = session.tape.nodes[node + 1].next
        }
        return keys
    }

    /// The key by which a member is found again.
    private func key(of name: String) -> Key? {
        let style = session.names.style
        if isData || style == .verbatim { return Key(stringValue: name) }
        if let key = style.codingKey(Key.self, of: name) { return key }
        // A name that is not of the style. Keys of any text have it as it is; any other key of this
        // text is that of another member.
        guard let key = Key(stringValue: name),
            style.codingKey(Key.self, of: style.fieldName(name))?.stringValue != name
        else { return nil }
        session.noteExact(key, of: object)
        return key
    }

    func contains(_ key: Key) -> Bool { member(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { session.kind(try needed(key)) == .null }

    func decode<T: Decodable & JSONReadable>(_ type: T.Type, forKey key: Key) throws -> T {
        try T(reading: try needed(key), of: session)
    }

    // The usual types have methods of their own, because those of the standard library look up
    // three times.

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(type, key)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(type, key)
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(type, key)
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(type, key)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(type, key)
    }

    private func present<T: JSONReadable>(_ type: T.Type, _ key: Key) throws -> T? {
        guard let node = member(key), session.kind(node) != .null else { return nil }
        return try T(reading: node, of: session)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if isOwnID(type, key), let id = session.ownID as? T { return id }
        guard let node = member(key) else {
            // A missing member of an optional type is null.
            guard type is any Absentable.Type else {
                throw session.missing(key, of: object, isData: isData)
            }
            return try T(from: NullDecoder(codingPath: codingPath + [key]))
        }
        let value = try session.value(type, at: node)
        session.expectNext(after: node, of: object)
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        if isOwnID(type, key), let id = session.ownID as? T { return id }
        guard let node = member(key), session.kind(node) != .null else { return nil }
        let value = try session.value(type, at: node)
        session.expectNext(after: node, of: object)
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try session.object(type, at: try needed(key), isData: false)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try session.array(at: try needed(key))
    }

    func superDecoder() throws -> any Decoder {
        decoder(session.member("super", of: object, isData: isData), codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder(member(key), codingPath + [key])
    }

    private func decoder(_ node: Int?, _ path: [any CodingKey]) -> any Decoder {
        guard let node else { return NullDecoder(codingPath: path) }
        return EntityDecoder(session: session, node: node)
    }

    private func member(_ key: Key) -> Int? {
        let isExact = isData || session.isExact(key, of: object)
        return session.member(key.stringValue, of: object, isData: isExact)
    }

    private func needed(_ key: Key) throws -> Int {
        guard let node = member(key) else {
            throw session.missing(key, of: object, isData: isData)
        }
        return node
    }

    /// Whether this is the entity's own id, which is not read from the document.
    private func isOwnID(_ type: Any.Type, _ key: Key) -> Bool {
        object == 0 && session.isOwnID(type, key.stringValue)
    }
}

/// The elements of an array, one after another.
struct ElementDecoding: UnkeyedDecodingContainer {
    let session: DecodingSession
    let array: Int
    private var node: Int
    private(set) var currentIndex = 0

    init(session: DecodingSession, array: Int) {
        self.session = session
        self.array = array
        node = array + 1
    }

    var codingPath: [any CodingKey] { session.codingPath(array) }
    var count: Int? { session.count(of: array) }
    var isAtEnd: Bool { node >= session.tape.nodes[array].next }

    mutating func decodeNil() throws -> Bool {
        guard session.kind(try current(Any?.self)) == .null else { return false }
        advance()
        return true
    }

    mutating func decode<T: Decodable & JSONReadable>(_ type: T.Type) throws -> T {
        let value = try T(reading: try current(type), of: session)
        advance()
        return value
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try session.value(type, at: try current(type))
        advance()
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try session.object(
            type, at: try current([String: Any].self), isData: false)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try session.array(at: try current([Any].self))
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = EntityDecoder(session: session, node: try current((any Decoder).self))
        advance()
        return decoder
    }

    private func current(_ type: Any.Type) throws -> Int {
        if isAtEnd { throw session.ended(type, array) }
        return node
    }

    private mutating func advance() {
        node = session.tape.nodes[node].next
        currentIndex += 1
    }
}
