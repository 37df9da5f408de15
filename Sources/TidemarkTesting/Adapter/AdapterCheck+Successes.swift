// AdapterCheck+Successes.swift — what an adapter makes of the successes of its server.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension AdapterCheck.Run {
    /// Checks a call that asks for something.
    ///
    /// - Returns: what its sample answer is, and the request.
    @discardableResult
    mutating func checkReading(
        _ call: ServerCall
    ) -> (answer: ServerAnswer, request: ServerRequest)? {
        guard let request = self.request(for: call) else { return nil }
        checkFailures(of: call)
        checkErrors(of: call, request)
        checkPage(of: call)
        guard let response = check.success(call, request),
            let answer = success(response, of: call)
        else { return nil }
        checkCut(response, of: call)
        switch (call, answer) {
        case (_, .page(let page)): checkPage(page, of: call)
        case (.read(let collection, let id), .record(let record)):
            checkRecord(record, of: call, collection)
            if record.revision == nil, adapter.traits.isVersioned(collection) {
                tell(
                    call,
                    "it tells no version of \(id), so every edit is refused; give the record's "
                        + "revision, or say hasVersions: false in the traits")
            }
        case (.read, _): tell(call, "the sample answer is \(answer.sentence); give the record")
        case (.fetch(let collection, let ids), .records(let records)):
            for record in records { checkRecord(record, of: call, collection) }
            let told = Set(records.map(\.id))
            for id in ids where !told.contains(id) {
                tell(call, "\(id) is not among its records, so it counts as gone; give it")
            }
        case (.combined(let collections), .combined(let pages)):
            for page in pages {
                guard let collection = collections.first(where: { $0.name == page.collection })
                else { continue }
                for record in page.records { checkRecord(record, of: call, collection) }
            }
        default: break
        }
        return (answer, request)
    }

    /// What a sample answer is; nil, with a problem, where it is a failure.
    private mutating func success(
        _ response: TransportResponse, of call: ServerCall
    ) -> ServerAnswer? {
        let judged = judge(call, response)
        guard let failure = judged.failure else { return judged.answer }
        if case .failure = judged.said {
            tell(call, "the sample answer is a failure (\(failure)); read it, or correct it")
        } else {
            tell(
                call,
                "the sample answer is told as what no run can use (\(failure)); header fields "
                    + "that the adapter reads are named in its words")
        }
        return nil
    }

    /// The version, the id and the time of a record.
    private mutating func checkRecord(
        _ record: ServerRecord, of call: ServerCall, _ collection: CollectionModel
    ) {
        let key = EntityKey(collection.name, record.id)
        if record.isDeleted { gone.insert(key) }
        if let revision = record.revision { revisions[key] = revision }
        guard !record.isDeleted, let bytes = record.document else { return }
        let id = (try? JSONDocument(parsing: bytes))?.value(collection.idField)?.idText
        if let id, id != record.id, !collection.isByPath {
            tell(
                call,
                "the record \(record.id) has the \(collection.idField) \(id) in its document; give "
                    + "it under that id, or name the field in idField")
        }
        if collection.since != nil, record.serverTime == nil {
            tell(
                call,
                "the record \(record.id) has no time, so everything is listed each time; give "
                    + "serverTime, or name the field in lastChangeField")
        }
    }

    private mutating func checkPage(_ page: ListPage, of call: ServerCall) {
        guard let collection = call.collection else { return }
        for record in page.records { checkRecord(record, of: call, collection) }
        for reference in page.references {
            gone.insert(EntityKey(collection.name, reference.id))
        }
        for record in page.unreadable {
            let id = record.id ?? String(decoding: record.bytes.prefix(80), as: UTF8.self)
            tell(call, "\(id) can't be read: \(record.problem); read it, or correct the sample")
        }
        // A part, a block or a tree's root names only some.
        guard case .list(_, after: nil, page: nil) = call, page.next == nil, !collection.isByPath
        else { return }
        let named = Set(page.records.map(\.id) + page.references.map(\.id))
        for sample in check.samples
        where sample.key.collection == collection.name && !named.contains(sample.key.id) {
            tell(call, "\(sample.key.id) is not in it, so it counts as deleted; give its record")
        }
    }

    /// The lists that go on from one: its next page, and what changed since.
    mutating func checkNextLists(
        after told: (answer: ServerAnswer, request: ServerRequest), _ call: ServerCall,
        _ collection: CollectionModel
    ) {
        guard case .page(let page) = told.answer, collection.feed == nil else { return }
        if let next = page.next, let further = call.at(after: nil, page: next) {
            if request(for: further) == told.request {
                tell(further, "it asks for the first page once more; put the page into it")
            }
        }
        let time = Revision("2026-11-18T11:06:40.000000Z")
        guard let after = collection.since == nil ? page.cursor : time,
            let changes = call.at(after: after, page: nil)
        else { return }
        if request(for: changes) == told.request {
            tell(
                changes,
                "it asks for everything, so a page of changes tells of no deletions; put the "
                    + "cursor into it")
        }
        checkReading(changes)
    }

    /// Checks a write of one entity.
    ///
    /// - Parameter isFirst: whether answers to it are judged, too: for all samples they are the
    ///   same.
    mutating func checkWriting(_ call: ServerCall, isFirst: Bool) {
        guard let request = self.request(for: call) else { return }
        checkPrecondition(of: call)
        if isFirst {
            checkFailures(of: call)
            checkErrors(of: call, request)
            checkPage(of: call)
        }
        guard let response = check.success(call, request) else { return }
        guard let answer = success(response, of: call) else { return }
        let empty = TransportResponse(response: response.response, body: [])
        switch answer {
        case .record, .stored, .deleted, .deferred: break
        case .absent where call.isDeletion: break
        default: tell(call, "the sample answer is \(answer.sentence); say that it was done")
        }
        for judged in [answer, judge(call, empty).answer] { checkNewID(judged, of: call) }
    }

    /// Whether a creation tells the id that the server gave.
    private mutating func checkNewID(_ answer: ServerAnswer, of call: ServerCall) {
        guard case .create(let collection, let id, _) = call, collection.ids != .client else {
            return
        }
        let told: String
        switch answer {
        case .stored(let id, _, _): told = id
        case .record(let record): told = record.id
        default: return
        }
        guard told == id else { return }
        tell(
            call,
            "the answer has the device's id, so the next list brings the entity a second time; "
                + "give the id that the server gave")
    }

    /// Whether a write names the version that it replaces.
    private mutating func checkPrecondition(of call: ServerCall) {
        guard let collection = call.collection, adapter.traits.isVersioned(collection),
            let revision = call.revision
        else { return }
        let known = revision.rawValue.isEmpty ? Array("1".utf8) : revision.rawValue
        // Not every version is one that the adapter knows.
        let written = [known, known + Array("7".utf8)].compactMap { version in
            call.replacing(Revision(rawValue: version)).flatMap { try? adapter.request(for: $0) }
        }
        guard written.count == 2, written[0] == written[1] else { return }
        tell(
            call,
            "its request names no version, so it overwrites what others changed; put the revision "
                + "into it, or say hasVersions: false in the traits")
    }

    mutating func checkBatch(
        _ samples: [AdapterCheck.Sample], _ collection: CollectionModel
    ) {
        guard adapter.traits.writesPerRequestMax > 1 else { return }
        let calls = samples.flatMap { writes(of: $0, collection) }.filter {
            !$0.isAction && !$0.isDeletion && adapter.refusalBeforeSending(of: $0) == nil
        }
        guard calls.count > 1 else { return }
        let call = ServerCall.batch(Array(calls.prefix(2)))
        guard let request = self.request(for: call) else { return }
        checkFailures(of: call)
        checkPage(of: call)
        guard let response = check.success(call, request) else { return }
        _ = success(response, of: call)
    }
}

extension ServerCall {
    /// The list from a cursor on, or another page of it; nil where it is none.
    fileprivate func at(after: Revision?, page: String?) -> ServerCall? {
        switch self {
        case .list(let collection, _, _): .list(collection, after: after, page: page)
        case .listPart(let collection, let parameters, _, _):
            .listPart(collection, parameters, after: after, page: page)
        // Changes are listed without a window.
        case .listWindow(let collection, let from, let to, _):
            page == nil
                ? .list(collection, after: after, page: nil)
                : .listWindow(collection, from: from, to: to, page: page)
        default: nil
        }
    }

    /// The same write of another version.
    fileprivate func replacing(_ revision: Revision) -> ServerCall? {
        switch self {
        case .update(let collection, let id, let body, let changes, _):
            .update(collection, id: id, body: body, changes: changes, revision: revision)
        case .delete(let collection, let id, _): .delete(collection, id: id, revision: revision)
        default: nil
        }
    }
}
