// FetchAnswer.swift — what an answer to a request about a file means, as the log has it.

import HTTPTypes
package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// An answer to a request about a file.
package enum FetchAnswer: Sendable {
    case answered(RequestAnswered)
    case failed(RequestFailed)

    /// The header fields by which the meaning is decided, as the log has them.
    private static let fields: [HTTPField.Name] = [
        .contentEncoding, .contentLength, .contentRange,
    ]

    /// Whether a header field decides what a file's answer means, and says no more than that; a
    /// redaction keeps it.
    package static func decides(_ name: String, _ value: String) -> Bool {
        let known: [HTTPField.Name] = fields + [.contentType]
        return known.contains { $0.rawName == name } && value.utf8.count <= 64
            && value.utf8.allSatisfy(isOfToken)
    }

    /// Whether a header field tells where a file that was sent is.
    package static func isAddress(_ name: String) -> Bool {
        name == HTTPField.Name.location.rawName
    }

    /// Whether a byte may stand in a range, a length or a type without parameters.
    private static func isOfToken(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
            || " */+-.".utf8.contains(byte)
    }

    /// - Parameters:
    ///   - written: how many bytes of it are in the part file.
    ///   - mask: a field that holds credentials is left out.
    init(
        _ response: HTTPResponse, written: Int, to plan: TransferPlan, _ mask: CredentialMask
    ) {
        var answered = RequestAnswered(status: response.status.code)
        let head = response.headerFields
        func field(_ name: HTTPField.Name) -> String? {
            head[name].flatMap { mask.holds($0) ? nil : $0 }
        }
        answered.date = field(.date)
        answered.tag = field(.eTag)
        answered.fields = Self.fields.compactMap { name in
            field(name).map { Named(name.rawName, $0) }
        }
        // Of what type a file is, is told only where it may be none.
        if answered.tag == nil, let type = field(.contentType), TransferRule.isPage(type) {
            answered.fields.append(Named(HTTPField.Name.contentType.rawName, type))
        }
        answered.retryAfter = RetryAfter.seconds(head)
        answered.file.bytes = UInt64(written)
        self = .answered(answered.judged(as: plan))
    }

    /// An answer to a file that was sent.
    ///
    /// - Parameters:
    ///   - form: that in which it was sent; nil where it was sent as it is.
    ///   - mask: a name that holds credentials is none, and no such field is logged.
    init(
        _ answer: TransportTransfer, to plan: SendPlan, _ form: FileForm?, _ mask: CredentialMask
    ) {
        let response = answer.response
        var answered = RequestAnswered(status: response.status.code)
        let head = response.headerFields
        if let date = head[.date], !mask.holds(date) { answered.date = date }
        if let type = head[.contentType], !mask.holds(type) {
            answered.fields.append(Named(HTTPField.Name.contentType.rawName, type))
        }
        if let form {
            if let name = form.name(in: answer.body), !mask.holds(name) {
                answered.file.name = name
            }
        } else if plan.isPosted, let place = head[.location], !mask.holds(place) {
            answered.fields.append(Named(HTTPField.Name.location.rawName, place))
        }
        answered.retryAfter = RetryAfter.seconds(head)
        self = .answered(answered)
    }

    /// An answer that did not come.
    ///
    /// - Parameter isForeign: whether a redirect may be that of a machine in between.
    init(_ error: TransportError, isForeign: Bool = false) {
        var failed = RequestFailed()
        failed.error =
            isForeign && error.code == .redirectRefused
            ? RequestFailed.foreign : error.code.rawValue
        failed.mayHaveArrived = error.mayHaveArrived
        failed.detail = error.detail
        self = .failed(failed)
    }

    /// What it means.
    package var result: ReceivedFile.Result? {
        switch self {
        case .answered(let answered): answered.file.result
        case .failed(let failed): failed.fetchResult
        }
    }

    /// The end of a request that is made again with other credentials.
    static var madeAgain: FetchAnswer {
        FetchAnswer(
            TransportError(.cancelled, detail: "401; it is made again with other credentials"))
    }

    /// Whether the server did not accept the credentials.
    var isUnauthorized: Bool {
        if case .answered(let answered) = self { answered.status == 401 } else { false }
    }

    /// Why no other file is asked for: the server can't be had, or there is no room on the disk;
    /// nil where only this file failed.
    var unavailable: SyncFailure? {
        guard result == .failed else { return nil }
        switch self {
        case .answered(let answered):
            let (status, seconds) = (answered.status, answered.retryAfter)
            // That a file has another version, is not there or is locked, is about no other one.
            guard status >= 400, status != 423, !TransferRule.isOtherVersion(status),
                seconds != nil || [429, 502, 503, 504].contains(status)
            else { return nil }
            return status >= 500
                ? .server(status: status, retryAfterSeconds: seconds)
                : .tooManyRequests(retryAfterSeconds: seconds)
        case .failed(let failed):
            switch TransportError.Code(rawValue: failed.error) {
            case .offline: return .offline(failed.detail ?? "")
            case .timeout, .connectionLost: return .timeout(failed.detail ?? "")
            case .diskFull: return .diskFull(failed.detail ?? "")
            case .redirectRefused, .tooLarge, .cancelled, .invalidRequest, .file, nil:
                return nil
            }
        }
    }

    /// Whether what says that the server can't be had may be the file's own: a failure of the
    /// server's without a pause that it asks for, or none that came in time.
    var mayBeOfFile: Bool {
        guard let failure = unavailable else { return false }
        switch failure {
        case .server(_, nil), .timeout: return true
        default: return false
        }
    }

    /// What may be wrong with the server, which other files tell; nil where only this file failed.
    var doubt: SyncFailure? {
        guard result == .failed, unavailable == nil else { return nil }
        switch self {
        case .answered(let answered):
            let status = answered.status
            if status >= 500 { return .server(status: status, retryAfterSeconds: nil) }
            let isOfOther =
                status == 200
                || TransferRule.isDoubtfulRefusal(status: status, isPage: answered.isPage)
            guard isOfOther, !TransferRule.isOtherVersion(status) else { return nil }
            return .foreign("\(status) in the place of a file")
        case .failed(let failed):
            guard failed.error == RequestFailed.foreign else { return nil }
            return .foreign("a redirect that is not followed: \(failed.detail ?? "")")
        }
    }

    func event(
        of call: Position, _ key: EntityKey?, _ collection: CollectionName, _ now: Timestamp
    ) -> Event {
        switch self {
        case .answered(let answered):
            Event(
                .requestAnswered, recordedAt: now, key: key, collection: collection, call: call,
                json: answered.encoded)
        case .failed(let failed):
            Event(
                .requestFailed, recordedAt: now, key: key, collection: collection, call: call,
                json: failed.encoded)
        }
    }
}

extension RequestAnswered {
    /// The answer with what it means for the file, by what it says of itself.
    ///
    /// That the file has another hash than it should have is known only once it is whole. Where no
    /// entity told the hash, the answer did: then the bytes may have been spoilt on their way, and
    /// are fetched anew for some times.
    package func judged(as plan: TransferPlan) -> RequestAnswered {
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        var facts = FetchFacts()
        facts.status = status
        facts.tag = tag
        facts.range = field("Content-Range")
        facts.length = field("Content-Length")
        facts.encoding = field("Content-Encoding")
        facts.version = plan.version
        facts.listed = plan.length
        facts.isPage = isPage
        facts.written = file.bytes
        let (result, total) = TransferRule.result(
            facts, plan.progress, from: plan.from, count: plan.count,
            bytesMax: UInt64(clamping: plan.rule.bytesMax))
        var answer = self
        let isSpoilt =
            plan.digest == nil && plan.progress.restarts < TransferRule.restartsMax
        answer.file.result =
            file.otherDigest == nil ? result : isSpoilt ? .anew : .refused
        answer.file.total = total
        return answer
    }
}

extension RowReading {
    /// An answer with what it means for the file that was sent, by what it says of itself.
    ///
    /// A name that is another file's is none: a record would show that one. One that the body told
    /// stands in the answer before.
    package func judged(
        _ answer: RequestAnswered, as plan: SendPlan, by adapter: any ServerAdapter
    ) throws -> RequestAnswered {
        var name =
            plan.isNamedInBody(by: adapter)
            ? answer.file.name
            : answer.name(of: plan, on: try registration()?.remote?.origin ?? "")
        if let some = name {
            let source = ContentSource(plan.collection, some)
            let digest = try contentName(source)?.digest ?? ""
            if !digest.isEmpty, digest != plan.digest { name = nil }
        }
        var answer = answer
        let result = TransferRule.sent(
            status: answer.status, hasName: name != nil, isPage: answer.isPage,
            doubts: try send(plan.source)?.doubts ?? 0)
        answer.file.result = result
        answer.file.name = result == .sent ? name : nil
        return answer
    }
}

extension RequestAnswered {
    /// By what records name the file that was sent; nil where the answer does not say.
    ///
    /// What was PUT has the name that it was PUT under. `Location` is read as RFC 9110, 10.2.2,
    /// says, and named as records name files: from the remote's root on, or whole.
    fileprivate func name(of plan: SendPlan, on origin: String) -> String? {
        guard plan.isPosted else { return plan.path }
        guard let place = fields.first(where: { $0.name == "Location" })?.value,
            !place.isEmpty, !place.hasPrefix("//"),
            place.utf8.count <= ContentName.bytesMax
        else { return nil }
        let end = origin.dropFirst("https://".count).firstIndex(of: "/")
        let whole: String
        if place.hasPrefix("/") {
            // From the server's root on, which may lie above the remote's.
            whole = origin[..<(end ?? origin.endIndex)] + place
        } else if place.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") {
            whole = place
        } else {
            let folder = plan.path.prefix { $0 != "?" }
            let last = folder.lastIndex(of: "/") ?? folder.startIndex
            whole = origin + folder[...last] + place
        }
        return FileAddress(whole, remote: origin)?.logged
    }
}
