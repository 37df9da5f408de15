// ToolTerminalTests.swift — what a server sent can't command the terminal that it is shown on.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `text for a terminal` {
    @Test(arguments: [
        ("tea", "tea"), ("Tee mit Zucker, ça va", "Tee mit Zucker, ça va"),
        ("a\u{1B}[31mb", #"a\u001b[31mb"#), ("\u{7F}\u{9B}", #"\u007f\u009b"#),
        ("\u{202E}\u{2066}\u{200F}\u{61C}", #"\u202e\u2066\u200f\u061c"#),
        ("\u{2028}\u{2029}", #"\u2028\u2029"#), ("\u{E0001}", #"\udb40\udc01"#),
        ("\u{0}", #"\u0000"#), ("👩‍👧 نمی‌خواهم", "👩‍👧 نمی‌خواهم"),
    ])
    func `shows what it would obey`(_ text: String, _ shown: String) {
        #expect(EventText.escaped(text) == shown)
        #expect(EventText.printable(text) == shown)
    }

    @Test func `is one line`() {
        #expect(EventText.escaped("a\r\nb\tc") == #"a\u000d\u000ab\u0009c"#)
        #expect(EventText.printable("a\r\nb\tc") == "a  b c")
    }

    @Test(arguments: [
        ("tea", 3), ("ça va", 5), ("cafe\u{301}", 4), ("日本語", 6), ("한국", 4), ("ｆｕｌｌ", 8),
        ("a🎉b", 4), ("👩‍👧", 2), ("❤️", 2), ("", 0),
    ])
    func `takes two columns for a letter of the Far East and for an emoji`(
        _ text: String, _ columns: Int
    ) {
        #expect(EventText.columns(text) == columns)
        #expect(text.padded(to: 9) == text + String(repeating: " ", count: 9 - columns))
        #expect(EventText.cut(text, to: columns) == text)
    }

    @Test(arguments: [
        ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("日本語", 1, "…"), ("a日本語", 5, "a日…"),
        ("abcdef", 4, "abc…"), (#"ab\u001bcd"#, 6, "ab…"),
    ])
    func `is cut by columns`(_ text: String, _ columns: Int, _ shown: String) {
        #expect(EventText.cut(text, to: columns) == shown)
    }

    @Test(arguments: [
        ("a b", 80, ["a b"]), ("", 4, [""]), ("ab cd ef", 5, ["ab cd", "  ef"]),
        ("  ab cd ef", 7, ["  ab cd", "   ef"]), ("ab   cd", 4, ["ab", "  cd"]),
        ("abcdefgh", 4, ["abcd", "  ef", "  gh"]), ("a bcdefghi", 6, ["a bcde", "  fghi"]),
        ("日本 日本", 5, ["日本", "  日", "  本"]), (#"abc\u001b"#, 8, ["abc", #"  \u001b"#]),
    ])
    func `is wrapped at spaces, and within a word that is longer than a line`(
        _ text: String, _ columns: Int, _ lines: [String]
    ) {
        #expect(EventText.wrapped(text, to: columns) == lines)
    }

    @Test func `is the same JSON`() throws {
        let json = Array("{\r\n\t\"k\u{9B}\":\"\u{202E}\u{E0001}é\"}".utf8)

        let shown = EventText.escaped(json: json)

        #expect(
            String(decoding: shown, as: UTF8.self)
                == "{ \n\t\"k\\u009b\":\"\\u202e\\udb40\\udc01é\"}")
        #expect(try JSONValue(parsing: shown) == JSONValue(parsing: json))
    }
}

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool on a terminal` {
    /// What terminals obey: a CSI of one character and of two, and letters from right to left.
    private static let commands = ["\u{9B}", "\u{1B}[31m", "\u{202E}"]

    /// A store whose server names and says such things.
    private func scene(
        refusing reason: String = "no\u{1B}[31m\u{9B}31m\u{202E}",
        _ body: (_ store: String) async throws -> Void
    ) async throws {
        let world = SyncWorld.live()
        let odd = "\u{9B}31m\u{202E}"
        let record = #"{"data":[{"id":"id\#(odd)","last_modified":1,"k\#(odd)":"v\#(odd)"}]}"#
        try await SyncDevice.with(world) { device in
            device.wire.tap { request, _, pass in
                let usual = await pass()
                if request.isWrite {
                    let text = JSONValue.string(reason).encoded()
                    let message = #"{"message":\#(String(decoding: text, as: UTF8.self))}"#
                    return usual.map { answer in
                        var refused = answer.with(body: message)
                        refused.response.status = .badRequest
                        return refused
                    }
                }
                guard request.path?.contains("/tasks/") == true else { return usual }
                return usual.map { $0.with(body: record) }
            }
            try device.put("tasks/mine", "{}")
            try await device.sync()
            #expect(device.wire.problem == nil)
            try await body(device.replica.directory)
        }
    }

    private static let verbs = [
        "list", "list -o json", "get tasks/ID", "status", "issues", "dump", "dump -o verbose",
        "dump -o json", "outbox --all", "history tasks/ID", "why tasks/ID", "why tasks/ID --blame",
        "history tasks/mine", "why tasks/mine", "diff @1 @20", "stats", "get tasks/no-ID",
    ]

    @Test func `shows what a server says, and does nothing of it`() async throws {
        try await scene { store in
            let tool = try #require(SyncTool.path)
            for verb in Self.verbs {
                var words = verb.split(separator: " ").map {
                    String($0).replacing("ID", with: "id\u{9B}31m\u{202E}")
                }
                words.insert(store, at: 1)

                let shown = try Command.runOnTerminal(tool, words)

                #expect(shown.signal == nil && !shown.output.isEmpty, "\(verb)")
                for command in Self.commands {
                    #expect(
                        !shown.text.contains(command), "\(verb): \(shown.text.debugDescription)")
                }
                guard verb.hasSuffix("json") else { continue }
                // Wherever it goes, it is the same data.
                let piped = try Command.run(tool, words)
                func values(_ text: String) throws -> [JSONValue] {
                    try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
                }
                #expect(try values(shown.text) == values(piped.text), "\(verb)")
            }
        }
    }

    @Test(arguments: ["issues", "outbox --explain", "why tasks/mine"])
    func `shows a reason whole, on several lines`(_ verb: String) async throws {
        let reason = (1...9).map { "reason \($0)" }.joined(separator: " and ")
        try await scene(refusing: reason) { store in
            var words = verb.split(separator: " ").map(String.init)
            words.insert(store, at: 1)

            let shown = try Command.runOnTerminal(try #require(SyncTool.path), words)

            let lines = shown.text.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(shown.text)")
            let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
            #expect(text.contains(reason), "\(shown.text)")
        }
    }

    @Test func `shows in text the same wherever it goes, and hands documents on as they are`()
        async throws
    {
        try await scene { store in
            let list = try await SyncTool.run("list", store)
            let document = try await SyncTool.run("get", store, "tasks/id\u{9B}31m\u{202E}")

            #expect(list.out.contains(#"tasks/id\u009b31m\u202e"#))
            #expect(list.out.contains(#""k\u009b31m\u202e":"v\u009b31m\u202e""#))
            #expect(document.out.contains("\"k\u{9B}31m\u{202E}\""))
        }
    }
}
