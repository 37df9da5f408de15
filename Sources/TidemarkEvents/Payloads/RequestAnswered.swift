// RequestAnswered.swift — an answer: its status, the header fields that decide anything, and the
// body of what failed.

/// What a failed call concerns, where it is not the whole run.
package enum FailureConcern: String, Sendable {
    /// The entity that it names.
    case entity
    /// The same, which a list of everything did not name.
    case absent
    /// The collection's list. In an answer that is no failure: that it works again.
    case list
    /// The values of a pool, which the payload names. In an answer that is no failure: that it
    /// works again.
    case pool
}

/// `request.answered`.
package struct RequestAnswered: MemberPayload {
    /// The HTTP status; 0 where the payload does not say.
    package var status = 0
    /// Whether a write may have been done by a first sending, which the status alone does not say.
    package var mayHaveArrived = false
    /// What it proves of a write, where that is not what its status usually proves.
    package var proves: WriteEffect?
    /// Whether the server left a write alone, though nothing is known to be wrong with it.
    package var isIgnored = false
    /// What the server says of the entity whose write it left alone.
    package var issues: [ServerIssue] = []
    /// The header fields Date and ETag, as they came.
    package var date: String?
    package var tag: String?
    /// Those that the server's adapter has kept beside them, as they came and in its order; what
    /// they mean it says.
    package var fields: [Named<String>] = []
    /// Microseconds since the device's boot, when the answer came.
    package var uptime: Int64?
    /// Nil where the call did not fail.
    package var failure: FailureName?
    /// For how many seconds the server asked not to be called.
    package var retryAfter: Int64?
    /// The parts of the ``RequestGroup`` whose quota it says is used up; nil where the failure
    /// is none of a single group.
    package var quota: [String]?
    package var body = PayloadBody()
    package var namedBody = NamedBody()
    package var concern: FailureConcern?
    /// The pool that it concerns.
    package var place = PoolPlace()
    /// Where a file beside an entity was asked for.
    package var file = ReceivedFile()
    /// The answer as it came, as long as it is kept.
    package var kept = KeptName()

    package init() {}

    package init(status: Int) { self.status = status }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("status", \.status, .integer, .plain),
        PayloadMember("mayHaveArrived", \.mayHaveArrived, .flag, .plain) { !$0 },
        PayloadMember("proves", \.proves, .word, .plain),
        PayloadMember("ignored", \.isIgnored, .flag, .plain) { !$0 },
        PayloadMember("issues", \.issues, .list(of: .object), .object(ServerIssue.shapes)) {
            $0.isEmpty
        },
        PayloadMember("Date", \.date, .text, .httpDate),
        PayloadMember("ETag", \.tag, .text, .token),
        PayloadMember(fields: \.fields, besides: ["Date", "ETag"]),
        PayloadMember("uptime", \.uptime, .integer, .plain),
        PayloadMember("failure", \.failure, .word, .plain),
        PayloadMember("retryAfter", \.retryAfter, .integer, .plain),
        PayloadMember("quota", \.quota, .list(of: .text), .text),
        PayloadMember(of: \.body),
        PayloadMember(of: \.namedBody),
        PayloadMember("concerns", \.concern, .word, .plain),
        PayloadMember(of: \.place),
        PayloadMember(of: \.file),
        PayloadMember(of: \.kept),
    ]

    package var gist: String? { "\(status)" }

    /// What it proves of a write.
    package var effect: WriteEffect { proves ?? WriteEffect(status: status) }

    /// The server's clock; nil where a machine in between answered in the server's place.
    package var serverTime: Timestamp? { failure == nil ? date.flatMap(HTTPDate.parse) : nil }

    /// For how many seconds the server asked for no call that is not needed, as it wrote it.
    package var backoff: String? { fields.first { $0.name == AskedRest.member }?.value }

    /// The same as a number.
    package var backoffSeconds: Int64? { backoff.flatMap(AskedRest.seconds) }

    /// Whether the server says that there is nothing of what was asked after.
    package var isGone: Bool { status == 404 || status == 410 }
}

extension RequestAnswered: EventPayload {
    /// `answered with 503 (server), asking to wait 30 s`.
    package static func words(of event: Event) -> String? {
        let answer = RequestAnswered(stored: event.payload)
        var words = "answered with \(answer.status)"
        if let failure = answer.failure { words += " (\(failure.rawValue))" }
        if let seconds = answer.retryAfter { words += ", asking to wait \(seconds) s" }
        if let group = RequestGroup(parts: answer.quota) { words += " with requests of \(group)" }
        if let result = answer.file.result { words += ", \(result.words)" }
        if answer.isIgnored { words += "; the server left it alone, and it is sent again" }
        if !answer.issues.isEmpty { words += ": " + answer.issues.words }
        if answer.proves == .unknown { words += "; it does not say what became of it" }
        if answer.mayHaveArrived { words += "; it may have arrived all the same" }
        return words
    }
}

extension ReceivedFile.Result {
    fileprivate var words: String {
        switch self {
        case .part: "a part of the file"
        case .whole: "and the file is whole"
        case .anew: "with another file, which is fetched anew"
        case .partless: "without parts; the whole file is asked for"
        case .refused: "and the file is not taken"
        case .failed: "without the file"
        case .sent: "with the file"
        }
    }
}
