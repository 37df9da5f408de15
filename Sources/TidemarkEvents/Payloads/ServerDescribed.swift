// ServerDescribed.swift — what the server says of its collections, or was found to do.

/// `server.described`.
package struct ServerDescribed: MemberPayload, EventPayload {
    /// What tells each collection from earlier ones of its name.
    package var epochs: [Named<Revision>] = []

    /// Whether it heeds the preconditions of writes, as was found out; nil where it tells of
    /// something else.
    package var preconditions: Preconditions?
    /// When that was found out, by the device's clock.
    package var triedAt: Timestamp?

    /// What a server does with the preconditions of writes.
    package enum Preconditions: String, Sendable, CaseIterable {
        case heeded
        case ignored
    }

    package init() {}

    package init(_ epochs: [Named<Revision>]) { self.epochs = epochs }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("collections", \.epochs, .byName(.revision), .tokensByName) { $0.isEmpty },
        PayloadMember("preconditions", \.preconditions, .word, .plain),
        PayloadMember("triedAt", \.triedAt, .time, .time),
    ]
}
