// FoldContents.swift — the rule `contents`: which files entities name, who wants them, and which
// are stored (ContentRows.swift).
//
// Each entity has a row of what it names; where that changes, so do the counts in the rows of the
// names and of the files. So the counts depend on the entities alone, and no walk over them is
// needed to know what nothing references.

package import TidemarkEvents
import TidemarkRules

/// Counts which files entities name.
struct FoldContents: FoldRule {
    let name = "contents"
    let moments: FoldMoments = .meet

    func isRule(of collection: CollectionModel) -> Bool { !collection.contents.isEmpty }

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let above = try fold.noteContents(of: entity.key, entity.row, entity.collection, position)
        try fold.forgetSends(below: entity.key, entity.row, entity.collection)
        try fold.noteWantsAbove(
            of: entity.key, entity.row, entity.collection, known: above, position)
    }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let model = try fold.model()
        let names = before.collections.map(\.name) + model.collections.map(\.name)
        for name in Set(names).sorted() {
            let collection = model[name] ?? CollectionModel(name)
            let fields = collection.contents.map(\.field)
            let isReadOtherwise =
                !fields.isEmpty
                && (before[name]?.migrations != collection.migrations
                    || before[name]?.contents.map(\.upload) != collection.contents.map(\.upload)
                    || (before[name]?.tree == nil) != (collection.tree == nil))
            // What is held without a rule may be named no longer.
            let holdsWithout = try fields.isEmpty && fold.hasContents(of: name)
            guard
                isReadOtherwise || holdsWithout
                    || fields != (before[name]?.contents ?? []).map(\.field)
            else {
                if collection.contents.map(\.when) != before[name]?.contents.map(\.when) {
                    try fold.noteFetches(of: name)
                }
                if collection.tree?.parent != before[name]?.tree?.parent {
                    try fold.spreadAllWants(in: collection, position)
                }
                continue
            }
            // What was named before, and what is named now.
            try fold.noteKnownContents(in: collection, position)
            var keys: [EntityKey] = []
            if !fields.isEmpty {
                try fold.forEachEntity(in: name) { key, _ in
                    keys.append(key)
                    return true
                }
            }
            for key in keys {
                try fold.noteContents(of: key, try fold.entity(key), collection, position)
            }
            try fold.spreadAllWants(in: collection, position)
            // Also of what is named as before.
            try fold.noteFetches(of: name)
            try fold.noteSends(of: name)
        }
    }
}

extension Fold {
    // MARK: Entities

    /// Notes what an entity names now.
    ///
    /// - Returns: the fields of which the files are wanted with all that lies in an entity above.
    @discardableResult
    fileprivate func noteContents(
        of key: EntityKey, _ row: EntityRow, _ collection: CollectionModel, _ position: Position
    ) throws -> [String] {
        var above: [String] = []
        try change(contentsOf: key, position) { contents in
            let names = row.contentNames(in: collection)
            contents.names = names + row.heldNames(contents.names, beside: names, in: collection)
            above = contents.above
        }
        return above
    }

    /// Notes anew what entities of a collection were known to name.
    fileprivate func noteKnownContents(
        in collection: CollectionModel, _ position: Position
    ) throws {
        let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: collection.name)
        for (place, _) in try ledgerRows(prefix) {
            guard let known = place.entityOfContents else { continue }
            let key = try resolve(known)
            if key != known { try moveNames(from: known, to: key, position) }
            try noteContents(of: key, entity(key), collection, position)
        }
    }

    /// Has an entity name what another one did that is merged into it.
    private func moveNames(
        from other: EntityKey, to key: EntityKey, _ position: Position
    ) throws {
        let names = try get(.contents(of: other)).map { try EntityContentsRow(parsing: $0) }?.names
        guard let names, !names.isEmpty else { return }
        try change(contentsOf: key, position) { $0.add(names) }
        try change(contentsOf: other, position) { $0.names = [] }
    }

    /// Has what somebody wants of an entity be wanted of another one, into which it was merged.
    func moveWants(
        from other: EntityKey, to key: EntityKey, _ position: Position
    ) throws {
        let row = try get(.contents(of: other)).map { try EntityContentsRow(parsing: $0) }
        guard let row, !row.wants.isEmpty else { return }
        // With what it names, which would else be let go.
        try change(contentsOf: key, position) { contents in
            contents.add(row.names)
            for want in row.wants { contents.add(want) }
        }
        try change(contentsOf: other, position) { ($0.names, $0.wants) = ([], []) }
        guard row.wants.contains(where: \.isTree) else { return }
        put(.treeWants(other), nil)
        put(.treeWants(key), [1])
        guard let collection = try known(key.collection)?.model else { return }
        try spreadWants(below: key, collection, position)
    }

    /// `asset.wanted`: somebody wants what an entity names, or no longer does.
    func wanted(_ event: Event, _ wish: AssetWanted, _ position: Position) throws {
        guard let named = event.key else { return }
        let key = try resolve(named)
        var (wasTree, isTree) = (false, false)
        try change(contentsOf: key, position) { contents in
            wasTree = contents.wants.contains(where: \.isTree)
            defer { isTree = contents.wants.contains(where: \.isTree) }
            let want = EntityContentsRow.Want(
                field: wish.field, by: wish.by, isTree: wish.scope == .tree)
            contents.wants.removeAll { $0.isSame(as: want) }
            if wish.isWanted { contents.add(want) }
        }
        guard wasTree || isTree else { return }
        if wasTree != isTree { put(.treeWants(key), isTree ? [1] : nil) }
        guard let collection = try known(key.collection)?.model else { return }
        try spreadWants(below: key, collection, position)
    }

    /// Changes the row of an entity, and the counts of what it names with it.
    func change(
        contentsOf key: EntityKey, _ position: Position,
        _ change: (inout EntityContentsRow) -> Void
    ) throws {
        let place = RowKey.contents(of: key)
        let before = try get(place).map { try EntityContentsRow(parsing: $0) }
        var after = before ?? EntityContentsRow()
        change(&after)
        guard after != before ?? EntityContentsRow() else { return }
        put(place, after.isEmpty ? nil : after.encoded)
        let old = Counted.all(before, key.collection)
        let new = Counted.all(after, key.collection)
        let (wasThere, isThere) = (Set(old), Set(new))
        // What is added comes first: what is known of a file goes with the last who names it.
        for counted in new where !wasThere.contains(counted) { try count(counted, 1, key) }
        let names = Set(new.map(\.source))
        for counted in old where !isThere.contains(counted) {
            try count(counted, -1, key, isNamed: names.contains(counted.source))
        }
        guard let before, !before.above.isEmpty || before.wants.contains(where: \.isTree)
        else { return }
        for named in before.names where !named.isFile {
            guard before.wantsInTree(named.field), !after.wants(named.field),
                names.contains(ExactString(named.text))
            else { continue }
            try letGo(ContentSource(key.collection, named.text), position)
        }
    }

    /// One name of an entity, as it is counted.
    private struct Counted: Hashable {
        var named: EntityContentsRow.Named
        var hold: ContentHold

        /// The text by which it names a file of the server's; nil for one of the user's.
        var source: ExactString? { named.isFile ? nil : ExactString(named.text) }

        static func all(_ row: EntityContentsRow?, _ collection: CollectionName) -> [Counted] {
            guard let row else { return [] }
            return row.names.map { named in
                Counted(
                    named: named,
                    hold: ContentHold(
                        field: ContentField(collection, named.field), references: 1,
                        wanted: row.wants(named.field) ? 1 : 0,
                        sends: named.isToBeSent ? 1 : 0,
                        asked: row.asksFor(named.field) ? 1 : 0))
            }
        }
    }

    /// Not inlined: with tests enabled the optimizer of Swift 6.3 fails on what it would become.
    ///
    /// - Parameter isNamed: whether the entity names the source still, or by another field.
    @inline(never)
    private func count(
        _ counted: Counted, _ factor: Int, _ key: EntityKey, isNamed: Bool = true
    ) throws {
        let hold = counted.hold
        guard !counted.named.isFile else {
            guard ContentRow.isNoted(counted.named.text) else { return }
            try change(content: counted.named.text) { $0.own.add(hold, times: factor) }
            let source = ContentSource(
                sending: counted.named.text, for: key, try model()[key.collection])
            return try noteSend(source, factor > 0 ? key : nil)
        }
        let source = ContentSource(hold.field.collection, counted.named.text)
        var digest = ""
        let isInTree = try known(source.collection)?.model.tree != nil
        try change(source) { entry in
            let count = entry.holds.reduce(0) { $0 + $1.references }
            entry.holds.add(hold, times: factor)
            if !isInTree {
                entry.namers = []
            } else if factor > 0 {
                entry.noteNamer(key.id, beside: count)
            } else if !isNamed {
                entry.namers.removeAll { ExactString($0) == ExactString(key.id) }
            }
            if factor > 0 {
                entry.entity = key.id
            } else if entry.entity == key.id, !isNamed {
                entry.entity = ""
            }
            digest = entry.digest
        }
        guard !digest.isEmpty else { return }
        try change(content: digest) { $0.holds.add(hold, times: factor) }
    }

    // MARK: Files

    /// `asset.stored`: a file is there, perhaps in the place of another one of its source.
    func stored(_ event: Event, _ asset: AssetStored, _ position: Position) throws {
        guard let collection = event.collection, ContentRow.isNoted(asset.digest) else { return }
        try change(content: asset.digest) { row in
            let usedAt = row.stored?.usedAt
            row.stored = ContentRow.Stored(
                bytes: asset.bytes, position: position, at: event.recordedAt)
            row.stored?.usedAt = usedAt
            row.stored?.revision = event.revision
            row.stored?.isImported = asset.origin == .imported
            row.isLost = false
        }
        guard !asset.source.isEmpty else {
            // It is here again: no edit tells of those who name it.
            guard event.cause == nil else { return }
            return try noteNaming(asset.digest, content(asset.digest)?.own ?? [], position)
        }
        let source = ContentSource(collection, asset.source)
        try link(source, to: asset.digest)
        // The event names one of those who name it.
        try noteNaming(source, position, isNamed: true)
    }

    /// Notes that a source is a file that is here, perhaps in the place of another one.
    func link(_ source: ContentSource, to digest: String) throws {
        var (before, holds): (String, [ContentHold]) = ("", [])
        try change(source) { entry in
            (before, holds) = (entry.digest, entry.holds)
            entry.digest = digest
            entry.fetch.first = nil
        }
        guard before != digest else { return }
        if !before.isEmpty {
            try change(content: before) { row in
                row.sources.removeAll { $0 == source }
                for hold in holds { row.holds.add(hold, times: -1) }
            }
        }
        try change(content: digest) { row in
            row.sources.append(source)
            for hold in holds { row.holds.add(hold) }
        }
    }

    /// A document of which the content was sent, with the name that it has from then on.
    ///
    /// - Parameter name: by what documents name it; nil where no version is known.
    func naming(
        _ name: String?, in document: [UInt8], _ collection: CollectionModel
    ) throws -> [UInt8] {
        guard let name, let field = collection.tree?.content,
            case .file(let digest, _)? = JSON.value(field, of: document).flatMap({
                ContentName($0)
            })
        else { return document }
        if ContentRow.isNoted(digest),
            try get(.content(digest)).map({ try ContentRow(parsing: $0) })?.stored != nil
        {
            try link(ContentSource(collection.name, name), to: digest)
        }
        return try JSONDocument(parsing: document).applying(
            set: [(field, JSONValue.string(name).encoded())])
    }

    /// `asset.removed`: a file is not there any more; who references it still does.
    func removed(_ asset: AssetRemoved, _ position: Position) throws {
        guard ContentRow.isNoted(asset.digest), let known = try content(asset.digest) else {
            return
        }
        // Without a rule it was not noted who names it no longer.
        for name in Set(known.own.map(\.field.collection)).sorted() {
            let collection = try self.known(name)?.model ?? CollectionModel(name)
            guard collection.contents.isEmpty else { continue }
            try noteKnownContents(in: collection, position)
        }
        let row = try content(asset.digest) ?? known
        for source in row.sources { try noteNaming(source, position) }
        try noteNaming(asset.digest, row.own, position)
        for source in row.sources { try change(source) { $0.digest = "" } }
        try change(content: asset.digest) { row in
            row.isLost = asset.reason == .missing || asset.reason == .damaged
            row.stored = nil
            row.sources = []
            row.holds = []
        }
    }

    /// `asset.used`.
    func used(_ event: Event, _ asset: AssetUsed) throws {
        guard ContentRow.isNoted(asset.digest),
            try get(.content(asset.digest)) != nil
        else { return }
        try change(content: asset.digest) { row in
            row.stored?.usedAt = event.recordedAt
            // What is used by itself is no copy that was there for a folder's sake.
            row.stored?.letGoAt = nil
        }
    }

    func change(content digest: String, _ change: (inout ContentRow) -> Void) throws {
        let place = RowKey.content(digest)
        let before = try get(place).map { try ContentRow(parsing: $0) }
        var after = before ?? ContentRow()
        change(&after)
        if after.stored?.letGoAt != nil, after.isWanted { after.stored?.letGoAt = nil }
        guard after != before ?? ContentRow() else { return }
        put(place, after.isEmpty ? nil : after.encoded)
        if (before?.stored?.letGoAt == nil) != (after.stored?.letGoAt == nil) {
            put(.letGo(digest), after.stored?.letGoAt == nil ? nil : [1])
        }
        func isFree(_ row: ContentRow?) -> Bool {
            row.map { $0.stored != nil && !$0.isReferenced } ?? false
        }
        guard isFree(before) != isFree(after) else { return }
        put(.unreferencedContent(digest), isFree(after) ? [1] : nil)
    }

    func change(
        _ source: ContentSource, _ change: (inout ContentNamesRow.Entry) -> Void
    ) throws {
        let place = RowKey.contentNames(source)
        var row = try get(place).map { try ContentNamesRow(parsing: $0) } ?? ContentNamesRow()
        var entry = row[source.text] ?? ContentNamesRow.Entry(source.text)
        let (told, wasAsked) = (entry.fetch.told, entry.isAsked)
        change(&entry)
        if entry.isAsked, !wasAsked, entry.fetch.call == nil {
            // Whoever asks for it is not to wait because it failed for somebody else.
            entry.fetch.progress.forgetFailures()
            entry.fetch.pause = nil
        }
        if !entry.isAsked || !entry.digest.isEmpty { entry.fetch.told = nil }
        if let told, entry.fetch.told != told { put(.unfetched(told), nil) }
        try noteDue(&entry, source)
        row[source.text] = entry.isEmpty ? nil : entry
        put(place, row.entries.isEmpty ? nil : row.encoded)
    }
}

extension EntityRow {
    /// What it names by the fields of a collection's rule, each once: as it is seen here, as the
    /// server has it, and in what is pending.
    package func contentNames(in collection: CollectionModel) -> [EntityContentsRow.Named] {
        guard !collection.contents.isEmpty else { return [] }
        var documents = documents(in: collection)
        let changes = try? namingChanges(in: collection)
        for change in changes ?? [] {
            switch change.change {
            case .create(let document): documents.append(document)
            case .update(let patch):
                if let set = patch.setDocument(collection.keyed) { documents.append(set) }
            case .delete, .carried: break
            }
        }
        func sign(_ field: String, _ name: ContentName) -> [UInt8] {
            Array(field.utf8) + [0, name.isFile ? 1 : 0] + Array(name.text.utf8)
        }
        var names: [EntityContentsRow.Named] = []
        var seen: Set<[UInt8]> = []
        let sent = changes.flatMap { try? namesToBeSent(by: $0, in: collection) } ?? []
        let unsent = Set(sent.map { sign($0.field, $0.name) })
        for document in documents {
            for (field, name) in collection.contentNames(in: document.bytes) {
                let mark = sign(field, name)
                guard seen.insert(mark).inserted else { continue }
                names.append(
                    EntityContentsRow.Named(
                        field: field, text: name.text, isFile: name.isFile,
                        isToBeSent: name.isFile && unsent.contains(mark)))
            }
        }
        return names
    }

    /// What is pending, without edits of which no file can be sent any more, as the next ones name
    /// others in its place.
    ///
    /// In a tree all are kept that any edit names.
    private func namingChanges(
        in collection: CollectionModel
    ) throws(JSONError) -> [PendingChange] {
        var changes = try changes(in: collection)
        guard collection.tree == nil, changes.count > 1 else { return changes }
        let fields = Set(collection.contents.map { ExactString($0.topField) })
        for index in setAgain(fields, by: changes, collection.keyed) {
            changes[index].change = .carried
        }
        return changes
    }

    /// What it names by the fields of a collection's rule as it is seen here, and as the server has
    /// it, with the length that each is said to have.
    package func knownContentNames(
        in collection: CollectionModel
    ) -> [(field: String, name: ContentName)] {
        documents(in: collection).flatMap { collection.contentNames(in: $0.bytes) }
    }

    /// Of what was known to be named, the files of the user's that a field names which has no rule
    /// any more: nobody else may have them.
    fileprivate func heldNames(
        _ known: [EntityContentsRow.Named], beside names: [EntityContentsRow.Named],
        in collection: CollectionModel
    ) -> [EntityContentsRow.Named] {
        known.compactMap { known in
            func isSame(_ named: EntityContentsRow.Named) -> Bool {
                named.isFile && ExactString(named.text) == ExactString(known.text)
            }
            let field = ExactString(known.field)
            guard known.isFile,
                !collection.contents.contains(where: { ExactString($0.field) == field }),
                !names.contains(where: isSame), mentions(known.text)
            else { return nil }
            return EntityContentsRow.Named(field: known.field, text: known.text, isFile: true)
        }
    }

    /// Whether what the server has, or what is pending, has a text in it.
    func mentions(_ text: String) -> Bool {
        let text = Array(text.utf8)
        return ([base] + pending.map(\.payload)).contains { $0.firstRange(of: text) != nil }
    }

    /// The files of the user's that are to be sent before what is pending: those that a write of it
    /// names, but for those that the server's own document names by the same field.
    package func namesToBeSent(
        in collection: CollectionModel
    ) throws -> [(field: String, name: ContentName)] {
        try namesToBeSent(by: try namingChanges(in: collection), in: collection)
    }

    /// The same of what is pending, as ``namingChanges(in:)`` has it, where that is needed.
    private func namesToBeSent(
        by changes: @autoclosure () throws -> [PendingChange], in collection: CollectionModel
    ) throws -> [(field: String, name: ContentName)] {
        guard collection.sendsFiles, !pending.isEmpty else { return [] }
        let base = try baseValue(in: collection)
        let changes = try changes()
        // What goes before an action may name another file than what goes behind it.
        let first = changes.prefix { $0.position <= next.last?.position ?? .start }
        let fields = collection.contents.filter { $0.upload != nil }.map(\.field)
        var known = base.document.map { collection.contentNames(in: $0.bytes) } ?? []
        var found: [(field: String, name: ContentName)] = []
        for part in first.count < changes.count ? [first, changes[...]] : [changes[...]] {
            guard case .document(let bytes) = try Current(part, on: base) else { continue }
            let names = collection.contentNames(in: bytes).filter { field, name in
                name.isFile && fields.contains(field)
                    && !known.contains { $0.field == field && $0.name == name }
            }
            found += names
            known += names
        }
        return found
    }
}
