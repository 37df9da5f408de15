// AssetStored.swift — a file is in the store's contents.

/// `asset.stored`: the file is on disk.
///
/// The header's entity is the record that names it, its revision the version that it is of, where
/// the server has one.
package struct AssetStored: MemberPayload, EventPayload {
    /// Where files come from.
    package enum Origin: String, Sendable {
        /// From the user of this device.
        case imported = "import"
        /// From a server.
        case download
    }

    /// The file's SHA-256 in hexadecimal digits.
    package var digest = ""
    /// Its length in bytes.
    package var bytes: UInt64 = 0
    /// Nil where the payload names one of a newer version.
    package var origin: Origin?
    /// What records name it by, a URL or an id, as it stands in their fields; empty where they name
    /// it by its hash.
    package var source = ""

    package init() {}

    package init(digest: String, bytes: UInt64, _ origin: Origin, source: String = "") {
        self.digest = digest
        self.bytes = bytes
        self.origin = origin
        self.source = source
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("sha256", \.digest, .text, .text),
        PayloadMember("bytes", \.bytes, .integer, .plain),
        PayloadMember("origin", \.origin, .word, .plain),
        PayloadMember("source", \.source, .text, .text) { $0.isEmpty },
    ]

    package var gist: String? { "\(digest.prefix(12)) \(bytes) bytes" }

    package static func words(of event: Event) -> String? {
        let said = Self(stored: event.payload)
        let name = "\(said.digest.prefix(12)), \(said.bytes) bytes"
        return switch said.origin {
        case .imported: "a file of the user's was stored (\(name))"
        case .download: "its file was fetched and stored (\(name))"
        case nil: "a file was stored (\(name))"
        }
    }
}
