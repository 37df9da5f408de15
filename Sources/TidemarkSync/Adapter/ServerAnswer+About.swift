// ServerAnswer+About.swift — checks that an answer fits its call, and is about the same entity.
//
// Ids are compared as texts: a server may write one in another form of Unicode.

import TidemarkEvents

extension ServerAnswer {
    /// The answer; a failure `malformed` where the call can't have it, or where it is about another
    /// entity than the call.
    ///
    /// Such an answer says nothing of the entity that was asked for. Where the server gives
    /// the ids, the answer to a creation names the new id. Each part of a batch is checked by
    /// itself.
    package func about(_ call: ServerCall) -> ServerAnswer {
        guard answers(call) else {
            return .failure(.malformed("\(word) in answer to \(call.kind.rawValue)"))
        }
        if let short = withShortVersions { return short.about(call) }
        if let usable = withUsableRecords(call) { return usable.about(call) }
        switch (self, call) {
        case (.batch(let answers), .batch(let calls)):
            guard answers.count == calls.count else {
                return .failure(
                    .malformed("a batch of \(calls.count) with \(answers.count) answers"))
            }
            return .batch(
                zip(answers, calls).map { part, call in
                    var part = part
                    part.answer = part.answer.about(call)
                    return part
                })
        case (.batch(let answers), .poll(_, let calls)):
            guard answers.count == calls.count else {
                return .failure(
                    .malformed("\(answers.count) answers to \(calls.count) promised ones"))
            }
            return ServerAnswer.batch(answers).about(.batch(calls))
        case (.records(let records), .fetch(_, let ids)):
            let asked = Set(ids)
            let stray = records.first { !asked.contains($0.id) }
            return stray.map { .stray($0.id, "a fetch of others") } ?? self
        default:
            guard let asked = call.namedID, let id = entityID, id != asked else { return self }
            return .stray(id, "a call about \(asked)")
        }
    }

    /// The answer without versions that no event could name: of a page their records can't be
    /// read, any other answer can't be; nil where there are none.
    private var withShortVersions: ServerAnswer? {
        func isLong(_ revision: Revision?) -> Bool {
            revision.map { $0.rawValue.count > Revision.bytesMax } ?? false
        }
        func isLong(_ record: ServerRecord) -> Bool {
            isLong(record.revision)
                || record.children.contains { $0.records.contains(where: isLong) }
        }
        let problem = "a version of more than \(Revision.bytesMax) bytes"
        if case .page(var page) = self, !isLong(page.cursor),
            !page.references.contains(where: { isLong($0.revision) })
        {
            let long = page.records.filter(isLong)
            guard !long.isEmpty else { return nil }
            page.records.removeAll(where: isLong)
            page.unreadable += long.map {
                UnreadableRecord(id: $0.id, bytes: $0.document ?? [], problem: problem)
            }
            return .page(page)
        }
        let isMalformed =
            switch self {
            case .page: true
            case .combined(let pages): pages.contains { $0.records.contains(where: isLong) }
            case .records(let records): records.contains(where: isLong)
            case .record(let record), .deleted(let record), .conflict(let record): isLong(record)
            case .stored(_, let revision, _): isLong(revision)
            default: false
            }
        return isMalformed ? .failure(.malformed(problem)) : nil
    }

    /// The answer without records of which no event could tell: in a page they can't be read, any
    /// other answer can't be; nil where there are none.
    private func withUsableRecords(_ call: ServerCall) -> ServerAnswer? {
        // What lies in a tree by paths gets its id here.
        let isNamed = call.collection?.isByPath != true
        func isUnusable(_ id: String) -> Bool { isNamed && !EntityKey.isUsable(id: id) }
        func problem(_ record: ServerRecord) -> String? {
            isUnusable(record.id) ? Self.unusable(record.id) : record.documentProblem
        }
        /// Takes those of a page out; false where there are none.
        func take(
            from records: inout [ServerRecord], to unreadable: inout [UnreadableRecord]
        ) -> Bool {
            let problems = records.map(problem)
            guard problems.contains(where: { $0 != nil }) else { return false }
            var usable: [ServerRecord] = []
            for (record, problem) in zip(records, problems) {
                guard let problem else {
                    usable.append(record)
                    continue
                }
                // That it is gone says nothing of what can't be here.
                guard !record.isDeleted else { continue }
                unreadable.append(
                    UnreadableRecord(
                        id: record.id, bytes: record.document ?? [], problem: problem))
            }
            records = usable
            return true
        }
        let found: String?
        switch self {
        case .page(var page):
            var isCut = take(from: &page.records, to: &page.unreadable)
            for reference in page.references where isUnusable(reference.id) {
                page.unreadable.append(
                    UnreadableRecord(
                        id: reference.id, bytes: Array(reference.id.utf8),
                        problem: Self.unusable(reference.id)))
                isCut = true
            }
            page.references.removeAll { isUnusable($0.id) }
            return isCut ? .page(page) : nil
        case .combined(var pages):
            var isCut = false
            for index in pages.indices {
                var page = pages[index]
                guard take(from: &page.records, to: &page.unreadable) else { continue }
                pages[index] = page
                isCut = true
            }
            return isCut ? .combined(pages) : nil
        case .records(let records): found = records.compactMap(problem).first
        case .record(let record), .conflict(let record): found = problem(record)
        case .deleted(let record):
            found = isUnusable(record.id) ? Self.unusable(record.id) : nil
        case .stored(let id, _, _): found = isUnusable(id) ? Self.unusable(id) : nil
        case .description, .unchanged, .cursorExpired, .absent, .conflictUnknown, .refused,
            .ignored, .reserved, .batch, .deferred, .waiting, .failure:
            found = nil
        }
        return found.map { .failure(.malformed($0)) }
    }

    /// What is wrong with an id that is no key, and how that begins.
    private static func unusable(_ id: String) -> String {
        let beginning = String(id.unicodeScalars.prefix(80)).debugDescription
        return "an id that is empty, has control characters, or more than "
            + "\(EntityKey.idBytesMax) bytes: \(beginning)"
    }

    /// Whether a call can have an answer of this kind.
    private func answers(_ call: ServerCall) -> Bool {
        if case .absent = self, case .list(let collection, _, let page) = call {
            // A folder that is gone; without a root nothing is known.
            return collection.isByPath && page != nil
        }
        let kind = call.kind
        return switch self {
        case .description: kind == .describe
        case .page: kind == .list || kind == .feed
        case .combined: kind == .combined
        case .unchanged, .cursorExpired: kind == .list
        case .records: kind == .fetch
        case .reserved: kind == .reserve
        case .record, .deleted: kind == .read || kind == .write
        case .absent: kind == .read || kind == .write || kind == .poll
        case .stored, .refused, .ignored: kind == .write || kind == .action
        case .conflict, .conflictUnknown: kind == .write
        case .batch: kind == .batch || kind == .poll
        case .deferred: kind == .write || kind == .batch || kind == .poll
        case .waiting: kind == .poll
        case .failure: true
        }
    }

    /// What it is, in a word or a few.
    package var word: String {
        switch self {
        case .description: "a description"
        case .page: "a page"
        case .combined: "several pages"
        case .unchanged: "\"nothing changed\""
        case .cursorExpired: "\"the cursor expired\""
        case .records: "several entities"
        case .reserved: "reserved values"
        case .record, .conflict: "an entity"
        case .stored: "\"stored\""
        case .deleted, .absent: "a deletion"
        case .conflictUnknown: "a conflict"
        case .refused, .ignored: "a refusal"
        case .batch: "a batch"
        case .deferred: "the promise of an answer"
        case .waiting: "\"not yet\""
        case .failure: "a failure"
        }
    }

    private static func stray(_ id: String, _ call: String) -> ServerAnswer {
        .failure(.malformed("\(id) in answer to \(call)"))
    }

    /// The id of the one entity that the answer is about; nil where it names none.
    private var entityID: String? {
        switch self {
        case .record(let record), .deleted(let record), .conflict(let record): record.id
        case .stored(let id, _, _): id
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflictUnknown, .refused, .ignored, .batch, .deferred, .waiting, .failure, .reserved:
            nil
        }
    }
}

extension ServerRecord {
    /// Why its document is none of an entity; nil where it is one, or the entity is gone.
    fileprivate var documentProblem: String? {
        guard !isChecked, !isDeleted, let document else { return nil }
        do throws(JSONError) {
            try JSON.validateObject(document)
            return nil
        } catch { return "a document that is no JSON object: \(error)" }
    }
}

extension ServerCall {
    /// What is asked, as far as it says which answers fit; with a word for it.
    fileprivate enum Kind: String {
        case describe = "a question for collections"
        case list = "a list"
        case feed = "a block of a feed"
        case combined = "a question for several lists"
        case fetch = "a fetch"
        case reserve = "a question for values"
        case read = "a read"
        case write = "a write"
        case action = "an action"
        case batch = "a batch"
        case poll = "a question for a promised answer"
    }

    fileprivate var kind: Kind {
        switch self {
        case .describe: .describe
        case .list, .listWindow, .listPart: .list
        case .feed: .feed
        case .combined: .combined
        case .fetch, .refetch: .fetch
        case .reserve: .reserve
        case .read: .read
        case .create, .update, .delete: .write
        case .perform: .action
        case .batch: .batch
        case .poll: .poll
        }
    }

    /// The server's id of the one entity that the call is about; nil where the call names no single
    /// entity, or creates one whose id the server gives.
    fileprivate var namedID: String? {
        switch self {
        case .read(_, let id), .update(_, let id, _, _, _), .delete(_, let id, _),
            .perform(_, let id, _, _, nil):
            id
        case .create(let collection, let id, _), .perform(let collection, let id, _, _, _):
            collection.ids == .client ? id : nil
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .refetch, .fetch, .batch,
            .poll, .reserve:
            nil
        }
    }
}
