// LogTruncated.swift — the log's first events were dropped.

/// `log.truncated`.
package struct LogTruncated: MemberPayload, EventPayload {
    /// The last event that was dropped.
    package var last = Position.start
    /// The Merkle root there, in hexadecimal.
    package var root = ""
    /// The digest of the views as they were there, in hexadecimal.
    package var views = ""

    package init() {}

    package init(last: Position, root: [UInt8], views: [UInt8]) {
        self.last = last
        self.root = Hexadecimal.encode(root)
        self.views = Hexadecimal.encode(views)
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("last", \.last, .position, .plain),
        PayloadMember("root", \.root, .text, .text),
        PayloadMember("views", \.views, .text, .text),
    ]

    package var gist: String? { "up to \(last)" }
}
