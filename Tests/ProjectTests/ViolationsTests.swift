// ViolationsTests.swift — planted violations are found, and what only looks like one is not.

import Testing

private let sync = "Sources/TidemarkSync/Pull.swift"

private func messages(_ code: String, in path: String = sync) -> [String] {
    violations(path: path, text: "// Job.\n" + code).map(\.message)
}

@Suite struct `bans in code` {
    @Test func `a violation names its file, its line and what to do instead`() {
        let text = String(repeating: "// Job.\n", count: 40) + "let now = Date()\n"

        let found = violations(path: sync, text: text)

        #expect(
            found.map(\.description) == [
                "Sources/TidemarkSync/Pull.swift:41: Date() is banned here, ask Dependencies.now()"
            ])
    }

    @Test(arguments: [
        "Date()", "Date.now", "UUID()", "UInt64.random(in: 0...9)", "[1].randomElement()",
        "[1].shuffled()", "SystemRandomNumberGenerator()", "Task.sleep(for: .seconds(1))",
        "ProcessInfo.processInfo", "try! f()", "a as! B", "unsafe f()", "print(\"a\")",
        "nonisolated(unsafe) var a = 1", "Date(\n)", "Task /* a */ .sleep(until: b)",
        "\"\\(UUID())\"", "\"\"\"\n  \\(Date())\n  \"\"\"", "/* a */ try! b()",
        "Int.random(in: 0...9, using: &generator)", "Bool.random()",
        "@Test(.timeLimit(.minutes(1))) func a() {}",
    ])
    func `what is banned is found once`(code: String) {
        #expect(messages(code).count == 1)
    }

    @Test(arguments: [
        "// Date()", "/* UUID()\n try! f() */", "\"Date() and \\\" UUID()\"", "#\"\\(Date())\"#",
        "\"\"\"\n  try! print(a)\n  \"\"\"", "func `Date() is banned`() {}", "Date(a)", "try !a()",
        "writer.print(a)", "func print(_ a: Int) {}", "let unsafely = 1", "UnsafeRawPointer.self",
        "clock.sleep(until: a)", "dependencies.random()", "a as? B", "UUID(uuidString: a)",
    ])
    func `what is not banned is left alone`(code: String) {
        #expect(messages(code) == [])
    }

    @Test(arguments: [
        ("unsafe f()", "Sources/TidemarkStore/Map.swift"),
        ("unsafe f()", "Tests/TidemarkStoreTests/MapTests.swift"),
        ("Date(); UUID(); UInt64.random(in: a)", "Sources/Tidemark/Dependencies+Live.swift"),
        ("ProcessInfo.processInfo; Date.now", "Tools/tidemark/Main.swift"),
        ("print(a)", "Tools/tidemark/Main.swift"),
        ("UUID(); ProcessInfo.processInfo", "Tests/TidemarkTests/OpenTests.swift"),
        ("a.shuffled(using: &b); Int.random(in: f(1), using: &b)", "Tests/ATests/A.swift"),
    ])
    func `each ban has its places`(code: String, path: String) {
        #expect(messages(code, in: path) == [])
    }

    @Test(arguments: ["Int.random(in: 0...9)", "f(a.shuffled(), using: &b)", "Date()"])
    func `tests have no clock and no chance of their own`(code: String) {
        #expect(messages(code, in: "Tests/ATests/A.swift").count == 1)
    }
}

@Suite struct `reasons for unchecked` {
    @Test(arguments: [
        "final class A: @unchecked Sendable {\n    // @unchecked because: a lock guards it.\n}",
        "final class A<B>: C,\n    @unchecked Sendable\n{\n    // @unchecked because: d.\n}",
        "extension A: @unchecked Sendable {}\n// @unchecked because: it never changes.",
        "// final class A: @unchecked Sendable {",
    ])
    func `a reason directly under it is enough`(code: String) {
        #expect(messages(code) == [])
    }

    @Test(arguments: [
        "final class A: @unchecked Sendable {\n    let b = 1\n}",
        "// @unchecked because: above.\nfinal class A: @unchecked Sendable {\n}",
        "final class A: @unchecked Sendable {\n\n    // @unchecked because: too far.\n}",
        "final class A: @unchecked Sendable {\n    // @unchecked because:\n}",
        "final class A: @unchecked Sendable {",
    ])
    func `without one it is a violation`(code: String) {
        #expect(messages(code).count == 1)
    }
}

@Suite struct `imports of modules` {
    @Test(arguments: [
        "import Foundation", "public import Foundation", "@preconcurrency import Dispatch",
        "import struct Foundation.Date", "import Tidemark", "@testable\nimport TidemarkHTTP",
    ])
    func `a module outside the table is found`(code: String) {
        #expect(messages(code).count == 1)
    }

    @Test(arguments: [
        "package import TidemarkViews", "import Synchronization", "// import Foundation",
        "let a = \"import Foundation\"", "#if canImport(Foundation)\n#endif", "a.import(b)",
    ])
    func `the table's modules are fine`(code: String) {
        #expect(messages(code) == [])
    }

    @Test func `an import may be kept to some files of a module`() {
        let code = "import Foundation"

        #expect(messages(code, in: "Sources/TidemarkStore/PartStream.swift") == [])
        #expect(messages(code, in: "Sources/TidemarkStore/Map.swift").count == 1)
    }

    @Test func `a module that is not in the table is a violation`() {
        #expect(messages("", in: "Sources/New/New.swift").count == 1)
        #expect(messages("", in: "Tools/new/New.swift").count == 1)
    }

    @Test func `tests import what they like, but not the old framework`() {
        #expect(messages("import CLMDB", in: "Tests/ATests/A.swift") == [])
        #expect(messages("import XCTest", in: "Tests/ATests/A.swift").count == 1)
    }
}

@Suite struct `shape of files` {
    @Test func `500 lines are fine and one more is not`() {
        let most = String(repeating: "// a\n", count: 500)

        #expect(violations(path: sync, text: most) == [])
        #expect(violations(path: sync, text: most + "// a").map(\.line) == [501])
        #expect(violations(path: "Tests/ATests/A.swift", text: most + "// a").count == 1)
    }

    @Test func `100 columns are fine and one more is not`() {
        let most = "// " + String(repeating: "é", count: 97)

        #expect(messages(most) == [])
        #expect(messages(most + "e").count == 1)
    }

    @Test func `a file opens with a comment, but in tests it need not`() {
        #expect(violations(path: sync, text: "\n// Job.\n").count == 1)
        #expect(violations(path: "Tools/tidemark/Main.swift", text: "").count == 1)
        #expect(violations(path: "Tests/ATests/A.swift", text: "let a = 1\n") == [])
    }

    @Test func `unfinished work is found in comments too`() {
        #expect(messages("// FIX" + "ME: later").count == 1)
        #expect(messages("let a = 1  // TO" + "DO").count == 1)
        #expect(messages("/// X" + "XX(me)").count == 1)
        #expect(messages("// METHODTO" + "DOS and todo") == [])
    }
}

@Suite struct `words of servers` {
    @Test(arguments: [
        "/// As Kinto does.", "let toggl = 1", "KintoAdapter()", "\"last_modified\"",
        "HTTPField.Name(\"Next-Page\")", "/buckets/b", "[\"workspaces\"]", "/// CalDAV's.",
        "static let a = \"Backoff\"", "/// The header field Alert.", "\"VEVENT\"", "timeEntries",
        "Dhis2Adapter()", "/// As DHIS2 does.", "/// `override of trackedEntities/T1`.",
        "/// `orgUnit=O1`.", "/dataValues/DE1", "\"E1007\"", "let dataSet = 1", "programStages",
        "an enrollment", "tracked_entity_instance", "dataElements",
    ])
    func `are found in the core`(code: String) {
        #expect(serverWords(in: code, of: sync).count == 1)
    }

    @Test(arguments: [
        "toggle()", "settings.backoff", "BackoffRule", "gates[.backoff]", "outcome.alert",
        "/// Kind and subject.", "the next page", "a bucket of tokens",
        "the program", "a unit", "the data of a set", "0xE1007", "SE1007",
    ])
    func `are not what only looks like them`(code: String) {
        #expect(serverWords(in: code, of: sync) == [])
    }

    @Test func `are one member of the log, in its place`() {
        let code = #"static let member = "Backoff""#

        #expect(serverWords(in: code, of: "Sources/TidemarkEvents/Payloads/AskedRest.swift") == [])
        #expect(serverWords(in: code, of: "Sources/TidemarkEvents/Payloads/A.swift").count == 1)
    }
}
