// Markup.swift — the pages that others answer with in a server's place.

extension [UInt8] {
    /// Whether a body begins as HTML does, and XML.
    var isMarkup: Bool { first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<") }
}
