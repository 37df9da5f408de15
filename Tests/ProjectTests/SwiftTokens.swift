// SwiftTokens.swift — Swift text cut into tokens, without comments and without what strings say.
//
// Good enough to look for words and signs in code: comments nest, strings may be raw or span
// lines, and the code inside an interpolation is code. A string leaves one token `""`, a name in
// backticks one token as written. Bare regex literals are read as signs and words; a quotation
// mark in one hides the rest of its line.

/// One word, number or sign of Swift code.
struct SwiftToken: Equatable {
    /// As written; a sign is one character, a string is `""`.
    var text: String
    /// Counted from 1.
    var line: Int
    /// Whether nothing stands between the token before and this one.
    var isGlued: Bool
}

/// The tokens of a file, in order.
func swiftTokens(_ text: String) -> [SwiftToken] {
    var lexer = Lexer(bytes: Array(text.utf8))
    lexer.readCode(insideInterpolation: false)
    return lexer.tokens
}

private struct Lexer {
    let bytes: [UInt8]
    var index = 0
    var line = 1
    var tokens: [SwiftToken] = []
    var endOfLastToken = -1

    mutating func readCode(insideInterpolation: Bool) {
        var depth = 0
        while let byte = peek() {
            if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
                skipLine()
            } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                skipBlockComment()
            } else if let hashes = hashesBefore(UInt8(ascii: "\"")) {
                readString(hashes: hashes)
            } else if let hashes = hashesBefore(UInt8(ascii: "/")), hashes > 0 {
                readRegex(hashes: hashes)
            } else if byte == UInt8(ascii: "`") {
                readBackticks()
            } else if isWord(byte) {
                let start = index
                while let next = peek(), isWord(next) { index += 1 }
                emit(String(decoding: bytes[start..<index], as: UTF8.self), from: start)
            } else if byte <= UInt8(ascii: " ") {
                advance()
            } else {
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                index += 1
                if insideInterpolation, depth < 0 { return }
                emit(String(UnicodeScalar(byte)), from: index - 1)
            }
        }
    }

    // MARK: Literals

    private mutating func readString(hashes: Int) {
        let start = index
        index += hashes
        let isLong = starts(with: "\"\"\"")
        let closing = (isLong ? "\"\"\"" : "\"") + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        emit("\"\"", from: start)
        index += isLong ? 3 : 1
        while let byte = peek() {
            if starts(with: closing) {
                index += closing.utf8.count
                break
            }
            if starts(with: escape) {
                index += escape.utf8.count
                if peek() == UInt8(ascii: "(") {
                    index += 1
                    readCode(insideInterpolation: true)
                } else {
                    advance()
                }
                continue
            }
            if byte == UInt8(ascii: "\n"), !isLong { break }
            advance()
        }
        endOfLastToken = index
    }

    private mutating func readRegex(hashes: Int) {
        let closing = "/" + String(repeating: "#", count: hashes)
        emit("\"\"", from: index)
        index += hashes + 1
        while peek() != nil, !starts(with: closing) { advance() }
        index = min(index + closing.utf8.count, bytes.count)
    }

    private mutating func readBackticks() {
        let start = index
        index += 1
        while let byte = peek(), byte != UInt8(ascii: "\n") {
            index += 1
            if byte == UInt8(ascii: "`") { break }
        }
        emit(String(decoding: bytes[start..<index], as: UTF8.self), from: start)
    }

    // MARK: Comments

    private mutating func skipLine() {
        while let byte = peek(), byte != UInt8(ascii: "\n") { index += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                index += 2
            } else if starts(with: "*/") {
                depth -= 1
                index += 2
            } else {
                advance()
            }
        } while depth > 0 && peek() != nil
    }

    // MARK: Bytes

    private func peek(_ offset: Int = 0) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    private func starts(with text: String) -> Bool {
        bytes[index...].starts(with: text.utf8)
    }

    /// How many `#` stand between here and `byte`, or nil when something else does.
    private func hashesBefore(_ byte: UInt8) -> Int? {
        var count = 0
        while peek(count) == UInt8(ascii: "#") { count += 1 }
        return peek(count) == byte ? count : nil
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
            0x80...0xFF:
            true
        default: false
        }
    }

    private mutating func advance() {
        if peek() == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    private mutating func emit(_ text: String, from start: Int) {
        tokens.append(SwiftToken(text: text, line: line, isGlued: start == endOfLastToken))
        endOfLastToken = index
    }
}
