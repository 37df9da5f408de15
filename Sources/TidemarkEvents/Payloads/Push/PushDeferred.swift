// PushDeferred.swift — the server promised an answer.

/// `push.deferred`.
package struct PushDeferred: MemberPayload, EventPayload {
    /// By which the answer is asked for.
    package var ticket: String?
    /// How many writes the request carried, each in a request of its own in the log, behind the
    /// one that was answered; 0 where the request itself is the only write.
    package var writes: Int64 = 0
    /// Whether the server knows nothing of the ticket any more: no answer will come.
    package var isLost = false

    package init() {}

    package init(ticket: String, writes: Int) {
        self.ticket = ticket
        self.writes = Int64(writes)
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("ticket", \.ticket, .text, .text),
        PayloadMember("writes", \.writes, .integer, .plain) { $0 <= 0 },
        PayloadMember("lost", \.isLost, .flag, .plain) { !$0 },
    ]

    package static func words(of event: Event) -> String? { Self(stored: event.payload).words }

    /// `answered later; asked for as jobs/x1`.
    package var words: String {
        if isLost { return "the server knows nothing of the answer that it promised" }
        return "the server answers later; its word for that is " + (ticket ?? "not known")
    }
}
