// Tracked.swift — an entity, and how it stands with the server.

public import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// An entity, and how it stands with the server.
///
/// Its entity's properties can be asked of it directly; ``entity`` has those whose names it uses
/// itself.
@dynamicMemberLookup
public struct Tracked<T: Entity>: Identifiable, Sendable {
    /// Why the server refused what was changed here.
    public struct Refusal: Sendable, Hashable {
        /// What the server said, or what its answer means.
        public let message: String
        /// The status code of its answer; 0 when it was refused without one.
        public let statusCode: Int
        /// The event that says so.
        public let position: Position
    }

    /// The entity as it is here.
    public let entity: T
    /// How it stands with the server, in one word.
    public let status: EntityStatus
    /// The id that the server uses; nil when it is the same.
    public let serverID: String?
    /// Why the server refused what is pending; nil when it did not.
    public let lastError: Refusal?
    /// The event that changed it last: an edit made here, or what the server said.
    public let lastChange: Position

    /// The id, for life.
    public var id: ID<T> { entity.id }

    /// A property of the entity.
    public subscript<Property>(dynamicMember path: KeyPath<T, Property>) -> Property {
        entity[keyPath: path]
    }
}

extension Tracked: Equatable where T: Equatable {}
extension Tracked: Hashable where T: Hashable {}

/// An entity's row as far as it is shown, before its document is decoded.
struct TrackedRow: Sendable {
    let collection: CollectionModel
    let key: EntityKey
    /// Its references by the keys that entities have here.
    let document: [UInt8]
    /// The event that the document comes from.
    let seenPosition: Position?
    let status: EntityStatus
    let serverID: String?
    let refusal: EntityRow.Refusal?
    let lastChange: Position

    /// Nil when there is no document to be seen.
    init?(_ key: EntityKey, _ row: EntityRow, _ views: ViewReader) throws {
        collection = try views.model()[key.collection] ?? CollectionModel(key.collection)
        guard let stored = try row.document(in: collection) else { return nil }
        document = try views.localNames(collection)?.named(checked: stored) ?? stored
        seenPosition = row.seenPosition
        self.key = key
        status = row.status
        serverID = try views.serverID(of: key, row, idField: collection.idField)
        refusal = row.refusal
        lastChange = row.lastChange
    }

    /// Equal for rows that show the same.
    var fingerprint: [UInt8] {
        var writer = ProtoWriter(capacity: document.count + 64)
        writer.string(1, key.id)
        writer.bytes(2, document)
        writer.string(3, status.rawValue)
        writer.string(4, serverID ?? "")
        writer.position(5, refusal?.position)
        writer.string(6, refusal?.message ?? "")
        writer.position(7, lastChange)
        return writer.bytes
    }

    func decoded<T: Entity>(_ reader: EntityReader<T>) throws -> Tracked<T> {
        Tracked(
            entity: try reader.entity(key, document, at: seenPosition), status: status,
            serverID: serverID,
            lastError: refusal.map {
                .init(message: $0.message, statusCode: Int($0.status), position: $0.position)
            }, lastChange: lastChange)
    }
}
