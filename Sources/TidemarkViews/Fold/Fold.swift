// Fold.swift — from events to view rows: the one function of the log that everything else is read
// from. Total: any sequence of events has a result, and the same events give the same rows.

package import TidemarkEvents
import TidemarkRules
import TidemarkStore

/// Folds the events of one commit, on top of rows that are there already.
package final class Fold {
    /// The rows written so far, but for those of entities and mutations; nil is a row removed.
    private var changes: [RowKey: [UInt8]?] = [:]
    private var entities = FoldedEntities()
    private var mutations = FoldedMutations()
    /// What the event in hand wrote so far: few rows, searched from the last one.
    private var written: [(key: RowKey, value: [UInt8]?)] = []
    private var writtenEntities: [(entry: FoldedEntities.Entry, row: EntityRow)] = []
    private var writtenMutations: [(position: Position, row: MutationRow)] = []
    /// Whether any id is another one's alias; false spares the question.
    private(set) var hasBindings: Bool
    private let load: (RowKey) throws -> [UInt8]?
    private let loadOpen: () throws -> [Position]
    private let walk: (Tree, [UInt8], ([UInt8], [UInt8]) throws -> Bool) throws -> Void
    private let models: ModelCache
    private var knownModel: SyncModel?
    private var knownCollection: CollectionModel?
    /// The entity on which nothing is pending that the event in hand changed where it lies.
    private var unpended: RowKey?
    /// What later events are asked about again and again; see FoldRules.swift.
    var standing = FoldStanding()
    /// The model that the event in hand took the place of.
    var replacedModel: SyncModel?
    /// Whether any entity is hidden for itself, once that was asked for.
    var knownHidden: Bool?
    /// What fails by itself, once that was asked for; see FoldFailing.swift.
    var knownFailing: Set<EntityKey>?
    /// The server's clock, once it was read; nil inside where there is none yet.
    var knownClock: ServerClock??
    /// Whether there may be anything that could not be read, once that was asked for.
    private var knownUnreadable: Bool?
    /// Whether with the event in hand the server's time is in doubt no more.
    var isDoubtOver = false
    /// What the run said at its start that was asked for last.
    var knownRun: (start: Position, payload: SyncStarted)?

    /// A fold that reads rows through `load`, which must not outlive its transaction.
    ///
    /// - Parameters:
    ///   - hasBindings: false when `load` is known to hold no row of the bindings.
    ///   - open: the positions of all mutations whose row under ``RowKey/open(_:)`` is there.
    ///   - walk: goes over the rows of a tree under a prefix, in the order of their keys.
    package init(
        models: ModelCache = ModelCache(), hasBindings: Bool = true,
        load: @escaping (RowKey) throws -> [UInt8]?, open: @escaping () throws -> [Position],
        walk: @escaping (Tree, [UInt8], ([UInt8], [UInt8]) throws -> Bool) throws -> Void = {
            _, _, _ in
        }
    ) {
        self.models = models
        self.hasBindings = hasBindings
        self.load = load
        loadOpen = open
        self.walk = walk
    }

    /// Takes in the next event.
    ///
    /// A payload that can't be understood changes nothing: the event stays in the log byte for
    /// byte, and the rest goes on.
    ///
    /// - Throws: what `load` throws, or ``ProtoError`` for a damaged row.
    package func apply(_ event: Event, at position: Position) throws {
        defer { forget() }
        isDoubtOver = false
        do { try understand(event, position) } catch is JSONError {
            forget()
            (knownHidden, knownFailing, knownClock) = (nil, nil, nil)
        }
        // Which write it belongs to is known of any event, also of one that nobody understands.
        if event.idempotencyKey != nil { try noteKey(event, position) }
        try meetRules(event, position)
        try settleFailing(position)
        take(position)
        // What follows from it for others is decided with all of it in place.
        guard try isToBeFollowed(event) else { return }
        forget()
        do { try follow(event, position) } catch is JSONError { forget() }
        take(position)
    }

    /// The entities that the event in hand wrote so far.
    var writtenPlaces: [RowKey] {
        writtenEntities.map(\.entry.key) + (unpended.map { [$0] } ?? [])
    }

    /// Whether anything that follows from a rule is pending on them.
    var hasWrittenDerived: Bool {
        writtenEntities.contains { $0.row.pending.contains(where: \.isDerived) }
    }

    /// Takes over what the event in hand wrote.
    private func take(_ position: Position) {
        for (entry, row) in writtenEntities {
            entry.row = row
            entities.note(entry)
        }
        for (changed, row) in writtenMutations { mutations.set(changed, row, at: position) }
        for (key, value) in written {
            changes.updateValue(value, forKey: key)
            if key.view == .rivals { standing.note(key, value) }
        }
    }

    /// Forgets what the event in hand wrote.
    private func forget() {
        unpended = nil
        if !written.isEmpty { written.removeAll(keepingCapacity: true) }
        if !writtenEntities.isEmpty { writtenEntities.removeAll(keepingCapacity: true) }
        if !writtenMutations.isEmpty { writtenMutations.removeAll(keepingCapacity: true) }
    }

    /// How many rows are in memory.
    package var rowCount: Int { changes.count + entities.count + mutations.rowCount }

    /// The rows written, in the order of their keys.
    package var sortedChanges: RowChanges {
        var result: RowChanges = []
        result.reserveCapacity(rowCount)
        forEachChange { result.append(($0, $1)) }
        return result
    }

    /// Walks over the rows written, in the order of their keys; makes one at a time.
    package func forEachChange(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        try entities.forEachWritten(body)
        let ledger = changes.sorted { $0.key < $1.key }
        let mutationsStart = RowKey(.ledger, Ledger.mutations)
        let middle = ledger.firstIndex { mutationsStart < $0.key } ?? ledger.count
        let openStart = RowKey(.ledger, Ledger.open)
        let last = ledger.firstIndex { openStart < $0.key } ?? ledger.count
        for (key, value) in ledger[..<middle] { try body(key, value) }
        try mutations.forEachWritten(body)
        for (key, value) in ledger[middle..<last] { try body(key, value) }
        try mutations.forEachOpen(body)
        for (key, value) in ledger[last...] { try body(key, value) }
    }

    private func understand(_ event: Event, _ position: Position) throws {
        // What can't be read is kept and shown, and read by whoever knows it.
        switch Payload(event) {
        case .storeOpened: try keep("opened", event, position)
        case .modelRegistered: try register(event, position)
        case .localCreated: try edit(event, position, .create)
        case .localUpdated: try edit(event, position, .update)
        case .localDeleted: try edit(event, position, .delete)
        case .localDiscarded: try discard(event, position)
        case .localRetried: try retry(event)
        case .ruleAnswered(let rule): try ruleAnswered(event, rule, position)
        case .issueAnswered(let issue): try issueAnswered(event, issue, position)
        case .timerFired(let timer): try fired(event, timer, position)
        case .syncStarted(let start):
            var row = SyncRunRow(startedAt: event.recordedAt, started: event.payload)
            row.serverTime = try start.run.moment.flatMap { try serverClock()?.time(at: $0) }
            put(.syncRun(position), row.encoded)
            try owe(start.run, position)
        case .syncFinished(let end):
            try finish(event, end, position)
            try noteEnd(event, end, position)
        case .requestSent(let request): try sent(event, request, position)
        case .requestAnswered(let answer): try answered(event, answer, position)
        case .requestFailed(let failure): try failed(event, failure, position)
        case .serverUpserted: try serverSays(event, position, isDeletion: false)
        case .serverDeleted: try serverSays(event, position, isDeletion: true)
        case .serverUnreadable(let record): unreadable(event, record, position)
        case .pullPage(let page):
            guard let name = event.collection else { return }
            try listed(page, of: name, event, position)
            try seen(page, of: name)
            try namedAgain(page, of: name)
            try paged(page, of: name, event)
            try named(page, of: name, position)
            try follow(page, of: name, event, position)
        case .pullCompleted(let list):
            try pulled(event, list, position)
            if try !isTimeInDoubt() { try settleUnanswered(event, position) }
        case .pushAccepted(let push): try accepted(event, push, position)
        case .pushRejected(let refusal): try rejected(event, refusal, position)
        // Kept in the log; no view of this version reads them.
        case .serverDescribed, .unknown: break
        }
    }

    // MARK: Rows

    /// A row that is neither an entity's nor a mutation's.
    package func get(_ key: RowKey) throws -> [UInt8]? {
        if let index = written.lastIndex(where: { $0.key == key }) { return written[index].value }
        if let change = changes[key] { return change }
        return try load(key)
    }

    package func put(_ key: RowKey, _ value: [UInt8]?) {
        if key.view == .bindings { hasBindings = true }
        if key.view == .store {
            (knownModel, knownCollection) = (nil, nil)
            standing.forgetModel()
        }
        if key.view == .access { knownHidden = nil }
        if value != nil, key.tree == .ledger, key.bytes.starts(with: Ledger.unreadable) {
            knownUnreadable = true
        }
        written.append((key, value))
    }

    package func entity(_ key: EntityKey) throws -> EntityRow { try entity(at: .entity(key)) }

    func entity(at place: RowKey) throws -> EntityRow {
        let entry = try entry(place)
        return writtenEntities.last { $0.entry === entry }?.row ?? entry.row
    }

    /// Changes an entity on which nothing is pending where it lies, when that is all an event does.
    ///
    /// - Parameter change: cannot fail; answers whether it changed anything.
    /// - Returns: false, and nothing was done, when something is pending on it.
    func changeUnpending(_ place: RowKey, _ change: (inout EntityRow) -> Bool) throws -> Bool {
        let entry = try entry(place)
        guard entry.row.pending.isEmpty else { return false }
        if change(&entry.row) {
            entities.note(entry)
            unpended = place
        }
        return true
    }

    private func entry(_ place: RowKey) throws -> FoldedEntities.Entry {
        try entities.entry(place) {
            try load(place).map { try EntityRow(parsing: $0) } ?? EntityRow()
        }
    }

    /// Walks over the entities of a collection by id, with everything folded so far, tombstones
    /// included.
    ///
    /// - Parameter body: says whether to go on. What the event in hand wrote, it does not see.
    package func forEachEntity(
        in collection: CollectionName, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        let prefix = EntityKey.prefix(of: collection)
        var written = entities.written(prefix)[...]
        var goesOn = true
        func visit(_ key: [UInt8], _ row: @autoclosure () throws -> EntityRow) throws -> Bool {
            guard goesOn, let key = EntityKey(bytes: key) else { return goesOn }
            goesOn = try body(key, try row())
            return goesOn
        }
        try walk(.rows, prefix) { key, value in
            while let entry = written.first, ByteOrder.precedes(entry.key.bytes, key) {
                written = written.dropFirst()
                guard try visit(entry.key.bytes, entry.row) else { return false }
            }
            if let entry = written.first, ByteOrder.areEqual(entry.key.bytes, key) {
                written = written.dropFirst()
                return try visit(key, entry.row)
            }
            return try visit(key, try EntityRow(parsing: value))
        }
        for entry in written where try !visit(entry.key.bytes, entry.row) { return }
    }

    /// Walks over the rows of a collection's entities, in any order, as they were before the event
    /// in hand and with what it has brought about so far; `body` says whether to go on.
    func forEachRow(
        in collection: CollectionName, _ body: (EntityKey, [UInt8]) throws -> Bool
    ) throws {
        let prefix = EntityKey.prefix(of: collection)
        var goesOn = true
        try walk(.rows, prefix) { bytes, value in
            guard !entities.isWritten(bytes), let key = EntityKey(bytes: bytes) else { return true }
            goesOn = try body(key, value)
            return goesOn
        }
        guard goesOn else { return }
        try entities.forEachWritten(prefix) { place, row in
            guard let key = EntityKey(bytes: place.bytes) else { return true }
            return try body(key, row.encoded)
        }
    }

    /// Whether there may be anything that could not be read.
    func hasUnreadable() throws -> Bool {
        if let knownUnreadable { return knownUnreadable }
        var found = false
        try walk(.ledger, Ledger.unreadable) { _, _ in
            found = true
            return false
        }
        knownUnreadable = found
        return found
    }

    /// The rows of the ledger under a prefix, without what the event in hand wrote.
    func ledgerRows(_ prefix: [UInt8]) throws -> [(key: RowKey, value: [UInt8])] {
        var rows: [RowKey: [UInt8]] = [:]
        try walk(.ledger, prefix) { key, value in
            rows[RowKey(.ledger, key)] = value
            return true
        }
        for (key, value) in changes where key.tree == .ledger && key.bytes.starts(with: prefix) {
            rows[key] = value
        }
        return rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func put(_ row: EntityRow, _ key: EntityKey) throws { try put(row, at: .entity(key)) }

    func put(_ row: EntityRow, at place: RowKey) throws {
        let row = try hidesAny() ? reached(row, at: place) : row
        // A row that says nothing is not kept, nor is what little it held.
        writtenEntities.append((try entry(place), row.isEmpty ? EntityRow() : row))
    }

    /// The id that an entity of the server goes by here: another one once a push has bound them.
    package func resolve(_ key: EntityKey) throws -> EntityKey {
        guard hasBindings, let bytes = try get(.binding(key)) else { return key }
        return EntityKey(bytes: bytes) ?? key
    }

    func put(_ row: MutationRow, at position: Position) {
        writtenMutations.append((position, row))
    }

    /// Changes the row of a pending mutation, which may be one that follows from a rule.
    func updateMutation(
        _ item: EntityRow.Pending, of key: EntityKey, _ change: (inout MutationRow) -> Void
    ) throws {
        let position = item.position
        if item.isDerived { return try updateDerived(position, key, change) }
        let known = writtenMutations.last { $0.position == position }?.row ?? mutations[position]
        guard
            var row = try known ?? load(.mutation(position)).map({ try MutationRow(parsing: $0) })
        else { return }
        change(&row)
        put(row, at: position)
    }

    /// The mutations that wait for the server or for the user, in order; what the event in hand
    /// changed is not seen.
    func openMutations() throws -> [Position] {
        let known = Set(mutations.positions)
        let stored = try loadOpen().filter { !known.contains($0) }
        return (stored + mutations.positions.filter { mutations[$0]?.isOpen == true }).sorted()
    }

    func mutation(_ position: Position) throws -> MutationRow? {
        try mutations[position] ?? load(.mutation(position)).map { try MutationRow(parsing: $0) }
    }

    func settle(
        _ item: EntityRow.Pending, of key: EntityKey, _ outcome: MutationOutcome, proof: Position,
        revision: Revision?
    ) throws {
        try updateMutation(item, of: key) { row in
            row.outcome = row.lost.isEmpty ? outcome : outcome.ofPart
            row.proof = proof
            row.revision = revision
        }
    }

    /// Notes fields that a mutation lost while the rest of it goes on.
    func lose(_ fields: [String], of item: EntityRow.Pending, _ key: EntityKey) throws {
        guard !fields.isEmpty else { return }
        try updateMutation(item, of: key) { row in
            let known = Set(row.lost.map(ExactString.init))
            row.lost += fields.filter { !known.contains(ExactString($0)) }
        }
    }

    /// The registered model; one without collections before any is.
    package func model() throws -> SyncModel {
        if let knownModel { return knownModel }
        guard let bytes = try get(.store("model")) else {
            return SyncModel(name: "", collections: [])
        }
        let model = models.model(try StoreFactRow(parsing: bytes))
        knownModel = model
        return model
    }

    /// A collection's part of the model, or nil.
    package func knownCollection(_ name: CollectionName) throws -> CollectionModel? {
        if let knownCollection, knownCollection.name == name { return knownCollection }
        guard let collection = try model()[name] else { return nil }
        knownCollection = collection
        return collection
    }

    /// A collection's part of the model; the usual one for a collection that it does not name.
    func collection(_ name: CollectionName) throws -> CollectionModel {
        try knownCollection(name) ?? CollectionModel(name)
    }

    // MARK: Store, sync runs, watermarks

    func keep(_ name: String, _ event: Event, _ position: Position) throws {
        put(.store(name), StoreFactRow(position: position, payload: event.payload).encoded)
    }

    private func finish(_ event: Event, _ end: SyncFinished, _ position: Position) throws {
        guard let start = event.sync, let bytes = try get(.syncRun(start)) else {
            // A run with nothing to say has no start of its own.
            var row = SyncRunRow(startedAt: event.recordedAt, started: [])
            row.finished = position
            row.finishedAt = event.recordedAt
            row.summary = event.payload
            put(.syncRun(position), row.encoded)
            try noteIdleClock(event, end, position)
            return
        }
        var row = try SyncRunRow(parsing: bytes)
        row.finished = position
        row.finishedAt = event.recordedAt
        row.summary = event.payload
        put(.syncRun(start), row.encoded)
    }
}
