// Dhis2Answers.swift — what the answers of DHIS2 mean.
//
// A page is the last one when it is not full. Of tracked entities 2.40 and 2.41 cut a page first
// and then take out of it what the user may not see, and do not say whether more follows: there the
// last page is an empty one, and in a list of a program, where all may have been taken, a second
// empty one behind it. What a page holds of other collections goes along with its objects, as far
// as the fields of the request ask for it.

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension Dhis2Adapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        let status = response.status.code
        do throws(SyncFailure) {
            try Self.checkIsOwn(call, status, body)
            if case .perform(_, let id, _, _, _) = call, let answer = asked(of: id, status, body) {
                return answer
            }
            if call.isImport, status == 200 || status == 409 {
                return try imported(call, status, response.headerFields, body)
            }
            if case .poll(let ticket, let calls) = call,
                let answer = try polled(ticket, calls, status, body)
            {
                return answer
            }
            if case .listPart(let collection, let parameters, _, _) = call,
                parameters[Self.one] != nil, status == 200 || status == 404
            {
                if status == 404, dialect.deniesAsMissing { return .failure(.forbidden) }
                return .page(try self.page(ofOne: collection, status == 200 ? body : nil))
            }
            guard status == 200 else {
                return refused(call, status, response.headerFields, body)
            }
            switch call {
            case .list(let collection, let after, let page),
                .listPart(let collection, _, let after, let page):
                let date = response.headerFields[.date].flatMap(HTTPDate.parse)
                // By such a cursor what changed since would not be listed.
                if let after, try isExpired(after, known(collection), at: date) {
                    return .cursorExpired
                }
                var listed = try self.page(collection, after, page, date, body)
                if case .listPart(_, let parameters, _, _) = call {
                    if parameters[Self.narrowing] != nil {
                        // One tracked entity stands on one page.
                        listed.next = nil
                    } else {
                        if try mayHideMore(listed, page, collection, parameters) {
                            listed.next = "+\(try Self.number(page) + 1)"
                        }
                        // Of the first page nothing was left that tells where a later list begins.
                        if page == "+2", listed.cursor != nil { listed.movesCursor = true }
                    }
                }
                return .page(listed)
            case .read(let collection, let id):
                let kind = try known(collection)
                if kind == .dataValues {
                    guard let record = try values([id], body).first else {
                        guard tellsAbsence(ofValuesIn: collection) else {
                            throw .client(
                                status: 0,
                                "\(id) is in none of the data sets that lists name; whether it is "
                                    + "in another one, DHIS2 tells from 2.40 on")
                        }
                        return .absent
                    }
                    return record.isDeleted ? .deleted(record) : .record(record)
                }
                let record = try record(kind, body)
                guard ExactString(record.id) == ExactString(id) else {
                    // Another one has signed in.
                    if kind == .user { return .absent }
                    throw .malformed("\(record.id) in answer to a call about \(id)")
                }
                return record.isDeleted ? .deleted(record) : .record(record)
            case .reserve(_, _, let pattern, _):
                let date = response.headerFields[.date].flatMap(HTTPDate.parse)
                return .reserved(try Self.reserved(body, pattern: pattern, date: date))
            case .fetch(let collection, let ids):
                return .records(try fetched(collection, ids, body))
            case .refetch(let collection, let ids, _):
                var records = try fetched(collection, ids, body)
                if try known(collection).isTracker {
                    for index in records.indices { records[index].isPartial = true }
                }
                return .records(records)
            case .create, .update, .delete, .perform, .describe, .listWindow, .feed, .combined,
                .batch, .poll:
                throw .client(status: status, "DHIS2 has no such call")
            }
        } catch {
            return .failure(error)
        }
    }

    /// Refuses what a server in DHIS2's place says, or the one before it while it is not up: a
    /// success with a page in it, and what has no message of DHIS2 where the status would prove
    /// something.
    ///
    /// That there is no such object, or what became of an action, DHIS2 tells by a message in JSON.
    /// So does a gateway that knows no such address: with 404 the message has to be DHIS2's own.
    private static func checkIsOwn(
        _ call: ServerCall, _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) {
        let proving: Set<Int> =
            switch call {
            case .perform: [200, 400, 403, 404, 409]
            case .read, .poll: [404]
            case .refetch: [403, 404, 409]
            case .listPart(_, let parameters, _, _) where parameters[one] != nil: [404]
            case .list, .listPart, .listWindow, .feed, .combined, .fetch, .describe, .create,
                .update, .delete, .batch, .reserve:
                []
            }
        guard proving.contains(status) else {
            guard (200..<300).contains(status), body.isMarkup else { return }
            throw .foreign("\(status) with a page in it")
        }
        if let message = try? JSONDocument(parsing: body),
            status != 404 || isOwn(message, call)
        {
            return
        }
        throw .foreign("\(status) without a message of DHIS2")
    }

    /// Whether it is DHIS2 that says with 404 that there is no such object or job: the message has
    /// the status in it, or a sentence that names what was asked for.
    private static func isOwn(_ message: JSONDocument, _ call: ServerCall) -> Bool {
        if message.value("httpStatusCode")?.int64Value == 404 { return true }
        let sentence = message.value("message")?.stringValue ?? ""
        switch call {
        case .read(_, let id): return names(id, sentence)
        case .listPart(_, let parameters, _, _):
            return parameters[one].map { names($0, sentence) } ?? false
        // Of several it proves nothing.
        case .refetch(_, let ids, _): return ids.count > 1 || ids.contains { names($0, sentence) }
        case .poll: return false
        case .list, .listWindow, .feed, .combined, .fetch, .describe, .create, .update, .delete,
            .perform, .batch, .reserve:
            return true
        }
    }

    /// Whether a sentence has an id as one of its words, and not only in an address.
    private static func names(_ id: String, _ sentence: String) -> Bool {
        let marks: Set<Character> = ["'", "`", "\"", ".", ",", ":", "(", ")"]
        return sentence.split(whereSeparator: \.isWhitespace).contains { word in
            var word = word
            while let mark = word.first, marks.contains(mark) { word.removeFirst() }
            while let mark = word.last, marks.contains(mark) { word.removeLast() }
            return ExactString(String(word)) == ExactString(id)
        }
    }

    private func imported(
        _ call: ServerCall, _ status: Int, _ headers: HTTPFields, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let calls = if case .batch(let calls) = call { calls } else { [call] }
        guard let answers = reported(calls, body) else {
            if dialect.generation == .new, let promise = promise(body) { return promise }
            if let failure = Self.breakOff(body) { throw failure }
            // Something is wrong with the request, before any object is looked at.
            guard status == 200 else { return refused(call, status, headers, body) }
            throw .malformed("an import without a report")
        }
        if case .batch = call { return .batch(answers) }
        return answers[0].answer
    }

    /// The messages of an answer to a user who may not see a tracked entity in a program: with 401
    /// up to 2.40, which says nothing of the credentials, and with 403 in 2.41.
    static let denials = ["OWNERSHIP_ACCESS_DENIED", "PROGRAM_ACCESS_CLOSED"]

    /// Whether an answer says that the user may not see a tracked entity in a program.
    static func isDenial(_ status: Int, _ message: String) -> Bool {
        [401, 403, 409].contains(status) && denials.contains(where: message.contains)
    }

    /// Whether an answer that there is no tracked entity denies what lies in one.
    private func isDenial(of collection: CollectionModel, _ message: String) -> Bool {
        let kind = Dhis2Kind(collection.name)
        return dialect.deniesAsMissing && (kind == .enrollments || kind == .events)
            && message.hasPrefix("TrackedEntity ")
    }

    private func refused(
        _ call: ServerCall, _ status: Int, _ headers: HTTPFields, _ body: [UInt8]
    ) -> ServerAnswer {
        let message = JSON.value("message", of: body)?.stringValue ?? ""
        // Of several it only says that not every one can be had; one that the user may not see is
        // not there either until it is asked for again.
        if case .refetch(_, let ids, _) = call, ids.count == 1, [403, 404, 409].contains(status) {
            return .records([])
        }
        if Self.isDenial(status, message) { return .failure(.forbidden) }
        if case .read(let collection, _) = call, status == 404 {
            return isDenial(of: collection, message) ? .failure(.forbidden) : .absent
        }
        let words = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return .failure(
            SyncFailure(status: status, headerFields: headers, message: String(words.prefix(200))))
    }

    // MARK: Pages

    /// The page of a list of one tracked entity; of nothing where there is none.
    private func page(
        ofOne collection: CollectionModel, _ body: [UInt8]?
    ) throws(SyncFailure) -> ListPage {
        var page = ListPage(records: [], next: nil, cursor: nil)
        if let body { page.records = [try record(known(collection), body)] }
        return page
    }

    /// How far ahead of the time of an answer a change of an object may be told, in seconds: its
    /// time has no zone, and a zone is up to fourteen hours ahead.
    private static let aheadSeconds: Int64 = 54_000

    /// The same of a data value, whose time has a zone.
    private static let valueAheadSeconds: Int64 = 60

    private static func aheadSeconds(of kind: Dhis2Kind) -> Int64 {
        kind == .dataValues ? valueAheadSeconds : aheadSeconds
    }

    /// Whether the time of a change lies ahead of that of an answer: the server's clock was wrong.
    private func isAhead(_ text: String, _ kind: Dhis2Kind, of date: Timestamp?) -> Bool {
        guard let date, let time = Self.moment(text) else { return false }
        return time > date.adding(seconds: Self.aheadSeconds(of: kind))
    }

    /// Whether no list goes on at a cursor: it lies ahead of the time of an answer or, of objects,
    /// is no time.
    private func isExpired(_ after: Revision, _ kind: Dhis2Kind, at date: Timestamp?) -> Bool {
        let text = after.description
        if kind != .dataValues, Self.moment(text) == nil { return true }
        return isAhead(text, kind, of: date)
    }

    /// Where a list goes on after a page: at the last of its changes; one ahead of `date` is none.
    ///
    /// - Parameter changes: their times, as the server writes them.
    func cursor(
        _ after: Revision?, lastOf changes: [String], _ kind: Dhis2Kind, at date: Timestamp?
    ) -> Revision? {
        var latest: (time: Timestamp, text: String)?
        var hasAhead = false
        for text in changes {
            guard let time = Self.moment(text) else { continue }
            if isAhead(text, kind, of: date) {
                hasAhead = true
            } else if latest.map({ $0.time < time }) ?? true {
                latest = (time, text)
            }
        }
        if let latest { return Revision(latest.text) }
        if hasAhead, let date { return cursor(after, beforeAllAheadOf: date, kind) }
        // Of no change there is no time; the list goes on where it did.
        return after
    }

    /// Where a list goes on all of whose changes lie ahead of its answer: at a time that the
    /// server's clock shows at the earliest where it is right, and not before where it went on.
    private func cursor(
        _ after: Revision?, beforeAllAheadOf date: Timestamp, _ kind: Dhis2Kind
    ) -> Revision {
        let clock = date.adding(seconds: -Self.aheadSeconds(of: kind))
        if let after, Self.moment(after.description).map({ $0 > clock }) ?? true {
            return after
        }
        // To the millisecond, of values with a zone.
        return Revision(clock.description.prefix(23) + (kind == .dataValues ? "+0000" : ""))
    }

    /// A page of a list, and the last change of which it tells; one ahead of `date` is none.
    private func page(
        _ collection: CollectionModel, _ after: Revision?, _ page: String?, _ date: Timestamp?,
        _ body: [UInt8]
    ) throws(SyncFailure) -> ListPage {
        let kind = try known(collection)
        if kind == .dataValues { return try valuePage(after, date, body) }
        if kind == .user { return try self.page(ofOne: collection, body) }
        var result = ListPage(records: [], next: nil, cursor: nil)
        let items = try items(kind, body)
        let changedAt = kind.isTracker ? dialect.changedAt : "lastUpdated"
        var changes: [String] = []
        for item in items {
            let bytes = Array(body[item])
            do throws(SyncFailure) {
                result.records.append(try record(kind, bytes))
                let change = JSON.value(changedAt, of: bytes)?.stringValue
                if let change { changes.append(change) }
            } catch {
                result.unreadable.append(misfit(kind, bytes, error))
            }
        }
        let pager = JSON.value("pager", of: body)
        let isFull = items.count >= pageSize(of: collection)
        let isOpen = isFull || dialect.cutsFirst(kind) || pager?["isLastPage"] == .bool(false)
        if Self.namesNext(pager) || !items.isEmpty && isOpen {
            result.next = String(try Self.number(page) + 1)
        }
        // Metadata tells by itself how many there are.
        result.total = pager?["total"]?.int64Value.flatMap { Int(exactly: $0) }
        result.cursor = cursor(after, lastOf: changes, kind, at: date)
        return result
    }

    /// Whether all of an empty page may have been taken out of it, so that the page behind it is
    /// asked for, too: its number has a sign then, and where it is empty as well, the list ends.
    private func mayHideMore(
        _ listed: ListPage, _ page: String?, _ collection: CollectionModel,
        _ parameters: ListParameters
    ) throws(SyncFailure) -> Bool {
        guard listed.next == nil, listed.records.isEmpty, listed.unreadable.isEmpty,
            parameters["program"] != nil
        else { return false }
        return try dialect.cutsFirst(known(collection)) && page?.hasPrefix("+") != true
    }

    /// Whether the server names the page that follows, also one that is empty.
    ///
    /// That a page is the last one counts for nothing, as 2.41 says so of full pages; that it is
    /// not, older servers say of empty ones, too.
    private static func namesNext(_ pager: JSONValue?) -> Bool {
        pager?["nextPage"]?.stringValue != nil
    }

    /// The objects that were asked for; what else a server gives is none of them.
    private func fetched(
        _ collection: CollectionModel, _ ids: [String], _ body: [UInt8]
    ) throws(SyncFailure) -> [ServerRecord] {
        let kind = try known(collection)
        if kind == .dataValues { return try values(ids, body) }
        if let id = try alone(ids), kind != .user {
            let record = try record(kind, body)
            return ExactString(record.id) == ExactString(id) ? [record] : []
        }
        let asked = Set(ids.map { ExactString($0) })
        if kind == .user {
            return [try record(kind, body)].filter { asked.contains(ExactString($0.id)) }
        }
        var records: [ServerRecord] = []
        for item in try items(kind, body) {
            let record = try record(kind, Array(body[item]))
            if asked.contains(ExactString(record.id)) { records.append(record) }
        }
        return records
    }

    func items(
        _ kind: Dhis2Kind, _ body: [UInt8]
    ) throws(SyncFailure) -> [Range<Int>] {
        for member in dialect.listMembers(of: kind) {
            let found: [Range<Int>]?
            do { found = try JSON.arrayElements(of: body, at: member) } catch {
                throw .malformed("a list: \(error)")
            }
            if let found { return found }
        }
        throw .malformed("a list without \"\(dialect.listName(of: kind))\"")
    }

    func misfit(
        _ kind: Dhis2Kind, _ bytes: [UInt8], _ failure: SyncFailure
    ) -> UnreadableRecord {
        UnreadableRecord(
            id: JSON.value(dialect.idField(of: kind), of: bytes)?.stringValue, bytes: bytes,
            problem: failure.detail)
    }

    // MARK: Objects

    /// An object with those that it holds, their bytes verbatim.
    func record(_ kind: Dhis2Kind, _ bytes: [UInt8]) throws(SyncFailure) -> ServerRecord {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch {
            throw .malformed("an object: \(error)")
        }
        let field = dialect.idField(of: kind)
        guard let id = document.value(field)?.stringValue, EntityKey("c", id).isValid else {
            throw .malformed("an object without an id in \"\(field)\"")
        }
        var record = ServerRecord(
            id: id, revision: nil, parsed: document,
            isDeleted: document.value("deleted") == .bool(true))
        for child in dialect.children(of: kind) {
            if let held = try held(child, document) { record.children.append(held) }
        }
        return record
    }

    /// What an object holds of a kind; nil where it says nothing of that.
    private func held(
        _ kind: Dhis2Kind, _ document: JSONDocument
    ) throws(SyncFailure) -> EmbeddedRecords? {
        let member = dialect.listName(of: kind)
        guard let value = document.rawValue(member) else { return nil }
        let bytes = Array(value)
        let items: [Range<Int>]?
        do { items = try JSON.arrayElements(of: bytes) } catch {
            throw .malformed("\"\(member)\" of an object: \(error)")
        }
        guard let items else { return nil }
        var held = EmbeddedRecords(member, records: [])
        for item in items {
            let bytes = Array(bytes[item])
            do throws(SyncFailure) {
                held.records.append(try record(kind, bytes))
            } catch {
                held.unreadable.append(misfit(kind, bytes, error))
            }
        }
        return held
    }
}

extension ServerCall {
    /// Whether it imports something.
    fileprivate var isImport: Bool {
        if case .batch = self { true } else { write != nil && !isAction }
    }
}
