// ServerDescribed.swift — what the server says of its collections.

/// `server.described`.
package struct ServerDescribed: MemberPayload, EventPayload {
    /// What tells each collection from earlier ones of its name.
    package var epochs: [Named<Revision>] = []

    package init() {}

    package init(_ epochs: [Named<Revision>]) { self.epochs = epochs }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("collections", \.epochs, .byName(.revision), .tokensByName)
    ]
}
