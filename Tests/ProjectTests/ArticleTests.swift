// ArticleTests.swift — the documentation's articles: their code is built, and they name all there
// is.

import Foundation
import TestSupport
import Testing

@Suite struct `the articles` {
    @Test func `show only Swift that is built`() throws {
        var count = 0
        for article in try Article.all() {
            // Whole files are built by a test of their own.
            let blocks = article.blocks("swift").filter { $0.file == nil }
            guard !blocks.isEmpty else { continue }
            let path = Self.examples[article.name] ?? "Tests/DocExamples/\(article.name).swift"
            var built = Self.code(try Project.text(path).components(separatedBy: "\n"))[...]
            for block in blocks {
                let lines = Self.code(block.lines)
                let place = built.firstRange(of: lines)
                let first = lines.first ?? ""
                #expect(place != nil, "\(path) has not, in this order: \(article.name), \(first)")
                if let place { built = built[place.upperBound...] }
                count += 1
            }
        }
        #expect(count > 30)
    }

    @Test func `and doc comments show only Swift that is built`() throws {
        let built = Self.code(
            try Project.text("Tests/DocExamples/DocComments.swift").components(separatedBy: "\n"))
        var count = 0
        for path in try Project.swiftFiles() where path.hasPrefix("Sources/") {
            let comments = try Project.text(path).components(separatedBy: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }.filter { $0.hasPrefix("///") }.map { String($0.dropFirst(3)) }
            for block in comments.joined(separator: "\n").components(separatedBy: "```swift\n")
                .dropFirst()
            {
                let lines = Self.code(
                    block.components(separatedBy: "```")[0].components(separatedBy: "\n"))
                #expect(built.firstRange(of: lines) != nil, "\(path): \(lines.first ?? "")")
                count += 1
            }
        }
        #expect(count >= 5)
    }

    /// Where an article's code stands, if it is not in the file of its name.
    private static let examples = [
        "Testing": "Tests/TidemarkTests/Articles/ArticleExampleTests.swift",
        "FromABugReportToAFailingTest": "Tests/TidemarkReplayTests/Replay/RecordedBugTests.swift",
        "Explaining": "Tests/TidemarkInspectTests/Explain/ExplainArticleTests.swift",
    ]

    /// Lines without indentation, comments at their ends, empty ones and the word `package`.
    private static func code(_ lines: [String]) -> [String] {
        lines.map { line in
            let code = line.firstRange(of: "  //").map { line[..<$0.lowerBound] } ?? line[...]
            let text = code.trimmingCharacters(in: .whitespaces)
            return text.hasPrefix("package ") ? String(text.dropFirst("package ".count)) : text
        }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    }

    @Test func `are short, and each stands under a topic of the first page`() throws {
        let landing = try Project.text("\(Article.folder)/Tidemark.md")
        let articles = try Article.all()

        #expect(articles.count >= 16)
        for article in articles {
            let lines = article.text.components(separatedBy: "\n")
            // Its tables are made of the members.
            let most = article.name == "MembersOfAModel" ? 300 : 220
            #expect(lines.count - 1 <= most, "\(article.name)")
            #expect(landing.contains("- <doc:\(article.name)>"), "\(article.name)")
            for line in lines where !line.hasPrefix("|") && !line.contains("](http") {
                let isOutput = line.hasPrefix("$ ") || line.hasPrefix("@") || line.contains("\":")
                #expect(line.count <= 100 || isOutput, "\(article.name): \(line)")
            }
        }
    }

    @Test func `and doc comments begin no line with what is taken for a directive`() throws {
        func isTaken(_ line: some StringProtocol) -> Bool {
            let text = line.trimmingCharacters(in: .whitespaces)
            return text.hasPrefix("@") && text.wholeMatch(of: /@[A-Z]\w+ ?[({].*/) == nil
        }
        for name in try Article.pages() {
            let lines = try Article(name: name).prose.filter(isTaken)
            #expect(lines.isEmpty, "\(name): \(lines)")
        }
        for path in try Project.swiftFiles() where path.hasPrefix("Sources/") {
            let lines = try Project.text(path).components(separatedBy: "\n").filter { line in
                let text = line.trimmingCharacters(in: .whitespaces)
                return text.hasPrefix("///") && isTaken(text.dropFirst(3))
            }
            #expect(lines.isEmpty, "\(path): \(lines)")
        }
    }

    @Test func `run every line of the tool that they show`() throws {
        for article in try Article.all() {
            for block in article.blocks("sh") where block.lines.contains(where: Self.isOfTool) {
                #expect(
                    block.lines.first?.hasPrefix("$ ") == true,
                    "\(article.name): begin each command with $, so that a test runs it")
            }
        }
    }

    private static func isOfTool(_ line: String) -> Bool { line.contains("tidemark ") }

    @Test(arguments: [
        ("Sources/Tidemark/TidemarkError.swift", "public enum Code"),
        ("Sources/TidemarkSync/Adapter/SyncFailure.swift", "public enum SyncFailure"),
        ("Sources/TidemarkEvents/Event/SyncTrigger.swift", "public enum SyncPauseReason"),
        ("Sources/TidemarkEvents/Event/SyncTrigger.swift", "public enum SyncWaitReason"),
        ("Sources/TidemarkSync/Adapter/Transport.swift", "public enum Code"),
        ("Sources/TidemarkEvents/JSON/JSONError.swift", "public enum Code"),
    ])
    func `on errors name every one`(path: String, declaration: String) throws {
        let page = try Article(name: "Errors").text
        let cases = Self.cases(of: declaration, in: try Project.text(path))

        #expect(cases.count >= 3)
        for name in cases { #expect(page.contains("`\(name)`"), "\(path): \(name)") }
    }

    @Test func `on errors name no code that nothing throws`() throws {
        let codes = Self.cases(
            of: "public enum Code", in: try Project.text("Sources/Tidemark/TidemarkError.swift"))
        var members: Set<Substring> = []
        for path in try Project.swiftFiles() where path.hasPrefix("Sources/") {
            let text = try Project.text(path)
            guard text.contains("TidemarkError") else { continue }
            members.formUnion(text.split(separator: ".").map { $0.prefix { $0.isLetter } })
        }

        for code in codes { #expect(members.contains(Substring(code)), "\(code)") }
    }

    @Test(arguments: [
        (
            "ProblemsAndIssues", "TidemarkEvents/Event/MutationOutcome.swift",
            "public enum MutationOutcome"
        ),
        (
            "ProblemsAndIssues", "TidemarkEvents/Event/EntityStatus.swift",
            "public enum EntityStatus"
        ),
        ("ProblemsAndIssues", "Tidemark/Issues/SyncIssue.swift", "public enum Kind"),
        ("Conflicts", "TidemarkEvents/Model/ConflictPolicy.swift", "public enum ConflictPolicy"),
        ("Migrations", "TidemarkEvents/Model/FieldMigration.swift", "public enum FieldMigration"),
    ])
    func `leave nothing out`(article: String, path: String, declaration: String) throws {
        let page = try Article(name: article).text
        let cases = Self.cases(of: declaration, in: try Project.text("Sources/\(path)"))

        #expect(cases.count >= 3)
        for name in cases { #expect(page.contains(name), "\(path): \(name)") }
    }

    /// The names of an enum's cases, in order.
    private static func cases(of declaration: String, in source: String) -> [String] {
        let lines = source.components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.contains(declaration) }) else { return [] }
        let indent = String(lines[start].prefix { $0 == " " })
        let body = lines[(start + 1)...].prefix { $0 != indent + "}" }
        return body.filter { $0.hasPrefix(indent + "    case ") }.flatMap { line in
            // What is in parentheses is no case, though it may hold a comma.
            let names = line.dropFirst(indent.count + "    case ".count)
            return names.prefix { $0 != "(" }.split(separator: ", ").map(String.init)
        }
    }

    @Test func `show every verb of the tool, and that on the tool names it`() throws {
        let page = try Article(name: "TheTool").text
        let shown = try Article.all().map(\.text).joined()
        let source = try Project.text("Tools/tidemark/Tool.swift")
        let list = try #require(source.components(separatedBy: "subcommands: [").dropFirst().first)
        let verbs = list.components(separatedBy: "]")[0].split { !$0.isLetter && $0 != "." }
            .map { $0.replacing(".self", with: "").replacing("Command", with: "").lowercased() }

        #expect(verbs.count >= 19)
        for verb in verbs.map({ $0 == "asof" ? "as-of" : $0 }) {
            #expect(shown.contains("tidemark \(verb)"), "\(verb)")
            #expect(
                page.contains("tidemark \(verb)") || page.contains("`\(verb)`"), "\(verb)")
        }
    }
}
