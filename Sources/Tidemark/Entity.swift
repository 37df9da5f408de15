// Entity.swift — the app's own types as entities.

public import TidemarkEvents

/// The id of an entity of one type; it never changes, even if the server assigns an id of its own.
public struct ID<Of>: RawRepresentable, Hashable, Sendable, Codable, CodingKeyRepresentable,
    ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The id's text.
    public let rawValue: String

    /// The id with that text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The id with that text.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The id with that text, as in tests.
    public init(stringLiteral value: String) { rawValue = value }

    /// Reads a string, or a whole number, as some servers send.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? EntityDecoder {
            rawValue = try decoder.idText()
            return
        }
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            rawValue = String(number)
        } else {
            rawValue = try container.decode(String.self)
        }
    }

    /// Writes a plain text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public var description: String { rawValue }
}

/// A type of the app whose values are synced.
///
/// ```swift
/// struct Todo: Entity {
///     static let collection: CollectionName = "tasks"
///     let id: ID<Todo>
///     var title: String
///     var list: ID<TodoList>?
///     var startedAt: Date?
///     var priority: Priority
///     var labels: [String]?
///     var custom: JSONValue?
/// }
/// ```
///
/// **Names.** A property is stored under its coding key, in the ``KeyStyle`` of the collection:
/// with `snakeCase`, `startedAt` is the server's `started_at`. `CodingKeys` give other names. Keys
/// of dictionaries are data and stay as they are. A type whose coding keys are of any text is given
/// the server's names, and a change keeps them; what is new is named in the style. The property
/// `id` is the collection's id field, whatever its name.
///
/// **The id** is the first one that the entity got, and stays when the server assigns another. It
/// is read from the entity's key, not from the document, and must be of the type `ID<Self>`. IDs of
/// other entities are read from strings and from whole numbers, and are written as strings. In a
/// field that the model declares as a reference, an id of the server is read as the entity's own
/// id.
///
/// **Values.** Dates are in the collection's ``DateFormat``, exact to the microsecond from 1865 to
/// 2137, which is as far as the precision of `Date` reaches. Numbers that don't fit are errors,
/// never rounded; `Decimal` and ``JSONNumber`` keep every digit. `Data` is base64. ``JSONValue``
/// takes values of any shape.
///
/// **Null and missing fields** are both read as nil. A property that is set to nil makes the field
/// null when the collection's `nullable` names it; otherwise the field is removed. A creation
/// leaves out properties that are nil.
///
/// **Unknown fields** are kept: fields without a property, also within a property that is itself an
/// object. A change logs only the fields that differ.
///
/// **Unknown enum cases.** An enum whose cases may grow can keep values that it does not know:
///
/// ```swift
/// enum Priority: RawRepresentable, Codable, Hashable, Sendable {
///     case low, high, other(String)
///     init(rawValue: String) {
///         self =
///             switch rawValue {
///             case "low": .low
///             case "high": .high
///             default: .other(rawValue)
///             }
///     }
///     var rawValue: String {
///         switch self {
///         case .low: "low"
///         case .high: "high"
///         case .other(let value): value
///         }
///     }
/// }
/// ```
///
/// A document that can't be read as the type is an error, ``TidemarkError`` `undecodable`, which
/// names the field and the event; ``ReadContext/undecodable(_:)-(T.Type)`` lists them.
public protocol Entity: Identifiable, Codable, Sendable where ID == Tidemark.ID<Self> {
    /// The collection of the entities.
    static var collection: CollectionName { get }
    /// The coding keys of the properties that queries use; usually none.
    static var fields: FieldNames<Self> { get }
    /// The id, which never changes.
    var id: ID { get }
}

extension Entity {
    /// The key of the entity with an id.
    public static func key(_ id: Tidemark.ID<Self>) -> EntityKey {
        EntityKey(collection, id.rawValue)
    }
}
