// Violations.swift — the checker of one Swift file: path and text in, what is wrong with it out.

/// One thing to change.
struct Violation: Equatable, CustomStringConvertible {
    var path: String
    var line: Int
    var message: String

    var description: String { "\(path):\(line): \(message)" }
}

/// The longest file, in lines.
let fileLinesMax = 500
/// The longest line, in characters.
let lineColumnsMax = 100

/// Everything that is wrong with a Swift file, by line.
///
/// - Parameters:
///   - path: from the project's root, for example `Sources/TidemarkSync/Pull.swift`; it decides
///     which rules hold.
///   - text: the whole file.
func violations(path: String, text: String) -> [Violation] {
    let code = swiftTokens(text)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let found =
        shape(path: path, lines: lines) + leftovers(path: path, lines: lines)
        + bannedWords(path: path, code: code) + strayImports(path: path, code: code)
        + unexplainedUnchecked(path: path, code: code, lines: lines)
    return found.enumerated()
        .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
        .map(\.element)
}

private func shape(path: String, lines: [Substring]) -> [Violation] {
    var found: [Violation] = []
    let count = lines.last == "" ? lines.count - 1 : lines.count
    if count > fileLinesMax {
        found.append(
            Violation(
                path: path, line: fileLinesMax + 1,
                message: "\(count) lines, \(fileLinesMax) are the most; split by purpose"))
    }
    let mustOpenWithComment = path.hasPrefix("Sources/") || path.hasPrefix("Tools/")
    if mustOpenWithComment, lines.first?.hasPrefix("//") != true {
        found.append(
            Violation(path: path, line: 1, message: "open with a // comment that says its job"))
    }
    for (index, line) in lines.enumerated() where line.count > lineColumnsMax {
        found.append(
            Violation(
                path: path, line: index + 1,
                message: "\(line.count) columns, \(lineColumnsMax) are the most"))
    }
    return found
}

/// Marks of unfinished work, in comments as anywhere.
private func leftovers(path: String, lines: [Substring]) -> [Violation] {
    let marks = ["FIX" + "ME", "TO" + "DO", "X" + "XX"]
    return lines.enumerated().flatMap { index, line in
        let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return marks.filter { mark in words.contains { $0 == mark } }.map {
            Violation(path: path, line: index + 1, message: "\($0) left over, finish or drop it")
        }
    }
}

private func bannedWords(path: String, code: [SwiftToken]) -> [Violation] {
    let here = Places(of: path)
    let held = bans.filter { $0.places.isDisjoint(with: here) }
    return code.indices.flatMap { index in
        held.filter { $0.matches(code, at: index, places: here) }.map {
            Violation(
                path: path, line: code[index].line,
                message: "\($0.name) is banned here, \($0.instead)")
        }
    }
}

private func strayImports(path: String, code: [SwiftToken]) -> [Violation] {
    guard path.hasPrefix("Sources/") || path.hasPrefix("Tools/") else { return [] }
    let name = Module.name(of: path)
    guard let module = modules[name] else {
        return [Violation(path: path, line: 1, message: "\(name) is not in Modules.swift")]
    }
    return imports(in: code).filter { !module.allows($0.module, in: path) }.map {
        Violation(
            path: path, line: $0.line,
            message: "\(name) may not import \($0.module), see Modules.swift")
    }
}

/// The reason stands under the words themselves, or under the brace that opens the type's body.
private func unexplainedUnchecked(
    path: String, code: [SwiftToken], lines: [Substring]
) -> [Violation] {
    func reasonStands(under line: Int) -> Bool {
        guard line < lines.count else { return false }
        let text = lines[line].drop { $0 == " " }
        let opening = "// @unchecked because:"
        return text.hasPrefix(opening) && text.dropFirst(opening.count).contains { $0 != " " }
    }
    return code.indices.compactMap { index in
        guard code[index].text == "unchecked", index > 0, code[index - 1].text == "@" else {
            return nil
        }
        let brace = code[index...].first { $0.text == "{" }
        if reasonStands(under: code[index].line) { return nil }
        if let brace, reasonStands(under: brace.line) { return nil }
        return Violation(
            path: path, line: code[index].line,
            message: "@unchecked needs a line under it: // @unchecked because: …")
    }
}
