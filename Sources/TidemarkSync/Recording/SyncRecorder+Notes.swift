// SyncRecorder+Notes.swift — what is kept of an answer to a read beyond what the events that follow
// from it tell, so that it can be made once more.

import HTTPTypes
package import TidemarkEvents
import TidemarkViews

extension ServerAnswer {
    /// The word for an answer without entities that its status does not tell; nil for the others.
    func word(for status: HTTPResponse.Status) -> String? {
        switch self {
        case .unchanged where status != .notModified: "unchanged"
        case .cursorExpired: "cursorExpired"
        default: nil
        }
    }

    /// The answer that such a word stands for.
    package init?(word: String) {
        switch word {
        case "unchanged": self = .unchanged
        case "cursorExpired": self = .cursorExpired
        default: return nil
        }
    }
}

extension SyncRecorder {
    /// What is to be kept of a page.
    ///
    /// - Parameter isNoted: whether no event tells of the page's entities.
    func note(
        _ page: ListPage, _ list: Listing, _ exchange: ReadExchange, wanted: [ServerReference],
        unreadable: [UnreadableRecord], isNoted: Bool, _ draft: Draft
    ) throws -> AnswerNote {
        let collection = list.collection.name
        var note = AnswerNote()
        if page.next != exchange.answer.nextPage { note.next = page.next ?? "" }
        let head = exchange.answer.tag.map { Revision($0) }
        if page.cursor != head { note.cursor = page.cursor ?? Revision("") }
        note.movesCursor = page.movesCursor
        note.references = wanted.map(ListedReference.init)
        func id(_ id: String) throws -> ExactString {
            ExactString(try draft.fold.resolve(EntityKey(collection, id)).id)
        }
        let fetched = Set(wanted.map { ExactString($0.id) })
        let other =
            try (isNoted ? page.records.map(\.id) : []).map(id)
            + page.references.filter { !fetched.contains(ExactString($0.id)) }.map { try id($0.id) }
        let told =
            try (isNoted ? [] : page.records.map(\.id)).map(id) + wanted.map { try id($0.id) }
            + page.unreadable.compactMap { try $0.id.map(id) }
        // The last page of a list of everything mostly names what no earlier one did.
        let namesTheRest =
            other.count + told.count >= list.unnamed.count
            && Set(other) == list.unnamed.subtracting(told)
        if !namesTheRest { note.same = other.map(\.text) }
        let news = Set(unreadable)
        note.unreadable = page.unreadable.filter { !news.contains($0) }.map(\.name)
        note.stale = try staleIDs(page.records, collection, exchange.asOf, draft)
        return note
    }

    /// The entities of which another version is named, and of which more is known.
    func staleIDs(
        _ records: [ServerRecord], _ collection: CollectionName, _ asOf: Position, _ draft: Draft
    ) throws -> [String] {
        try records.filter { record in
            let key = try draft.fold.resolve(EntityKey(collection, record.id))
            let row = try draft.fold.entity(key)
            guard let known = row.asOf, asOf < known else { return false }
            return row.revision != record.revision
        }
        .map(\.id)
    }
}

extension ListedReference {
    init(_ reference: ServerReference) {
        self.init(
            id: reference.id, revision: reference.revision, serverTime: reference.serverTime)
    }
}

extension ServerReference {
    package init(_ listed: ListedReference) {
        self.init(id: listed.id, revision: listed.revision, serverTime: listed.serverTime)
    }
}
