// SentFile.swift — a file of the user's as the content of an entity that a server knows by its
// path: it is the body of the entity's own write.

public import TidemarkEvents

extension ServerCall {
    /// The file of the user's that a write sends as the content of its entity; nil for none.
    public var file: ContentName? {
        let (collection, fields): (CollectionModel, [UInt8])
        switch self {
        case .create(let own, _, let body): (collection, fields) = (own, body)
        case .update(let own, _, _, let changes, _): (collection, fields) = (own, changes)
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .refetch, .read, .fetch,
            .delete, .perform, .reserve, .batch, .poll:
            return nil
        }
        guard let field = collection.tree?.content,
            let name = JSON.value(field, of: fields).flatMap({ ContentName($0) }), name.isFile
        else { return nil }
        return name
    }
}

extension ServerRequest {
    /// The body as the log has it: of a file its hash and its length.
    var loggedBody: [UInt8]? { file?.json.encoded() ?? body }
}
