// PushAccepted.swift — the server took a mutation.

/// `push.accepted`.
package struct PushAccepted: MemberPayload {
    /// The id that the server gave the entity, where it is another one than ours.
    package var serverID: String?

    package init() {}

    package init(serverID: String) { self.serverID = serverID }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("serverID", \.serverID, .text, .text)
    ]
}
