// ServerUnreadable.swift — a record of the server that is not a valid entity.

/// `server.unreadable`.
package struct ServerUnreadable: MemberPayload, EventPayload {
    /// The record's name: its id, or a digest where it has none that is a key.
    package var name = ""
    /// The SHA-256 of its bytes, in hexadecimal digits.
    package var digest = ""
    /// What is wrong with it, in a sentence.
    package var problem = ""
    package var body = PayloadBody()

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("name", \.name, .text, .text),
        PayloadMember("sha256", \.digest, .text, .text),
        PayloadMember("problem", \.problem, .text, .text),
        PayloadMember(of: \.body),
    ]
}
