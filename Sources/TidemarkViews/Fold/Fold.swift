// Fold.swift — from events to view rows: the one function of the log that everything else is read
// from. Total: any sequence of events has a result, and the same events give the same rows.

package import TidemarkEvents
import TidemarkRules
import TidemarkStore

/// Folds the events of one commit, on top of rows that are there already.
package final class Fold {
    /// The rows written so far, but for those of entities and mutations; nil is a row removed.
    private(set) var changes: [RowKey: [UInt8]?] = [:]
    /// How many bytes they and their keys are.
    private var changedBytes = 0
    private(set) var entities = FoldedEntities()
    private(set) var mutations = FoldedMutations()
    /// What the current event wrote so far.
    private(set) var written = EventWrites()
    /// Whether any id is another one's alias; false spares the question.
    package private(set) var hasBindings: Bool
    /// The names of the indexes that know of these rows.
    package let indexNames: [[UInt8]]
    /// The rows that were there before.
    let rows: RowSource
    /// Whether it is that of a commit, which tells what entities' rows were before.
    let remembersRows: Bool
    private let models: ModelCache
    /// What was read of rows, and can be read again.
    var cache = RowCache()
    /// The key of the row of the entity that was asked for last.
    var knownRowKey: (entity: EntityKey, rowKey: RowKey)?
    /// What rules remember, by its type.
    private var memories: [ObjectIdentifier: any FoldMemory] = [:]
    /// Where the current event stands.
    private(set) var currentPosition = Position.start
    /// The model that the current event replaced.
    var replacedModel: SyncModel?
    /// Whether rows are read with their overtaken edits: within an event but a further edit.
    var seesOvertaken = false
    /// Whether the current event ended a doubt about the server's time.
    var isDoubtOver = false
    /// Reads what events say.
    var payloads = PayloadReader()

    /// A fold on top of rows, which must not outlive their transaction.
    ///
    /// - Parameters:
    ///   - hasBindings: false when it is known that no id is another one's alias.
    ///   - remembersRows: whether it is to say what entities' rows were before.
    ///   - indexNames: the indexes of the rows, none where they have none.
    package init(
        _ rows: RowSource, _ models: ModelCache, hasBindings: Bool = true,
        remembersRows: Bool = false, indexNames: [[UInt8]] = []
    ) {
        self.rows = rows
        self.indexNames = indexNames
        self.remembersRows = remembersRows
        self.models = models
        self.hasBindings = hasBindings
    }

    /// Takes in the next event.
    ///
    /// A payload that can't be understood changes nothing: the event stays in the log byte for
    /// byte, and the rest goes on.
    ///
    /// - Throws: what reading a row throws, or ``ProtoError`` for a damaged row.
    package func apply(_ event: Event, at position: Position) throws {
        defer { forget() }
        defer { seesOvertaken = false }
        (isDoubtOver, seesOvertaken) = (false, event.kind != .localUpdated)
        currentPosition = position
        if !cache.freePlaces.isEmpty { cache.freePlaces = [:] }
        do { try understand(event, position) } catch is JSONError {
            discard()
        }
        // An idempotency key counts even where the payload can't be read.
        if event.idempotencyKey != nil { try noteKey(event, position) }
        try meetRules(event, position)
        try settleFailing(position)
        try take(event, position)
        if event.kind == .logTruncated || event.kind == .syncFinished {
            forget()
            try dropDueRows(with: event, position)
            try take(event, position)
        }
        // Consequences for other entities are decided on rows that hold all of the event.
        guard try isToBeFollowed(event) else { return }
        forget()
        do {
            try follow(event, position)
            try noteConsequences(event, position)
        } catch is JSONError {
            discard()
        }
        try take(event, position)
    }

    /// The entities that the current event wrote so far.
    var writtenPlaces: [RowKey] {
        written.entities.map(\.entry.key) + (written.unpended.map { [$0] } ?? [])
    }

    /// The entities that the current event wrote but for one that was changed in its place, each as
    /// it was before and as it is.
    var rowsWritten: [(place: RowKey, before: EntityRow, after: EntityRow)] {
        var rows: [(place: RowKey, before: EntityRow, after: EntityRow)] = []
        var indexes: [ObjectIdentifier: Int] = [:]
        for (entry, row) in written.entities {
            if let index = indexes[ObjectIdentifier(entry)] {
                rows[index].after = row
            } else {
                indexes[ObjectIdentifier(entry)] = rows.count
                rows.append((entry.key, entry.row, row))
            }
        }
        return rows
    }

    /// Merges the current event's writes into the fold.
    private func take(_ event: Event, _ position: Position) throws {
        if !written.hasRows, written.unpendedPlace == nil {
            // What changed in its place is there already, and most events tell of it.
            if written.unpended == nil || event.tellsOfEntity { return }
        }
        if !written.entities.isEmpty || written.unpended != nil {
            try notePlaces(event, position)
        }
        for (entry, row) in written.entities {
            entry.row = row
            entities.note(entry)
        }
        for (changed, row) in written.mutations.rows { mutations.set(changed, row, at: position) }
        let rows = written.rows.rows
        for (key, value) in rows {
            if value == nil, let dropped = key.mutation { mutations.remove(dropped.position) }
            let before = changes.updateValue(value, forKey: key)
            changedBytes += value?.count ?? 0
            changedBytes -= before.map { $0?.count ?? 0 } ?? -key.bytes.count
        }
        guard !memories.isEmpty, !rows.isEmpty else { return }
        for rule in try rules().meeting { rule.note(rows, self) }
    }

    /// Takes in what the current event wrote so far, for one that writes many rows.
    func takeSoFar(_ event: Event, _ position: Position) throws {
        try meetRules(event, position)
        try take(event, position)
        forget()
    }

    /// Forgets the current event's writes, which were taken in or are not to be.
    private func forget() {
        if written.hasRows || written.unpended != nil { written.removeAll() }
    }

    /// Discards the current event's writes, and all that may have been read of them.
    private func discard() {
        forget()
        cache = RowCache()
        // What rules remember is of rows that were taken, but by the model that is written.
        if replacedModel != nil { (replacedModel, memories) = (nil, [:]) }
    }

    /// How many rows are in memory.
    package var rowCount: Int { changes.count + entities.count + mutations.rowCount }

    /// How much memory its rows take, roughly.
    package var heldBytes: Int {
        entities.heldBytes + changedBytes
            + (changes.count + mutations.rowCount) * Self.bytesPerRow
    }

    /// What each row takes besides what it says.
    private static let bytesPerRow = 260

    /// The rows written, in the order of their keys.
    package var sortedChanges: RowChanges {
        var result: RowChanges = []
        result.reserveCapacity(rowCount)
        forEachChange { result.append(($0, $1)) }
        return result
    }

    /// Walks over the rows written, in the order of their keys; makes one at a time.
    package func forEachChange(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        for entry in entities.sorted { try body(entry.key, entry.changed) }
        try forEachLedgerChange(body)
    }

    /// The rows written, in the order of their keys; and, of those of entities, which come first,
    /// what they were before, in a fold that remembers it.
    func changesAndRowsBefore() -> (changes: RowChanges, before: [[UInt8]?]) {
        var changes: RowChanges = []
        var before: [[UInt8]?] = []
        changes.reserveCapacity(rowCount)
        for entry in entities.sorted {
            changes.append((entry.key, entry.changed))
            before.append(entry.before)
        }
        forEachLedgerChange { changes.append(($0, $1)) }
        return (changes, before)
    }

    private func forEachLedgerChange(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        try mutations.forEachChange(among: changes.sorted { $0.key < $1.key }, body)
    }

    // MARK: Rows

    package func get(_ key: RowKey) throws -> [UInt8]? {
        guard key.tree == .ledger else {
            let row = try heldRow(at: key)
            return row.isEmpty ? nil : row.encoded
        }
        if let row = written.rows.last(of: key) { return row.value }
        if let change = changes[key] { return change }
        if let (position, isOpen) = key.mutation, let row = writtenMutation(position) {
            return row.isOpen == isOpen ? row.encoded : nil
        }
        return try rows.get(key)
    }

    package func put(_ key: RowKey, _ value: [UInt8]?) {
        let sort = key.sort
        if sort == .bindings || sort == .aliases { hasBindings = true }
        if sort == .store {
            (cache.model, cache.collection) = (nil, nil)
            memories = [:]
        }
        if sort == .hidden { cache.hidesAny = nil }
        if value != nil, sort == .unreadable { cache.hasUnreadable = true }
        if value != nil, sort == .contents {
            if key.bytes.starts(with: Ledger.treeWants) { cache.hasTreeWants = true }
            if key.bytes.starts(with: Ledger.letGo) { cache.hasLetGo = true }
        }
        written.append(key, value)
    }

    /// The entity under a key that lasts; an empty row where there is none.
    package func entity(_ key: EntityKey) throws -> EntityRow { try entity(at: rowKey(of: key)) }

    /// An entity as its row says it, without what is in its overtaken edits.
    package func heldRow(at place: RowKey) throws -> EntityRow { held(try entry(place)) }

    /// The same without what the current event wrote, as walks see it.
    func takenRow(at place: RowKey) throws -> EntityRow { try entry(place).row }

    private func held(_ entry: FoldedEntities.Entry) -> EntityRow {
        written.row(of: entry) ?? entry.row
    }

    /// The document of the entity under a key, as today's model reads it; nil where there is none.
    package func document(of key: EntityKey) throws -> [UInt8]? {
        let entry = try entry(rowKey(of: key))
        let document = written.entities.isEmpty ? entry.row.document : held(entry).document
        guard let document else { return nil }
        return try known(key.collection)?.model.read(document) ?? document
    }

    package func isPlaceholder(_ key: EntityKey) throws -> Bool {
        let entry = try entry(rowKey(of: key))
        return written.entities.isEmpty ? entry.row.isPlaceholder : held(entry).isPlaceholder
    }

    /// Changes an entity without pending changes in its place, when that is all that an event does.
    ///
    /// - Parameter change: cannot fail; returns whether it changed anything.
    /// - Returns: false, and nothing was done, when the entity has pending changes.
    func changeUnpending(_ place: RowKey, _ change: (inout EntityRow) -> Bool) throws -> Bool {
        let entry = try entry(place)
        guard entry.row.pending.isEmpty else { return false }
        let before = try registered().hasTrees ? self.place(of: entry.row, at: place) : nil
        if change(&entry.row) {
            entities.note(entry)
            written.noteUnpended(place, before: before)
        }
        return true
    }

    private func entry(_ place: RowKey) throws -> FoldedEntities.Entry {
        try entities.entry(place) {
            guard let bytes = try rows.get(place) else { return (EntityRow(), nil) }
            return (try EntityRow(parsing: bytes), remembersRows ? bytes : nil)
        }
    }

    func put(_ row: EntityRow, _ key: EntityKey) throws { try put(row, at: rowKey(of: key)) }

    func put(_ row: EntityRow, at place: RowKey) throws {
        let entry = try entry(place)
        let before = written.entities.isEmpty ? entry.row : held(entry)
        var row = try reached(row, at: place, wasHidden: before.isHidden)
        if row.mayHaveOvertaken(before.pending) { row = try elided(row, before.pending, at: place) }
        // A row that says nothing is not kept, nor is what little it held.
        written.append(row.isEmpty ? EntityRow() : row, of: entry)
    }

    package func resolve(_ key: EntityKey) throws -> EntityKey {
        guard hasBindings, let bytes = try get(.binding(key)) else { return key }
        return EntityKey(bytes: bytes) ?? key
    }

    func put(_ row: MutationRow, at position: Position) {
        written.append(row, at: position)
    }

    package func mutation(_ position: Position) throws -> MutationRow? {
        try writtenMutation(position) ?? storedMutation(position) { try get($0) }
    }

    func writtenMutation(_ position: Position) -> MutationRow? {
        written.mutations[position] ?? mutations[position]
    }

    func registered() throws -> RegisteredModel {
        if let known = cache.model { return known }
        let model = try fact("model").map { models.registered($0) } ?? .none
        cache.model = model
        return model
    }

    /// What a rule remembers in this fold, as long as the model stays.
    func memory<Memory: FoldMemory>(_ type: Memory.Type) -> Memory {
        let name = ObjectIdentifier(type)
        if let known = memories[name] as? Memory { return known }
        let memory = Memory()
        memories[name] = memory
        return memory
    }

    /// A collection's part of the model, without a copy of it; or nil.
    package func known(_ name: CollectionName) throws -> KnownCollection? {
        if let known = cache.collection, known.model.name == name { return known }
        guard let collection = try registered().collections[name] else { return nil }
        cache.collection = collection
        return collection
    }

    /// How many writes of entities were taken in since this was asked for first.
    func followTaken() -> Int { entities.follow() }

    /// Whether there may be unreadable records.
    func hasUnreadable() throws -> Bool {
        if let known = cache.hasUnreadable { return known }
        let isThere = try hasLedgerRow(Ledger.unreadable)
        cache.hasUnreadable = isThere
        return isThere
    }
}

/// What a fold has read of rows, with what it wrote since; nil, or none, before that.
struct RowCache {
    var model: RegisteredModel?
    /// The collection that was asked for last.
    var collection: KnownCollection?
    /// Whether any entity is hidden of a collection that hides what is absent.
    var hidesAny: Bool?
    /// What fails by itself; see FoldFailing.swift.
    var failing: Set<EntityKey>?
    /// The entities of which a list's word was left out.
    var withheld: Set<EntityKey>?
    /// When collections were wiped; nil inside where none was.
    var wipes: WipesRow??
    /// The answers that the server promised.
    var tickets: [TicketRow]?
    /// The server's clock; nil inside where there is none yet.
    var clock: ServerClock??
    /// Whether there may be anything that could not be read.
    var hasUnreadable: Bool?
    /// The same of wants of trees, and of files that were let go.
    var hasTreeWants: Bool?
    var hasLetGo: Bool?
    /// What the run said at its start that was asked for last.
    var run: (start: Position, payload: SyncStarted)?
    /// The first free place among the current event's decisions.
    var freePlaces: [Position: Int] = [:]
}
