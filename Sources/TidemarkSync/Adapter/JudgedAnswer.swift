// JudgedAnswer.swift — the meaning of an answer, and the part of it that may be kept. Here members
// that the model drops are cut off, and credentials masked, before anything is decided or logged.
//
//   credentials in                            are
//   the head, and a body that is logged       masked, except in documents; the adapter then judges
//   because the call did not succeed          the masked answer
//   ids, versions, cursors, next pages        no longer used: the answer is malformed
//   documents of users                        kept as they are, and reported by the outcome

import HTTPTypes
package import TidemarkEvents
import TidemarkLog

/// An answer without the credentials that it held.
struct JudgedAnswer: Sendable {
    /// What it means.
    var answer: ServerAnswer
    /// What it proves of a write; nil for a read.
    var effect: WriteEffect?
    /// Head and body as they may be logged.
    var response: TransportResponse
    /// The group of requests whose quota it says is used up.
    var exhausted: RequestGroup?
    /// Whether a document in it holds the credentials.
    var isExposing = false
    /// The answer with its whole body, credentials masked; nil where masking would change its
    /// meaning.
    private(set) var kept: TransportResponse?

    init(
        _ response: TransportResponse, to call: ServerCall, by adapter: any ServerAdapter,
        _ mask: CredentialMask, _ proof: ContentProof? = nil
    ) {
        var response = response
        // The adapter sees only header fields that can be kept, so that a replay decides the same.
        response.response.headerFields = adapter.words.known(of: response.response.headerFields)
        if proof == nil { response.body = adapter.dropping(from: response.body, of: call) }
        func judge(_ response: TransportResponse) -> ServerAnswer {
            let (head, body) = (response.response, response.body)
            // What a comparison says no server wrote.
            let told = (proof?.answer(to: head, body) ?? adapter.answer(to: call, head, body: body))
                .about(call)
            // What an adapter makes of something else than JSON is not cut.
            if told.keepsDropped(call) { return .failure(.keepsDropped) }
            return told.asFarAsUncut(call).dated(call)
        }
        answer = judge(response)
        self.response = response
        let head = response.response
        defer {
            if call.isWrite { effect = adapter.effect(of: answer, to: call, head) }
            if case .failure(.tooManyRequests) = answer {
                exhausted = adapter.exhausted(by: head, to: call)
            }
        }
        if answer == .failure(.keepsDropped) {
            self.response.body = []
            return
        }
        let isHeadMasked = self.response.mask(by: mask)
        let documents = answer.documents
        if answer.keepsBody {
            let spared = response.places(of: documents)
            let body = mask.masked(response.body, sparing: spared)
            if let body { self.response.body = body }
            // The adapter judges the bytes that the log keeps.
            if isHeadMasked || body != nil { answer = judge(self.response) }
        }
        guard isHeadMasked || mask.mentions(response.body) else {
            kept = response
            return
        }
        defer { kept = wholeOf(response, documents, judge) }
        guard isHeadMasked || mask.holds(response.body) else { return }
        isExposing = documents.contains { mask.holds($0) }
        if case .failure = answer { return }
        let named = answer.names + response.names(adapter.words)
        guard named.contains(where: { mask.holds($0) }) || answer.documents != documents else {
            return
        }
        answer = .failure(.holdsCredentials)
        mask.masked(response.body).map { self.response.body = $0 }

        /// The answer with its whole body, masked; nil where the adapter would judge it otherwise,
        /// because what was masked is what it decided by.
        func wholeOf(
            _ response: TransportResponse, _ documents: [[UInt8]],
            _ judge: (TransportResponse) -> ServerAnswer
        ) -> TransportResponse? {
            if answer == .failure(.holdsCredentials) { return self.response }
            var whole = self.response
            let spared = response.places(of: documents)
            whole.body = mask.masked(response.body, sparing: spared) ?? response.body
            return judge(whole) == answer ? whole : nil
        }
    }
}

extension ServerAdapter {
    /// What a run without credentials makes of an answer, and what it takes it to prove of a write.
    package func judged(
        _ response: TransportResponse, to call: ServerCall
    ) -> (answer: ServerAnswer, effect: WriteEffect?) {
        let judged = JudgedAnswer(response, to: call, by: self, Credentials.none.mask)
        return (judged.answer, judged.effect)
    }
}

extension SyncFailure {
    /// An answer whose documents hold members that the model drops.
    static let keepsDropped = SyncFailure.client(
        status: 0,
        "the model drops members that can't be cut out of this server's answers; leave drops out")

    /// An answer in which an id, a version or a next page holds the credentials.
    package static let holdsCredentials = SyncFailure.malformed(
        "it holds the credentials where an id, a version or a page is named")
}

extension ServerAnswer {
    /// Whether a document in it has a member that its collection drops.
    fileprivate func keepsDropped(_ call: ServerCall) -> Bool {
        switch (self, call) {
        case (.combined(let pages), .combined(let collections)):
            return collections.contains { collection in
                guard !collection.drops.isEmpty else { return false }
                let own = pages.filter { $0.collection == collection.name }
                return ServerAnswer.combined(own).documents.contains {
                    $0.hasMember(of: collection.drops)
                }
            }
        case (.batch(let answers), .batch(let calls)), (.batch(let answers), .poll(_, let calls)):
            return zip(answers, calls).contains { $0.answer.keepsDropped($1) }
        default:
            let drops = call.drops
            return !drops.isEmpty && documents.contains { $0.hasMember(of: drops) }
        }
    }

    /// The answer without the documents of writes out of which members may be cut that only the
    /// collections of other writes drop: only that they were taken, or met another version, counts.
    fileprivate func asFarAsUncut(_ call: ServerCall) -> ServerAnswer {
        let calls: [ServerCall]
        switch call {
        case .batch(let own), .poll(_, let own): calls = own
        default: return self
        }
        guard case .batch(let answers) = self else { return self }
        let drops = call.drops
        return .batch(
            zip(answers, calls).map { told, own in
                guard own.drops.count < drops.count else { return told }
                var part = told
                switch part.answer {
                case .record(let record):
                    part.answer = .stored(id: record.id, record.revision)
                case .conflict: part.answer = .conflictUnknown
                default: break
                }
                return part
            })
    }
}

extension ServerAnswer {
    /// The answer with the last changes of those records of which the adapter told none, as their
    /// documents have them: lists by date go on from there.
    fileprivate func dated(_ call: ServerCall) -> ServerAnswer {
        switch (self, call) {
        case (.batch(let answers), .batch(let calls)), (.batch(let answers), .poll(_, let calls)):
            return .batch(
                zip(answers, calls).map { told, call in
                    var part = told
                    part.answer = told.answer.dated(call)
                    return part
                })
        case (.combined(var pages), .combined(let collections)):
            for index in pages.indices {
                let name = pages[index].collection
                if let collection = collections.first(where: { $0.name == name }) {
                    pages[index].records.date(by: collection)
                }
            }
            return .combined(pages)
        default: return call.collection.map(dated(by:)) ?? self
        }
    }

    private func dated(by collection: CollectionModel) -> ServerAnswer {
        func dated(_ record: ServerRecord) -> ServerRecord {
            var record = record
            record.date(by: collection)
            return record
        }
        switch self {
        case .page(var page):
            page.records.date(by: collection)
            return .page(page)
        case .records(var records):
            records.date(by: collection)
            return .records(records)
        case .record(let record): return .record(dated(record))
        case .deleted(let record): return .deleted(dated(record))
        case .conflict(let record): return .conflict(dated(record))
        case .description, .combined, .unchanged, .cursorExpired, .stored, .absent,
            .conflictUnknown, .refused, .ignored, .reserved, .batch, .deferred, .waiting, .failure:
            return self
        }
    }
}

extension [ServerRecord] {
    fileprivate mutating func date(by collection: CollectionModel) {
        guard collection.since != nil else { return }
        for index in indices where self[index].serverTime == nil {
            self[index].date(by: collection)
        }
    }
}

extension ServerRecord {
    /// Takes the time of the last change out of the document, where the adapter told none.
    fileprivate mutating func date(by collection: CollectionModel) {
        guard serverTime == nil, collection.since != nil, let field = collection.lastChangeField,
            let document, let place = JSON.member(field, of: document),
            (try? JSONValue(parsing: document[place])) != nil
        else { return }
        serverTime = collection.dates.timestamp(document[place])
    }
}

extension [UInt8] {
    /// Whether it is an object with a member of one of these names.
    fileprivate func hasMember(of names: [String]) -> Bool {
        names.contains { JSON.member($0, of: self) != nil }
    }
}

extension TransportResponse {
    /// Masks the head.
    ///
    /// - Returns: whether the head held any of the credentials.
    fileprivate mutating func mask(by mask: CredentialMask) -> Bool {
        let fields = response.headerFields.map { field in
            HTTPField(name: field.name, value: mask.masked(field.value))
        }
        let isMasked = !zip(fields, response.headerFields).allSatisfy { $0.value == $1.value }
        let holds = response.headerFields.contains { mask.holds($0.value) }
        if isMasked { response.headerFields = HTTPFields(fields) }
        return isMasked || holds
    }

    /// The version and the next page that the head names.
    fileprivate func names(_ words: ServerWords) -> [String] {
        ([.eTag] + words.nextPageFields).compactMap { response.headerFields[$0] }
    }

    /// After so many documents in a row that are not in the body as they are, no more are looked
    /// for: the adapter makes them of something else.
    private static let missesMax = 8

    /// Where the documents lie in the body, which holds them in the same order.
    func places(of documents: [[UInt8]]) -> [Range<Int>] {
        let body = self.body
        var places: [Range<Int>] = []
        var (rest, misses) = (0, 0)
        for document in documents where !document.isEmpty {
            guard misses < Self.missesMax else { break }
            guard let place = body.span.firstPlace(of: document.span, from: rest) else {
                misses += 1
                continue
            }
            rest = place + document.count
            places.append(place..<rest)
            misses = 0
        }
        return places
    }
}

extension ServerAnswer {
    /// Whether the log keeps the body of such an answer.
    var keepsBody: Bool {
        switch self {
        case .failure, .refused, .ignored, .conflict, .conflictUnknown, .batch: true
        case .page, .combined, .unchanged, .record, .records, .stored, .deleted, .absent,
            .description, .cursorExpired, .deferred, .waiting, .reserved:
            false
        }
    }

    /// The documents in the answer, and the bytes of its unreadable records.
    fileprivate var documents: [[UInt8]] {
        switch self {
        case .page(let page):
            page.records.compactMap(\.document) + page.unreadable.map(\.bytes)
        case .combined(let pages):
            pages.flatMap { $0.records.compactMap(\.document) + $0.unreadable.map(\.bytes) }
        case .records(let records): records.compactMap(\.document)
        case .record(let record), .deleted(let record), .conflict(let record):
            record.document.map { [$0] } ?? []
        case .batch(let answers): answers.flatMap(\.answer.documents)
        case .description, .unchanged, .cursorExpired, .stored, .absent, .conflictUnknown,
            .refused, .ignored, .deferred, .waiting, .failure, .reserved:
            []
        }
    }

    /// The ids, versions, cursors and next pages that the answer names.
    fileprivate var names: [String] {
        switch self {
        case .page(let page):
            page.records.flatMap(\.names)
                + page.references.flatMap { [$0.id] + $0.revision.names }
                + page.unreadable.compactMap(\.id) + page.cursor.names
                + (page.next.map { [$0] } ?? [])
        case .combined(let pages):
            pages.flatMap { $0.records.flatMap(\.names) + $0.unreadable.compactMap(\.id) }
        case .records(let records): records.flatMap(\.names)
        case .record(let record), .deleted(let record), .conflict(let record): record.names
        case .stored(let id, let revision, _): [id] + revision.names
        case .description(let list, let next):
            list.flatMap { [$0.name.rawValue] + $0.epoch.names } + (next.map { [$0] } ?? [])
        case .reserved(let reserved): reserved.values.map(\.value)
        case .batch(let answers): answers.flatMap(\.answer.names)
        case .deferred(let ticket): [ticket]
        case .unchanged, .cursorExpired, .absent, .conflictUnknown, .refused, .ignored, .waiting,
            .failure:
            []
        }
    }
}

extension ServerRecord {
    fileprivate var names: [String] {
        let below = children.flatMap { held in
            held.records.flatMap(\.names) + held.unreadable.compactMap(\.id)
        }
        return [id] + revision.names + below
    }
}

extension Revision? {
    fileprivate var names: [String] { map(\.names) ?? [] }
}

extension Revision {
    fileprivate var names: [String] { [description] }
}
