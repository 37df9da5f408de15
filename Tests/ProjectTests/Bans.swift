// Bans.swift — what code may not say, where it may all the same, and what to say instead.

/// Words of code that are refused outside their places.
struct Ban {
    /// As it is shown, for example `Date()`.
    var name: String
    /// The same as tokens.
    var tokens: [String]
    /// What to do instead; ends the message.
    var instead: String
    /// The places where it is allowed.
    var places: Places
    /// Tokens that make it something else when they stand in front.
    var unlessAfter: Set<String> = []
    /// Whether the tokens must stand without spaces: `try!` but not `try !flag`.
    var isGlued = false
    /// Whether a call that passes a generator of its own, `using:`, is fine in tests.
    var mayUseGenerator = false
}

/// Where a ban does not hold.
struct Places: OptionSet {
    let rawValue: Int

    static let store = Places(rawValue: 1 << 0)
    static let live = Places(rawValue: 1 << 1)
    static let tools = Places(rawValue: 1 << 2)
    static let tests = Places(rawValue: 1 << 3)
    static let terminal = Places(rawValue: 1 << 4)
    static let child = Places(rawValue: 1 << 5)

    /// The places a file belongs to.
    init(of path: String) {
        self = []
        if path.hasPrefix("Sources/TidemarkStore/") { insert(.store) }
        if path.hasSuffix("/Dependencies+Live.swift") { insert(.live) }
        if path.hasPrefix("Tools/") { insert(.tools) }
        if path.hasPrefix("Tests/") { insert(.tests) }
        if path == "Tools/tidemark/Terminal.swift" { insert(.terminal) }
        if path == "Tools/tidemark/ChildProcess.swift" { insert(.child) }
    }

    init(rawValue: Int) { self.rawValue = rawValue }
}

/// Every ban, in the order of the messages for one line.
let bans: [Ban] = [
    Ban(
        name: "Date()", tokens: ["Date", "(", ")"], instead: "ask Dependencies.now()",
        places: [.live, .tools]),
    Ban(
        name: "Date.now", tokens: ["Date", ".", "now"], instead: "ask Dependencies.now()",
        places: [.live, .tools]),
    Ban(
        name: "UUID()", tokens: ["UUID", "(", ")"], instead: "ask Dependencies.makeID()",
        places: [.live, .tools, .tests]),
    Ban(
        name: ".random(in:)", tokens: [".", "random", "(", "in"],
        instead: "ask Dependencies.random()", places: [.live, .tools], mayUseGenerator: true),
    Ban(
        name: "Bool.random()", tokens: ["Bool", ".", "random", "(", ")"],
        instead: "ask Dependencies.random()", places: [.live, .tools]),
    Ban(
        name: ".randomElement()", tokens: [".", "randomElement", "("],
        instead: "ask Dependencies.random()", places: [.live, .tools], mayUseGenerator: true),
    Ban(
        name: ".shuffled()", tokens: [".", "shuffled", "("],
        instead: "ask Dependencies.random()", places: [.live, .tools], mayUseGenerator: true),
    Ban(
        name: "SystemRandomNumberGenerator", tokens: ["SystemRandomNumberGenerator"],
        instead: "ask Dependencies.random()", places: [.live, .tools]),
    Ban(
        name: "Task.sleep", tokens: ["Task", ".", "sleep"],
        instead: "wait through Dependencies, or for the thing itself", places: [.live, .tools]),
    Ban(
        name: ".timeLimit", tokens: [".", "timeLimit"],
        instead: "count what is done; Tools/test ends a run that says nothing more", places: []),
    Ban(
        name: "ProcessInfo", tokens: ["ProcessInfo"], instead: "take the value as a parameter",
        places: [.live, .tools, .tests]),
    Ban(
        name: "try!", tokens: ["try", "!"], instead: "use try and let the error out",
        places: [], isGlued: true),
    Ban(
        name: "as!", tokens: ["as", "!"], instead: "use as? and handle the other case",
        places: [], isGlued: true),
    Ban(
        name: "unsafe", tokens: ["unsafe"], instead: "keep it in Sources/TidemarkStore",
        places: [.store, .tests, .terminal, .child]),
    Ban(
        name: "print()", tokens: ["print", "("], instead: "return the text or throw",
        places: [.tools, .tests], unlessAfter: [".", "func"]),
    Ban(
        name: "XCTest", tokens: ["import", "XCTest"], instead: "use Swift Testing", places: []),
]

extension Ban {
    /// Whether the ban's words stand at `start`.
    func matches(_ code: [SwiftToken], at start: Int, places here: Places) -> Bool {
        guard start + tokens.count <= code.count else { return false }
        for (offset, text) in tokens.enumerated() {
            let token = code[start + offset]
            guard token.text == text else { return false }
            if isGlued, offset > 0, !token.isGlued { return false }
        }
        if start > 0, unlessAfter.contains(code[start - 1].text) { return false }
        if mayUseGenerator, here.contains(.tests) {
            return !passesGenerator(code, after: start)
        }
        return true
    }

    /// Whether the call that begins behind `start` has an argument `using:`.
    private func passesGenerator(_ code: [SwiftToken], after start: Int) -> Bool {
        var depth = 0
        for token in code[start...] {
            switch token.text {
            case "(": depth += 1
            case ")" where depth == 1: return false
            case ")": depth -= 1
            case "using" where depth == 1: return true
            default: break
            }
        }
        return false
    }
}
