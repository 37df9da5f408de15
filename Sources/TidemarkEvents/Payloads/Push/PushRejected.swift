// PushRejected.swift — the server refused a mutation for what it is.

/// `push.rejected`.
package struct PushRejected: MemberPayload, EventPayload {
    /// The HTTP status; 0 where it was refused before it was sent.
    package var status: UInt32 = 0
    /// Why, in words of the server or of ours.
    package var message = ""
    /// What the server says of each part of the entity.
    package var issues: [ServerIssue] = []
    /// Whether it is because another entity of a tree has its name.
    package var isTaken = false

    package init() {}

    package init(
        status: UInt32, message: String, issues: [ServerIssue] = [], isTaken: Bool = false
    ) {
        self.status = status
        self.message = message
        self.issues = issues
        self.isTaken = isTaken
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("status", \.status, .integer, .plain),
        PayloadMember("message", \.message, .text, .word),
        PayloadMember("issues", \.issues, .list(of: .object), .object(ServerIssue.shapes)) {
            $0.isEmpty
        },
        PayloadMember("taken", \.isTaken, .flag, .plain) { !$0 },
    ]

    package var gist: String? { "\(status) \(message)" }

    package static func words(of event: Event) -> String? { Self(stored: event.payload).words }

    /// `refused with 402: The plan has no more projects`; without a status nothing was sent.
    package var words: String {
        let words = status == 0 ? "not sent" : "refused with \(status)"
        let why = issues.isEmpty ? message : issues.words
        return why.isEmpty ? words : words + ": " + why
    }
}
