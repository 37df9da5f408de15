// PushRelayed.swift — a mutation went another way than by a sync run, or is known to have arrived.

/// `push.relayed`; up to which mutation, the header says.
package struct PushRelayed: MemberPayload, EventPayload {
    /// The way, in the app's words; nil where it does not say.
    package var channel: String?
    /// Whether the other side said that it has it.
    package var isConfirmed = false

    /// The name in decisions of the rule that the server's word counts after it.
    package static let ruleName = "relay"

    package init() {}

    package init(via channel: String?, isConfirmed: Bool) {
        (self.channel, self.isConfirmed) = (channel, isConfirmed)
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("via", \.channel, .text, .text),
        PayloadMember("confirmed", \.isConfirmed, .flag, .plain) { !$0 },
    ]

    /// `confirmed sms`.
    package var gist: String? {
        let parts = [isConfirmed ? "confirmed" : nil, channel].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    package static func words(of event: Event) -> String? {
        let relay = Self(stored: event.payload)
        let way = relay.channel ?? "another way"
        return relay.isConfirmed ? "arrived by \(way)" : "sent by \(way)"
    }
}
