// WriteContext+Entities.swift — reads and changes the app's own types within a commit.

import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// The entity with an id, with the changes of this commit so far; nil when there is none.
    ///
    /// - Throws: ``TidemarkError``: `noModel` when the model lacks the collection, `undecodable`
    ///   when its document can't be read as the type.
    public func get<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> T? {
        let key = try draft.fold.resolve(T.key(id))
        return try reader(type).entity(key, try draft.fold.entity(key))
    }

    /// A reader for a type, by the model of its collection.
    func reader<T: Entity>(_ type: T.Type) throws -> EntityReader<T> {
        let collection = try collection(type)
        return try EntityReader(
            type, in: collection, references: draft.fold.localNames(collection))
    }

    /// A new id for an entity, never given out before: `Todo(id: tx.makeID(), …)`.
    public func makeID<T: Entity>(for type: T.Type = T.self) -> ID<T> { ID(makeID()) }

    /// Creates an entity; properties without a value are left out of its document.
    ///
    /// One that was deleted here, and not yet on the server, is undeleted: what the type does not
    /// know of it is there again. One that is kept on this device alone
    /// (``CollectionModel/localOnly``) is made anew at once, of what the type has.
    ///
    /// - Throws: ``TidemarkError``: `alreadyExists`, and what ``put(_:_:)`` throws.
    public func create<T: Entity>(_ entity: T) throws {
        let (key, collection) = try check(T.key(entity.id))
        let document =
            try undeleted(entity, key, collection.model)
            ?? EntityCoding.document(entity, in: collection.model)
        try create(key, document)
    }

    /// The document of an entity whose deletion is pending, as it was before, with this value; nil
    /// where none is, and where it can't be read as the type.
    private func undeleted<T: Entity>(
        _ entity: T, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> [UInt8]? {
        var row = try draft.fold.entity(key)
        guard row.endsDeleted, let deletion = row.pending.lastIndex(where: { $0.kind == .delete })
        else { return nil }
        row = try draft.fold.whole(row, key)
        row.pending.removeSubrange(deletion...)
        let bytes = try row.made(in: collection)
        guard !bytes.isEmpty, let before = try? reader(T.self).entity(key, bytes) else {
            return nil
        }
        let document = try JSONDocument(parsing: bytes)
        let shown = try EntityCoding.encode(before, in: collection)
        let difference = try difference(
            of: document, key, as: shown, from: shown, to: entity, in: collection)
        return difference.applied(to: document, collection.keyed)
    }

    /// Changes an entity; the fields that differ afterwards are logged.
    ///
    /// A property that lost its value becomes null where the model lists the field as nullable;
    /// otherwise the field is removed. Fields that the type does not know stay, also within a field
    /// that is an object, and so do those that only the server sets
    /// (``CollectionModel/serverFields``). Without a difference, nothing is logged.
    ///
    /// - Throws: ``TidemarkError``: `notFound` without the entity, `undecodable`, `invalidKey` when
    ///   the change gave it another id, and what ``put(_:_:)`` throws; what `change` throws.
    public func update<T: Entity>(
        _ type: T.Type, _ id: ID<T>, _ change: (inout T) throws -> Void
    ) throws {
        guard var entity = try get(type, id) else { throw notFound(T.key(id)) }
        // Encoded before the change, because a class instance in the entity is changed in place.
        let before = try EntityCoding.encode(entity, in: try collection(type))
        let key = T.key(entity.id)
        try change(&entity)
        try replace(before, of: key, by: entity)
    }

    /// Creates an entity, or changes the stored one to this value, as ``update(_:_:_:)`` does.
    ///
    /// What was changed since this value was read is taken back: see ``save(_:editedFrom:)``.
    ///
    /// - Throws: ``TidemarkError``: `undecodable`, and what ``put(_:_:)`` throws.
    public func save<T: Entity>(_ entity: T) throws {
        guard let before = try get(T.self, entity.id) else { return try create(entity) }
        try replace(
            try EntityCoding.encode(before, in: try collection(T.self)), of: T.key(before.id),
            by: entity)
    }

    /// Changes an entity by what differs between its value before an edit and this one.
    ///
    /// For a form that was open for a while, and for what a person made of both sides of a
    /// conflict: what a sync or another screen has changed since stays, where ``save(_:)`` would
    /// take it back. A field that both changed gets this value; a list is one field, as in
    /// ``update(_:_:_:)``. Without a value before it is ``save(_:)``. Of a class, `before` has to
    /// be another instance: what is changed in place is no difference.
    ///
    /// - Throws: ``TidemarkError``: `notFound` where the entity is gone, `invalidKey` when the edit
    ///   gave it another id, and what ``put(_:_:)`` throws.
    public func save<T: Entity>(_ entity: T, editedFrom before: T?) throws {
        guard let before else { return try save(entity) }
        try replace(
            try EntityCoding.encode(before, in: try collection(T.self)),
            of: try draft.fold.resolve(T.key(before.id)), by: entity, isCopy: true)
    }

    /// Deletes an entity.
    ///
    /// - Throws: ``TidemarkError``: `notFound`, `noModel`.
    public func delete<T: Entity>(_ type: T.Type, _ id: ID<T>) throws { try delete(T.key(id)) }

    /// - Parameter isCopy: whether the document may have changed since it was read as `before`.
    private func replace<T: Entity>(
        _ before: EncodedNode, of key: EntityKey, by after: T, isCopy: Bool = false
    ) throws {
        guard try draft.fold.resolve(T.key(after.id)) == key else {
            throw TidemarkError(
                .invalidKey,
                "\(key) was given the id \"\(after.id)\"; an id is for life: create another entity "
                    + "and delete this one", key: key)
        }
        let collection = try collection(T.self)
        guard let document = try draft.fold.entity(key).document(in: collection) else {
            throw notFound(key)
        }
        var present: EncodedNode? = before
        if isCopy {
            present = try? EntityCoding.encode(
                reader(T.self).entity(key, document), in: collection)
        }
        let difference = try difference(
            of: try JSONDocument(parsing: document), key, as: present, from: before, to: after,
            in: collection)
        try log(difference, of: key, in: collection)
    }

    /// What an edit changed, as a patch of an entity's document.
    ///
    /// - Parameter present: what the document is as the type; nil where it can't be read so.
    private func difference<T: Entity>(
        of document: JSONDocument, _ key: EntityKey, as present: EncodedNode?,
        from before: EncodedNode, to after: T, in collection: CollectionModel
    ) throws -> Patch {
        let after = try EntityCoding.encode(after, in: collection)
        try EncodedNode.keepNames(of: document, in: [before, after, present].compactMap(\.self))
        let difference = try EntityDifference(
            from: before, to: after, in: collection, present: present,
            references: draft.fold.localNames(collection))
        return try difference.patch(of: document, key)
    }

    /// The model of a type's collection.
    ///
    /// - Throws: ``TidemarkError`` `noModel` when the model lacks it.
    func collection<T: Entity>(_ type: T.Type) throws -> CollectionModel {
        guard let collection = try draft.fold.knownCollection(T.collection) else {
            throw TidemarkError.noCollection(T.collection, in: try draft.fold.model())
        }
        return collection
    }
}
