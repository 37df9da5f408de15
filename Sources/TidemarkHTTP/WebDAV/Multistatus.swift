// Multistatus.swift — the bodies of WebDAV's answers: multistatus and error (RFC 4918, section 14).

import TidemarkEvents
import TidemarkSync

private let dav = "DAV:"

/// A multistatus body: one response for each of several addresses.
struct Multistatus {
    /// The token of a sync-collection report.
    var syncToken: String?
    /// The responses, in the server's order.
    var responses: [Response] = []

    /// The response for one address.
    struct Response {
        /// The address as the server wrote it.
        var href: String
        /// The status of the address itself, where it has one.
        var status: Int?
        /// The properties that were found.
        var properties: XMLTree?
        /// The status of each group of properties.
        var partStatuses: [Int] = []

        /// Whether the resource does not exist; a missing property alone does not say so.
        var isGone: Bool { properties == nil && (status == 404 || status == 410) }

        /// Its version, where it is one that a precondition can use.
        var revision: Revision? {
            ETag.strong(properties?.first("getetag", in: dav)?.text.trimmed)
        }
    }

    /// Reads the body of an answer.
    init(parsing body: [UInt8]) throws(SyncFailure) {
        let root = try XMLReader.read(body)
        guard root.is("multistatus", in: dav) else {
            throw .malformed("XML that is no multistatus")
        }
        syncToken = root.first("sync-token", in: dav)?.text.trimmed
        for response in root.all("response", in: dav) {
            var found = Response(href: "")
            found.status = try response.first("status", in: dav).map(Self.status)
            for part in response.all("propstat", in: dav) {
                guard let status = try part.first("status", in: dav).map(Self.status) else {
                    throw .malformed("properties without a status")
                }
                found.partStatuses.append(status)
                if status == 200 { found.properties = part.first("prop", in: dav) }
            }
            let addresses = response.all("href", in: dav)
            guard !addresses.isEmpty else { throw .malformed("a response without an address") }
            for address in addresses {
                found.href = address.text.trimmed
                responses.append(found)
            }
        }
    }

    /// The number of `HTTP/1.1 404 Not Found`.
    private static func status(_ line: XMLTree) throws(SyncFailure) -> Int {
        let words = line.text.trimmed.split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]),
            (100...599).contains(status)
        else { throw .malformed("a status that is none: \(line.text.prefix(100))") }
        return status
    }
}

/// The body of a refusal; read leniently, since any server or proxy may have written it.
struct DAVError {
    /// The names of the preconditions that failed; none where the body is no WebDAV error.
    var conditions: [String] = []
    /// The server's message, in about a line.
    var words: String
    /// Whether it is an error of WebDAV.
    var isOfDAV = false

    init(_ body: [UInt8]) {
        if let root = try? XMLReader.read(body), root.is("error", in: dav) {
            isOfDAV = true
            // Some servers add elements of their own.
            let known = [dav, "urn:ietf:params:xml:ns:caldav", "urn:ietf:params:xml:ns:carddav"]
            conditions = root.children.filter { known.contains($0.namespace) }.map(\.name)
            let texts = root.children.map(\.text.trimmed).filter { !$0.isEmpty }
            words = (conditions + texts).joined(separator: ": ")
        } else {
            let text = String(validating: body.prefix(1000), as: UTF8.self)?.trimmed ?? ""
            words = text.hasPrefix("<") ? "" : text
        }
        words = String(words.prefix(300))
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        String(
            drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
