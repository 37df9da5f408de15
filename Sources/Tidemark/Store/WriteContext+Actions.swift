// WriteContext+Actions.swift — what the server is to do with an entity, or to make of one.

public import TidemarkEvents
import TidemarkViews

extension WriteContext {
    /// Has the server do something with an entity: one of its collection's
    /// ``CollectionModel/actions``.
    ///
    /// It is a mutation like any other: sent with the next run, in its place among the entity's
    /// edits, with one outcome; refused, sent again and given up as they are. What comes behind a
    /// refused one waits with it. Nothing of the entity changes here, and it need not be here; but
    /// in a tree by paths, ``CollectionModel/TreeRule/isByPath``, it is refused, with an issue,
    /// once a list of everything does not have the entity either. Where the answer is lost it is
    /// sent once more, so that the server may do it twice.
    ///
    /// - Parameters:
    ///   - action: the action's name.
    ///   - key: the entity.
    ///   - parameters: what the action needs, by name.
    /// - Returns: the position of the event.
    /// - Throws: ``TidemarkError``: `noModel` where the collection has no such action,
    ///   `invalidKey`, `tooLarge`, `notFound` for a placeholder, and `invalidDocument` for an
    ///   action that makes an entity: ``request(_:making:_:parameters:)``.
    @discardableResult
    public func request(
        _ action: String, of key: EntityKey, parameters: [String: String] = [:]
    ) throws -> Position {
        let (key, collection) = try check(key)
        if let source = try rule(of: action, key, collection.model).source {
            throw TidemarkError(
                .invalidDocument,
                "\(action) makes an entity of the one that \(source) names: say of the new one "
                    + "what it is to be, request(_:making:_:parameters:)", key: key)
        }
        return try append(.localRequested, key, LocalRequested(action, parameters).encoded)
    }

    /// Has the server make an entity of another one, as a copy of it is made: an action with a
    /// ``CollectionModel/ActionRule/source``.
    ///
    /// The new entity is here at once, and is as one that was made here: sent by itself, after what
    /// is pending on the other one, and read back where the answer is lost. Edits of it come after
    /// it. One that the server refused can be sent again or given up; an edit mends nothing of it.
    ///
    /// - Parameters:
    ///   - action: the action's name.
    ///   - key: the new entity, of the same collection as the other one.
    ///   - document: what it is to be; of a tree, with where it is to lie.
    ///   - parameters: what the action needs, by name, the id of the other entity among it.
    /// - Returns: the position of the event.
    /// - Throws: ``TidemarkError``: `noModel` where the collection has no such action,
    ///   `alreadyExists`, `notFound` where there is nothing to make it of, `invalidDocument` for
    ///   an action that makes none, and what ``create(_:_:)`` throws.
    @discardableResult
    public func request(
        _ action: String, making key: EntityKey, _ document: [UInt8],
        parameters: [String: String]
    ) throws -> Position {
        let (key, collection) = try check(key)
        let field = try rule(of: action, key, collection.model).source
        guard let field else {
            throw TidemarkError(
                .invalidDocument,
                "\(action) makes no entity: in the model it has no source", key: key)
        }
        try checkMade(document, key, collection)
        let source = EntityKey(key.collection, parameters[field] ?? "")
        guard source.isValid, try self.document(source) != nil else {
            let named = parameters[field].map { "names \"\($0)\", which is not here" }
            throw TidemarkError(
                .notFound, "\(key): \(field) \(named ?? "is needed, an id")", key: key)
        }
        if let tree = collection.model.tree {
            try checkCopy(of: source, JSONDocument(parsing: document), key, collection.model, tree)
        }
        return try append(
            made: document, by: LocalRequested(action, parameters), key, collection.model)
    }

    /// Refuses a copy of an entity of a tree that lies in the entity itself, or with a content.
    private func checkCopy(
        of source: EntityKey, _ document: JSONDocument, _ key: EntityKey,
        _ collection: CollectionModel, _ tree: CollectionModel.TreeRule
    ) throws {
        if let content = tree.content, document.rawValue(content) != nil {
            throw TidemarkError(
                .invalidDocument,
                "\(key): it gets the content of what it is made of; leave \(content) out, and "
                    + "edit it after that", key: key)
        }
        guard let id = document.ids(in: tree.parent).first else { return }
        let parent = try draft.fold.resolve(EntityKey(key.collection, id))
        let own = try draft.fold.resolve(source)
        guard try draft.fold.isInside(parent, own, in: collection) else { return }
        throw TidemarkError(.invalidDocument, "\(own) can't be copied into itself", key: key)
    }

    private func rule(
        of action: String, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> CollectionModel.ActionRule {
        if let rule = collection.rule(of: action) { return rule }
        let names = collection.actions.map(\.name).joined(separator: ", ")
        throw TidemarkError(
            .noModel,
            "\(key.collection) has no action \(action) in the model; it has "
                + (names.isEmpty ? "none" : names), key: key)
    }
}
