// AssetRemoved.swift — a file goes out of the store's contents.

/// `asset.removed`: the file is unlinked after it.
package struct AssetRemoved: MemberPayload, EventPayload {
    /// Why files go.
    package enum Reason: String, Sendable, CaseIterable {
        /// Nothing names it, or nobody wants it.
        case unused
        /// It took more room than the model allows.
        case quota
        /// The user wanted so.
        case user
        /// Another one took its place.
        case replaced
        /// It was not there any more.
        case missing
        /// It did not hold what was stored.
        case damaged
    }

    /// The file's SHA-256 in hexadecimal digits.
    package var digest = ""
    /// Nil where the payload names one of a newer version.
    package var reason: Reason?

    package init() {}

    package init(digest: String, _ reason: Reason) {
        self.digest = digest
        self.reason = reason
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("sha256", \.digest, .text, .text),
        PayloadMember("reason", \.reason, .word, .plain),
    ]

    package var gist: String? { "\(digest.prefix(12)) \(reason?.rawValue ?? "")" }

    package static func words(of event: Event) -> String? {
        let said = Self(stored: event.payload)
        let why = said.reason.map { ": \($0.rawValue)" } ?? ""
        return "the file \(said.digest.prefix(12)) was removed\(why)"
    }
}
