// EntityTag.swift — versions of files as HTTP's entity tags: what a precondition says of one, and
// whether two name the same.
//
// A server may have the path of a file in its tag. A list tells it as it is, the header field ETag
// with &, <, > and " escaped as in XML, and a precondition has to say it as the field does.

/// Entity tags (RFC 9110, 8.8.3), as texts with their quotes.
package enum EntityTag {
    private static let escapes = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")]

    /// The value of If-Match that demands a version: its tag, and beside it the same one escaped
    /// where that is another text.
    ///
    /// Only a tag with a path in it may be escaped; with a quote inside it can't be said otherwise.
    package static func condition(_ tag: String) -> String {
        guard tag.contains("/") else { return tag }
        let inner = tag.dropFirst().dropLast()
        var escaped = String(inner)
        for (plain, escape) in escapes { escaped = escaped.replacing(plain, with: escape) }
        if escaped == inner { return tag }
        return inner.contains("\"") ? "\"\(escaped)\"" : "\(tag), \"\(escaped)\""
    }

    /// Whether two tags name the same version, be they weak or not, escaped or not.
    package static func isSame(_ tag: String, _ other: String) -> Bool {
        plain(Revision(tag).tag) == plain(Revision(other).tag)
    }

    /// A tag in which nothing is escaped.
    package static func plain(_ tag: Substring) -> String {
        var plain = String(tag)
        guard plain.utf8.contains(UInt8(ascii: "&")) else { return plain }
        for (text, escape) in escapes.reversed() { plain = plain.replacing(escape, with: text) }
        return plain
    }
}
