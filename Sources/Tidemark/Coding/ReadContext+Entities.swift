// ReadContext+Entities.swift — reads the app's own types: one entity by id, or all.

import TidemarkEvents
import TidemarkViews

extension ReadContext {
    /// The entity with an id, which may also be its id on the server; nil when there is none.
    ///
    /// - Throws: ``TidemarkError``: `noModel` when the model lacks the collection, `undecodable`
    ///   when its document can't be read as the type.
    public func get<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> T? {
        let collection = try collection(type)
        guard let (key, row) = try views.found(T.key(id)) else { return nil }
        return try reader(type, in: collection).entity(key, row)
    }

    /// All entities of a type, sorted by id.
    ///
    /// - Throws: ``TidemarkError``: `noModel` when the model lacks the collection, `undecodable`
    ///   for the first one whose document can't be read as the type; ``decodable(_:)`` leaves those
    ///   out, and ``undecodable(_:)-(T.Type)`` lists them.
    public func all<T: Entity>(_ type: T.Type) throws -> [T] {
        var entities: [T] = []
        let reader = try reader(type)
        try views.forEachEntity(in: T.collection) { key, row in
            if let entity = try reader.entity(key, row) { entities.append(entity) }
            return true
        }
        return entities
    }

    /// The entities of a type whose documents can be read as the type, sorted by id.
    ///
    /// The others are still in the store and still synced; ``undecodable(_:)-(T.Type)`` lists them.
    /// ``EntityQuery/decodable()`` is the same of a query.
    ///
    /// - Throws: ``TidemarkError`` `noModel` when the model lacks the collection.
    public func decodable<T: Entity>(_ type: T.Type) throws -> [T] {
        try all(EntityQuery<T>().decodable())
    }

    /// The entities whose documents can't be read as a type, sorted by id: `undecodable` errors,
    /// each with the key, the position and the problem.
    ///
    /// - Throws: ``TidemarkError`` `noModel` when the model lacks the collection.
    public func undecodable<T: Entity>(_ type: T.Type) throws -> [TidemarkError] {
        try undecodable(EntityQuery<T>())
    }

    /// The entities that ``EntityQuery/decodable()`` leaves out of a query, likewise, in its order;
    /// limit, offset and cursor are not considered.
    ///
    /// - Throws: ``TidemarkError``: `unknownField`, `noModel`.
    public func undecodable<T: Entity>(_ query: EntityQuery<T>) throws -> [TidemarkError] {
        var whole = query
        (whole.terms.limit, whole.terms.offset, whole.terms.bound) = (nil, 0, nil)
        var errors: [TidemarkError] = []
        let reader = try reader(T.self)
        try views.forEachFound(try documentQuery(whole)) { found in
            do { _ = try found.entity(reader) } catch let error as TidemarkError
                where error.code == .undecodable
            { errors.append(error) }
            return true
        }
        return errors
    }

    /// A reader for a type, by the model of its collection.
    func reader<T: Entity>(_ type: T.Type) throws -> EntityReader<T> {
        try reader(type, in: try collection(type))
    }

    private func reader<T: Entity>(
        _ type: T.Type, in collection: CollectionModel
    ) throws -> EntityReader<T> {
        EntityReader(type, in: collection, references: try views.localNames(collection))
    }

    /// The model of a type's collection.
    ///
    /// - Throws: ``TidemarkError`` `noModel` when the model lacks it.
    func collection<T: Entity>(_ type: T.Type) throws -> CollectionModel {
        let model = try views.model()
        guard let collection = model[T.collection] else {
            throw TidemarkError.noCollection(T.collection, in: model)
        }
        return collection
    }
}

extension TidemarkError {
    /// A collection that the model does not have.
    static func noCollection(_ name: CollectionName, in model: SyncModel) -> TidemarkError {
        let names = model.collections.map(\.name.rawValue).joined(separator: ", ")
        return TidemarkError(.noModel, "the model has no collection \(name); it has \(names)")
    }

    /// A document that can't be read as a type.
    static func undecodable(
        _ key: EntityKey, _ type: Any.Type, _ problem: DecodingProblem, _ position: Position?
    ) -> TidemarkError {
        let place = position.map { " (\($0))" } ?? ""
        let advice =
            problem.isAbsence
            ? "add a migration, or make the property optional"
            : "change the property's type, or write its init(from:)"
        return TidemarkError(
            .undecodable, "\(key) can't be read as \(type): \(problem)\(place); \(advice)",
            key: key,
            position: position)
    }
}
