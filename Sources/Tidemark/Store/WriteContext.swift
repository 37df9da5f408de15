// WriteContext.swift — the context of a write closure: every change becomes one event.

public import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkSync
package import TidemarkViews

/// A commit in preparation.
///
/// Valid only inside the closure that it was given to.
public final class WriteContext {
    package let draft: Draft
    private let dependencies: Dependencies
    private let journal: Journal
    /// The last change that named new files, and the last event about these.
    private var naming: (change: Position, end: Position)?

    /// The largest document or patch that a local write may have, in bytes.
    public static let documentBytesMax = 1 << 20

    private init(_ draft: Draft, _ dependencies: Dependencies, _ journal: Journal) {
        self.journal = journal
        self.draft = draft
        self.dependencies = dependencies
    }

    static func run<R>(
        _ draft: Draft, _ dependencies: Dependencies, _ journal: Journal,
        _ body: (WriteContext) throws -> R
    ) throws -> R {
        try draft.noteOpening(dependencies, journal.account)
        let result = try body(WriteContext(draft, dependencies, journal))
        return result
    }

    /// The position of the last event so far: that of a change, asked for right after it was made,
    /// if it logged anything, also where the change names new files.
    ///
    /// By it ``Replica/outcome(of:)`` waits for what becomes of the change.
    public var position: Position {
        if let naming, naming.end == draft.last { return naming.change }
        return draft.last
    }

    // MARK: Documents

    /// The document of an entity, with the changes of this commit so far; nil when there is none.
    public func document(_ key: EntityKey) throws -> [UInt8]? {
        let key = try draft.fold.resolve(key)
        return try draft.fold.document(of: key)
    }

    /// Creates an entity with this document, or changes the stored document to it.
    ///
    /// Fields that only the server sets (``CollectionModel/serverFields``) stay as they are stored.
    ///
    /// - Returns: the position of the event, or nil when nothing differed.
    /// - Throws: ``TidemarkError``: `invalidKey`, `invalidDocument`, `tooLarge`, `noModel`;
    ///   `notFound` where the entity, or what it would lie in, is not here, or only in part;
    ///   `alreadyExists` where another entity of a tree has the name; `unfitFile` for a file that
    ///   is not in the store.
    @discardableResult
    public func put(_ key: EntityKey, _ document: [UInt8]) throws -> Position? {
        let (key, collection) = try check(key)
        let new = try parse(document)
        guard let old = try self.document(key) else {
            try checkNew(key, collection)
            try checkLists(of: new, key, collection.model)
            return try append(made: document, key, collection.model)
        }
        let known = try JSONDocument(parsing: old)
        var patch = Patch(
            from: known, to: new, except: collection.model.serverFields, collection.model.keyed)
        try dropSameReferences(&patch, known, collection)
        try checkLists(patch, of: key, collection.model)
        return patch.isEmpty ? nil : try append(patch, key, collection.model)
    }

    /// Creates an entity.
    ///
    /// - Throws: ``TidemarkError``: `alreadyExists`, and what ``put(_:_:)`` throws.
    @discardableResult
    public func create(_ key: EntityKey, _ document: [UInt8]) throws -> Position {
        let (key, collection) = try check(key)
        try checkMade(document, key, collection)
        return try append(made: document, key, collection.model)
    }

    /// Refuses what can't be made.
    func checkMade(_ document: [UInt8], _ key: EntityKey, _ collection: KnownCollection) throws {
        try checkObject(document)
        guard try self.document(key) == nil else {
            throw TidemarkError(.alreadyExists, "\(key) exists already", key: key)
        }
        try checkNew(key, collection)
        if !collection.model.keyed.isEmpty {
            try checkLists(of: try JSONDocument(parsing: document), key, collection.model)
        }
    }

    /// Changes some fields of an entity; parts of the patch without effect are not logged, nor is
    /// what it does to fields that only the server sets (``CollectionModel/serverFields``).
    ///
    /// Elements of the model's ``CollectionModel/keyed`` lists are changed by their names, such as
    /// `/answers/q1`. A list that is given as a whole changes the elements that differ. Of several
    /// values for one field the last counts.
    ///
    /// - Returns: the position of the event, or nil when nothing differed.
    /// - Throws: ``TidemarkError``: `notFound` without the entity, and what ``put(_:_:)`` throws.
    @discardableResult
    public func patch(_ key: EntityKey, _ patch: Patch) throws -> Position? {
        let (key, collection) = try check(key)
        guard let bytes = try document(key) else { throw notFound(key) }
        var old = try JSONDocument(parsing: bytes)
        old.keepPlaces(for: patch.set.count + patch.unset.count)
        let patch = patch.withFieldsOnce
        var changed = Patch()
        for field in patch.set {
            let value: JSONValue
            do { value = try JSONValue(parsing: field.value) } catch {
                throw TidemarkError(.invalidDocument, "\(key), field \(field.name): \(error)")
            }
            if old.value(field.name) != value { changed.set.append(field) }
        }
        changed.unset = patch.unset.filter { old.rawValue($0) != nil }
        if patch.touches(collection.model.keyed) {
            changed = try elementwise(patch, on: old, key, collection.model)
        }
        changed = changed.leavingOut(collection.model.isOfServer)
        try dropSameReferences(&changed, old, collection)
        return try log(changed, of: key, in: collection.model)
    }

    /// Deletes an entity, after all that goes with it: ``Reference/onDelete``.
    ///
    /// - Returns: the position of the entity's own deletion.
    /// - Throws: ``TidemarkError``: `notFound`, also where it is not here, or only in part;
    ///   `invalidKey`, `noModel`.
    @discardableResult
    public func delete(_ key: EntityKey) throws -> Position {
        let (key, _) = try check(key)
        guard try document(key) != nil else { throw notFound(key) }
        // Before anything is logged, as the caller may go on after the error.
        try checkStandIns(.localDeleted, key, nil)
        let below = try cascade(key)
        let known = Set(below)
        for key in try below + cascadeOfUnsent(key).filter({ !known.contains($0) }) {
            try append(.localDeleted, key, nil)
        }
        return try append(.localDeleted, key, nil)
    }

    /// A new id, never given out before.
    public func makeID() -> String { dependencies.makeID() }

    // MARK: Refused and pending changes

    /// Sends again the mutations of an entity that the server refused, and at once the files that
    /// it names and that failed to be sent.
    ///
    /// What a person is asked about (``ConflictPolicy/ask``) is answered by its issue alone.
    ///
    /// - Throws: ``TidemarkError``: `notFound` where it refused none and no file failed, and where
    ///   a person is asked; `invalidKey`, `noModel`.
    public func retry(_ key: EntityKey) throws {
        let (key, _) = try check(key)
        if let refusal = try draft.fold.entity(key).refusal, refusal.isAsked {
            throw TidemarkError(
                .notFound,
                "the server has refused nothing of \(key), but both sides changed it: answer the "
                    + "issue \(refusal.position) with keepMine or keepTheirs", key: key)
        }
        try sendAgain(key)
    }

    /// Has what waits on an entity sent again, also what a person was asked about.
    func sendAgain(_ key: EntityKey) throws {
        let (key, _) = try check(key)
        guard
            try draft.fold.entity(key).status == .error || draft.fold.hasFailedSend(key)
        else {
            throw TidemarkError(.notFound, "the server has refused nothing of \(key)")
        }
        try append(.localRetried, key, nil)
    }

    /// Discards everything that is pending on an entity; it becomes the server's last known
    /// version.
    ///
    /// This also works for a collection that the model no longer has.
    ///
    /// - Parameters:
    ///   - key: the entity.
    ///   - withBuiltOn: whether what was built on it goes as well, in the same commit, as
    ///     ``ReadContext/changes(builtOn:)`` tells it: without that it is refused where there is
    ///     any.
    /// - Returns: where it stands in the log; what was built on it is discarded before it.
    /// - Throws: ``TidemarkError``: `notFound` where nothing is pending, `pendingChanges` where
    ///   something was built on it, or where it took the entity out of one of its tree that was
    ///   deleted since.
    @discardableResult
    public func discard(_ key: EntityKey, withBuiltOn: Bool = false) throws -> Position {
        let built = try draft.fold.builtOn(key)
        if !withBuiltOn, !built.isEmpty { throw Self.builtOn(key, built) }
        let others = try built.reversed().map { try pending($0) }
        let key = try pending(key)
        let all = Set(others + [key])
        // All of it or nothing, also where the caller goes on after the error.
        for other in others + [key] { try checkDiscard(other, with: all) }
        for other in others { try append(.localDiscarded, other, nil) }
        return try append(.localDiscarded, key, nil)
    }

    /// Discards what is pending on an entity, by the answer to an issue, and with it what lies in
    /// what is not there then.
    ///
    /// What took a name stays: it is refused where the name is not free any more, which is an issue
    /// of its own. So does what was moved out of a folder that was deleted since.
    func discardInside(_ key: EntityKey) throws {
        for other in try draft.fold.builtOn(key, isInside: true).reversed() {
            do { try discardAlone(other) } catch let error as TidemarkError
                where error.code == .pendingChanges
            { continue }
        }
        try discardAlone(key)
    }

    private static func builtOn(_ key: EntityKey, _ built: [EntityKey]) -> TidemarkError {
        let names = built.prefix(3).map { "\($0)" }.joined(separator: ", ")
        let rest = built.count > 3 ? " and of \(built.count - 3) more" : ""
        return TidemarkError(
            .pendingChanges,
            "what is pending of \(names)\(rest) was built on what is pending of \(key): discard it "
                + "with that, or move it elsewhere first", key: key)
    }

    /// Discards what is pending on an entity, whatever was built on it.
    func discardAlone(_ key: EntityKey) throws {
        let known = try pending(key)
        try checkDiscard(known)
        try append(.localDiscarded, known, nil)
    }

    /// The entity by which something is pending that may be discarded, also of a collection that
    /// the model no longer has.
    private func pending(_ key: EntityKey) throws -> EntityKey {
        let known = try draft.fold.resolve(key)
        if try !draft.fold.entity(known).pending.isEmpty { return known }
        throw TidemarkError(.notFound, "nothing is pending on \(try check(key).0)")
    }

    // MARK: Checks

    func check(_ key: EntityKey) throws -> (EntityKey, KnownCollection) {
        guard key.isValid else {
            throw TidemarkError(
                .invalidKey,
                "\"\(key)\" can't name an entity: collection/ID, an ID of 1 to "
                    + "\(EntityKey.idBytesMax) bytes without control characters")
        }
        guard let collection = try draft.fold.known(key.collection) else {
            throw TidemarkError.noCollection(key.collection, in: try draft.fold.model())
        }
        return (try draft.fold.resolve(key), collection)
    }

    /// Drops from an edit the references whose targets are unchanged, even if they use other ids.
    private func dropSameReferences(
        _ patch: inout Patch, _ old: JSONDocument, _ collection: KnownCollection
    ) throws {
        guard !collection.model.references.isEmpty else { return }
        let names = draft.fold.comparedNames(collection.model)
        var old = old
        old.keepPlaces(for: patch.set.count)
        patch.set = try patch.set.filter { field in
            guard let raw = old.rawValue(field.name) else { return true }
            return try !names.nameTheSame(raw, field.value[...], in: field.name)
        }
    }

    /// Refuses a local id that the server could also assign to another entity.
    private func checkNew(_ key: EntityKey, _ collection: KnownCollection) throws {
        guard collection.model.ids == .serverNumber, key.id.isWholeNumber,
            try draft.fold.entity(key).isEmpty
        else { return }
        throw TidemarkError(
            .invalidKey,
            "\(key) is not known here, and can't be made with this id: the server of "
                + "\(collection.model.name) gives numbers, and may give this one to another "
                + "entity; make an id with makeID(), or one that is no number", key: key)
    }

    private func parse(_ document: [UInt8]) throws -> JSONDocument {
        try checkObject(document)
        return try JSONDocument(parsing: document)
    }

    /// A document must stay readable when it is nested in an event or in a server's page.
    private func checkObject(_ document: [UInt8]) throws {
        do { try JSON.validateObject(document, within: Self.wrappingLevels) } catch {
            throw Self.invalid(error)
        }
    }

    /// Logs an edit, unless it is empty.
    @discardableResult
    func log(
        _ patch: Patch, of key: EntityKey, in collection: CollectionModel
    ) throws -> Position? {
        for field in patch.set {
            do { try JSON.validate(field.value, within: Self.wrappingLevels) } catch {
                throw Self.invalid(error)
            }
        }
        try checkLists(patch, of: key, collection)
        return patch.isEmpty ? nil : try append(patch, key, collection)
    }

    @discardableResult
    func append(
        _ patch: Patch, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> Position {
        // The server takes each by itself, and each has an outcome of its own.
        var parts = collection.isByPath ? collection.tree?.parts(of: patch) ?? [] : []
        let last = parts.popLast() ?? patch
        // All of it or nothing, also where the caller goes on after the error.
        if !parts.isEmpty {
            for part in parts + [last] { try check(.localUpdated, key, part.encoded) }
        }
        // A reader that does not know of elements would take their names for those of fields.
        let isOfElements = (parts + [last, patch]).contains {
            $0.namesElements(of: collection.keyed)
        }
        for part in parts {
            try append(.localUpdated, key, part.encoded, schema: isOfElements ? 1 : 0)
        }
        return try append(.localUpdated, key, last.encoded, schema: isOfElements ? 1 : 0)
    }

    private static let wrappingLevels = 4

    static func invalid(_ error: JSONError) -> TidemarkError {
        guard error.code == .tooDeep else {
            return TidemarkError(.invalidDocument, "not a JSON object: \(error)")
        }
        let levels = JSONLimits.depthMax - wrappingLevels
        return TidemarkError(
            .invalidDocument, "nested too deeply: \(levels) levels are the most")
    }

    func notFound(_ key: EntityKey) -> TidemarkError {
        TidemarkError(.notFound, "there is no \(key)", key: key)
    }

    @discardableResult
    func append(
        _ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?, schema: UInt32 = 0,
        making document: [UInt8]? = nil
    ) throws -> Position {
        if let json { try checkSize(json, key) }
        // What an action makes is looked at as what is made here is.
        let files = try check(document == nil ? kind : .localCreated, key, document ?? json)
        var event = Event(kind, recordedAt: draft.now, key: key, json: json)
        event.schemaVersion = schema
        try stamp(&event)
        let position = try draft.append(checked: event)
        for file in files {
            let stored = Event(
                .assetStored, recordedAt: draft.now, key: key, cause: position, json: file.encoded)
            try draft.append(stored)
        }
        if !files.isEmpty { naming = (change: position, end: draft.last) }
        return position
    }

    private func checkSize(_ json: [UInt8], _ key: EntityKey) throws {
        guard json.count > Self.documentBytesMax else { return }
        throw TidemarkError(
            .tooLarge,
            "\(key): \(json.count) bytes, and \(Self.documentBytesMax) are the most for one write")
    }

    /// Refuses what can't be logged.
    ///
    /// - Returns: the files that it names first.
    @discardableResult
    func check(
        _ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?
    ) throws -> [AssetStored] {
        if let json { try checkSize(json, key) }
        try checkStandIns(kind, key, json)
        if let known = try draft.fold.known(key.collection), known.model.tree != nil {
            try checkPlace(kind, key, json, known.model)
        }
        return try newFiles(kind, key, json)
    }

    /// The files that an edit names first: they are in the contents, and no event tells of them.
    private func newFiles(
        _ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?
    ) throws -> [AssetStored] {
        guard Self.documents.contains(kind), let json,
            let known = try draft.fold.known(key.collection), !known.model.contents.isEmpty
        else { return [] }
        let document =
            kind == .localCreated
            ? json : try Patch(parsing: json).setDocument(known.model.keyed)?.bytes ?? []
        var files: [AssetStored] = []
        // What it names already may be another device's, or missing.
        let named = known.model.contentNames(in: document).filter { $0.name.isFile }
        let before =
            named.isEmpty
            ? [] : try draft.fold.entity(key).knownContentNames(in: known.model)
        for (field, name) in named {
            guard case .file(let digest, let bytes) = name,
                !files.contains(where: { $0.digest == digest })
            else { continue }
            let isKnown = before.contains { $0.field == field && $0.name == name }
            do {
                let file = try journal.newFile(digest, bytes, draft, "\(key), \(field)")
                if let file { files.append(file) }
            } catch let error as TidemarkError where isKnown && error.code == .unfitFile {
                continue
            }
        }
        return files
    }

    private static let documents: [EventKind] = [.localCreated, .localUpdated]
    private static let edits: [EventKind] = [.localCreated, .localUpdated, .localDeleted]

    /// Stamps an edit with its time where the collection's rules need it: the server's time, as far
    /// as it is known, and the uptime.
    private func stamp(_ event: inout Event) throws {
        guard Self.edits.contains(event.kind), let name = event.collection,
            try draft.fold.known(name)?.stampsEdits == true
        else { return }
        let uptime = dependencies.uptime()
        event.uptime = uptime.bootID.isEmpty ? nil : uptime.microseconds
        event.bootID = try draft.fold.unnamed(uptime.bootID)
        event.serverTime = try draft.fold.serverNow(
            draft.now, bootID: uptime.bootID, uptime: uptime.microseconds)
    }
}

extension String {
    /// Whether it has the form of a whole number in JSON, of any size.
    var isWholeNumber: Bool {
        let digits = utf8.first == UInt8(ascii: "-") ? utf8.dropFirst() : utf8[...]
        let isOneOrMore = digits.allSatisfy { (0x30...0x39).contains($0) } && !digits.isEmpty
        return isOneOrMore && (digits.first != UInt8(ascii: "0") || digits.count == 1)
    }
}

extension Draft {
    /// Logs the build and the account with the first write after one of them changed.
    func noteOpening(_ dependencies: Dependencies, _ account: String?) throws {
        let known = try fold.get(.store("opened")).map { try StoreFactRow(parsing: $0) }
        let before = known.map { Self.opened($0.payload) } ?? StoreOpened()
        var opened = before
        opened.build = "tidemark \(Replica.version)"
        opened.account = account ?? before.account
        guard before.device.isEmpty || opened != before else { return }
        if before.device.isEmpty { opened.device = dependencies.makeID() }
        try append(Event(.storeOpened, recordedAt: now, json: opened.encoded))
    }

    /// Logs that another device goes on with the store.
    func noteAdoption(_ dependencies: Dependencies) throws -> Position {
        let known = try fold.get(.store("opened")).map { try StoreFactRow(parsing: $0) }
        var opened = known.map { Self.opened($0.payload) } ?? StoreOpened()
        opened.build = "tidemark \(Replica.version)"
        opened.device = dependencies.makeID()
        return try append(Event(.storeOpened, recordedAt: now, json: opened.encoded))
    }

    /// The last payload that was read, which is the same with nearly every commit.
    private static let lastOpened = Lock<(payload: [UInt8], opened: StoreOpened)?>(nil)

    private static func opened(_ payload: [UInt8]) -> StoreOpened {
        lastOpened.withLock { last in
            if let last, last.payload == payload { return last.opened }
            let opened = StoreOpened(stored: payload)
            last = (payload, opened)
            return opened
        }
    }
}
