// PushAccepted.swift — the server took a mutation.

/// `push.accepted`.
package struct PushAccepted: MemberPayload, EventPayload {
    /// The id that the server gave the entity, where it is another one than ours.
    package var serverID: String?

    package init() {}

    package init(serverID: String) { self.serverID = serverID }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("serverID", \.serverID, .text, .text)
    ]

    package static func words(of event: Event) -> String? {
        let id = event.read(PushAccepted.self)?.serverID
        return "accepted by the server" + (id.map { "; on the server it is " + $0 } ?? "")
    }
}
