// SwiftTokensTests.swift — what counts as code, and what is only said about it.

import Testing

@Suite struct `tokens of Swift` {
    @Test(arguments: [
        ("a // b", ["a"]),
        ("a /* b /* c */ d */ e", ["a", "e"]),
        ("/* never closed", []),
        (#"f("b // c", d)"#, ["f", "(", "\"\"", ",", "d", ")"]),
        (#""a\"b" c"#, ["\"\"", "c"]),
        (#""a\(b("c"))d" e"#, ["\"\"", "b", "(", "\"\"", ")", "e"]),
        (##"#"a" \(b) \#(c)"# d"##, ["\"\"", "c", "d"]),
        ("#if os(Linux)", ["#", "if", "os", "(", "Linux", ")"]),
        (##"#/a"b/# c"##, ["\"\"", "c"]),
        ("func `a b`()", ["func", "`a b`", "(", ")"]),
        ("\"never closed\nb", ["\"\"", "b"]),
    ])
    func `comments and strings are left out, interpolated code is kept`(
        text: String, expected: [String]
    ) {
        #expect(swiftTokens(text).map(\.text) == expected)
    }

    @Test func `a string over several lines is one token, and lines go on counting`() {
        let text = "let a = \"\"\"\n  b \"c\" \\(d)\n  \"\"\"\n/* e\n*/ f"

        let tokens = swiftTokens(text)

        #expect(tokens.map(\.text) == ["let", "a", "=", "\"\"", "d", "f"])
        #expect(tokens.map(\.line) == [1, 1, 1, 1, 2, 5])
    }

    @Test func `a token knows whether it touches the one before`() {
        #expect(swiftTokens("try! try !a").map(\.isGlued) == [false, true, false, false, true])
    }
}

@Suite struct `headings of Markdown` {
    @Test func `headings in fenced code do not count`() {
        let text = "# One\n\n```sh\n# not\n```\n~~~~\n# not\n~~~\n# not\n~~~~\n## two\n# Two\n"

        #expect(topHeadings(text) == ["One", "Two"])
    }
}
