// Articles.swift — the articles of the documentation, cut into blocks of code.

import Foundation

/// One article of the documentation.
struct Article {
    /// A fenced block.
    struct Block {
        /// The word behind the fence: `swift`, `sh`, `json`, or nothing.
        var language: String
        var lines: [String]
        /// The last line of text before it.
        var lead: String

        /// The file that it is to be put into, which the line before it names.
        var file: String? {
            guard lead.hasSuffix("`:") else { return nil }
            return lead.dropLast(2).split(separator: "`").last.map(String.init)
        }

        var text: String { lines.joined(separator: "\n") + "\n" }
    }

    static let folder = "Sources/Tidemark/Tidemark.docc"

    let name: String
    let text: String
    private(set) var blocks: [Block] = []
    /// The lines outside of them.
    private(set) var prose: [String] = []

    init(name: String) throws {
        self.name = name
        text = try Project.text("\(Self.folder)/\(name).md")
        var open: Block?
        var lead = ""
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(block)
                    open = nil
                } else {
                    open = Block(language: String(line.dropFirst(3)), lines: [], lead: lead)
                }
            } else if open != nil {
                open?.lines.append(line)
            } else {
                prose.append(line)
                if !line.isEmpty { lead = line }
            }
        }
    }

    /// Every article, by name; the pages of the modules are none.
    static func all() throws -> [Article] {
        try pages().filter { !$0.hasPrefix("Tidemark") }.map(Article.init)
    }

    /// Every page, by name.
    static func pages() throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: Project.root.appending(path: folder).path
        )
        .filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    }

    func blocks(_ language: String) -> [Block] { blocks.filter { $0.language == language } }
}
