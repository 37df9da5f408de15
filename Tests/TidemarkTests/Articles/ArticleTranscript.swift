// ArticleTranscript.swift — what an article shows of a terminal: commands and what they print.

import Foundation
import TestSupport

@testable import SyncSupport

/// The files and commands of one article, in order.
struct ArticleTranscript {
    enum Step {
        /// A file that the article shows: after a line that ends in its name and a colon.
        case file(name: String, text: String)
        case command(String, prints: [String])
    }

    private(set) var steps: [Step] = []
    /// Whether a store is made in it.
    private(set) var makesStore = false
    /// Every block of JSON.
    private(set) var json: [String] = []

    private static let folder = Checkout.root.appending(path: "Sources/Tidemark/Tidemark.docc")

    /// The names of the articles, in order.
    static var names: [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }.sorted()
    }

    /// An article as it is written.
    static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(name).md"), encoding: .utf8)
    }

    init(_ name: String) throws {
        let text = try Self.text(name)
        var lead = ""
        var language: String?
        var block: [String] = []
        for line in text.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                if let language {
                    take(language, block, after: lead)
                    block = []
                }
                language = language == nil ? String(line.dropFirst(3)) : nil
            } else if language != nil {
                block.append(line)
            } else if !line.isEmpty {
                lead = line
            }
        }
    }

    private mutating func take(_ language: String, _ lines: [String], after lead: String) {
        if language == "json" {
            let text = lines.joined(separator: "\n")
            json.append(text)
            if lead.hasSuffix(".json`:"), let name = lead.split(separator: "`").dropLast().last {
                steps.append(.file(name: String(name), text: text))
            }
        }
        guard language == "sh", lines.first?.hasPrefix("$ ") == true else { return }
        for line in lines {
            if line.hasPrefix("$ ") {
                steps.append(.command(String(line.dropFirst(2)), prints: []))
                if line.hasPrefix("$ tidemark init ") { makesStore = true }
            } else if case .command(let command, let prints)? = steps.last {
                steps[steps.count - 1] = .command(command, prints: prints + [line])
            }
        }
    }

    /// Whether printed lines are those shown: `…` in a line stands for anything, and a line that is
    /// `…` alone for any number of lines.
    static func fits(_ printed: ArraySlice<String>, _ shown: ArraySlice<String>) -> Bool {
        guard let first = shown.first else { return printed.isEmpty }
        if first == "…" {
            return (printed.startIndex...printed.endIndex).contains {
                fits(printed[$0...], shown.dropFirst())
            }
        }
        guard let line = printed.first, fits(line: line, first) else { return false }
        return fits(printed.dropFirst(), shown.dropFirst())
    }

    private static func fits(line: String, _ shown: String) -> Bool {
        let parts = shown.components(separatedBy: "…")
        guard let first = parts.first, let last = parts.last, parts.count > 1 else {
            return line == shown
        }
        guard line.hasPrefix(first) else { return false }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() {
            guard
                let place = part.isEmpty
                    ? rest.startIndex..<rest.startIndex : rest.firstRange(of: part)
            else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
