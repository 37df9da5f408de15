// EntityCoding.swift — converts between the app's types and documents.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// Decodes the entities of one type, one after another.
package final class EntityReader<T: Entity> {
    private let collection: CollectionModel
    private let names: ServerNames
    private let references: ReferenceNames?

    /// A reader for a collection.
    ///
    /// - Parameter references: the ids under which references are read; nil for those in the
    ///   documents.
    package init(
        _ type: T.Type = T.self, in collection: CollectionModel, references: ReferenceNames? = nil
    ) {
        self.collection = collection
        self.references = references
        names = ServerNames(collection, idType: T.ID.self)
    }

    /// The entity of a row; nil when it has no document.
    ///
    /// - Parameter key: the row's own key, not an alias of it.
    /// - Throws: ``TidemarkError`` `undecodable`.
    package func entity(_ key: EntityKey, _ row: EntityRow) throws -> T? {
        guard row.document != nil else { return nil }
        do { return try row.document(in: collection).map { try decode(key, $0) } } catch {
            throw TidemarkError.undecodable(
                key, T.self, DecodingProblem(error, collection.keys), row.seenPosition)
        }
    }

    /// The entity of a document.
    ///
    /// - Throws: ``TidemarkError`` `undecodable`; with a position only where one is given.
    package func entity(
        _ key: EntityKey, _ document: [UInt8], at position: Position? = nil
    ) throws -> T {
        do { return try decode(key, document) } catch {
            throw TidemarkError.undecodable(
                key, T.self, DecodingProblem(error, collection.keys), position)
        }
    }

    private func decode(_ key: EntityKey, _ document: [UInt8]) throws -> T {
        let document = try references?.named(checked: document) ?? document
        let session = try DecodingSession(names, ownID: T.ID(key.id), document)
        return try T(from: EntityDecoder(session: session, node: 0))
    }
}

enum EntityCoding {
    /// The encoding of an entity, as an object with only its own members.
    ///
    /// - Throws: ``TidemarkError`` `invalidDocument`.
    static func encode<T: Entity>(_ entity: T, in collection: CollectionModel) throws -> EncodedNode
    {
        let node = EncodedNode()
        let encoder = EntityEncoder(collection: collection, idType: T.ID.self, node: node)
        let problem: String
        do {
            try entity.encode(to: encoder)
            if node.members != nil { return node }
            problem = "\(T.self) doesn't encode to an object"
        } catch EncodingError.invalidValue(_, let context) {
            problem = context.debugDescription
        } catch { problem = "\(error)" }
        throw invalid(T.key(entity.id), problem)
    }

    /// The same, as the bytes of a new document.
    ///
    /// - Throws: ``TidemarkError`` `invalidDocument`.
    static func document<T: Entity>(_ entity: T, in collection: CollectionModel) throws -> [UInt8] {
        let node = try encode(entity, in: collection)
        if let first = node.problems.first { throw invalid(T.key(entity.id), first.problem) }
        return node.encoded
    }

    static func invalid(_ key: EntityKey, _ problem: String) -> TidemarkError {
        TidemarkError(.invalidDocument, "\(key) can't be written: \(problem)", key: key)
    }
}
