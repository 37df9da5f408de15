// Entity.swift — the app's own types as entities.

public import TidemarkEvents

/// The id of an entity of one type; it never changes, also when the server assigns one of its own.
public struct ID<Of>: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The id's text.
    public let rawValue: String

    /// The id with that text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The id with that text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Reads a plain text.
    public init(from decoder: any Decoder) throws {
        rawValue = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes a plain text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// The id's text.
    public var description: String { rawValue }
}

/// A type of the app whose values are synced.
///
/// Coding keys are the names that the server uses; the `id` property is coded as the collection's
/// id field. Fields of the server that the type does not know are kept.
public protocol Entity: Identifiable, Codable, Sendable where ID == Tidemark.ID<Self> {
    /// The collection that the entities lie in.
    static var collection: CollectionName { get }
    /// The coding keys of the properties that queries ask about; usually none.
    static var fields: FieldNames<Self> { get }
    /// The id, for life.
    var id: ID { get }
}

extension Entity {
    /// The key of the entity with an id.
    public static func key(_ id: Tidemark.ID<Self>) -> EntityKey {
        EntityKey(collection, id.rawValue)
    }
}
