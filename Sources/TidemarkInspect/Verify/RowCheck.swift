// RowCheck.swift — checks that the live rows are those that the commits recorded, that each is
// found by its key, and that rows that refer to each other agree.

import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkViews

/// One check of all rows, in one snapshot.
final class RowCheck {
    /// How many rows were checked.
    private(set) var rows: UInt64 = 0

    private let journal: Journal
    private let generation: Generation
    private var recorded: RecordedRows
    private var findings: [LogError] = []
    /// Rows that are not as recorded, unless their key shares its short hash with another.
    private var suspects: Set<RecordedRows.Name> = []

    private static let findingsMax = 100
    private static let suspectsMax = 10_000

    init(_ journal: Journal, _ generation: Generation, _ recorded: RecordedRows) {
        self.journal = journal
        self.generation = generation
        self.recorded = recorded
    }

    /// Runs the check; returns what is wrong.
    func run(_ transaction: borrowing some TableReading & ~Copyable) throws -> [LogError] {
        for tree in Tree.allCases { try look(at: tree, transaction) }
        for name in recorded.missing where suspects.count < Self.suspectsMax {
            suspects.insert(name)
        }
        if findings.isEmpty, !suspects.isEmpty { try explain(transaction) }
        return findings
    }

    private func look(
        at tree: Tree, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let table = journal.views.table(tree, generation)
        var before: [UInt8] = []
        try journal.views.scan(tree, generation, transaction) { bytes, value in
            let key = RowKey(tree, bytes)
            rows += 1
            guard ByteOrder.precedes(before, bytes) else {
                findings.append(Self.misplaced("the row \(key) is out of order"))
                return false
            }
            before = bytes
            if try transaction.withValue(table, bytes, { _ in true }) == nil {
                findings.append(Self.misplaced("the row \(key) is not found by its key"))
            }
            let name = RecordedRows.Name(key)
            switch recorded[name] {
            case .value(CRC32C.checksum(of: value)): recorded.markFound(name)
            case .foreign: break
            case nil where recorded.hasForeign: break
            default: if suspects.count < Self.suspectsMax { suspects.insert(name) }
            }
            return findings.count < Self.findingsMax
        }
        let count = try transaction.count(table)
        if findings.isEmpty, count != rowsOf(tree) {
            findings.append(Self.misplaced("\(count) rows are counted, not \(rows)"))
        }
    }

    private static func misplaced(_ problem: String) -> LogError {
        LogError(.corruptRow, at: .start, "\(problem); `tidemark rebuild` mends it")
    }

    private var counted: UInt64 = 0
    private func rowsOf(_ tree: Tree) -> Int {
        defer { counted = rows }
        return Int(rows - counted)
    }

    // MARK: Suspects

    /// Everything that was ever recorded about a suspect.
    private struct History {
        var commit: Position?
        var values: Set<UInt32> = []
        /// The keys with that short hash in the log or the tables.
        var keys: Set<RowKey> = []
    }

    /// Tells damage apart from two keys with the same short hash, and names the rows.
    private func explain(_ transaction: borrowing some TableReading & ~Copyable) throws {
        var histories: [RecordedRows.Name: History] = [:]
        for name in suspects { histories[name] = History() }
        if let base = try journal.snapshots.base(transaction) {
            try journal.snapshots.forEachRow(of: base, transaction) { key, value in
                let name = RecordedRows.Name(key)
                guard suspects.contains(name) else { return }
                histories[name]?.commit = base.position
                histories[name]?.values.insert(CRC32C.checksum(of: value))
                histories[name]?.keys.insert(key)
            }
        }
        try journal.log.forEachCommit(transaction) { record in
            for digest in record.views {
                for hash in digest.shortHashes {
                    let name = RecordedRows.Name(digest.view, hash.key)
                    histories[name]?.commit = record.last
                    histories[name]?.values.insert(hash.value)
                }
            }
            return true
        }
        var live: [RecordedRows.Name: [(key: RowKey, value: UInt32)]] = [:]
        for tree in Tree.allCases {
            try journal.views.scan(tree, generation, transaction) { bytes, value in
                let key = RowKey(tree, bytes)
                let name = RecordedRows.Name(key)
                if let other = key.placeholderTwin {
                    histories[RecordedRows.Name(other)]?.keys.insert(other)
                }
                guard suspects.contains(name) else { return true }
                live[name, default: []].append((key, CRC32C.checksum(of: value)))
                histories[name]?.keys.insert(key)
                return true
            }
        }
        var keyed: UInt64 = 0
        try journal.log.forEach(transaction) { position, event in
            if event.idempotencyKey.flatMap(IdempotencyKey.init(bytes:)) != nil { keyed += 1 }
            for key in RowKey.possible(for: event, at: position, keyed: keyed) {
                histories[RecordedRows.Name(key)]?.keys.insert(key)
            }
            return true
        }
        for name in suspects.sorted() where findings.count < Self.findingsMax {
            guard let history = histories[name] else { continue }
            judge(name, history, live[name] ?? [])
        }
    }

    private func judge(
        _ name: RecordedRows.Name, _ history: History, _ live: [(key: RowKey, value: UInt32)]
    ) {
        let place = history.commit ?? .start
        func add(_ key: RowKey?, _ what: String) {
            let row = key.map { "the row \($0)" } ?? "a row"
            findings.append(
                LogError(.corruptRow, at: place, "\(row) of view \(name.view) \(what)"))
        }
        if history.keys.count > 1 {
            // It is unknown which value belongs to which row; but a value that was never written is
            // damage.
            for row in live where !history.values.contains(row.value) {
                add(row.key, "is not as any commit recorded it")
            }
        } else if live.isEmpty {
            add(history.keys.first, "is missing")
        } else {
            for row in live {
                let isKnown = history.commit != nil
                add(row.key, isKnown ? "is not as its commit recorded it" : "was never recorded")
            }
        }
    }
}

extension RowKey {
    /// For an entity's row the one that lists it as a placeholder, and the other way round, because
    /// no event names an entity that is only a placeholder.
    fileprivate var placeholderTwin: RowKey? {
        if tree == .rows { return EntityKey(bytes: bytes).map { .placeholder($0) } }
        guard bytes.starts(with: Ledger.placeholders) else { return nil }
        return EntityKey(bytes: bytes.dropFirst(Ledger.placeholders.count)).map { .entity($0) }
    }

    /// The keys of rows about the gates of a model, and about that of a trigger.
    private static func attemptRows(of event: Event) -> [RowKey] {
        var names = [event.read(TriggerReceived.self)?.trigger?.rawValue].compactMap(\.self)
        if event.kind == .modelRegistered,
            let known = try? ModelRegistration(parsing: event.payload, isLogged: true)
        {
            names += known.model.settings.gates.map(\.name)
        }
        return names.map { .attempts($0) }
    }

    /// The keys of rows about groups of requests, and about the age of lists.
    private static func groupRows(of event: Event) -> [RowKey] {
        var sent = [event.read(RequestSent.self)?.group].compactMap(\.self)
        sent += event.read(SyncFinished.self)?.requestGroups ?? []
        let quota = event.read(RequestAnswered.self)?.quota
        let listed = event.read(SyncFinished.self)?.listed ?? []
        return listed.map { .listedAt(CollectionName($0)) }
            + sent.compactMap { RequestGroup(parts: $0) }.map { .gate(RequestTimes.name, of: $0) }
            + [RequestGroup(parts: quota)].compactMap(\.self).map { .gate(.server, of: $0) }
    }

    /// The keys of rows about pools.
    private static func pools(by event: Event) -> [RowKey] {
        let run = event.read(SyncStarted.self)?.run ?? event.read(SyncFinished.self)?.run
        var keys: [RowKey] = []
        if case .reserve(let wanted)? = run?.scope { keys += wanted.map { .pool($0.place) } }
        let place = event.read(RequestAnswered.self)?.place ?? event.read(RequestFailed.self)?.place
        keys += [place?.key].compactMap(\.self).map { .pool($0) }
        if let added = event.read(ReservedAdded.self), let key = added.place.key {
            keys.append(.pool(key))
            for (index, value) in added.values.enumerated() {
                let until = index < added.until.count ? added.until[index] : nil
                keys.append(.leftValue(key, value, until: until ?? ReservedValueRow.never))
                keys.append(.reservedValue(key, value))
            }
        }
        if let taken = event.read(ReservedTaken.self), let key = taken.place.key {
            keys.append(.reservedValue(key, taken.value))
        }
        return keys
    }

    /// The keys of rows that an event may have written; of rows that may be removed again, all of
    /// them.
    ///
    /// - Parameter keyed: how many events up to this one carry an idempotency key.
    fileprivate static func possible(
        for event: Event, at position: Position, keyed: UInt64
    ) -> [RowKey] {
        var keys = [RowKey.open(position), .settled(position), .syncRun(position)]
        keys += [.decision(position, 0), .lost(position, 0), .sides(position)]
        if let key = event.key {
            keys += [.entity(key), .attempt(key), .ruleAnswer(key), .rival(key), .placeholder(key)]
            keys += [.settledDerived(position, key), .openDerived(position, key), .failing(key)]
            keys.append(.overtaken(position, key))
            keys += [.contents(of: key), .rollUp(key), .warned(key), .withheld(key)]
            keys += [.dangling(key), .staged(key)]
        }
        if let key = event.key, let requested = event.read(LocalRequested.self) {
            keys.append(.grant(key, requested.action))
        }
        if let call = event.call { keys.append(.ticket(call)) }
        if let key = event.idempotencyKey { keys += [.writeKey(key), .queuedKey(keyed)] }
        if let name = event.collection {
            let target =
                event.read(PullCompleted.self)?.target(name)
                ?? event.read(PullPage.self)?.target(name) ?? PullTarget(name)
            keys += [.watermark(target), .held(target), .listed(target), .owed(target)]
            keys.append(.failing(.list(of: name)))
        }
        if let name = event.collection, let record = event.read(ServerUnreadable.self) {
            keys.append(.unreadable(name, record.name))
        }
        if let page = event.read(PullPage.self) {
            keys += page.named.indices.map { .decision(position, $0) }
            if let name = event.collection, let state = page.list?.state {
                keys.append(.listedPage(page.target(name), state.page))
            }
            if let name = event.collection {
                keys += page.ids.map { .withheld(EntityKey(name, $0)) }
                keys += page.folders.map { .watermark(.folder($0.id, of: name)) }
                keys += page.cursors.map { .watermark(PullTarget(name, scope: $0.name)) }
            }
        }
        keys += contents(by: event, position) + pools(by: event)
        keys += SyncGate.Name.allCases.map { .gate($0) }
        keys += groupRows(of: event) + attemptRows(of: event)
        keys += ["opened", "model", "preconditions"].map { .store($0) }
        return keys + [.wipes, .clock, .gate(RequestTimes.name), .dropped]
    }
}
