// ServerAnswer+About.swift — whether an answer is about what was asked.
//
// Ids are compared as texts: a server may write one in another form of Unicode.

import TidemarkEvents

extension ServerAnswer {
    /// The answer; a failure `malformed` where it is about another entity than was asked for, which
    /// says nothing of that one.
    ///
    /// Where the server names entities, the answer to a creation says how. Of a batch each part is
    /// looked at by itself.
    package func about(_ call: ServerCall) -> ServerAnswer {
        switch (self, call) {
        case (.batch(let answers), .batch(let calls)) where answers.count == calls.count:
            return .batch(
                zip(answers, calls).map { BatchedAnswer(status: $0.status, $0.answer.about($1)) })
        case (.records(let records), .fetch(_, let ids)):
            let asked = Set(ids)
            let stray = records.first { !asked.contains($0.id) }
            return stray.map { .stray($0.id, "a fetch of others") } ?? self
        default:
            guard let asked = call.namedID, let id = entityID, id != asked else { return self }
            return .stray(id, "a call about \(asked)")
        }
    }

    private static func stray(_ id: String, _ call: String) -> ServerAnswer {
        .failure(.malformed("\(id) in answer to \(call)"))
    }

    /// The one entity that it is about; nil where it names none.
    private var entityID: String? {
        switch self {
        case .record(let record), .deleted(let record), .conflict(let record): record.id
        case .stored(let id, _): id
        case .description, .page, .unchanged, .cursorExpired, .records, .absent, .conflictUnknown,
            .refused, .batch, .failure:
            nil
        }
    }
}

extension ServerCall {
    /// The one entity that is asked about, by the id that the server knows; nil where there is none
    /// such, or where the server gives it.
    fileprivate var namedID: String? {
        switch self {
        case .read(_, let id), .update(_, let id, _, _), .delete(_, let id, _): id
        case .create(let collection, let id, _): collection.ids == .client ? id : nil
        case .describe, .list, .listWindow, .refetch, .fetch, .batch: nil
        }
    }
}
