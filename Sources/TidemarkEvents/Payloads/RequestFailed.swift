// RequestFailed.swift — no whole answer came.

/// `request.failed`.
package struct RequestFailed: MemberPayload {
    /// What happened, by the name of the transport's error.
    package var error = ""
    /// Whether the request may have been done all the same; nil where the payload does not say.
    package var mayHaveArrived: Bool?
    package var detail: String?
    /// Microseconds since the device's boot, when it was given up.
    package var uptime: Int64?
    package var concern: FailureConcern?
    /// The pool that it concerns.
    package var place = PoolPlace()
    /// In which order it was told of, as long as that is kept.
    package var kept = KeptName()

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("error", \.error, .text, .plain),
        PayloadMember("mayHaveArrived", \.mayHaveArrived, .flag, .plain),
        PayloadMember("detail", \.detail, .text, .reason),
        PayloadMember("uptime", \.uptime, .integer, .plain),
        PayloadMember("concerns", \.concern, .word, .plain),
        PayloadMember(of: \.place),
        PayloadMember(of: \.kept),
    ]

    package var gist: String? {
        [error, detail ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    }

    package var neverArrived: Bool { mayHaveArrived == false }
}

extension RequestFailed: EventPayload {
    /// `no answer: timeout; it may have arrived`; where nobody could ask what became of a write,
    /// `no request: client`.
    package static func words(of event: Event) -> String? {
        guard let failure = event.read(RequestFailed.self) else { return "no answer" }
        let wasMade = event.call != nil || event.cause == nil
        var words = wasMade ? "no answer" : "no request"
        if !failure.error.isEmpty { words += ": \(failure.error)" }
        // Of the write it says nothing.
        if wasMade {
            words += failure.neverArrived ? "; it did not arrive" : "; it may have arrived"
        }
        if let detail = failure.detail, !detail.isEmpty { words += " (\(detail))" }
        return words
    }
}
