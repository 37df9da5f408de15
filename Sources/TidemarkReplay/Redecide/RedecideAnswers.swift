// RedecideAnswers.swift — a server's answer, made once more of what the log keeps of it: its head,
// the body of what failed, and the events that followed from it.

import HTTPTypes
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkSync
import TidemarkViews

extension RedecideHost {
    // MARK: Reads

    /// The answer to a read.
    func answer(
        to question: SyncQuestion, _ read: RecordedRead
    ) throws -> (ServerAnswer, AnswerRecord) {
        let head = AnswerHead(read.answered, bodies, adapter)
        if let error = head.error { return (ServerAnswer(error, to: question.call), head.record) }
        let note = head.event.answerNote
        if let answer = note.kind.flatMap(ServerAnswer.init(word:)) { return (answer, head.record) }
        // What is kept of it says it all, unless it brought something.
        let kept = head.answer(to: question.call)
        switch kept {
        case .unchanged, .cursorExpired: return (kept, head.record)
        default: if head.isFailure { return (kept, head.record) }
        }
        let answer: ServerAnswer = try journal.read { views in
            let known = KnownRecords(views, question.call, note, read)
            switch question.call {
            case .list, .listWindow:
                return .page(try known.page(question.list, head))
            case .fetch(_, let ids): return .records(try known.fetched(ids))
            case .refetch: return .records(try known.refetched())
            case .read(_, let id): return try known.one(id)
            case .describe(let collections):
                return .description(try known.described(collections))
            case .create, .update, .delete, .batch: return kept
            }
        }
        return (answer, head.record)
    }

    /// The answer to a request of which the log says nothing, because it brought nothing.
    func quiet(_ question: SyncQuestion) throws -> (ServerAnswer, AnswerRecord) {
        var answered = RequestAnswered(status: 200)
        answered.date = run.ending?.date
        answered.fields = run.ending?.backoff.map { [Named(AskedRest.member, $0)] } ?? []
        var record = AnswerRecord(answered)
        record.uptime = run.ending?.answerUptime
        let answer: ServerAnswer = try journal.read { views in
            let known = KnownRecords(views, question.call, AnswerNote(), nil)
            switch question.call {
            case .describe(let collections):
                return .description(try known.described(collections))
            case .list, .listWindow:
                // What was held before is as it was: nobody would have said nothing of it.
                let held = Set(try known.held().map { ExactString($0) })
                let unnamed = question.list.map { $0.unnamed.subtracting(held) } ?? []
                let ids = unnamed.map(\.text) + (question.list?.ahead ?? [])
                let page = ListPage(
                    records: try ids.sorted().map { try known.same($0) }, next: nil,
                    cursor: try question.list?.after ?? known.cursor())
                return .page(page)
            case .fetch(_, let ids): return .records(try known.fetched(ids))
            default: return .failure(.malformed("an answer that was not recorded"))
            }
        }
        return (answer, record)
    }

    // MARK: Writes

    /// The answer to a write.
    func answer(
        to question: SyncQuestion, _ answered: Capsule.Entry, _ news: [Capsule.Entry],
        _ call: Position
    ) throws -> (ServerAnswer, AnswerRecord) {
        let head = AnswerHead(answered, bodies, adapter)
        if let error = head.error { return (ServerAnswer(error, to: question.call), head.record) }
        guard case .push(let items) = question.step, items.count == 1,
            let accepted = news.first(where: { $0.event.kind == .pushAccepted })
        else {
            var answer = head.answer(to: question.call)
            let isGone = news.contains { $0.event.kind == .serverDeleted }
            if case .failure = answer, !head.isFailure, isGone { answer = .absent }
            return (answer, head.record)
        }
        if let said = news.first(where: { $0.event.isServers && $0.event.mutation != nil }) {
            let record = ServerRecord(said.event)
            return (record.isDeleted ? .deleted(record) : .record(record), head.record)
        }
        let id = accepted.event.read(PushAccepted.self)?.serverID ?? items[0].key.id
        return (.stored(id: id, accepted.event.revision), head.record)
    }
}

/// What is kept of an answer as such.
struct AnswerHead {
    let event: Event
    let record: AnswerRecord
    private let body: [UInt8]
    private let adapter: any ServerAdapter

    init(
        _ entry: Capsule.Entry, _ bodies: [BodyReference: [UInt8]], _ adapter: any ServerAdapter
    ) {
        event = entry.event
        self.adapter = adapter
        let named = event.namedBody.flatMap { bodies[$0] }
        record = AnswerRecord(logged: event, bodies: named.map { [$0] } ?? [], words: adapter.words)
        body = named ?? record.answered?.body.bytes ?? []
    }

    /// Why there was no answer; nil where there was one.
    var error: TransportError? {
        guard case .failed(let failed) = record.content else { return nil }
        let code = TransportError.Code(rawValue: failed.error)
        return TransportError(code ?? .connectionLost, detail: failed.detail ?? "")
    }

    /// Whether the call failed.
    var isFailure: Bool { record.answered?.failure != nil }

    /// What the adapter makes of what is kept.
    func answer(to call: ServerCall) -> ServerAnswer {
        let status = HTTPResponse.Status(code: record.status ?? 0)
        let head = HTTPResponse(
            status: status,
            headerFields: record.answered.map(adapter.words.headerFields) ?? [:])
        let answer = adapter.answer(to: call, head, body: body).about(call)
        if case .failure = answer { return answer }
        // What the adapter understands, and was no answer all the same.
        let isMalformed = record.answered?.failure?.kind == .malformed
        return isMalformed ? .failure(.holdsCredentials) : answer
    }
}

extension Event {
    /// What an answer to a read says beyond the events that follow from it.
    var answerNote: AnswerNote {
        read(RequestAnswered.self)?.note ?? read(RequestFailed.self)?.note ?? AnswerNote()
    }
}

extension Event {
    /// Whether it is a word of the server about an entity.
    fileprivate var isServers: Bool { kind == .serverUpserted || kind == .serverDeleted }
}

extension ServerRecord {
    /// What an event says that the server said.
    fileprivate init(_ event: Event) {
        self.init(
            id: event.entity ?? "", revision: event.revision, serverTime: event.serverTime,
            document: event.payloadType == .none ? nil : event.payload,
            isDeleted: event.kind == .serverDeleted)
    }
}

/// What the views, and the events that followed, tell of an answer's entities.
struct KnownRecords {
    private let views: ViewReader
    private let collection: CollectionModel?
    private let note: AnswerNote
    private let read: RecordedRead?

    init(_ views: ViewReader, _ call: ServerCall, _ note: AnswerNote, _ read: RecordedRead?) {
        self.views = views
        self.note = note
        self.read = read
        collection = call.collection
    }

    private var said: [Capsule.Entry] { read?.news.filter { $0.event.isServers } ?? [] }

    private var page: PullPage? {
        read?.news.lazy.compactMap { $0.event.read(PullPage.self) }.first
    }

    /// An entity that is here as the server says; of one that is not, that it is not there.
    func same(_ id: String, _ time: Timestamp? = nil) throws -> ServerRecord {
        let row = try row(id)
        let isStale = note.stale.contains { ExactString($0) == ExactString(id) }
        let isLive = row?.baseState == .live
        return ServerRecord(
            id: id, revision: isStale ? Self.otherRevision : row?.revision,
            serverTime: time ?? row?.serverTime, document: isLive ? row?.base : nil)
    }

    /// A version that no server has.
    private static let otherRevision = Revision("\u{0}another version")

    private func row(_ id: String) throws -> EntityRow? {
        try collection.flatMap { try views.entity(EntityKey($0.name, id)) }
    }

    /// The entities that a page names, each as it is said to be.
    private func named(_ page: PullPage) throws -> [(record: ServerRecord, isSaid: Bool)] {
        let times = Dictionary(
            page.times.map { (ExactString($0.name), $0.value) }, uniquingKeysWith: { $1 })
        var result: [(ServerRecord, Bool)] = []
        for (id, place) in zip(page.ids, page.places) {
            if place == .absent { continue }
            if case .event(let position) = place,
                let entry = said.first(where: { $0.position == position })
            {
                result.append((ServerRecord(entry.event), true))
                continue
            }
            if let earlier = result.last(where: { $0.1 && ExactString($0.0.id) == ExactString(id) })
            {
                result.append((earlier.0, false))
                continue
            }
            result.append((try same(id, times[ExactString(id)]), false))
        }
        return result
    }

    /// A page of a list.
    func page(_ list: Listing?, _ head: AnswerHead) throws -> ListPage {
        let known = try page.map { try named($0).map(\.record) }
        var page = ListPage(records: known ?? [], next: nil, cursor: nil)
        page.next = note.next.map { $0.isEmpty ? nil : $0 } ?? head.record.nextPage
        let tag = head.record.tag.map { Revision($0) }
        page.cursor = note.cursor.map { $0.rawValue.isEmpty ? nil : $0 } ?? tag
        page.movesCursor = note.movesCursor
        page.references = note.references.map { ServerReference($0) }
        page.unreadable = try unreadable()
        // What no event tells of, because it is here as it is said to be.
        let told = page.records.map(\.id) + page.references.map(\.id)
        let rest = try list?.unnamed.subtracting((told + page.unreadable.compactMap(\.id)).map(key))
        let same = note.same ?? rest.map { $0.map(\.text).sorted() } ?? []
        let isNoted = read?.news.isEmpty ?? true && page.next == nil && list?.number ?? 0 == 0
        if isNoted {
            page.records = try same.map { try self.same($0) }
        } else {
            page.references += try same.map {
                let row = try row($0)
                return ServerReference(
                    id: $0, revision: row?.revision, serverTime: row?.serverTime)
            }
        }
        return page
    }

    /// Where the collection's next list goes on.
    func cursor() throws -> Revision? {
        try collection.flatMap { try views.watermark(PullTarget($0.name)) }?.cursor
    }

    /// The entities of the collection that are held.
    func held() throws -> [String] {
        try collection.flatMap { try views.held(PullTarget($0.name)) }?.ids ?? []
    }

    private func key(_ id: String) throws -> ExactString {
        guard let collection, let found = try views.found(EntityKey(collection.name, id)) else {
            return ExactString(id)
        }
        return ExactString(found.key.id)
    }

    private func unreadable() throws -> [UnreadableRecord] {
        let news = read?.news.map(\.event).filter { $0.kind == .serverUnreadable } ?? []
        var result = news.compactMap(UnreadableRecord.init)
        for name in note.unreadable {
            guard let collection,
                let bytes = try views.get(.unreadable(collection.name, name)),
                let event = try views.event(at: try UnreadableRow(parsing: bytes).position),
                let record = UnreadableRecord(event)
            else {
                let why = "what could not be read is not in the capsule: \(name)"
                throw RedecideStop.notDecided(read?.sent.position ?? .start, why)
            }
            result.append(record)
        }
        return result
    }

    /// Entities that were asked for by their ids.
    func fetched(_ ids: [String]) throws -> [ServerRecord] {
        if let page { return try named(page).map(\.record) }
        let news = said.map { ServerRecord($0.event) }
        let told = Set(news.map { ExactString($0.id) })
        let rest = try ids.filter { !told.contains(ExactString($0)) }
            .filter { try row($0)?.baseState == .live }
        return try news + rest.map { try same($0) }
    }

    /// Placeholders that were asked for.
    func refetched() throws -> [ServerRecord] {
        let known = try page.map { try named($0).filter { !$0.isSaid }.map(\.record) }
        return said.map { ServerRecord($0.event) } + (known ?? [])
    }

    /// One entity that was asked for.
    func one(_ id: String) throws -> ServerAnswer {
        if let entry = said.last {
            let record = ServerRecord(entry.event)
            return record.isDeleted ? .absent : .record(record)
        }
        let record = try same(id)
        return record.isDeleted ? .absent : .record(record)
    }

    /// What tells collections from others of their names.
    func described(_ collections: [CollectionModel]) throws -> [CollectionDescription] {
        let described = read?.news.lazy.compactMap { $0.event.read(ServerDescribed.self) }.first
        if let described {
            return described.epochs.map {
                CollectionDescription(name: CollectionName($0.name), epoch: $0.value)
            }
        }
        return try collections.compactMap { collection in
            guard !note.missing.contains(collection.name.rawValue),
                let epoch = try views.watermark(PullTarget(collection.name))?.epoch
            else { return nil }
            return CollectionDescription(name: collection.name, epoch: epoch)
        }
    }
}

extension UnreadableRecord {
    /// What an event keeps of it.
    fileprivate init?(_ event: Event) {
        guard let record = event.read(ServerUnreadable.self) else { return nil }
        let id = record.name == record.digest ? nil : record.name
        self.init(id: id, bytes: record.body.bytes, problem: record.problem)
    }
}
