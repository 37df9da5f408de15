// JudgedAnswer.swift — what an answer means and what of it may be kept, before anything decides by
// it: what it holds of the credentials goes no further.
//
//   what the log keeps of a head, and of a   is masked, and the answer is what the adapter makes of
//   body that is no success                  that; documents in it stay
//   ids, versions, cursors, next pages       the answer is malformed
//   documents of users                       are kept as they are, and told of

import HTTPTypes
import TidemarkEvents

/// An answer, without what it held of the credentials.
struct JudgedAnswer: Sendable {
    /// What it means.
    var answer: ServerAnswer
    /// What it proves of a write; nil of a read.
    var effect: WriteEffect?
    /// Head and body, as far as they may be logged.
    var response: TransportResponse
    /// Whether a document in it holds the credentials.
    var isExposing = false
    /// The same as far as it may be kept whole; nil where it would not be the same answer.
    private(set) var kept: TransportResponse?

    init(
        _ response: TransportResponse, to call: ServerCall, by adapter: any ServerAdapter,
        _ mask: CredentialMask
    ) {
        var response = response
        // What is decided is what can be kept.
        response.response.headerFields = adapter.words.known(of: response.response.headerFields)
        func judge(_ response: TransportResponse) -> ServerAnswer {
            adapter.answer(to: call, response.response, body: response.body).about(call)
        }
        answer = judge(response)
        self.response = response
        let head = response.response
        defer { if call.isWrite { effect = adapter.effect(of: answer, to: call, head) } }
        let isHeadMasked = self.response.mask(by: mask)
        let documents = answer.documents
        if answer.keepsBody {
            let spared = response.places(of: documents)
            let body = mask.masked(response.body, sparing: spared)
            if let body { self.response.body = body }
            // What is decided is what the log has.
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

        /// What may be kept whole; nil where it would be another answer, because what was masked in
        /// it is what decided.
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

extension SyncFailure {
    /// An answer that names entities, versions or pages by the credentials.
    package static let holdsCredentials = SyncFailure.malformed(
        "it holds the credentials where an id, a version or a page is named")
}

extension TransportResponse {
    /// Masks the head.
    ///
    /// - Returns: whether something was found.
    fileprivate mutating func mask(by mask: CredentialMask) -> Bool {
        let fields = response.headerFields.map { field in
            HTTPField(name: field.name, value: mask.masked(field.value))
        }
        let isMasked = !zip(fields, response.headerFields).allSatisfy { $0.value == $1.value }
        let holds = response.headerFields.contains { mask.holds($0.value) }
        if isMasked { response.headerFields = HTTPFields(fields) }
        return isMasked || holds
    }

    /// What the head names: a version, and the next page.
    fileprivate func names(_ words: ServerWords) -> [String] {
        ([.eTag] + words.nextPageFields).compactMap { response.headerFields[$0] }
    }

    /// Where documents lie in the body, one after another.
    fileprivate func places(of documents: [[UInt8]]) -> [Range<Int>] {
        var rest = 0
        return documents.compactMap { document in
            let place = body[rest...].firstRange(of: document)
            if let place { rest = place.upperBound }
            return place
        }
    }
}

extension ServerAnswer {
    /// Whether the log keeps the body that it came with.
    var keepsBody: Bool {
        switch self {
        case .failure, .refused, .conflict, .conflictUnknown, .batch: true
        case .page, .unchanged, .record, .records, .stored, .deleted, .absent, .description,
            .cursorExpired:
            false
        }
    }

    /// What it says of entities, and what stands where one should.
    fileprivate var documents: [[UInt8]] {
        switch self {
        case .page(let page):
            page.records.compactMap(\.document) + page.unreadable.map(\.bytes)
        case .records(let records): records.compactMap(\.document)
        case .record(let record), .deleted(let record), .conflict(let record):
            record.document.map { [$0] } ?? []
        case .batch(let answers): answers.flatMap(\.answer.documents)
        case .description, .unchanged, .cursorExpired, .stored, .absent, .conflictUnknown,
            .refused, .failure:
            []
        }
    }

    /// What it names: entities, their versions, and where lists go on.
    fileprivate var names: [String] {
        switch self {
        case .page(let page):
            page.records.flatMap(\.names)
                + page.references.flatMap { [$0.id] + $0.revision.names }
                + page.unreadable.compactMap(\.id) + page.cursor.names
                + (page.next.map { [$0] } ?? [])
        case .records(let records): records.flatMap(\.names)
        case .record(let record), .deleted(let record), .conflict(let record): record.names
        case .stored(let id, let revision): [id] + revision.names
        case .description(let list): list.flatMap { [$0.name.rawValue] + $0.epoch.names }
        case .batch(let answers): answers.flatMap(\.answer.names)
        case .unchanged, .cursorExpired, .absent, .conflictUnknown, .refused, .failure: []
        }
    }
}

extension ServerRecord {
    fileprivate var names: [String] { [id] + revision.names }
}

extension Revision? {
    fileprivate var names: [String] { map(\.names) ?? [] }
}

extension Revision {
    fileprivate var names: [String] { [description] }
}
