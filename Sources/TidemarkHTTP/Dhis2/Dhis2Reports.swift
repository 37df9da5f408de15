// Dhis2Reports.swift — what the importers of DHIS2 say of each write.
//
//   new   a report: errors and warnings by the type and uid of their object, and what was imported
//   old   a summary an object, in it those of what it holds
//
// What is said of data values: Dhis2ValueSummary.swift.
//
// An object that neither names was left alone. The body of a 409 is a report like any other. One of
// an import that broke off inside the server is none: it says nothing of any object, and a part may
// be stored.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

extension Dhis2Adapter {
    /// What came of each of some writes; nil where the body is no report.
    func reported(_ calls: [ServerCall], _ body: [UInt8]) -> [BatchedAnswer]? {
        guard let object = (try? JSONValue(parsing: body))?.object else { return nil }
        if calls.contains(where: \.isAboutDataValue) {
            return Dhis2ValueSummary(object)?.answers(to: calls)
        }
        let report =
            dialect.generation == .new
            ? Dhis2Report(tracker: object) : Dhis2Report(summaries: object)
        guard var report else { return nil }
        report.placeSentence(
            among: calls.compactMap { call in
                call.collection.flatMap { collection in
                    call.write.map { (Dhis2Kind(collection.name), $0.id) }
                }
            })
        return calls.map { answer(to: $0, report) }
    }

    /// What an answer proves of its writes: what their parts of the report say.
    public func effect(
        of answer: ServerAnswer, to call: ServerCall, _ response: HTTPResponse
    ) -> WriteEffect {
        switch answer {
        // A report has a status of its own.
        case .refused, .ignored: .nothing
        case .absent: .precondition
        // A part may be stored.
        case .failure(.client(_, let detail)) where detail.hasPrefix(Self.brokeOff): .turnedAway
        default: answer.usualEffect(status: response.status.code)
        }
    }

    /// How the failure of an import that broke off begins.
    private static let brokeOff = "the import broke off"

    /// The failure of an import that broke off inside the server; nil where an answer that is no
    /// report tells of none.
    static func breakOff(_ body: [UInt8]) -> SyncFailure? {
        guard let object = (try? JSONValue(parsing: body))?.object,
            let summary = Dhis2Report.summaries(of: object)?.first,
            summary["status"]?.stringValue == "ERROR"
        else { return nil }
        let said = summary["description"]?.stringValue ?? "no reason"
        let words = said.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return .client(status: 409, "\(brokeOff): \(words.prefix(200))")
    }

    private func answer(to call: ServerCall, _ report: Dhis2Report) -> BatchedAnswer {
        guard let collection = call.collection, let id = call.write?.id else {
            return BatchedAnswer(status: 200, .ignored())
        }
        let kind = Dhis2Kind(collection.name)
        let isDeletion = if case .delete = call { true } else { false }
        let found = report.entry(of: kind, id, isDeletion: isDeletion)
        let errors = found.errors.map { issue($0, .error, call, collection) }
        if isDeletion, found.isUnknown || found.errors.contains(where: \.isOfUnknown) {
            return BatchedAnswer(status: 404, .absent)
        }
        if found.errors.contains(where: \.isOfDeleted) {
            return BatchedAnswer(status: 404, .absent)
        }
        if !errors.isEmpty {
            // What it belongs to was refused; nothing is known to be wrong with it.
            if found.errors.allSatisfy(\.isOfAnother) {
                return BatchedAnswer(status: 200, .ignored(), effect: .nothing)
            }
            if kind.isNeverRefused {
                return BatchedAnswer(status: 200, .ignored(errors), effect: .nothing)
            }
            return .refused(errors)
        }
        if !found.isImported {
            let isThere = found.warnings.contains(where: \.isOfSameRelationship)
            switch call {
            case .create where isThere: break
            case .update where isThere: return .refused([Self.isNeverChanged])
            default: return BatchedAnswer(status: 200, .ignored(), effect: .nothing)
            }
        }
        let warnings = found.warnings.filter { !$0.isOfPresent }.map {
            issue($0, .warning, call, collection)
        }
        return BatchedAnswer(
            status: 200, .stored(id: id, nil, issues: isDeletion ? [] : warnings))
    }

    /// Why an edit of a relationship is refused.
    private static let isNeverChanged = ServerIssue(
        .error, code: Dhis2Report.Problem.sameRelationship,
        "DHIS2 never changes a relationship: delete it, and make another one")

    /// A problem of a report, with the value that it names, where it names one.
    private func issue(
        _ problem: Dhis2Report.Problem, _ severity: ServerIssue.Severity, _ call: ServerCall,
        _ collection: CollectionModel
    ) -> ServerIssue {
        var issue = ServerIssue(severity, code: problem.code, problem.message)
        guard !collection.keyed.isEmpty, let body = call.write?.body,
            let document = try? JSONDocument(parsing: body)
        else { return issue }
        let words = Set(problem.words)
        for list in collection.keyed {
            for element in document.value(list.field)?.array?.compactMap(\.object) ?? [] {
                guard let key = element[list.key].flatMap({ $0.stringValue }), words.contains(key)
                else { continue }
                issue.path = list.name(of: key)
                issue.value = element["value"].map { $0.stringValue ?? $0.description }
                return issue
            }
        }
        return issue
    }
}

extension BatchedAnswer {
    /// The answer to a write that was refused for at least one reason.
    static func refused(_ errors: [ServerIssue]) -> BatchedAnswer {
        let first = errors.first ?? ServerIssue(.error, "no reason")
        let rest = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
        let message = [first.code, first.message].compactMap(\.self).joined(separator: ": ")
        return BatchedAnswer(
            status: 409,
            .refused(ServerRefusal(status: 409, message: message + rest, issues: errors)))
    }
}

/// A job of the server's, or its report.
struct Dhis2Ticket {
    let job: String
    let isReport: Bool

    /// - Throws: ``SyncFailure`` for a word that is none.
    init(_ ticket: String) throws(SyncFailure) {
        let parts = ticket.split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0] == "jobs", Self.isID(parts[1]),
            parts.count == 2 || parts[2] == "report"
        else { throw .client(status: 0, "\"\(ticket)\" is no job of DHIS2") }
        job = String(parts[1])
        isReport = parts.count == 3
    }

    /// The word for a job; nil for an id that can't be one.
    static func word(ofJob id: String, isReport: Bool = false) -> String? {
        isID(id[...]) ? "jobs/\(id)" + (isReport ? "/report" : "") : nil
    }

    /// Where it is asked for, below `tracker`; a report says nothing of warnings unless it is asked
    /// for them.
    var path: String { "jobs/\(job)" + (isReport ? "/report?reportMode=WARNINGS" : "") }

    private static func isID(_ text: Substring) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }
}

extension Dhis2Adapter {
    /// The promise of an import that became a job; nil where the answer tells of none.
    func promise(_ body: [UInt8]) -> ServerAnswer? {
        guard let response = JSON.value("response", of: body)?.object,
            let id = response["id"]?.stringValue, let word = Dhis2Ticket.word(ofJob: id)
        else { return nil }
        return .deferred(word)
    }

    /// What the answer to a question for a job, or for its report, means.
    ///
    /// A job of which the server knows nothing may not have begun: `[]` and 404 are no news. One
    /// that is done and has no report, or one that is none, is lost.
    func polled(
        _ ticket: String, _ calls: [ServerCall], _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer? {
        let ticket = try Dhis2Ticket(ticket)
        if ticket.isReport {
            if status == 404 { return .absent }
            guard status == 200 else { return nil }
            return reported(calls, body).map { .batch($0) } ?? .absent
        }
        if status == 404 { return .waiting }
        guard status == 200 else { return nil }
        guard let value = try? JSONValue(parsing: body),
            let messages = value.array ?? (value.object == nil ? nil : [value])
        else { throw .malformed("a job that is neither a list nor an object") }
        let isDone = messages.contains { $0["completed"] == .bool(true) }
        guard isDone, let word = Dhis2Ticket.word(ofJob: ticket.job, isReport: true) else {
            return .waiting
        }
        return .deferred(word)
    }
}

extension Dhis2Kind {
    /// Whether what a server says against one never stands against it: it is sent again.
    fileprivate var isNeverRefused: Bool { self == .relationships }
}

/// What an importer says, by the objects that it is about.
struct Dhis2Report {
    /// Something that is wrong or odd.
    struct Problem: Hashable {
        var code: String?
        var message: String
        /// What it is about beside its message.
        var object: String?

        /// What is named in it: ids among others.
        var words: [String] {
            (message + " " + (object ?? "")).split { !($0.isLetter || $0.isNumber) }.map(
                String.init)
        }

        /// Whether there is no such object, so that it can't be deleted.
        var isOfUnknown: Bool {
            ["E1063", "E1081", "E1032", "E4005", "E4016"].contains(code ?? "")
        }
        /// Whether the object was deleted, so that it can't be changed.
        var isOfDeleted: Bool {
            ["E1114", "E1113", "E1082", "E4017"].contains(code ?? "")
        }
        /// Whether a relationship, or a note, is there already: neither is ever changed.
        var isOfPresent: Bool { isOfSameRelationship || code == "E1119" }
        /// Whether it says that a relationship is there already.
        var isOfSameRelationship: Bool { code == Self.sameRelationship }
        static let sameRelationship = "E4015"
        /// Whether it is about another object, which this one belongs to.
        var isOfAnother: Bool { code == "E5000" || code == "E5001" }
    }

    /// What is said of an object.
    struct Entry {
        var errors: [Problem] = []
        var warnings: [Problem] = []
        var isImported = false
        /// Whether the importer says that there is no such object.
        var isUnknown = false

        /// Whether neither an error nor a success is told.
        var isSilent: Bool { errors.isEmpty && !isImported }

        /// Adds what is not there yet: an importer may name an object twice.
        mutating func add(errors more: [Problem]) {
            errors += more.filter { !errors.contains($0) }
        }
    }

    private struct Name: Hashable {
        /// Nil where a summary names its object by the id alone, which no two kinds share.
        var type: String?
        var id: String
    }

    private var entries: [Name: Entry] = [:]
    /// What summaries without an object say, of which some name one in their sentence.
    private var sentences: [Sentence] = []

    /// The sentence of a summary.
    private struct Sentence {
        var text: String
        var isError: Bool
        /// The object that it can only be about, where it names none that was sent.
        var object: Name?

        func names(_ id: String) -> Bool {
            text.split { !($0.isLetter || $0.isNumber) }.contains { $0 == id }
        }

        /// Whether it says that there is no such object.
        var isOfUnknown: Bool {
            let text = text.lowercased()
            return ["not present", "not found", "not exist", "doesn't exist", "doesn't point to"]
                .contains(where: text.contains)
        }
    }

    /// What is said of an object, beside sentences.
    private func entry(_ name: Name) -> Entry {
        entries[name] ?? entries[Name(type: nil, id: name.id)] ?? Entry()
    }

    /// What is said of an object.
    ///
    /// - Parameter isDeletion: whether it was to be deleted: that there is none is no error then.
    func entry(of kind: Dhis2Kind, _ id: String, isDeletion: Bool) -> Entry {
        let name = Name(type: kind.reportName, id: id)
        var entry = entry(name)
        let isSilent = entry.isSilent
        for sentence in sentences {
            let namesIt = sentence.names(id)
            if isDeletion, namesIt, sentence.isOfUnknown {
                entry.isUnknown = true
            } else if namesIt || sentence.object == name, sentence.isError, isSilent {
                entry.add(errors: [Problem(message: sentence.text)])
            }
        }
        return entry
    }

    /// Where one error names no object that was sent, and of exactly one object nothing else is
    /// said, the error is about that one.
    mutating func placeSentence(among objects: [(kind: Dhis2Kind, id: String)]) {
        let sent = objects.map { Name(type: $0.kind.reportName, id: $0.id) }
        let places = sentences.indices.filter { place in
            let sentence = sentences[place]
            return sentence.isError && !sent.contains { sentence.names($0.id) }
        }
        let unnamed = sent.filter { name in
            entry(name).isSilent && !sentences.contains { $0.names(name.id) }
        }
        guard places.count == 1, unnamed.count == 1 else { return }
        sentences[places[0]].object = unnamed[0]
    }

    private mutating func change(_ type: String?, _ id: String, _ body: (inout Entry) -> Void) {
        body(&entries[Name(type: type, id: id), default: Entry()])
    }

    // MARK: The new importer

    /// Nil where it is no report, as of an import that broke off: an error that is about nobody.
    init?(tracker report: JSONObject) {
        guard let status = report["status"]?.stringValue,
            ["OK", "WARNING", "ERROR"].contains(status),
            report["validationReport"]?.object != nil || report["bundleReport"]?.object != nil
        else { return nil }
        let checks = report["validationReport"]?.object ?? JSONObject()
        for (member, isError) in [("errorReports", true), ("warningReports", false)] {
            for item in checks[member]?.array?.compactMap(\.object) ?? [] {
                guard let type = item["trackerType"]?.stringValue, let id = item["uid"]?.stringValue
                else { continue }
                let code = item["errorCode"] ?? item["warningCode"]
                let problem = Problem(
                    code: code?.stringValue, message: item["message"]?.stringValue ?? "")
                change(type, id) { entry in
                    if isError {
                        entry.add(errors: [problem])
                    } else if !entry.warnings.contains(problem) {
                        entry.warnings.append(problem)
                    }
                }
            }
        }
        let types = report["bundleReport"]?.object?["typeReportMap"]?.object ?? JSONObject()
        for type in types.keys {
            for item in types[type]?.object?["objectReports"]?.array?.compactMap(\.object) ?? [] {
                guard let id = item["uid"]?.stringValue else { continue }
                change(type, id) { $0.isImported = true }
                for part in item["errorReports"]?.array?.compactMap(\.object) ?? [] {
                    let problem = Problem(
                        code: part["errorCode"]?.stringValue,
                        message: part["message"]?.stringValue ?? "")
                    change(type, id) { $0.add(errors: [problem]) }
                }
            }
        }
        if status == "ERROR", entries.isEmpty { return nil }
    }

    // MARK: The old importers

    /// Nil where it holds no summary, or that of an import that broke off.
    init?(summaries answer: JSONObject) {
        guard let summaries = Self.summaries(of: answer) else { return nil }
        if summaries.count == 1, Self.isBrokenOff(summaries[0]) { return nil }
        for summary in summaries { add(summary) }
    }

    /// The summaries of an answer; nil of one that holds none.
    fileprivate static func summaries(of answer: JSONObject) -> [JSONObject]? {
        let body = answer["response"]?.object ?? answer
        guard let type = body["responseType"]?.stringValue, type.hasPrefix("ImportSummar") else {
            return nil
        }
        if type == "ImportSummary" { return [body] }
        let summaries = body["importSummaries"]?.array ?? []
        return summaries.compactMap(\.object)
    }

    /// Whether a summary, the only one, is about no object: the server caught what went wrong.
    private static func isBrokenOff(_ summary: JSONObject) -> Bool {
        summary["status"]?.stringValue == "ERROR" && summary["reference"]?.stringValue == nil
            && summary["conflicts"]?.array?.isEmpty ?? true
            && summary["description"]?.stringValue?.hasPrefix("The import process failed") == true
    }

    /// Adds what a summary says.
    private mutating func add(_ summary: JSONObject) {
        let status = summary["status"]?.stringValue ?? ""
        var problems: [Problem] = []
        let sentence = summary["description"]?.stringValue
        if let sentence, status != "SUCCESS" { problems.append(Problem(message: sentence)) }
        for conflict in summary["conflicts"]?.array?.compactMap(\.object) ?? [] {
            problems.append(
                Problem(
                    code: conflict["errorCode"]?.stringValue,
                    message: conflict["value"]?.stringValue ?? "",
                    object: conflict["object"]?.stringValue))
        }
        let counts = summary["importCount"]?.object ?? JSONObject()
        func count(_ name: String) -> Int64 { counts[name]?.int64Value ?? 0 }
        let isLeftOut =
            count("ignored") > 0
            && ["imported", "updated", "deleted"].allSatisfy { count($0) == 0 }
        if let id = summary["reference"]?.stringValue {
            change(nil, id) { entry in
                switch status {
                case "SUCCESS", "OK", "WARNING":
                    // Of what was left out for a problem nothing is on the server.
                    if isLeftOut, !problems.isEmpty {
                        entry.add(errors: problems)
                    } else {
                        entry.isImported = true
                        entry.warnings += problems.filter { !entry.warnings.contains($0) }
                    }
                default:
                    // An error without a word is one all the same.
                    entry.add(
                        errors: problems.isEmpty ? [Problem(message: "no reason")] : problems)
                }
            }
        } else if let sentence {
            sentences.append(Sentence(text: sentence, isError: status == "ERROR"))
        }
        for member in ["enrollments", "events"] {
            let below = summary[member]?.object?["importSummaries"]?.array
            for summary in below?.compactMap(\.object) ?? [] { add(summary) }
        }
    }
}

extension Dhis2Kind {
    /// Its name in reports.
    fileprivate var reportName: String {
        switch self {
        case .trackedEntities: "TRACKED_ENTITY"
        case .enrollments: "ENROLLMENT"
        case .events: "EVENT"
        case .relationships: "RELATIONSHIP"
        case .dataValues: "DATA_VALUE"
        case .user: "USER"
        case .metadata(let name): name
        }
    }
}
