// NullDecoder.swift — the decoder for a missing value.

/// Decodes null and nothing else.
struct NullDecoder: Decoder, SingleValueDecodingContainer {
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw missing([String: Any].self)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw missing([Any].self) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { true }
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // An optional in an optional is null too.
        guard type is any Absentable.Type else { throw missing(type) }
        return try T(from: self)
    }

    private func missing(_ type: Any.Type) -> DecodingError {
        let path = codingPath.map { $0.stringValue }.joined(separator: ".")
        return .valueNotFound(
            type, .init(codingPath: codingPath, debugDescription: "\"\(path)\" is missing"))
    }
}
