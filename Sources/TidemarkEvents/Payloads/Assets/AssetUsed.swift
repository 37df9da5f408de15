// AssetUsed.swift — a file of the store's contents was used.

/// `asset.used`: at most one a day and file, so that the log tells which was not used for longest.
package struct AssetUsed: MemberPayload, EventPayload {
    /// The file's SHA-256 in hexadecimal digits.
    package var digest = ""

    package init() {}

    package init(digest: String) { self.digest = digest }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("sha256", \.digest, .text, .text)
    ]

    package var gist: String? { "\(digest.prefix(12))" }

    package static func words(of event: Event) -> String? { "its file was used" }
}
