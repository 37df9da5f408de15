// ConflictRule+Entities.swift — conflict rules over the app's own types.

public import TidemarkEvents

/// A conflict over one entity that both sides changed.
public struct EntityConflict<T: Entity>: Sendable {
    /// The entity as the server last had it before both changed it; nil when there was none.
    public var base: T?
    /// The local entity; nil when it was deleted here.
    public var mine: T?
    /// The server's current entity; nil when it was deleted there.
    public var theirs: T?
    /// Both sides, merged field by field; nil where one of them deleted the entity, and where the
    /// merge can't be read as the type.
    ///
    /// It is the server's entity with all that only the local side changed since ``base``. An
    /// answer begins with it: what it leaves out of the local side is given up.
    public var merged: T?
    /// The three as documents, with the fields that pending changes touch, and both sides' times.
    public var documents: ConflictCase
}

/// A rule's decision of a conflict between entities.
@nonexhaustive public enum EntityConflictAnswer<T: Entity>: Sendable {
    /// The server's version wins; the conflicting mutations are superseded and reported.
    case theirs
    /// The local changes are applied to the server's version and sent again.
    case mine
    /// The entity becomes this value, and is sent.
    ///
    /// Fields that the type does not know are merged: what only the local side changed is as it is
    /// here, all else as the server has it. If the server deleted the entity, they are as they were
    /// here.
    case entity(T)
}

extension ConflictRule {
    /// A conflict rule over the app's own type.
    ///
    /// ```swift
    /// ConflictRule(name: "allTags", for: Note.self) { conflict in
    ///     guard var note = conflict.merged, let mine = conflict.mine else { return .theirs }
    ///     note.tags += mine.tags.filter { !note.tags.contains($0) }
    ///     return .entity(note)
    /// }
    /// ```
    ///
    /// If a side can't be read as the type, the rule fails as if it had thrown: the server's record
    /// is not taken in, and the collection is paused.
    public init<T: Entity>(
        name: String, version: Int = 1, for type: T.Type,
        decide: @escaping @Sendable (EntityConflict<T>) throws -> EntityConflictAnswer<T>
    ) {
        self.init(name, version) { question, collection in
            guard question.key.collection == T.collection else {
                throw TidemarkError(
                    .invalidKey,
                    "the rule \(name) decides conflicts of \(T.collection), not of \(question.key)")
            }
            let reader = EntityReader(type, in: collection)
            func read(_ document: [UInt8]?) throws -> T? {
                try document.map { try reader.entity(question.key, $0) }
            }
            let merged = question.merged
            let conflict = EntityConflict(
                base: try read(question.base), mine: try read(question.local),
                theirs: try read(question.server), merged: try? read(merged),
                documents: question)
            switch try decide(conflict) {
            case .theirs: return .server
            case .mine: return .local
            case .entity(let entity):
                return .document(try conflict.document(entity, over: merged, collection))
            }
        }
    }
}

extension EntityConflict {
    /// The document of an answer: its differences from the merged entity, applied to the merged
    /// document.
    ///
    /// - Parameter together: the merged document.
    fileprivate func document(
        _ entity: T, over together: [UInt8]?, _ collection: CollectionModel
    ) throws -> [UInt8] {
        guard T.key(entity.id) == documents.key else {
            throw TidemarkError(
                .invalidKey, "\(documents.key) was given the id \"\(entity.id)\"",
                key: documents.key)
        }
        let start = merged == nil ? nil : together
        guard let before = merged ?? theirs ?? mine,
            let bytes = start ?? documents.server ?? documents.local
        else {
            return try EntityCoding.document(entity, in: collection)
        }
        let document = try JSONDocument(parsing: bytes)
        let old = try EntityCoding.encode(before, in: collection)
        let new = try EntityCoding.encode(entity, in: collection)
        try EncodedNode.keepNames(of: document, in: [old, new])
        let difference = try EntityDifference(
            from: old, to: new, in: collection, present: old)
        let patch = try difference.patch(of: document, documents.key)
        return patch.applied(to: document, collection.keyed)
    }
}
