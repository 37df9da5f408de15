// Tracked.swift — an entity with its sync status.

public import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// An entity with its sync status.
///
/// The entity's properties can be accessed directly; use ``entity`` for those whose names this type
/// uses itself.
@dynamicMemberLookup
public struct Tracked<T: Entity>: Identifiable, Sendable {
    /// Why the server refused a local change.
    public struct Refusal: Sendable, Hashable {
        /// The server's message, or the meaning of its answer.
        public let message: String
        /// The HTTP status code of the answer; 0 when the change was refused without one.
        public let statusCode: Int
        /// The event of the refusal.
        public let position: Position
    }

    /// The entity with all local changes.
    public let entity: T
    /// The sync status in one word.
    public let status: EntityStatus
    /// The status of the entity together with all that counts in it by `rollUp` of the model's
    /// references, as ``ReadContext/rolledUpStatus(of:)`` tells it.
    public let rolledUpStatus: EntityStatus
    /// The id on the server; nil when it is the same.
    public let serverID: String?
    /// Why the server refused pending changes; nil when it did not.
    public let refusal: Refusal?
    /// The event that last changed the entity: a local edit, or the server's record.
    public let lastEvent: Position

    /// The id, which never changes.
    public var id: ID<T> { entity.id }

    /// A property of the entity.
    public subscript<Property>(dynamicMember path: KeyPath<T, Property>) -> Property {
        entity[keyPath: path]
    }
}

extension Tracked: Equatable where T: Equatable {}
extension Tracked: Hashable where T: Hashable {}

/// The visible part of an entity's row, before its document is decoded.
struct TrackedRow: Sendable {
    let collection: CollectionModel
    let key: EntityKey
    /// The document; references use the entities' local keys.
    let document: [UInt8]
    /// The event that the document comes from.
    let seenPosition: Position?
    let status: EntityStatus
    let rolledUpStatus: EntityStatus
    let serverID: String?
    let refusal: EntityRow.Refusal?
    let lastEvent: Position

    /// Nil when there is no visible document.
    ///
    /// - Parameter hasRollUps: whether anything may count in it.
    init?(_ key: EntityKey, _ row: EntityRow, _ views: ViewReader, hasRollUps: Bool) throws {
        collection = try views.model()[key.collection] ?? CollectionModel(key.collection)
        guard let stored = try row.document(in: collection) else { return nil }
        document = try views.localNames(collection)?.named(checked: stored) ?? stored
        seenPosition = row.seenPosition
        self.key = key
        status = row.status
        // Nothing else is read of a collection without roll-ups.
        let tree =
            hasRollUps ? try views.tree(of: key, row) : RollUpClasses(row.rollUpClass)
        rolledUpStatus = tree.status
        serverID = try views.serverID(of: key, row, idField: collection.idField)
        refusal = row.refusal
        lastEvent = row.lastChange
    }

    /// Equal for rows with the same visible part.
    var fingerprint: [UInt8] {
        var writer = ProtoWriter(capacity: document.count + 64)
        writer.string(1, key.id)
        writer.bytes(2, document)
        writer.string(3, status.rawValue)
        writer.string(4, serverID ?? "")
        writer.position(5, refusal?.position)
        writer.string(6, refusal?.message ?? "")
        writer.position(7, lastEvent)
        writer.string(8, rolledUpStatus.rawValue)
        return writer.bytes
    }

    func decoded<T: Entity>(_ reader: EntityReader<T>) throws -> Tracked<T> {
        tracked(try entity(reader))
    }

    /// The entity as one of the app's type.
    func entity<T: Entity>(_ reader: EntityReader<T>) throws -> T {
        try reader.entity(key, document, at: seenPosition)
    }

    /// The row with its entity, which was decoded.
    func tracked<T: Entity>(_ entity: T) -> Tracked<T> {
        Tracked(
            entity: entity, status: status, rolledUpStatus: rolledUpStatus, serverID: serverID,
            refusal: refusal.map {
                .init(message: $0.message, statusCode: Int($0.status), position: $0.position)
            }, lastEvent: lastEvent)
    }
}
