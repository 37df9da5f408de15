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
        _ page: ListPage, _ below: RecordsBelow?, _ list: Listing, _ exchange: ReadExchange,
        _ draft: Draft
    ) throws -> PageResult {
        let collection = list.collection.name
        let known = known(draft)
        let decision = try PageDecision(page, of: list, exchange, known)
        var tree = try below?.decision(
            under: decision.verdicts, withheld: decision.withheld, exchange, known)
        var verdicts = decision.verdicts
        for index in tree?.withheld.sorted() ?? [] where verdicts[index] == .same {
            verdicts[index] = try known.withheld(page.records[index].id, in: collection)
        }
        if decision.verdicts.contains(.outdated) || tree?.isStale == true {
            stale.insert(collection)
        }
        try noteWipe(during: list, draft)
        let set = try decision.result.isComplete ? end(list, draft) : nil
        let isNews = tree?.isNews == true || verdicts.contains(.withheld)
        let isToSay = try decision.isLogged || isNews || isWaiting(set, draft)
        // A folder in which something was not taken is listed again.
        var folders = isTaken(collection) ? page.step?.whole ?? [] : []
        guard isToSay || !folders.isEmpty else {
            note(exchange)
            return decision.result
        }
        // What was left out before is so still.
        for index in decision.withheld.sorted()
        where try known.isWithheld(page.records[index].id, in: collection) {
            verdicts[index] = .withheld
        }
        var news = decision.result
        let read = try log(exchange, draft)
        var named = PullPage()
        named.scope = list.isOfIDs ? PullPage.reconcileScope : list.target.scope
        named.isIDsOnly = list.isOfIDs
        if isToSay {
            try append(
                page.records, verdicts, unreadable: decision.unreadable, to: &named, collection,
                read, &news, draft)
        }
        named.list = decision.progress
        news.applied = [AppliedPage(collection: collection, count: news.count)]
        try append(&tree, to: &named, read, &news, draft)
        // A conflict that no rule decided was left out.
        if !isTaken(collection) { folders = [] }
        named.folders = folders
        // What was not taken the next list of changes is to name again.
        if !list.isWhole, !isTaken(collection) { named.list = nil }
        if !named.ids.isEmpty || named.list != nil || !folders.isEmpty {
            named.times = try known.timesWithoutRow(page, of: list.collection)
            let position = try appendPage(named, collection, read.start, call: read.call, draft)
            let gone = Self.gone(page.records, in: named, collection)
            try append(absent: tree, below: gone, position, read, &news, draft)
        }
        if news.isComplete {
            try appendCompleted(
                ListEnd(decision.list, known), Absent(), set, read.start, call: read.call, draft)
        }
        return news
    }

    /// Logs the records of a page that are new, and what in it can't be read.
    mutating func append(
        _ records: [ServerRecord], _ verdicts: [ServerNews.Verdict],
        unreadable: [UnreadableRecord], to named: inout PullPage, _ collection: CollectionName,
        _ read: LoggedCall, _ news: inout PageResult, _ draft: Draft
    ) throws {
        // By index: none of the records is copied.
        for index in records.indices {
            let place = try append(
                records[index], verdicts[index], collection, read, &news, draft)
            named.ids.append(records[index].id)
            named.places.append(place)
        }
        for record in unreadable { try append(record, collection, read, draft) }
    }

    /// Logs a record if it is new, and counts it.
    ///
    /// - Returns: where the page's event says that it stands in the log.
    mutating func append(
        _ record: ServerRecord, _ verdict: ServerNews.Verdict, _ collection: CollectionName,
        _ read: LoggedCall, _ news: inout PageResult, _ draft: Draft
    ) throws -> PullPage.Place {
        guard verdict == .new else { return verdict == .withheld ? .withheld : .same }
        let event = record.event(collection, read, mutation: nil, draft.now)
        let isGain = try draft.fold.isGain(event, at: draft.nextPosition)
        guard let position = try say(event, isChecked: record.isChecked, draft) else {
            return .same
        }
        if isGain { news.isGain = true }
        news.count += 1
        return .event(position)
    }

    /// Whether a record is new; one that is skipped keeps its collection's cursor.
    mutating func verdict(
        on record: ServerRecord, _ collection: CollectionName, _ asOf: Position, _ draft: Draft
    ) throws -> ServerNews.Verdict {
        let verdict = try known(draft)
            .verdict(on: record, in: collection, asOf: asOf)
        if verdict == .outdated { stale.insert(collection) }
        return verdict
    }

    /// Logs entities that a list had named and that were fetched; those that the server does not
    /// have are gone, since when the list says.
    mutating func fetched(
        _ records: [ServerRecord], _ below: RecordsBelow?, of references: [ServerReference],
        _ collection: CollectionName, _ exchange: ReadExchange, settling items: [ReadBack] = [],
        _ draft: Draft
    ) throws -> PageResult {
        let read = try log(exchange, draft)
        for item in items {
            // What became of its write follows from how it stands.
            let answer = AnswerRecord(RequestAnswered(status: 200))
            try append(answer, key: item.key, nil, cause: item.attempt.call, to: read, draft)
        }
        let found = Set(records.map { ExactString($0.id) })
        let gone = references.filter { !found.contains(ExactString($0.id)) }.map {
            ServerRecord(id: $0.id, revision: nil, serverTime: $0.serverTime, document: nil)
        }
        var news = PageResult()
        var page = PullPage()
        page.ids = (records + gone).map(\.id)
        var verdicts: [ServerNews.Verdict] = []
        for record in records + gone {
            let verdict = try verdict(on: record, collection, exchange.asOf, draft)
            verdicts.append(verdict)
            page.places.append(
                try append(record, verdict, collection, read, &news, draft))
        }
        news.applied = [AppliedPage(collection: collection, count: news.count)]
        let known = known(draft)
        var tree = try below?.decision(under: verdicts, exchange, known)
        try append(&tree, to: &page, read, &news, draft)
        // What they refer to is looked for once all of them are here.
        let makes = try draft.fold.known(collection)?.model.makesPlaceholders == true
        guard makes || tree?.isNews == true else {
            try append(
                below: Self.gone(records + gone, in: page, collection), in: read.start,
                asOf: read.asOf, &news, draft)
            return news
        }
        let position = try appendPage(page, collection, read.start, call: read.call, draft)
        try append(
            absent: tree, below: Self.gone(records + gone, in: page, collection), position, read,
            &news, draft)
        return news
    }

    /// Logs that a collection was listed to its end, and what that says of the entities that it did
    /// not name.
    ///
    /// - Returns: what was concluded of them; nothing where a rule of the app did not answer.
    mutating func complete(
        _ list: Listing, _ absent: Absent, _ draft: Draft
    ) throws -> Absent {
        try noteWipe(during: list, draft)
        let end = ListEnd(list, known(draft))
        let set = try self.end(list, draft)
        switch try end.decision(absent) {
        case .nothing:
            if try isWaiting(set, draft) {
                try appendCompleted(end, Absent(), set, try begin(draft), call: nil, draft)
            }
            return Absent()
        case .heldAlready(let absent):
            if try isWaiting(set, draft) {
                try appendCompleted(end, absent, set, try begin(draft), call: nil, draft)
            }
            return absent
        case .logged(let absent):
            let start = try begin(draft)
            try appendCompleted(end, absent, set, start, call: nil, draft)
            return stale.contains(list.collection.name) ? Absent() : absent
        }
    }

    /// Logs how far a list by folders or of changes is whose last pages brought nothing, so that a
    /// later run goes on there.
    mutating func left(_ list: Listing, _ draft: Draft) throws {
        let collection = list.collection.name
        guard list.pages > 0, let state = list.state,
            list.isWhole || isTaken(collection),
            try !draft.fold.isWiped(collection, after: list.asOf),
            try draft.fold.listed(list.target)?.state != state
        else { return }
        var page = PullPage()
        page.scope = list.target.scope
        var progress = ListProgress(state)
        progress.unreadable = list.unreadable.inOrder
        progress.missing = list.unnamed.inOrder
        // Those of a list of changes stand on its pages.
        progress.references = TreeWalk.references(to: list.walk?.moves.arrived ?? [])
        page.list = progress
        try appendPage(page, collection, try begin(draft), call: nil, draft)
    }

    /// Whether all that was listed of a collection was taken: nothing was skipped, was held back by
    /// a rule, or was wiped meanwhile.
    private func isTaken(_ name: CollectionName) -> Bool {
        !stale.contains(name) && withheld[name] == nil
    }

    /// Keeps the cursor where it is of a list that began before its collection was wiped: what it
    /// named until then is not here.
    private mutating func noteWipe(during list: Listing, _ draft: Draft) throws {
        let name = list.collection.name
        lists[name] = list.asOf
        if try draft.fold.isWiped(name, after: list.asOf) { stale.insert(name) }
    }

    private mutating func appendCompleted(
        _ end: ListEnd, _ absent: Absent, _ set: String?, _ start: Position, call: Position?,
        _ draft: Draft
    ) throws {
        let list = end.list
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
        var completed = try end.completed(absent)
        completed.set = set
        let position = try draft.append(
            Event(
                .pullCompleted, recordedAt: draft.now, collection: list.collection.name,
                sync: start, call: call, asOf: list.asOf, serverTime: end.serverTime,
                revision: list.cursor, json: completed.encoded))
        guard !absent.isHeld, !absent.isOutOfReach else { return }
        var deleted: [EntityKey: Position] = [:]
        for id in absent.ids {
            let key = EntityKey(list.collection.name, id)
            if let said = try say(gone(id, position), draft) { deleted[key] = said }
        }
        var news = PageResult()
        try append(below: deleted, in: start, asOf: list.asOf, &news, draft)
    }

    /// Logs what the server says of its collections, when it says something new of one.
    mutating func described(
        _ list: [CollectionDescription], _ exchange: ReadExchange, _ draft: Draft
    ) throws {
        guard try known(draft).isNew(list) else {
            if exchange.isClockNews { try answered(exchange, draft) } else { note(exchange) }
            return
        }
        let read = try log(exchange, draft)
        let epochs = list.sorted { $0.name < $1.name }.map {
            Named($0.name.rawValue, $0.epoch)
        }
        try draft.append(
            Event(
                .serverDescribed, recordedAt: draft.now, sync: read.start, call: read.call,
                json: ServerDescribed(epochs).encoded))
    }

    /// Logs how entities stand whose writes had no known outcome; what the answer leaves out stays
    /// as it is.
    mutating func readBack(
        _ items: [ReadBack], _ records: [ServerRecord], _ below: RecordsBelow?,
        _ collection: CollectionName, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> PageResult {
        let found = Set(records.map { ExactString($0.id) })
        return try fetched(
            records, below, of: [], collection, exchange,
            settling: items.filter { found.contains(ExactString($0.id)) }, draft)
    }

    /// Logs how an entity stands that was asked after by itself.
    mutating func readBack(
        _ key: EntityKey, _ exchange: ReadExchange, _ record: ServerRecord?,
        _ below: RecordsBelow?, _ draft: Draft
    ) throws {
        let read = try log(exchange, draft)
        let known = known(draft)
        let isNew = try known.isNew(record, of: key)
        var tree = try below?.decision(under: [isNew ? .new : .same], exchange, known)
        guard isNew || tree?.isNews == true else { return }
        let gone = Event(
            .serverDeleted, recordedAt: draft.now, key: key, sync: read.start, call: read.call,
            asOf: read.asOf)
        let found = record.flatMap { record in
            record.isDeleted
                ? nil : record.event(key.collection, read, mutation: nil, draft.now)
        }
        let said = isNew ? try say(found ?? gone, draft) : nil
        var news = PageResult()
        if found == nil, let said {
            try append(below: [key: said], in: read.start, asOf: read.asOf, &news, draft)
        }
        let makes =
            try scope.isFetch && said != nil
            && draft.fold.known(key.collection)?.model.makesPlaceholders == true
        guard makes || tree?.isNews == true, said != nil || !isNew else { return }
        // What it refers to is looked for.
        var page = PullPage()
        page.scope = PullPage.fetchScope
        (page.ids, page.places) = ([key.id], [said.map { .event($0) } ?? .same])
        try append(&tree, to: &page, read, &news, draft)
        let position = try appendPage(page, key.collection, read.start, call: read.call, draft)
        try append(absent: tree, below: [:], position, read, &news, draft)
    }

    func append(
        _ record: UnreadableRecord, _ collection: CollectionName, _ read: LoggedCall,
        _ draft: Draft
    ) throws {
        var unreadable = ServerUnreadable()
        unreadable.name = record.name
        unreadable.digest = record.digest
        unreadable.problem = record.problem
        unreadable.body = PayloadBody(record.bytes)
        try draft.append(
            Event(
                .serverUnreadable, recordedAt: draft.now, collection: collection,
                sync: read.start, call: read.call, asOf: read.asOf, json: unreadable.encoded))
    }
}

extension UnreadableRecord {
    /// The record's name: its id; without one a digest of its bytes; where the id is no key, one of
    /// id and bytes, as several may have the same bytes.
    var name: String {
        guard let id else { return digest }
        if EntityKey.isUsable(id: id) { return id }
        return BodyReference(to: Array(id.utf8) + [0] + bytes).digits
    }

    var digest: String { BodyReference(to: bytes).digits }
}

extension ServerRecord {
    func event(
        _ collection: CollectionName, _ logged: LoggedCall, mutation: Position?, _ now: Timestamp
    ) -> Event {
        Event(
            isDeleted ? .serverDeleted : .serverUpserted, recordedAt: now,
            key: EntityKey(collection, id), sync: logged.start, mutation: mutation,
            call: logged.call, asOf: logged.asOf, serverTime: serverTime, revision: revision,
            json: document)
    }
}
