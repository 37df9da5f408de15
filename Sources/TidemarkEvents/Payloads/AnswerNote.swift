// AnswerNote.swift — what an answer to a read said beyond what the events that follow from it tell:
// with it, and with them, the answer can be made once more.

/// The member `answer` of `request.answered` and `request.failed`.
package struct AnswerNote: MemberPayload {
    /// What the answer is, where its head alone does not say so.
    package var kind: String?
    /// The next page, where no header field names it; empty for none.
    package var next: String?
    /// Where a later list goes on, where that is not the ETag; empty for nowhere.
    package var cursor: Revision?
    /// Whether the cursor says how far this page goes.
    package var movesCursor = false
    /// Entities that it only names and that are to be fetched.
    package var references: [ListedReference] = []
    /// Entities that it names and that are here as it says, where they are others than all that the
    /// list had still to name.
    package var same: [String]?
    /// What can't be read and was known already, by name.
    package var unreadable: [String] = []
    /// Entities of which it names another version, and of which more is known.
    package var stale: [String] = []
    /// Collections that it does not describe.
    package var missing: [String] = []
    /// How many answers to what was asked earlier came later.
    package var overtook = 0

    package init() {}

    package var isEmpty: Bool { self == AnswerNote() }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("is", \.kind, .text, .plain),
        PayloadMember("next", \.next, .text, .address),
        PayloadMember("cursor", \.cursor, .revision, .cursor),
        PayloadMember("moves", \.movesCursor, .flag, .plain) { !$0 },
        PayloadMember("refs", \.references, .list(of: .reference), .references) { $0.isEmpty },
        PayloadMember("same", \.same, .list(of: .text), .text),
        PayloadMember("unreadable", \.unreadable, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("stale", \.stale, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("missing", \.missing, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("overtook", \.overtook, .integer, .plain) { $0 == 0 },
    ]
}
