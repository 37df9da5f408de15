// PayloadSchemaTests.swift — payloads have the members of Schemas/dump.schema.json, by which
// others read what `tidemark dump` prints.

import Foundation
import Testing
import TidemarkEvents

/// Schemas/dump.schema.json.
private struct DumpSchema {
    private let root: JSONValue

    init() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appendingPathComponent("Schemas/dump.schema.json")
        root = try JSONValue(parsing: Array(try Data(contentsOf: file)))
    }

    func definition(_ name: String) throws -> JSONValue {
        try #require(root["$defs"]?[name])
    }

    /// The names of an object's members, those of what it refers to among them; of names that only
    /// begin alike the beginning.
    func members(_ object: JSONValue) throws -> Set<String> {
        var names = Set(object["properties"]?.object?.keys ?? [])
        for pattern in object["patternProperties"]?.object?.keys ?? [] {
            names.insert(String(pattern.dropFirst().dropLast()))
        }
        if let path = object["$ref"]?.stringValue, let name = path.split(separator: "/").last {
            names.formUnion(try members(try definition(String(name))))
        }
        for part in object["allOf"]?.array ?? [] { names.formUnion(try members(part)) }
        return names
    }

    /// What it says of the payloads of a kind.
    func payload(of kind: EventKind) throws -> JSONValue? {
        let rules = try #require(root["allOf"]?.array)
        let rule = rules.first { $0["if"]?["$ref"]?.stringValue == "#/$defs/is/\(kind)" }
        return rule?["then"]?["properties"]?["payload"]
    }
}

@Suite struct `the schema of what dump prints` {
    @Test func `has the members of every payload of ours, and no others`() throws {
        let schema = try DumpSchema()
        var count = 0
        for kind in EventKind.allCases {
            guard case .members(let type) = kind.form else { continue }
            let payload = try #require(try schema.payload(of: kind), "\(kind)")
            let ours = Set(type.shapes.map(\.name))

            let isAnswer = kind == .requestAnswered || kind == .requestFailed
            // Older versions wrote that, too.
            #expect(
                try schema.members(payload) == ours.union(isAnswer ? ["answer"] : []), "\(kind)")
            count += 1
        }
        #expect(count >= 15)
    }

    @Test func `has the members of what stands inside of payloads`() throws {
        let schema = try DumpSchema()

        let page = try #require(try schema.payload(of: .pullPage))
        let list = try #require(page["properties"]?["list"])
        #expect(try schema.members(list) == Set(ListProgress.shapes.map(\.name)))
        let parameters = try #require(page["properties"]?["parameters"])
        #expect(try schema.members(parameters) == Set(FeedParameters.shapes.map(\.name)))
    }

    @Test func `knows the shapes of every payload up to the newest, and no later one`() throws {
        let rules = try DumpSchema().definition("is")
        var count = 0
        for kind in EventKind.allCases {
            guard let shape = rules["\(kind)"]?["properties"]?["schemaVersion"] else { continue }
            let known = shape["enum"]?.array ?? [shape["const"]].compactMap(\.self)

            let all = Array(1..<Int64(kind.newestSchema) + 1)
            #expect(known.compactMap(\.int64Value) == all, "\(kind)")
            count += 1
        }
        #expect(count >= 30)
    }

    @Test func `takes any list of a payload that is not empty`() throws {
        let schema = try DumpSchema()
        var count = 0
        for kind in EventKind.allCases {
            let members = try schema.payload(of: kind)?["properties"]?.object
            for name in members?.keys ?? [] {
                guard let least = members?[name]?["minItems"] else { continue }
                #expect(least == 1, "\(kind) \(name)")
                count += 1
            }
        }
        #expect(count >= 12)
    }

    @Test func `names every failure, and what one may concern`() throws {
        let schema = try DumpSchema()
        func words(_ name: String) throws -> Set<String> {
            Set((try schema.definition(name)["enum"]?.array ?? []).compactMap(\.stringValue))
        }

        #expect(try words("failure") == Set(FailureKind.allCases.map(\.rawValue)))
        #expect(try words("concern") == ["entity", "absent", "list", "pool"])
    }

    @Test func `no name stands twice in a payload`() {
        for kind in EventKind.allCases {
            guard case .members(let type) = kind.form else { continue }
            let names = type.shapes.map(\.name)

            #expect(Set(names).count == names.count, "\(kind)")
        }
    }
}
