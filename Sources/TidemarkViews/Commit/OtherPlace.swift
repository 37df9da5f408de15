// OtherPlace.swift — where an entity of a tree goes that would lie in what is not there any more,
// when the user keeps it: it stays where the server has it, or goes to the root.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// A document that is made here again, at the root and under a free name where its folder is
    /// gone.
    ///
    /// - Parameter date: the server's time.
    package func placed(
        _ document: JSONDocument, in collection: CollectionModel, at date: Timestamp
    ) throws -> [UInt8] {
        guard let tree = collection.tree, let id = document.ids(in: tree.parent).first,
            try folder(EntityKey(collection.name, id), tree) == nil
        else { return document.bytes }
        let patch = try atRoot(document, tree, collection, at: date)
        return patch.applied(to: document, collection.keyed)
    }

    /// The edit by which an entity lies at the root that would lie in what is not there any more;
    /// nil where it has a place.
    package func otherPlace(
        for key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> Patch? {
        let row = try entity(key)
        guard let tree = collection.tree, let last = row.pending.last,
            try isNowhere(key, through: last.position, in: collection),
            let document = row.treeDocument(in: collection)
        else { return nil }
        return try atRoot(document, tree, collection, at: date)
    }

    /// What is done anew, in order, where what an entity would lie in was moved into the entity on
    /// the server: that gets out of it first, to where the entity was, or to the root; nil where it
    /// was not.
    ///
    /// - Parameter date: the server's time.
    package func outOfCircle(
        _ key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> (first: EntityKey, place: Patch, then: [ChangeAnew])? {
        let row = try entity(key)
        guard let tree = collection.tree, let last = row.pending.last,
            var reader = TreeReader(collection),
            let inner = try reader.circle(of: key.id, through: last.position, self),
            let base = try row.baseValue(in: collection).document
        else { return nil }
        let first = EntityKey(collection.name, inner)
        guard let document = try entity(first).treeDocument(in: collection),
            let name = document.value(tree.name)?.stringValue
        else { return nil }
        let items = try row.changesOfUse.compactMap { try $0.element.anew(on: base, without: []) }
        guard try hasPlace(base, in: collection, tree) else {
            // Where the entity was it is not seen.
            return (
                first, try atRoot(document, tree, collection, at: date), items.map(\.unseen)
            )
        }
        let above = try treeSpot(base, in: collection.name, tree).parent
        let folder = above.map { EntityKey(collection.name, $0) }
        var place = Patch()
        if let above {
            place.set.append(Patch.Field(tree.parent, JSONValue.string(above).encoded()))
        } else {
            place.unset = [tree.parent]
        }
        if try child(of: folder, named: name, in: collection) != nil {
            let free = try NameBeside(name, isFolder: tree.isFolder(document)).next(at: date) {
                try child(of: folder, named: $0, in: collection) != nil
            }
            place.set.append(Patch.Field(tree.name, JSONValue.string(free).encoded()))
        }
        return (first, place, items)
    }

    /// What is done anew of what is pending on an entity that would lie in what is not there any
    /// more, in what waits for it, or in what is deleted here and lies in it there; nil where
    /// nothing is, or where ``otherPlace(for:in:at:)`` is edited behind it.
    ///
    /// It stays where the server has it, if that has a place. If not, an edit can't help what is
    /// sent before it, by an action that comes between: then it is all done anew.
    package func anew(
        _ key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> [ChangeAnew]? {
        let row = try entity(key)
        guard let tree = collection.tree, var reader = TreeReader(collection) else { return nil }
        let waits =
            try waitsForItself(key, in: collection) || isAboveDeleted(key, row, &reader)
        let stranded = try row.pending.map {
            try waits || reader.isNowhere(key, through: $0.position, self)
        }
        guard let first = stranded.firstIndex(of: true) else { return nil }
        let base = row.baseState == .live ? try row.baseValue(in: collection).document : nil
        if let base, try hasPlace(base, in: collection, tree) {
            return try row.changesOfUse.compactMap { index, item in
                try item.anew(on: base, without: stranded[index] ? [tree.parent] : [])
            }
        }
        guard waits || row.pending[first...].contains(where: \.isSentAlone),
            let document = row.treeDocument(in: collection)
        else { return nil }
        guard stranded.last == true else { return try row.anew(as: document, in: collection, tree) }
        let place = try atRoot(document, tree, collection, at: date)
        let placed = try JSONDocument(parsing: place.applied(to: document, collection.keyed))
        return try row.anew(as: placed, in: collection, tree)
    }

    /// What is done anew of what is pending on an entity that gets another name; nil where an edit
    /// behind it is enough.
    package func anew(
        _ key: EntityKey, named name: Patch, in collection: CollectionModel
    ) throws -> [ChangeAnew]? {
        let row = try entity(key)
        guard let tree = collection.tree, let document = row.treeDocument(in: collection),
            let refused = row.pending.firstIndex(where: \.isRefused),
            try row.pending[refused...].contains(where: \.isSentAlone)
                || waitsForItself(key, in: collection)
        else { return nil }
        let named = try JSONDocument(parsing: name.applied(to: document, collection.keyed))
        return try row.anew(as: named, in: collection, tree)
    }

    /// Whether an entity would lie in what is deleted here and was moved into it on the server.
    private func isAboveDeleted(
        _ key: EntityKey, _ row: EntityRow, _ reader: inout TreeReader
    ) throws -> Bool {
        guard let last = row.pending.last,
            let inner = try reader.circle(of: key.id, through: last.position, self)
        else { return false }
        let other = try entity(EntityKey(key.collection, inner))
        return other.endsDeleted || other.isOrphan
    }

    /// Whether what a document says that its entity lies in is there.
    private func hasPlace(
        _ document: JSONDocument, in collection: CollectionModel, _ tree: TreeRule
    ) throws -> Bool {
        guard let id = document.ids(in: tree.parent).first else { return true }
        return try folder(EntityKey(collection.name, id), tree) != nil
    }

    private func isNowhere(
        _ key: EntityKey, through position: Position, in collection: CollectionModel
    ) throws -> Bool {
        var reader = TreeReader(collection)
        return try reader?.isNowhere(key, through: position, self) ?? false
    }

    private func atRoot(
        _ document: JSONDocument, _ tree: TreeRule, _ collection: CollectionModel,
        at date: Timestamp
    ) throws -> Patch {
        guard !document.ids(in: tree.parent).isEmpty else { return Patch() }
        var patch = Patch(unset: [tree.parent])
        guard let name = document.value(tree.name)?.stringValue,
            try child(of: nil, named: name, in: collection) != nil
        else { return patch }
        let free = try NameBeside(name, isFolder: tree.isFolder(document)).next(at: date) {
            try child(of: nil, named: $0, in: collection) != nil
        }
        patch.set = [Patch.Field(tree.name, JSONValue.string(free).encoded())]
        return patch
    }
}

extension RowReading {
    /// The document by which an entity is made on the server again that is not there any more; nil
    /// of a file whose content is not here.
    ///
    /// In a tree by paths the server gives it another id, and its content is sent from here.
    package func madeAgain(
        _ document: [UInt8], in collection: CollectionModel
    ) throws -> [UInt8]? {
        guard collection.isByPath, let tree = collection.tree else { return document }
        let known = try JSONDocument(parsing: document)
        var fields: [(key: String, value: [UInt8])] = []
        if let field = tree.content, let name = known.value(field).flatMap({ ContentName($0) }),
            !name.isFile
        {
            guard let digest = try digest(of: name, in: collection.name),
                let stored = try content(digest)?.stored
            else { return nil }
            let own = ContentName.file(sha256: digest, bytes: Int(clamping: stored.bytes))
            fields = [(key: field, value: own.json.encoded())]
        }
        return known.applying(set: fields, unset: tree.serverID.map { [$0] } ?? [])
    }
}

/// A change that was pending, and is made anew after all that was pending is given up.
package enum ChangeAnew: Sendable, Hashable {
    case create([UInt8])
    /// An edit that has an entity lie elsewhere that is not seen where it lies.
    case place(Patch)
    case edit(Patch)
    case request(LocalRequested)

    /// The same of an entity that is not seen.
    fileprivate var unseen: ChangeAnew {
        if case .edit(let patch) = self { .place(patch) } else { self }
    }
}

extension EntityRow {
    /// What of the pending mutations is made anew, by their places: what comes before a creation
    /// is not in it.
    fileprivate var changesOfUse: [(offset: Int, element: Pending)] {
        let last = pending.lastIndex { $0.kind == .create } ?? 0
        return pending.enumerated().filter { index, item in
            item.isAction || !item.isDerived && index >= last
        }
    }

    /// All that is pending, with the entity from the first change on where a document says; nil
    /// where nothing makes it.
    fileprivate func anew(
        as placed: JSONDocument, in collection: CollectionModel, _ tree: TreeRule
    ) throws -> [ChangeAnew]? {
        let items = changesOfUse.map(\.element)
        var fields = [tree.parent, tree.name]
        if baseState == .live, let base = try baseValue(in: collection).document {
            return try [.place(Patch(from: base, to: placed).limited(to: fields))]
                + items.compactMap { try $0.anew(on: base, without: fields) }
        }
        guard let head = items.first(where: { !$0.isAction }) else { return nil }
        if let content = tree.content {
            // A file is made with a content of this store's only.
            if let value = placed.value(content), ContentName(value)?.isFile != true { return nil }
            fields.append(content)
        }
        let made = try JSONDocument(parsing: made(through: head.position, in: collection))
        let place = Patch(from: made, to: placed).limited(to: fields)
        let bytes = place.applied(to: made, collection.keyed)
        var creation = ChangeAnew.create(bytes)
        if var requested = head.requested {
            requested.document = bytes
            creation = .request(requested)
        }
        return try [creation]
            + items.filter { $0.position != head.position }.compactMap {
                try $0.anew(on: made, without: fields)
            }
    }
}

extension EntityRow.Pending {
    /// The same change without some fields; nil where nothing is left of it.
    ///
    /// - Parameter base: what a creation changes.
    func anew(on base: JSONDocument, without fields: [String]) throws -> ChangeAnew? {
        if isAction { return requested.map { .request($0) } }
        let patch: Patch
        switch kind {
        case .update: patch = try Patch(parsing: payload)
        case .create: patch = Patch(from: base, to: try JSONDocument(parsing: payload))
        case .delete, .carried, .action: return nil
        }
        let rest = fields.reduce(patch) { $0.without($1) }
        return rest.isEmpty ? nil : .edit(rest)
    }
}

extension Patch {
    /// What it does to some fields.
    fileprivate func limited(to fields: [String]) -> Patch {
        let names = Set(fields.map(ExactString.init))
        return Patch(
            set: set.filter { names.contains(ExactString($0.name)) },
            unset: unset.filter { names.contains(ExactString($0)) })
    }
}
