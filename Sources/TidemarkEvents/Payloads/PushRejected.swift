// PushRejected.swift — the server refused a mutation for what it is.

/// `push.rejected`.
package struct PushRejected: MemberPayload, EventPayload {
    /// The HTTP status; 0 where it was refused before it was sent.
    package var status: UInt32 = 0
    /// Why, in words of the server or of ours.
    package var message = ""

    package init() {}

    package init(status: UInt32, message: String) {
        self.status = status
        self.message = message
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("status", \.status, .integer, .plain),
        PayloadMember("message", \.message, .text, .word),
    ]

    package var gist: String? { "\(status) \(message)" }

    package static func words(of event: Event) -> String? { Self(stored: event.payload).words }

    /// `refused with 402: The plan has no more projects`; without a status nothing was sent.
    package var words: String {
        let words = status == 0 ? "not sent" : "refused with \(status)"
        return message.isEmpty ? words : words + ": " + message
    }
}
