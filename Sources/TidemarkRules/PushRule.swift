// PushRule.swift — what has to be sent so that the server gets an entity's pending changes.

package import TidemarkEvents

/// The one write that carries all pending changes of an entity.
package enum PushWrite: Sendable, Hashable {
    /// The entity must not exist on the server.
    case create(body: [UInt8])
    /// The entity must still be of that version.
    case update(body: [UInt8], revision: Revision)
    /// The entity must still be of that version.
    case delete(revision: Revision)

    /// Raised whenever the same entity would be sent differently.
    package static let version = 1

    /// Decides; nil when there is nothing to send.
    ///
    /// The server's last-change field is left out of a body; the id stays in, and is added where
    /// the document lacks it.
    package init?(
        _ pending: [PendingChange], on base: Base, revision: Revision?, id: String,
        collection: CollectionModel
    ) throws(JSONError) {
        guard !pending.isEmpty else { return nil }
        guard case .document(let bytes) = try Current(pending, on: base) else {
            guard base.isLive, let revision else { return nil }
            self = .delete(revision: revision)
            return
        }
        var document = try JSONDocument(parsing: bytes)
        var patch = Patch()
        if let field = collection.lastChangeField, document.rawValue(field) != nil {
            patch.unset = [field]
        }
        if document.value(collection.idField) != .string(id) {
            patch.set = [Patch.Field(collection.idField, JSONValue.string(id).encoded())]
        }
        if !patch.isEmpty { document = try JSONDocument(parsing: patch.applied(to: document)) }
        if base.isLive, let revision {
            self = .update(body: document.bytes, revision: revision)
        } else {
            self = .create(body: document.bytes)
        }
    }
}
