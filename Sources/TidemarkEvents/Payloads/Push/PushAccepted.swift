// PushAccepted.swift — the server took a mutation.

/// `push.accepted`.
package struct PushAccepted: MemberPayload, EventPayload {
    /// The id that the server gave the entity, where it is another one than ours.
    package var serverID: String?
    /// By what documents name the content that was sent, where the answer tells its version.
    package var content: String?
    /// What the server warns of.
    package var issues: [ServerIssue] = []

    package init() {}

    package init(serverID: String) { self.serverID = serverID }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("serverID", \.serverID, .text, .text),
        PayloadMember("content", \.content, .text, .text),
        PayloadMember("issues", \.issues, .list(of: .object), .object(ServerIssue.shapes)) {
            $0.isEmpty
        },
    ]

    package static func words(of event: Event) -> String? {
        let push = event.read(PushAccepted.self)
        let issues = push.map(\.issues) ?? []
        return "accepted by the server"
            + (push?.serverID.map { "; on the server it is " + $0 } ?? "")
            + (issues.isEmpty ? "" : "; " + issues.words)
    }
}
