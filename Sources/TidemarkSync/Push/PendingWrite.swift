// PendingWrite.swift — an entity's pending mutations as the one write that sends them.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// The write of an entity's pending mutations, and what it waits for.
package struct PendingWrite: Sendable, Hashable {
    /// The entity's key.
    package var key: EntityKey
    /// The id that the server uses.
    package var id: String
    /// Whether the server has the entity.
    package var isLive: Bool
    /// The server's version, where it is known.
    package var revision: Revision?
    /// The mutations that the write carries, in order.
    package var covers: [Position]
    /// What the server is to do, which comes before any write; nil for none.
    package var action: LocalRequested?
    /// The write; nil when there is nothing to send, or a version is needed and none is known.
    package var write: PushWrite?
    /// What is left out of it, as warnings.
    package var leftOut: [ServerIssue] = []
    /// Whether it sends an entity whole that the app took over without the version that the server
    /// gives it, and perhaps only in part.
    package var isUnread = false
    /// Whether the mutations were refused in an earlier run.
    package var wasRefused = false
    /// The entities that it refers to and that the server does not have yet; empty for a write that
    /// the model refuses.
    package var needs: [EntityKey] = []
    /// A reference by an id that the server can't know.
    package var stranded: StrandedReference?
    /// Whether what it would lie in, in a tree, is not there any more.
    package var isNowhere = false
    /// Whether the server is to do something with an entity of a tree by paths of which neither a
    /// list nor this device knows the path.
    package var isUnplaced = false
    /// The files that it names and that the server does not have.
    package var files: [UnsentFile] = []
    /// Whether the write has a precondition, where the server may ignore it.
    package var isConditional = false
    /// Whether it makes a file where the server has another one, as far as is known; counts only
    /// while it is not known whether the server heeds preconditions.
    package var isTaken = false
    /// Why it can't lie where it would, as the server has others there; nil where it can.
    package var clash: Clash?
    /// Of a folder that is to be deleted: when it was deleted here, and the path of what lies in it
    /// and was not seen here.
    package var deletedAt: Position?
    package var unseen: String?
    /// The path of what lies in it and the server does not show whole; nil where it shows all.
    package var unshown: String?

    /// What the server has in the way of an entity of a tree.
    package enum Clash: Sendable, Hashable {
        /// What it would lie in lies in it there.
        case circle
        /// Another one has its name.
        case name
        /// What it would lie in is to be made later.
        case itself
    }

    package init(
        _ key: EntityKey, id: String? = nil, isLive: Bool = false, revision: Revision? = nil,
        covers: [Position] = [], write: PushWrite? = nil
    ) {
        self.key = key
        self.id = id ?? key.id
        self.isLive = isLive
        self.revision = revision
        self.covers = covers
        self.write = write
    }
}

extension ServerTraits {
    /// Whether a write is conditional on the entity's version.
    package func isVersioned(_ collection: CollectionModel) -> Bool {
        hasVersions && collection.ids == .client && !collection.isByPath
    }
}

extension PendingWrite {
    /// The same without what the adapter leaves out of it.
    mutating func leaveOut(
        of row: EntityRow, _ collection: CollectionModel, by adapter: any ServerAdapter,
        _ views: ViewReader
    ) throws {
        guard adapter.traits.sentInPart.contains(collection.name), let write,
            let part = adapter.part(
                of: write.call(in: collection, id: id),
                on: try row.baseValue(in: collection).document, views.readableDocument)
        else { return }
        switch part.call {
        case .create(_, _, let body): self.write = .create(body: body)
        case .update(_, _, let body, let changes, let revision):
            self.write = .update(body: body, changes: changes, revision: revision)
        default: return
        }
        leftOut = part.leftOut
    }
}

extension PendingWrite {
    /// Notes whether the write is one of those that go with a precondition, where the server may
    /// ignore that: of anything but a folder, whether or not a version is known that it could name.
    fileprivate mutating func noteCondition(
        _ row: EntityRow, _ collection: CollectionModel, _ traits: ServerTraits
    ) throws {
        guard traits.triesPreconditions, let write else { return }
        let base = isLive ? try row.baseValue(in: collection).document : nil
        let document = try base ?? write.body.map { try JSONDocument(parsing: $0) }
        isConditional = document.map { collection.tree?.isFolder($0) == true } != true
    }
}

extension PendingWrite {
    /// Has an action of the server's make the entity of another one.
    fileprivate mutating func make(
        by action: LocalRequested, _ row: EntityRow, _ collection: CollectionModel,
        _ model: SyncModel, _ views: ViewReader
    ) throws {
        var texts = action.texts
        needs = try views.missingReferences(of: key, row, model)
        files = try views.unsentFiles(of: key, row, collection)
        stranded = try views.strandedReference(of: key, row, in: collection, model)
        if let field = collection.rule(of: action.action)?.source, let id = texts[field] {
            let source = try views.resolve(EntityKey(collection.name, id))
            let other = try views.entity(source) ?? EntityRow()
            if other.baseState == .live {
                texts[field] = try views.wireID(of: source, other, collection)
            } else if other.content != nil {
                needs.append(source)
            } else {
                stranded = StrandedReference(field: field, id: id)
            }
        }
        let document = try action.document.map { bytes in
            let own = try collection.read(JSONDocument(parsing: bytes))
            let made = try collection.partedFilesBelow(of: own.bytes)
            let part = try made.map { try JSONDocument(parsing: $0.rest) } ?? own
            let sent = try collection.sent(part, of: own).bytes
            return try views.referenceNames(of: key, collection, model).named(sent)
        }
        self.action = LocalRequested(action.action, texts, document: document)
    }
}

extension ViewReader {
    /// The write of an entity's pending mutations; nil where none can be sent: they were refused
    /// and wait for the user, the last write has no answer yet, the entity is hidden, or it ends
    /// with a folder that is to be deleted.
    ///
    /// - Parameter isRetried: whether it is sent also where it was refused.
    package func pendingWrite(
        _ candidate: PushCandidate, _ model: SyncModel, _ adapter: any ServerAdapter,
        isRetried: Bool
    ) throws -> PendingWrite? {
        let (key, traits) = (candidate.key, adapter.traits)
        guard var row = try entity(key), let collection = model[key.collection],
            row.attempt == nil, !row.isPlaceholder, !row.isHidden,
            isRetried || collection.retriesRefused || row.status != .error
        else { return nil }
        row = try whole(row, key)
        let next = try sendable(of: key, row, through: candidate.through, collection)
        guard !next.isEmpty || row.next.isEmpty else { return nil }
        var reader = TreeReader(collection)
        // It ends with the folder in which it lies.
        if try reader?.ending(of: key.id, self) != nil { return nil }
        let end = next.last?.position ?? row.pending.last?.position
        let isNowhere = try end.map { try reader?.isNowhere(key, through: $0, self) } == true
        guard var pending = try addressed(next, of: key, row, collection, isNowhere: isNowhere)
        else { return nil }
        let isVersioned = traits.isVersioned(collection)
        let action = row.nextAction
        if let action, action.document == nil {
            if try !waitsForTree(action, of: key, collection) { pending.action = action }
            return pending
        }
        if next.count < row.pending.count {
            row.pending = Array(next)
            row.current = try row.made(in: collection)
        }
        if let action {
            try pending.make(by: action, row, collection, model, self)
            return pending
        }
        // Without a version nothing can be written.
        if pending.isLive, pending.revision == nil, isVersioned { return pending }
        let base = try row.baseValue(in: collection)
        let write = try PushWrite(
            try row.changes(in: collection), on: base,
            revision: row.revision, id: pending.id, asIn: row.said, collection: collection,
            isVersioned: isVersioned, mergesLists: traits.mergesLists)
        guard let write else { return pending }
        pending.write = try write.naming(
            referenceNames(of: key, collection, model), asIn: base.document)
        guard collection.refusal(of: write.operation) == nil else { return pending }
        pending.isUnread =
            write.operation == .update && collection.updates == .whole && traits.hasVersions
            && row.isTakenOver && row.revision == nil
        if write.operation == .delete, collection.isByPath,
            let deletion = try folderDeletion(of: row, in: collection)
        {
            pending.deletedAt = deletion
            pending.unseen = try unseen(in: key, since: deletion, collection).map {
                try serverPath(of: $0, in: collection) ?? $0.id
            }
        }
        if write.operation != .delete {
            pending.clash = try end.flatMap {
                try reader?.clash(of: candidate, through: $0, collection, self)
            }
            pending.stranded = try strandedReference(
                of: key, row, in: collection, model, bundled: traits.bundled)
            pending.files = try unsentFiles(of: key, row, collection)
            if let file = pending.sentFile(in: collection), let field = collection.tree?.content {
                pending.files += try missing(file, in: field)
            }
        }
        try pending.leaveOut(of: row, collection, by: adapter, self)
        try pending.noteCondition(row, collection, traits)
        if pending.isConditional, !pending.isLive, let end, try preconditions() == nil {
            pending.isTaken = try reader?.isTaken(by: key, through: end, collection, self) == true
        }
        pending.needs = try missingReferences(of: key, row, model)
        // What is needed may itself wait for what comes before, as for a name.
        if !pending.needs.isEmpty, collection.tree != nil, next.count > 1, let first = next.first {
            var candidate = candidate
            candidate.through = first.position
            let earlier = try pendingWrite(candidate, model, adapter, isRetried: isRetried)
            if let earlier, earlier.needs.isEmpty, earlier.write != nil { return earlier }
        }
        return pending
    }

    /// A write without what it is to send, by the id or path that the server uses; nil where what
    /// the entity lies in is not there: a server that knows paths knows no other name of it.
    private func addressed(
        _ next: ArraySlice<EntityRow.Pending>, of key: EntityKey, _ row: EntityRow,
        _ collection: CollectionModel, isNowhere: Bool
    ) throws -> PendingWrite? {
        let last = next.last?.position
        let known =
            collection.isByPath ? try serverPath(of: key, in: collection, through: last) : nil
        let isUnplaced = try known == nil && !isNowhere && hasNoPlace(row, collection)
        let isRefused = collection.isByPath && isNowhere || isUnplaced
        let path = known ?? (isRefused ? key.id : nil)
        guard path != nil || !collection.isByPath else { return nil }
        var pending = PendingWrite(
            key, id: try path ?? wireID(of: key, row, collection, through: last),
            isLive: row.baseState == .live, revision: row.revision,
            covers: next.map(\.position))
        pending.wasRefused = row.status == .error
        pending.isNowhere = isNowhere
        pending.isUnplaced = isUnplaced
        return pending
    }

    /// Whether the server is to do something with an entity of a tree by paths that is not here,
    /// and that was not listed either.
    private func hasNoPlace(_ row: EntityRow, _ collection: CollectionModel) throws -> Bool {
        try collection.isByPath && row.nextAction != nil && row.baseState != .live
            && row.content == nil && watermark(PullTarget(collection.name)) != nil
    }

    /// What is pending on an entity, up to a position, as far as it goes as one write.
    private func sendable(
        of key: EntityKey, _ row: EntityRow, through last: Position?, _ collection: CollectionModel
    ) throws -> ArraySlice<EntityRow.Pending> {
        var next = row.next.prefix { $0.position <= last ?? $0.position }
        // What was moved through it has to find it there.
        if collection.tree != nil, row.isEntered, row.baseState != .live, next.count > 1,
            next.last?.kind == .delete
        {
            next = next.dropLast()
        }
        if let tree = collection.tree, tree.isByPath, row.baseState == .live,
            let base = try row.baseValue(in: collection).document
        {
            next = try Self.part(of: next, on: base, tree)
        }
        return next
    }

    /// The first of what is pending on an entity that a server which knows it by its path takes in
    /// one request; what ends in a deletion goes as one.
    ///
    /// - Parameter base: what the server has: of what was made here the part that a broken upload
    ///   left.
    private static func part(
        of next: ArraySlice<EntityRow.Pending>, on base: JSONDocument, _ tree: TreeRule
    ) throws -> ArraySlice<EntityRow.Pending> {
        guard next.count > 1, !next.contains(where: { $0.kind == .delete }) else { return next }
        var patches: [Patch] = []
        return try next.prefix { item in
            switch item.kind {
            case .update: patches.append(try Patch(parsing: item.payload))
            case .create:
                let made = try JSONDocument(parsing: item.payload)
                patches.append(Patch(set: Patch(from: base, to: made).set))
            case .delete, .carried, .action: break
            }
            return tree.isOnePart(patches)
        }
    }
}

extension TreeReader {
    /// What the server has in the way of an entity after the mutations up to a position.
    ///
    /// Whether a name is taken, a server that knows paths says by itself; where that is a folder in
    /// which the entity lies there, it says only that it can't be.
    fileprivate mutating func clash(
        of candidate: PushCandidate, through end: Position, _ collection: CollectionModel,
        _ views: ViewReader
    ) throws -> PendingWrite.Clash? {
        let key = candidate.key
        if candidate.waitsForItself {
            return try clashOfFirst(key, through: end, views)
        }
        if try liesInItsCopy(key.id, through: end, views) { return .itself }
        if try circle(of: key.id, through: end, views) != nil { return .circle }
        guard !collection.isByPath else {
            return try isHeldByPlace(of: key.id, through: end, views) ? .name : nil
        }
        return try isTaken(by: key, through: end, collection, views) ? .name : nil
    }

    /// The same for one that is made before what waits for it: here another one that the server has
    /// in its place may have left that.
    fileprivate mutating func clashOfFirst(
        _ key: EntityKey, through end: Position, _ views: ViewReader
    ) throws -> PendingWrite.Clash? {
        guard let spot = try newSpot(of: key.id, through: end, views) else { return nil }
        if let parent = spot.parent, try base(of: parent, views) == nil { return .itself }
        var isFound = false
        try views.forEachMutation(openOnly: true) { _, mutation in
            let other = mutation.key
            guard other.collection == key.collection, other != key else { return true }
            isFound = try base(of: other.id, views) == spot
            return !isFound
        }
        return isFound ? .name : nil
    }

    /// Whether the server has another entity where one would lie after the mutations up to a
    /// position, which make, move or rename it.
    fileprivate mutating func isTaken(
        by key: EntityKey, through end: Position, _ collection: CollectionModel, _ views: ViewReader
    ) throws -> Bool {
        guard let spot = try newSpot(of: key.id, through: end, views) else { return false }
        let above = spot.parent.map { EntityKey(collection.name, $0) }
        return try views.children(of: above, named: spot.name, in: collection).contains {
            try $0 != key && base(of: $0.id, views) == spot
        }
    }
}

extension PendingWrite {
    /// The file that the write sends as the entity's content; nil for none.
    func sentFile(in collection: CollectionModel) -> ContentName? {
        collection.tree?.content == nil ? nil : write?.call(in: collection, id: id).file
    }

    /// Whether it would replace a content of which no version is known that the server could be
    /// asked for: a weak one is no longer weak after a while.
    func isBlind(in collection: CollectionModel, _ standing: PushPlanner.Standing) -> Bool {
        guard isLive, sentFile(in: collection) != nil else { return false }
        guard let revision else { return true }
        return revision.isWeak && standing.conflicts == 0
    }
}
