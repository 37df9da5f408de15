// ShellWordTests.swift — commands that are told to people can be copied as they are.

import Testing
import TidemarkInspect

@Suite struct `a word of a command` {
    @Test(arguments: [
        "/tmp/a-b/todo.store", "tasks/t_1", "@12", "2026-11-21T11:09:00Z", "Über.store", "",
        "two words", "it's", "$HOME", "~/a", "a;b", "a\\b", "*", "'", "a\nb",
    ])
    func `is in quotes where a shell would read it otherwise`(_ word: String) {
        func isPlainSign(_ sign: Character) -> Bool {
            sign.isASCII && (sign.isLetter || sign.isNumber) || "@_-./:".contains(sign)
        }
        let isPlain = !word.isEmpty && word.allSatisfy(isPlainSign)
        let quoted = word.shellQuoted
        #expect((quoted == word) == isPlain)
        guard !isPlain else { return }
        #expect(quoted.hasPrefix("'") && quoted.hasSuffix("'") && quoted.count > 1)
        let inner = quoted.dropFirst().dropLast()
        #expect(inner.replacing(#"'\''"#, with: "'") == word)
    }
    @Test func `keeps an apostrophe in quotes that a mark stands behind`() {
        let quoted = "x'\u{301};id".shellQuoted
        #expect(Array(quoted.unicodeScalars) == Array(#"'x'\''\#u{301};id'"#.unicodeScalars))
    }
}
