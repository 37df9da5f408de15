// Journal+ContentDrop.swift — copies of files go because the user wants so.

package import TidemarkEvents
import TidemarkRules
import TidemarkStore

extension Journal {
    /// Takes back what somebody wants of an entity's files, and removes the copies that are here:
    /// says so in one commit, then unlinks them, and parts of what is not fetched any more.
    ///
    /// A file stays that is the user's and was not sent, that is being fetched or sent, that
    /// somebody else wants, or that stands in an open conflict.
    ///
    /// - Parameters:
    ///   - key: the entity, by the key that it keeps.
    ///   - fields: as they stand in the model's `contents`.
    ///   - by: who wants it no longer.
    ///   - now: by the device's clock.
    /// - Returns: how many were removed.
    package func dropContents(
        of key: EntityKey, _ fields: [String], by: String, at now: Timestamp
    ) throws -> Int {
        guard let files = contentFiles else {
            throw StoreError(.readOnly, during: "contents", detail: "the store is read-only")
        }
        let use = shared.contents
        let removed = try write(at: now) { draft in
            guard let collection = try draft.fold.known(key.collection)?.model,
                let document = try draft.fold.document(of: key)
            else { return [String]() }
            let wants = try draft.fold.contents(of: key).wants.filter { want in
                want.by == by && (want.field.isEmpty || fields.contains(want.field))
            }
            for want in wants {
                let wish = AssetWanted(
                    want.field, by: by, scope: want.isTree ? .tree : .entity, isWanted: false)
                try draft.append(
                    Event(.assetWanted, recordedAt: now, key: key, json: wish.encoded))
            }
            var removed: [String] = []
            for (field, name) in collection.contentNames(in: document)
            where fields.contains(field) {
                guard case .source(let text) = name,
                    let digest = try draft.fold.digest(of: ContentSource(key.collection, text)),
                    !removed.contains(digest), let row = try draft.fold.content(digest),
                    let standing = row.standing(digest, at: now), !standing.isWanted,
                    !standing.isOwn, !use.isInFlight(digest, row), try !draft.fold.isAtIssue(digest)
                else { continue }
                if let stored = row.stored {
                    use.forgetImport(of: digest, storedAt: stored.position, now)
                }
                try draft.append(.removed(digest, .user, cause: nil, now))
                removed.append(digest)
            }
            return removed
        }
        for digest in removed { unlink(digest, files) }
        // What stays of these goes with a sweep.
        _ = try? removeParts(files, at: now)
        return removed.count
    }
}
