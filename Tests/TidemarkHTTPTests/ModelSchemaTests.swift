// ModelSchemaTests.swift — the schema of models and the tables of the documentation are those of
// the members' tables.
//
// With TIDEMARK_WRITE_SCHEMA=1 in the environment the files are written anew instead of compared.

import Foundation
import Testing
import TidemarkEvents
import TidemarkHTTP

@Suite struct `the schema of models` {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let schema = root.appending(path: "Schemas/model.schema.json")
    private static let article = root.appending(
        path: "Sources/Tidemark/Tidemark.docc/MembersOfAModel.md")
    private static let heading = "### Every member\n\n"
    private static let writes =
        ProcessInfo.processInfo.environment["TIDEMARK_WRITE_SCHEMA"] != nil

    private func text(_ file: URL) throws -> String {
        try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `is made of the tables of members`() throws {
        let text = try text(Self.schema)
        let examples = try JSONValue(parsing: Array(text.utf8))["examples"]?.array ?? []
        let wanted =
            ModelSchema.document(adapters: AdapterMembers.known, examples: examples).pretty() + "\n"

        if Self.writes { try Data(wanted.utf8).write(to: Self.schema) }

        #expect(Self.writes || text == wanted, "TIDEMARK_WRITE_SCHEMA=1 writes it anew")
        for example in examples {
            let registration = try ModelRegistration(parsing: example.encoded())
            #expect(
                try registration.withAdapterDefaults().checked()
                    == registration.withAdapterDefaults())
        }
    }

    @Test func `has every member in an article`() throws {
        let text = try text(Self.article)
        let start = try #require(text.range(of: Self.heading)).upperBound
        let wanted = ModelSchema.tables + "\n"

        if Self.writes { try Data((text[..<start] + wanted).utf8).write(to: Self.article) }

        #expect(Self.writes || text[start...] == wanted, "TIDEMARK_WRITE_SCHEMA=1 writes it anew")
    }

    @Test func `has every rule explained in an article`() throws {
        let folder = Self.article.deletingLastPathComponent()
        var prose = ""
        for name in [
            "TheModel", "RulesOfACollection", "FieldsOfTheServer", "Conflicts", "AFeed",
            "SyncingWithYourServer", "Contents", "Pools", "Trees", "FilesAndFolders",
            "FileServers",
            "ListsOfParts",
        ] {
            prose += try text(folder.appending(path: "\(name).md"))
        }

        for name in ModelSchema.memberNames {
            let isNamed = ["`\(name)`", "\"\(name)\"", "#### \(name)", ", \(name)\n"]
                .contains(where: prose.contains)
            #expect(isNamed, "\(name)")
        }
    }
}

extension JSONValue {
    /// The text in lines of at most 100 characters, where they can be broken.
    fileprivate func pretty(_ indent: String = "", _ room: Int = 0) -> String {
        let line = spaced
        if indent.count + line.count + room <= 100 { return line }
        let inner = indent + "  "
        switch self {
        case .object(let object) where !object.isEmpty:
            let members = object.map { name, value in
                let head = JSONValue.string(name).description + ": "
                return inner + head + value.pretty(inner, head.count + 1)
            }
            return "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
        case .array(let list) where !list.isEmpty:
            return "[\n" + list.map { inner + $0.pretty(inner, 1) }.joined(separator: ",\n")
                + "\n\(indent)]"
        default: return line
        }
    }

    /// The text in one line.
    private var spaced: String {
        switch self {
        case .object(let object) where !object.isEmpty:
            let members = object.map { "\(JSONValue.string($0).description): \($1.spaced)" }
            return "{ " + members.joined(separator: ", ") + " }"
        case .array(let list): return "[" + list.map(\.spaced).joined(separator: ", ") + "]"
        default: return description
        }
    }
}
