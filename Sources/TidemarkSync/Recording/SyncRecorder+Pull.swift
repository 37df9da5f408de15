// SyncRecorder+Pull.swift — how what was read stands in the log: pages, entities, where a list goes
// on, and what it did not name.

import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkViews

extension SyncRecorder {
    /// Logs a page of a list and the entities in it that are new; a page without news is kept back,
    /// unless it moves the cursor.
    mutating func page(
        _ page: ListPage, _ list: Listing, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let collection = list.collection.name
        let fresh = try page.records.map { try isNews($0, collection, exchange.asOf, draft) }
        let unreadable = try page.unreadable.filter { try isNews($0, collection, draft) }
        var news = PageResult()
        news.count = unreadable.count
        news.wanted = try page.references.filter { try isWanted($0, collection, draft) }
        let ids =
            page.records.map(\.id) + page.references.map(\.id)
            + page.unreadable.compactMap(\.id)
        for id in ids {
            let key = try draft.fold.resolve(EntityKey(collection, id))
            news.named.insert(ExactString(key.id))
            news.named.insert(ExactString(id))
        }
        news.asked = exchange.asked
        news.latest = page.records.compactMap(\.serverTime).max()
        news.isComplete = list.isLast(page, news)
        var list = list
        news.failure = list.took(page, news)
        news.list = list
        list.serverTime = list.serverTime ?? exchange.answer.serverTime
        let movesCursor = try news.isComplete && isWorthNoting(list, draft)
        let isNoted =
            try !fresh.contains(true) && news.count == 0 && !movesCursor && page.next == nil
            && list.number <= 1 && exchange.concern == nil && !exchange.isClockNews
            && !namesAbsent(news.named, list.target, draft)
        guard !isNoted else {
            note(exchange)
            return news
        }
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        var named = PullPage()
        named.scope = list.target.scope
        for (record, isNew) in zip(page.records, fresh) {
            named.ids.append(record.id)
            let event = record.event(
                collection, start, call: call, asOf: exchange.asOf, mutation: nil, draft.now)
            let isGain = try isNew && draft.fold.isGain(event, at: draft.nextPosition)
            guard isNew, let position = try say(event, draft) else {
                named.places.append(.same)
                continue
            }
            if isGain { news.isGain = true }
            news.count += 1
            named.places.append(.event(position))
        }
        for record in unreadable {
            try append(record, collection, start, call: call, asOf: exchange.asOf, draft)
        }
        if !news.isComplete { named.list = try progress(of: list, page, news, draft) }
        if !named.ids.isEmpty || named.list != nil {
            named.times = try timesUnknown(page, list.collection, draft)
            try appendPage(named, collection, start, call: call, draft)
        }
        if news.isComplete {
            try appendCompleted(list, Absent(), start, call: call, draft)
        }
        return news
    }

    /// Logs entities that a list had named and that were fetched; those that the server does not
    /// have are gone, since when the list says.
    mutating func fetched(
        _ records: [ServerRecord], of references: [ServerReference],
        _ collection: CollectionName, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        let found = Set(records.map { ExactString($0.id) })
        let gone = references.filter { !found.contains(ExactString($0.id)) }.map {
            ServerRecord(id: $0.id, revision: nil, serverTime: $0.serverTime, document: nil)
        }
        var news = PageResult()
        var page = PullPage()
        page.ids = (records + gone).map(\.id)
        for record in records + gone {
            let event = record.event(
                collection, start, call: call, asOf: exchange.asOf, mutation: nil, draft.now)
            let isGain = try draft.fold.isGain(event, at: draft.nextPosition)
            guard try isNews(record, collection, exchange.asOf, draft),
                let position = try say(event, draft)
            else {
                page.places.append(.same)
                continue
            }
            news.count += 1
            if isGain { news.isGain = true }
            page.places.append(.event(position))
        }
        // What they refer to is looked for once all of them are here.
        if try draft.fold.knownCollection(collection)?.makesPlaceholders == true {
            try appendPage(page, collection, start, call: call, draft)
        }
        return news
    }

    /// Logs that a collection was listed to its end, and what that says of the entities that it did
    /// not name.
    ///
    /// Without a cursor or a date to go on from it says nothing of them, and is logged only for
    /// what it settles or what is out of reach.
    ///
    /// - Returns: what was concluded of them: nothing where a word of the server was not taken.
    mutating func complete(
        _ list: Listing, _ absent: Absent, _ draft: Draft
    ) throws -> Absent {
        // What is absent by a list is so only where its time was right.
        let isTaken = try (list.goesOn || absent.isOutOfReach) && !draft.fold.isTimeInDoubt()
        let absent = isTaken ? absent : Absent()
        let says = try list.goesOn || list.settles || endsSomething(list, draft)
        guard absent.isOutOfReach || says,
            try isWorthNoting(list, draft) || !absent.ids.isEmpty
        else { return Absent() }
        if try isHeldAlready(list, absent, draft) { return absent }
        let start = try begin(draft)
        try appendCompleted(list, absent, start, call: nil, draft)
        return stale.contains(list.collection.name) ? Absent() : absent
    }

    private mutating func appendCompleted(
        _ list: Listing, _ absent: Absent, _ start: Position, call: Position?, _ draft: Draft
    ) throws {
        func gone(_ id: String, _ cause: Position?) -> Event {
            Event(
                .serverDeleted, recordedAt: draft.now, key: EntityKey(list.collection.name, id),
                cause: cause, sync: start, asOf: list.asOf)
        }
        // The cursor moves only when all that follows from it is taken.
        let isTaken =
            try absent.isHeld || absent.isOutOfReach
            || absent.ids.allSatisfy { try wouldSay(gone($0, nil), draft) }
        guard isTaken, !stale.contains(list.collection.name) else { return }
        var completed = PullCompleted()
        completed.scope = list.target.scope
        completed.isFull = list.isWhole
        completed.epoch = list.epoch
        if list.collection.since != nil { completed.asked = list.asked }
        if absent.isHeld { (completed.held, completed.knownCount) = (absent.ids, list.knownCount) }
        if absent.isOutOfReach { completed.hidden = absent.ids }
        completed.gone = try readableAgain(list, draft)
        let isInDoubt = try draft.fold.isTimeInDoubt()
        let time = try list.serverTime.flatMap { time in
            try !isInDoubt && draft.fold.believes(time, begun: begun) ? time : nil
        }
        let position = try draft.append(
            Event(
                .pullCompleted, recordedAt: draft.now, collection: list.collection.name,
                sync: start, call: call, asOf: list.asOf, serverTime: time,
                revision: list.cursor, json: completed.encoded))
        guard !absent.isHeld, !absent.isOutOfReach else { return }
        for id in absent.ids { try say(gone(id, position), draft) }
    }

    /// Logs what the server says of its collections, when it says something new of one.
    mutating func described(
        _ list: [CollectionDescription], _ exchange: ReadExchange, _ draft: Draft
    ) throws {
        let isNews = try list.contains { described in
            let mark = try draft.fold.watermark(PullTarget(described.name))
            return mark.map { $0.epoch != described.epoch } ?? true
        }
        guard isNews else {
            if exchange.isClockNews { try answered(exchange, draft) } else { note(exchange) }
            return
        }
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        let epochs = list.sorted { $0.name < $1.name }.map {
            Named($0.name.rawValue, $0.epoch)
        }
        try draft.append(
            Event(
                .serverDescribed, recordedAt: draft.now, sync: start, call: call,
                json: ServerDescribed(epochs).encoded))
    }

    /// Logs how an entity stands that was asked after by itself.
    mutating func readBack(
        _ key: EntityKey, _ exchange: ReadExchange, _ record: ServerRecord?, _ draft: Draft
    ) throws {
        let start = try begin(draft)
        let call = try log(exchange, start, draft)
        let row = try draft.fold.entity(key)
        if let record, !record.isDeleted {
            guard
                try row.baseState != .live || row.revision != record.revision || row.isAssumed
                    || row.isPlaceholder || isInDoubt(key, start, draft)
            else {
                return
            }
            try say(
                record.event(
                    key.collection, start, call: call, asOf: exchange.asOf, mutation: nil,
                    draft.now), draft)
        } else if try row.baseState == .live || row.pending.last?.kind == .delete
            || draft.fold.isUnreadable(key)
        {
            // What was to be deleted is gone, though the server may never have been told.
            try say(
                Event(
                    .serverDeleted, recordedAt: draft.now, key: key, sync: start, call: call,
                    asOf: exchange.asOf), draft)
        }
    }

    // MARK: What is new

    /// Whether the end of a list is worth an event: the cursor moved, or the date of the last
    /// change, or everything was listed, or the list of long ago is the last one that was noted.
    private func isWorthNoting(_ list: Listing, _ draft: Draft) throws -> Bool {
        if try list.movesCursor || endsSomething(list, draft) { return true }
        guard list.collection.since != nil else { return false }
        guard let mark = try draft.fold.watermark(list.target) else { return true }
        return SinceDecision.isNews(
            since: mark.since, checkedAt: mark.checkedAt, latest: list.latest, asked: list.asked)
    }

    /// The last changes of a page's entities, of those whose rows don't tell them: tombstones of
    /// what never was here, and what more is known of than the page.
    private func timesUnknown(
        _ page: ListPage, _ collection: CollectionModel, _ draft: Draft
    ) throws -> [Named<Timestamp>] {
        guard collection.since != nil else { return [] }
        var times: [Named<Timestamp>] = []
        var places: [ExactString: Int] = [:]
        for record in page.records {
            guard let time = record.serverTime else { continue }
            let key = try draft.fold.resolve(EntityKey(collection.name, record.id))
            if try draft.fold.entity(key).serverTime != time {
                if let place = places[ExactString(record.id)] {
                    times[place].value = time
                } else {
                    places[ExactString(record.id)] = times.count
                    times.append(Named(record.id, time))
                }
            }
        }
        return times
    }

    mutating func isNews(
        _ record: ServerRecord, _ collection: CollectionName, _ asOf: Position, _ draft: Draft
    ) throws -> Bool {
        let key = try draft.fold.resolve(EntityKey(collection, record.id))
        let row = try draft.fold.entity(key)
        if let known = row.asOf, asOf < known {
            if row.revision != record.revision { stale.insert(collection) }
            return false
        }
        if try draft.fold.isUnreadable(EntityKey(collection, record.id)) { return true }
        guard !record.isDeleted, let document = record.document else {
            return row.baseState == .live || row.isAssumed
                || (row.baseState == .absent && !row.pending.isEmpty)
        }
        if try wouldBePruned(document, key, draft) { return false }
        guard row.baseState == .live, row.revision == record.revision, !row.isAssumed,
            !row.isPlaceholder, try !wasOutOfReach(key, row, draft)
        else { return true }
        return row.base != document && !Self.meanTheSame(row.base, document)
    }

    /// Whether an entity that a list only names is to be fetched.
    private func isWanted(
        _ reference: ServerReference, _ collection: CollectionName, _ draft: Draft
    ) throws -> Bool {
        let key = try draft.fold.resolve(EntityKey(collection, reference.id))
        let row = try draft.fold.entity(key)
        // What could not be fetched is asked for by itself; what an earlier list did not name is
        // there again.
        if let failing = try draft.fold.failing(key), !failing.isWrite, !failing.isAbsent {
            return false
        }
        switch row.baseState {
        case .live:
            return reference.revision == nil || row.isAssumed || row.revision != reference.revision
        // What was deleted at the very time is what is named.
        case .deleted: return reference.serverTime == nil || row.serverTime != reference.serverTime
        case .absent: return true
        }
    }

    /// Whether two documents differ in nothing but how they are written.
    private static func meanTheSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right)
        else { return false }
        return left == right
    }

    // MARK: What can't be read

    private func isNews(
        _ record: UnreadableRecord, _ collection: CollectionName, _ draft: Draft
    ) throws -> Bool {
        let place = RowKey.unreadable(collection, record.name)
        guard let bytes = try draft.fold.get(place) else { return true }
        return try UnreadableRow(parsing: bytes).digest != record.digest
    }

    private func append(
        _ record: UnreadableRecord, _ collection: CollectionName, _ start: Position,
        call: Position, asOf: Position, _ draft: Draft
    ) throws {
        var unreadable = ServerUnreadable()
        unreadable.name = record.name
        unreadable.digest = record.digest
        unreadable.problem = record.problem
        unreadable.body = PayloadBody(record.bytes)
        try draft.append(
            Event(
                .serverUnreadable, recordedAt: draft.now, collection: collection, sync: start,
                call: call, asOf: asOf, json: unreadable.encoded))
    }
}

/// Entities that a list of everything did not name.
package struct Absent: Sendable {
    package var ids: [String] = []
    /// Whether the user is asked before they are taken for deleted.
    package var isHeld = false
    /// Whether they are not deleted, but out of reach.
    package var isOutOfReach = false

    package init(ids: [String] = [], isHeld: Bool = false, isOutOfReach: Bool = false) {
        self.ids = ids
        self.isHeld = isHeld
        self.isOutOfReach = isOutOfReach
    }
}

extension Listing {
    /// The entities of a finished list of everything that are taken for deleted, asked about, or
    /// out of reach.
    func absentAtEnd(_ entity: (EntityKey) throws -> EntityRow?) throws -> Absent {
        guard !isReadBack else { return Absent() }
        let ids = try absent(entity)
        return switch sweep(absent: ids) {
        case .none: Absent()
        case .outOfReach: Absent(ids: ids, isOutOfReach: true)
        case .held: Absent(ids: ids, isHeld: true)
        case .deleted: Absent(ids: ids)
        // They were more when the list came to its end, or the time was in doubt.
        case .asked: Absent(ids: ids, isHeld: isDoubtful)
        }
    }
}

extension UnreadableRecord {
    /// What the record goes by: its id, or what its bytes hash to.
    var name: String {
        guard let id, EntityKey("c", id).isValid else { return digest }
        return id
    }

    fileprivate var digest: String { BodyReference(to: bytes).digits }
}

extension ServerRecord {
    func event(
        _ collection: CollectionName, _ sync: Position, call: Position, asOf: Position,
        mutation: Position?, _ now: Timestamp
    ) -> Event {
        Event(
            isDeleted ? .serverDeleted : .serverUpserted, recordedAt: now,
            key: EntityKey(collection, id), sync: sync, mutation: mutation, call: call, asOf: asOf,
            serverTime: serverTime, revision: revision, json: document)
    }
}
