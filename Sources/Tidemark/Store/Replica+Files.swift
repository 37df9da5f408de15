// Replica+Files.swift — files beside entities: taking one of the user's in, finding those that are
// here, and wanting others.

public import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkViews

/// A file that an entity names.
public struct EntityFile: Sendable, Hashable {
    /// The field that names it, as it stands in the model's `contents`.
    public let field: String
    /// The name.
    public let name: ContentName
    /// Whether somebody wants it here.
    public let isWanted: Bool
    /// What is stored of it; nil where it isn't here.
    public let stored: Stored?
    /// How far it came; nil where it is here, and where nothing of it was asked for.
    public let progress: Progress?

    /// A file that is stored.
    public struct Stored: Sendable, Hashable {
        /// Where it lies: to be read, and not to be kept for longer than the entity names it.
        ///
        /// It is nil in a replica that was opened for reading only, and in a read of the past: by
        /// now the file may be gone.
        public let path: String?
        /// SHA-256 in 64 hexadecimal digits.
        public let sha256: String
        /// Its length in bytes.
        public let bytes: Int
    }

    /// How far a file came that is being fetched, part by part, or that goes on later.
    public struct Progress: Sendable, Hashable {
        /// How many bytes are here of it, on disk; it grows with each part that is whole.
        public let bytes: Int
        /// Its length; nil before the server told it.
        public let total: Int?
        /// Whether a request for it is under way; else it goes on when it is due again.
        public let isUnderWay: Bool
    }
}

extension Replica {
    /// Takes a copy of a file into the store, to be named by an entity.
    ///
    /// The copy is on disk when this returns. It shares its blocks with the file where the file
    /// system can do so. The result is to be written into a field that the model's `contents` name,
    /// with this opening of the store and within a day: by a sweep after that, or by the next
    /// opening, a file is removed that no entity names.
    /// Of a file that an entity names and that was missing, all is well with the copy.
    ///
    /// - Parameter path: a regular file, or a link to one, that nobody writes to meanwhile.
    /// - Returns: its hash and its length: the value for the field.
    /// - Throws: ``TidemarkError``: `unfitFile` where there is no such file, or where it changed;
    ///   `diskFull`; and other reasons of the storage. Nothing is left then.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    public func importFile(at path: String) throws -> ContentName {
        try TidemarkError.mapped {
            let content = try journal.importFile(at: path, dependencies.now)
            return .file(sha256: content.digest, bytes: Int(clamping: content.bytes))
        }
    }

    /// The same without blocking the caller's thread.
    public func importFile(at path: String) async throws -> ContentName {
        try await BlockingWork.run { [self] in try importFile(at: path) }
    }

    /// The files that an entity names, in the order of the model's fields, and notes that those are
    /// used that are here: once a day, where the model removes what is not and there is room for
    /// the note.
    ///
    /// - Parameters:
    ///   - key: the entity.
    ///   - fields: as they stand in the model's `contents`; nil for all.
    /// - Throws: ``TidemarkError``: `unknownField` for a field that names no files, and what
    ///   ``Replica/read(_:)`` and `write` throw; for want of room nothing: the next use is noted.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    public func useFiles(of key: EntityKey, _ fields: [String]? = nil) throws -> [EntityFile] {
        let (files, use) = try filesToUse(of: key, fields)
        guard let use else { return files }
        do {
            try journal.write(at: use.time) { draft in try use.note(draft) }
        } catch let error as StoreError where error.saysNoRoom {
            // The next use is noted.
        } catch { throw TidemarkError.wrapping(error) }
        return files
    }

    /// The same without blocking the caller's thread while the use is noted; what is here is read
    /// on it, as in a `read`.
    public func useFiles(
        of key: EntityKey, _ fields: [String]? = nil
    ) async throws -> [EntityFile] {
        let (files, use) = try filesToUse(of: key, fields)
        guard let use else { return files }
        do {
            try await journal.write(at: use.time) { draft in try use.note(draft) }
        } catch let error as StoreError where error.saysNoRoom {
            // The next use is noted.
        } catch { throw TidemarkError.wrapping(error) }
        return files
    }

    /// The files that are asked for, and the use that is to be noted of them, if any.
    private func filesToUse(
        of key: EntityKey, _ fields: [String]?
    ) throws -> (files: [EntityFile], use: FileUse?) {
        try read { context in
            let known = try context.views.model()[key.collection]?.contents.map(\.field) ?? []
            if let field = fields?.first(where: { !known.contains($0) }) {
                throw TidemarkError.namesNoFiles(field, of: key, known)
            }
            let files = try context.files(of: key).filter { fields?.contains($0.field) ?? true }
            let digests = files.compactMap { $0.stored?.sha256 }
            // A reader beside the writer notes nothing.
            guard !digests.isEmpty, journal.contentFiles != nil else { return (files, nil) }
            let use = FileUse(digests: digests, key: key, time: dependencies.now())
            return (files, try use.isNeeded(context.views) ? use : nil)
        }
    }
}

/// A use of files, which is noted where that decides what is removed.
private struct FileUse: Sendable {
    let digests: [String]
    let key: EntityKey
    /// By the device's clock.
    let time: Timestamp

    /// How long no other use of a file is logged.
    private static let pause = TimeSpan.days(1)

    func isNeeded(_ views: ViewReader) throws -> Bool {
        let rules = try views.model().collections.flatMap(\.heldContents)
        let hasOption = rules.contains { $0.unwanted != nil || $0.quotaBytes != nil }
        return try digests.contains { digest in
            let row = try views.content(digest)
            return row?.stored?.letGoAt != nil || hasOption && isNews(row)
        }
    }

    func note(_ draft: Draft) throws {
        for digest in digests where isNews(try draft.fold.content(digest)) {
            try draft.append(
                Event(
                    .assetUsed, recordedAt: draft.now, key: key,
                    json: AssetUsed(digest: digest).encoded))
        }
    }

    private func isNews(_ row: ContentRow?) -> Bool {
        guard let stored = row?.stored else { return false }
        // What was let go with a folder is a copy of its own from then on.
        if stored.letGoAt != nil { return true }
        guard let last = stored.lastUse(before: time) else { return true }
        return last.adding(Self.pause) <= time
    }
}

extension Replica {
    /// Removes the copies that are here of what an entity names, and takes back what one wants of
    /// it.
    ///
    /// A file stays that was not sent yet, that is being fetched or sent, that somebody else wants,
    /// or that stands in an open conflict. What is removed is fetched again where it is wanted.
    ///
    /// - Parameters:
    ///   - key: the entity.
    ///   - field: as it stands in the model's `contents`; nil for each of them.
    ///   - by: who wants it no longer: ``WriteContext/wantFiles(of:_:by:below:isWanted:)``.
    /// - Returns: how many files were removed.
    /// - Throws: ``TidemarkError``: `notFound` without the entity, `unknownField` for a field that
    ///   names no files, `unfitFile` where the model has every file of it fetched.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    @discardableResult
    public func dropFiles(
        of key: EntityKey, _ field: String? = nil, by: String = "user"
    ) throws -> Int {
        let (known, rules) = try read { view in
            guard try view.views.document(key) != nil else {
                throw TidemarkError(.notFound, "there is no \(key)", key: key)
            }
            let contents = try view.views.model()[key.collection]?.contents ?? []
            let rules = contents.filter { $0.field == field ?? $0.field }
            guard !rules.isEmpty else {
                throw TidemarkError.namesNoFiles(field, of: key, contents.map(\.field))
            }
            return (try view.views.resolve(key), rules)
        }
        if let rule = rules.first(where: { $0.when == .all }) {
            throw TidemarkError(
                .unfitFile,
                "\(key): by the model every file of \(rule.field) is fetched, so it would come "
                    + "again; let it be fetched on demand to drop copies", key: key)
        }
        return try TidemarkError.mapped {
            try journal.dropContents(
                of: known, rules.map(\.field), by: by, at: dependencies.now())
        }
    }

    /// The same without blocking the caller's thread.
    @discardableResult
    public func dropFiles(
        of key: EntityKey, _ field: String? = nil, by: String = "user"
    ) async throws -> Int {
        try await BlockingWork.run { [self] in try dropFiles(of: key, field, by: by) }
    }
}

extension ReadContext {
    /// The files that an entity names, in the order of the model's fields.
    ///
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func files(of key: EntityKey) throws -> [EntityFile] {
        let row = try views.contents(of: key)
        guard let model = try views.model()[key.collection], !model.contents.isEmpty,
            let document = try views.document(key)
        else { return [] }
        return try model.contentNames(in: document).map { field, name in
            let stored = try stored(name, key.collection)
            return EntityFile(
                field: field, name: name,
                isWanted: row.wants(field) || model.fetchesAll(of: field), stored: stored,
                progress: stored == nil ? try progress(name, key.collection) : nil)
        }
    }

    private func progress(
        _ name: ContentName, _ collection: CollectionName
    ) throws -> EntityFile.Progress? {
        guard case .source(let text) = name,
            let fetch = try views.contentName(ContentSource(collection, text))?.fetch,
            fetch.call != nil || fetch.first != nil
        else { return nil }
        return EntityFile.Progress(
            bytes: Int(clamping: fetch.progress.received),
            total: fetch.progress.total.map { Int(clamping: $0) }, isUnderWay: fetch.call != nil)
    }

    private func stored(
        _ name: ContentName, _ collection: CollectionName
    ) throws -> EntityFile.Stored? {
        guard let digest = try views.digest(of: name, in: collection),
            let row = try views.content(digest)
        else { return nil }
        return stored(digest, row)
    }

    private func stored(_ digest: String, _ row: ContentRow) -> EntityFile.Stored? {
        guard let stored = row.stored else { return nil }
        return EntityFile.Stored(
            path: try? views.contentFiles?.path(of: digest), sha256: digest,
            bytes: Int(clamping: stored.bytes))
    }

    /// All files that are in the store, in the order of their hashes.
    package func storedFiles() throws -> [EntityFile.Stored] {
        var files: [EntityFile.Stored] = []
        try views.forEachContent { digest, row in
            if let file = stored(digest, row) { files.append(file) }
        }
        return files
    }
}

extension WriteContext {
    /// Says that what an entity names is wanted here, or no longer is.
    ///
    /// What is wanted is kept as long as the entity names it, and is fetched where the model's
    /// `contents` say `demand`.
    ///
    /// In a tree, `below` wants it also of all that lies in the entity, near or far: of what is
    /// moved there too, and not any more of what is moved away. A copy that was here for that alone
    /// goes with the next sweep after a run that listed everything.
    ///
    /// - Parameters:
    ///   - key: the entity.
    ///   - field: as it stands in the model's `contents`; nil for each of them.
    ///   - by: who wants it: several may, each by a name, and it is wanted as long as any does.
    ///   - below: whether also of all that lies in the entity, now and later. Who wants something
    ///     says so anew.
    ///   - isWanted: false to take it back, with all below.
    /// - Returns: the position of the event, or nil where nothing changed.
    /// - Throws: ``TidemarkError``: `notFound` without the entity, `unknownField` for a field that
    ///   names no files, `noModel`, also for `below` in a collection that is no tree.
    @discardableResult
    public func wantFiles(
        of key: EntityKey, _ field: String? = nil, by: String = "user", below: Bool = false,
        isWanted: Bool = true
    ) throws -> Position? {
        let (key, collection) = try check(key)
        let fields = collection.model.contents.map(\.field)
        guard field.map(fields.contains) ?? !fields.isEmpty else {
            throw TidemarkError.namesNoFiles(field, of: key, fields)
        }
        guard try !isWanted || document(key) != nil else { throw notFound(key) }
        guard !below || collection.model.treeReference != nil else {
            throw TidemarkError(
                .noModel, "\(key.collection) is no tree by the model, so nothing lies in \(key)",
                key: key)
        }
        let before = try draft.fold.contents(of: key).wants.first {
            $0.field == field ?? "" && $0.by == by
        }
        guard isWanted ? before?.isTree != below : before != nil else { return nil }
        let isTree = isWanted ? below : before?.isTree ?? false
        let wish = AssetWanted(
            field ?? "", by: by, scope: isTree ? .tree : .entity, isWanted: isWanted)
        return try draft.append(
            Event(.assetWanted, recordedAt: draft.now, key: key, json: wish.encoded))
    }
}

extension WriteContext {
    /// Logs that an entity is made; what of it names files that are sent below it, and so after it
    /// was made, as an edit of its own.
    ///
    /// - Parameter action: what of the server's makes it; nil for none.
    /// - Returns: the position of the event that makes it.
    func append(
        made document: [UInt8], by action: LocalRequested? = nil, _ key: EntityKey,
        _ collection: CollectionModel
    ) throws -> Position {
        let parts = try collection.partedFilesBelow(of: document)
        // All of it or nothing, also where the caller goes on after the error.
        if parts != nil { try check(.localCreated, key, document) }
        let made = parts?.rest ?? document
        let position: Position
        if var action {
            action.document = made
            position = try append(.localRequested, key, action.encoded, making: made)
        } else {
            position = try append(.localCreated, key, made)
        }
        if let files = parts?.files { try append(.localUpdated, key, files.encoded) }
        return position
    }

    /// Takes back what anybody asks for of a file, of each entity that names it.
    ///
    /// Who wants all files of an entity wants none of them any more.
    func takeBackWants(of source: ContentSource) throws {
        for (key, field) in try draft.fold.askers(of: source) {
            for want in try draft.fold.contents(of: key).wants
            where !want.isTree && [field, ""].contains(want.field) {
                try wantFiles(
                    of: key, want.field.isEmpty ? nil : want.field, by: want.by, isWanted: false)
            }
        }
    }
}

extension Journal {
    /// Takes a copy of a file into the contents; durable when this returns.
    fileprivate func importFile(
        at path: String, _ now: () -> Timestamp
    ) throws -> ContentFiles.Content {
        guard let files = contentFiles else {
            throw StoreError(.readOnly, during: "contents", detail: "the store is read-only")
        }
        let part = shared.contents.beginImport()
        defer { shared.contents.end(part: part) }
        do {
            let content = try files.copy(path, toPart: part)
            shared.contents.imports(content.digest, at: try read { $0.last }, now())
            try files.admit(part: part, as: content)
            try noteMissed(content, now)
            return content
        } catch {
            try? files.remove(part: part)
            throw error
        }
    }

    /// Notes a file as stored that an entity names and that was missing: no edit will.
    private func noteMissed(_ content: ContentFiles.Content, _ now: () -> Timestamp) throws {
        guard try !missed([content.digest]).isEmpty else { return }
        do {
            try noteAgain([content], at: now())
        } catch let error as StoreError where error.code == .nested || error.saysNoRoom {
            // Within a read or a write, or the log has no room; the next opening finds it.
        }
    }

    /// What is to be logged of a file of the user's that an edit names; nil where the log has it,
    /// and it was not imported again since.
    ///
    /// - Throws: `unfitFile` where it isn't there.
    func newFile(
        _ digest: String, _ bytes: Int, _ draft: Draft, _ place: String
    ) throws -> AssetStored? {
        guard ContentFiles.isDigest(digest), bytes >= 0 else {
            throw TidemarkError(
                .unfitFile,
                "\(place): a file is named by the 64 hexadecimal digits of its SHA-256, and its "
                    + "length in bytes; take both from importFile(at:)")
        }
        if let stored = try draft.fold.content(digest)?.stored {
            guard stored.bytes == UInt64(bytes) else {
                throw otherLength(digest, bytes, stored.bytes, place)
            }
            // Without an event it would count as not named yet until the process ends.
            guard shared.contents.isImported(digest, since: stored.position) else { return nil }
            return AssetStored(digest: digest, bytes: stored.bytes, .imported)
        }
        // Noted before it is looked for: who unlinks it has done so, or asks here and leaves it.
        shared.contents.imports(digest, at: draft.last, draft.now)
        guard let found = try contentFiles?.bytes(of: digest) else {
            throw TidemarkError(
                .unfitFile,
                "\(place): there is no file \(digest) in the store; take it in with "
                    + "importFile(at:), and write what that returns")
        }
        guard found == UInt64(bytes) else { throw otherLength(digest, bytes, found, place) }
        return AssetStored(digest: digest, bytes: found, .imported)
    }

    private func otherLength(
        _ digest: String, _ bytes: Int, _ found: UInt64, _ place: String
    ) -> TidemarkError {
        TidemarkError(
            .unfitFile,
            "\(place): the file \(digest) has \(found) bytes, not \(bytes); write what "
                + "importFile(at:) returned")
    }
}

extension TidemarkError {
    /// - Parameters:
    ///   - field: what was asked for; nil for every field.
    ///   - known: the fields of the collection that name files.
    fileprivate static func namesNoFiles(
        _ field: String?, of key: EntityKey, _ known: [String]
    ) -> TidemarkError {
        let others = known.isEmpty ? "it has none" : known.joined(separator: ", ")
        return TidemarkError(
            .unknownField,
            "\(field ?? "nothing") in \(key.collection) names no files by the model's contents: "
                + others, key: key)
    }
}
