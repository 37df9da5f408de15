// FoldFailing.swift — calls that fail by themselves: how long each waits, and when it works again.

package import TidemarkEvents
import TidemarkRules

/// How a call ended: by an answer or without one.
struct CallEnd {
    var concern: FailureConcern?
    /// The failure's name; nil where the call succeeded.
    var failure: String?
    var status = 0
    /// Microseconds since the device's boot, where it is told.
    var uptime: Int64?
}

extension Fold {
    /// The keys with failing calls: entities, and lists by an empty id.
    private func failing() throws -> Set<EntityKey> {
        if let known = cache.failing { return known }
        let keys = try ledgerRows(Ledger.failing).compactMap {
            EntityKey(bytes: $0.key.bytes.dropFirst())
        }
        cache.failing = Set(keys)
        return Set(keys)
    }

    /// The failing calls about an entity, or about a collection's list.
    package func failing(_ key: EntityKey) throws -> FailingRow? {
        guard try failing().contains(key) else { return nil }
        return try get(.failing(key)).map { try FailingRow(parsing: $0) }
    }

    private func set(_ row: FailingRow?, _ key: EntityKey) throws {
        var keys = try failing()
        if row == nil { keys.remove(key) } else { keys.insert(key) }
        cache.failing = keys
        put(.failing(key), row?.encoded)
    }

    /// Forgets the failing calls about an entity, or about a collection's list.
    func forgetFailing(_ key: EntityKey) throws {
        if try failing().contains(key) { try set(nil, key) }
    }

    /// Notes how a call ended.
    ///
    /// - Parameter isWrite: whether the call is a write.
    func noteEnd(of event: Event, _ end: CallEnd, isWrite: Bool, _ position: Position) throws {
        let isList = end.concern == .list
        guard
            let key = try isList
                ? event.collection.map({ EntityKey.list(of: $0) }) : event.key.map(resolve)
        else { return }
        guard let failure = end.failure else {
            // It says nothing of the pages that follow, nor of the collection's other lists: the
            // end of the run does.
            if isList { return }
            // A failed precondition says nothing of the next call, and a refusal nothing of how the
            // entity stands, where that is still to be read.
            if isWrite, end.status == 412 { return }
            if isWrite, !(200..<300).contains(end.status), try failing(key)?.isWrite == false {
                return
            }
            return try noteAnswer(to: key, isWrite: isWrite)
        }
        // Other failures end the run, and say nothing of this call.
        guard let concern = end.concern else { return }
        let known = try failing(key)
        var row = known ?? FailingRow(first: position)
        // Of a collection one failure counts in a run, however many of its lists fail.
        if isList, let known, let run = event.sync, known.gate.position > run {
            (row.gate.reason, row.gate.position) = (failure, position)
        } else {
            let failures = min(row.gate.failures, Int(Int32.max)) + 1
            row.gate = try backoff(event, failures, failure, uptime: end.uptime, position)
        }
        row.status = UInt32(clamping: end.status)
        if isWrite {
            // What is still to be read stays so.
            if known?.isWrite != false { (row.isWrite, row.reads) = (true, 0) }
            row.isAbsent = false
        } else if !isList {
            row.reads = min(row.reads, Int(Int32.max)) + 1
            if concern == .absent { row.isAbsent = true }
        }
        try set(row, key)
    }

    /// How long a call waits that failed so often in a row.
    func backoff(
        _ event: Event, _ failures: Int, _ failure: String, uptime: Int64?, _ position: Position
    ) throws -> SyncGate {
        let settings = try model().settings
        // Calls that failed in one run are not all repeated at once.
        let seed = (try started(event)?.seed ?? 0) ^ (position.rawValue &* 0x9E37_79B9_7F4A_7C15)
        return SyncGate(
            since: try moment(event, uptime: uptime),
            microseconds: BackoffRule.microseconds(
                failures: failures, seed: seed, secondsMin: settings.backoff.min.seconds,
                secondsMax: settings.backoff.max.seconds),
            failures: failures, reason: failure, position: position)
    }

    /// Forgets that lists failed of the collections that a run listed to its end, all of their
    /// lists.
    func settleFailingLists(_ event: Event, _ end: SyncFinished, _ position: Position) throws {
        let lists = try failing().filter(\.id.isEmpty)
        guard !lists.isEmpty, let scope = try started(event)?.run.scope else { return }
        let model = try model()
        let listed = Set(scope.listed(model).map(\.name))
        let parts = Set(scope.targets(in: model).map(\.collection))
        let left = Set(end.paused.filter { !$0.value.isRules }.map { CollectionName($0.name) })
        for key in lists.sorted() {
            let name = key.collection
            // One that the model has no list of is only listed in the parts that somebody selects.
            let isListed = (model[name]?.lists?.isEmpty == true ? parts : listed).contains(name)
            guard isListed, !left.contains(name), let row = try failing(key),
                row.gate.position < event.sync ?? position
            else { continue }
            try set(nil, key)
        }
    }

    private func noteAnswer(to key: EntityKey, isWrite: Bool) throws {
        guard var row = try failing(key) else { return }
        guard row.isWrite, !isWrite, !key.id.isEmpty else { return try set(nil, key) }
        // The write is still to be made.
        row.reads = 0
        try set(row, key)
    }

    /// Forgets the failing calls of entities that the current event settled: no mutation is open,
    /// or an answer about the entity came.
    func settleFailing(_ position: Position) throws {
        guard try !failing().isEmpty else { return }
        for place in writtenPlaces {
            guard let key = EntityKey(bytes: place.bytes), var failing = try failing(key) else {
                continue
            }
            let row = try entity(at: place)
            let isSaid = row.basePosition == position
            let isDone = row.attempt == nil && row.pending.allSatisfy(\.isRefused)
            // Where the server names entities, it can't be asked for one that it does not have.
            let isGone =
                try isDone && row.baseState == .absent && namesEntities(key.collection)
            if failing.isWrite ? isDone : isSaid || isGone {
                try set(nil, key)
            } else if isSaid, failing.reads > 0 {
                failing.reads = 0
                try set(failing, key)
            }
        }
    }

    /// The entities of a collection that a list of everything did not name and that can't be read
    /// back.
    package func absentInDoubt(_ collection: CollectionName) throws -> Set<ExactString> {
        let keys = try failing().filter { key in
            guard key.collection == collection, let row = try failing(key) else { return false }
            return row.isAbsent
        }
        return Set(keys.map { ExactString($0.id) })
    }

    /// Notes that a page names entities as they are here: they are not absent.
    func namedAgain(_ page: PullPage, of collection: CollectionName) throws {
        guard try !failing().isEmpty else { return }
        for id in page.same + (page.list?.same ?? []) {
            let key = try resolve(EntityKey(collection, id))
            guard var row = try failing(key), row.isAbsent else { continue }
            row.isAbsent = false
            let isAnswered = try !row.isWrite && entity(key).attempt == nil
            try set(isAnswered ? nil : row, key)
        }
    }

    /// Makes a failing call due at once, because the user asked for it.
    func retryFailing(_ key: EntityKey) throws {
        guard var row = try failing(key) else { return }
        row.gate.microseconds = 0
        try set(row, key)
    }

    /// Gives up a failing call about an entity of which nothing is pending or under way.
    func giveUpFailing(_ key: EntityKey) throws {
        let row = try entity(key)
        if row.pending.isEmpty, row.attempt == nil { try forgetFailing(key) }
    }

    /// The entities of a collection with a write whose outcome is unknown and that can't be read
    /// back.
    func unreadableAttempts(_ collection: CollectionName) throws -> [EntityKey] {
        try failing().filter { key in
            guard key.collection == collection, !key.id.isEmpty, let row = try failing(key) else {
                return false
            }
            return row.reads > 0
        }
        .sorted()
    }

    /// Whether a write with an unknown outcome is given up with its mutations: it can't be read
    /// back, and the next list tells the state.
    func isGivenUp(_ row: EntityRow, _ key: EntityKey) throws -> Bool {
        guard row.attempt != nil, let failing = try failing(key), failing.reads > 0 else {
            return false
        }
        return try row.baseState == .live || !namesEntities(key.collection)
    }
}

extension FailureName {
    /// Whether a rule of the app did not answer: then the list did.
    fileprivate var isRules: Bool { kind == .ruleMissing || kind == .ruleFailed }
}
