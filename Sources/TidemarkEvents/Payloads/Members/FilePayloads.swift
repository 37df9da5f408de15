// FilePayloads.swift — what requests and answers say of a file beside an entity, that is fetched or
// sent.
//
// A request about a file belongs to no sync run; its header names the record, or at least the
// collection, by which the file is named.

/// The members of `request.sent` about a file.
package struct RequestedFile: MemberPayload {
    /// The SHA-256 of a file that is sent; nil where none is.
    package var sentDigest: String?
    /// What records name it by, as it stands in their fields; nil where no file is asked for.
    package var source: String?
    /// The first byte that is asked for.
    package var from: UInt64 = 0
    /// How many bytes at most; nil for all of them.
    package var count: UInt64?
    /// Whether what the log says was fetched before is not in its part file any more.
    package var isPartGone = false

    package init() {}

    /// Whether the request is about a file.
    package var isAny: Bool { source != nil || sentDigest != nil }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("fileSHA256", \.sentDigest, .text, .text),
        PayloadMember("fileSource", \.source, .text, .text),
        PayloadMember("fileFrom", \.from, .integer, .plain) { $0 == 0 },
        PayloadMember("fileCount", \.count, .integer, .plain),
        PayloadMember("filePartGone", \.isPartGone, .flag, .plain) { !$0 },
    ]
}

/// The members of `request.answered` about a file.
package struct ReceivedFile: MemberPayload {
    /// What an answer means for the file.
    package enum Result: String, Sendable, CaseIterable {
        /// A part came, and more is to come.
        case part
        /// All of it is there.
        case whole
        /// It is another file by now: what came is not used, and it begins anew.
        case anew
        /// The server gives no parts: the next request is for all of it.
        case partless
        /// It can't be had, or is not taken, as it is.
        case refused
        /// It may be had, or taken, later.
        case failed
        /// The server has it.
        case sent
    }

    /// Nil where the answer is to no request for a file, or of a newer version.
    package var result: Result?
    /// How many bytes of this answer were written.
    package var bytes: UInt64 = 0
    /// The length of the whole file, as far as it is known.
    package var total: UInt64?
    /// SHA-256 of what came, where that was to be compared and is another one.
    package var otherDigest: String?
    /// By what records name a file that was sent.
    package var name: String?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("fileResult", \.result, .word, .plain),
        PayloadMember("fileBytes", \.bytes, .integer, .plain) { $0 == 0 },
        PayloadMember("fileTotal", \.total, .integer, .plain),
        PayloadMember("fileOtherSHA256", \.otherDigest, .text, .text),
        PayloadMember("fileName", \.name, .text, .text),
    ]
}
