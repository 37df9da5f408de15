// AnswerNote.swift — what an answer to a read said beyond what the events that follow from it tell:
// with it, and with them, the answer can be made once more.
//
//   is          what the answer is, where its head alone does not say so
//   next        the next page, where no header field names it
//   cursor      where a later list goes on, where that is not the ETag
//   moves       whether the cursor says how far this page goes
//   refs        entities that it only names and that are to be fetched: [[id, version or null], …],
//               each with its last change by the server's clock behind, where that is known
//   same        entities that it names and that are here as it says, where they are others than
//               all that the list had still to name
//   unreadable  what can't be read and was known already, by name
//   stale       entities of which it names another version, and of which more is known
//   missing     collections that it does not describe
//   overtook    how many answers to what was asked earlier came later

import HTTPTypes
package import TidemarkEvents
import TidemarkViews

/// What the log keeps of an answer to a read, so that it can be made once more.
package struct AnswerNote: Sendable, Hashable {
    /// The member of `request.answered` that holds it.
    package static let member = "answer"

    package var kind: String?
    package var next: String?
    package var cursor: Revision?
    package var movesCursor = false
    package var references: [ServerReference] = []
    package var same: [String]?
    package var unreadable: [String] = []
    package var stale: [String] = []
    package var missing: [String] = []
    package var overtook = 0

    package init() {}

    var isEmpty: Bool { self == AnswerNote() }

    /// Its bytes, in the order of the table above.
    var encoded: [UInt8] {
        var payload = PayloadBuilder()
        payload.add("is", kind)
        payload.add("next", next)
        payload.add("cursor", cursor?.description)
        if movesCursor { payload.add("moves", true) }
        if !references.isEmpty {
            payload.add("refs", .array(references.map { ListedReference($0).json }))
        }
        payload.add("same", same.map { .array($0.map(JSONValue.string)) })
        for (name, ids) in [("unreadable", unreadable), ("stale", stale), ("missing", missing)]
        where !ids.isEmpty {
            payload.add(name, .array(ids.map(JSONValue.string)))
        }
        if overtook > 0 { payload.add("overtook", Int64(overtook)) }
        return payload.bytes
    }

    /// What a payload of `request.answered` holds; an empty one where it holds none.
    package init(of payload: JSONDocument) {
        guard let object = payload.value(Self.member)?.object else { return }
        func texts(_ name: String) -> [String]? {
            object[name]?.array.map { $0.compactMap(\.stringValue) }
        }
        kind = object["is"]?.stringValue
        next = object["next"]?.stringValue
        cursor = object["cursor"]?.stringValue.map { Revision($0) }
        movesCursor = object["moves"] == .bool(true)
        references = (object["refs"]?.array ?? []).compactMap {
            ListedReference($0.array).map(ServerReference.init)
        }
        same = texts("same")
        unreadable = texts("unreadable") ?? []
        stale = texts("stale") ?? []
        missing = texts("missing") ?? []
        overtook = object["overtook"]?.int64Value.flatMap(Int.init(exactly:)) ?? 0
    }
}

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
        note.references = wanted
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
    init(_ listed: ListedReference) {
        self.init(id: listed.id, revision: listed.revision, serverTime: listed.serverTime)
    }
}
