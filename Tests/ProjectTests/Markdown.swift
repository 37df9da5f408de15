// Markdown.swift — the headings of a Markdown text.

/// The texts of the `# ` headings, those in fenced code left out.
func topHeadings(_ markdown: String) -> [String] {
    var fence: Substring?
    var headings: [String] = []
    for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
        let text = line.drop { $0 == " " }
        let isIndentedCode = line.count - text.count > 3
        if let opened = fence {
            let isClosing =
                text.hasPrefix(opened) && text.allSatisfy { $0 == opened.first || $0 == " " }
            if isClosing, !isIndentedCode { fence = nil }
        } else if isIndentedCode {
            continue
        } else if text.hasPrefix("```") || text.hasPrefix("~~~") {
            fence = text.prefix { $0 == text.first }
        } else if text.hasPrefix("# ") {
            headings.append(String(text.dropFirst(2)))
        }
    }
    return headings
}
