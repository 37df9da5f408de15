// RedactionWorlds.swift — random days of two clients of one server, as scenarios.

import TestSupport
import TidemarkCapsule
import TidemarkEvents

@testable import CapsuleSupport

/// Steps in which anything may happen, made of a seed.
struct RedactionWorld {
    private var generator: SplitMix64
    private var names: [String] = []
    private var made = 0

    static let conflicts = [
        #""serverWins""#, #""localWins""#, #"{"mergeFields":"localWins"}"#,
        #"{"preferNewer":{"field":"changed","marginSeconds":2}}"#,
    ]

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    /// A scenario file with so many steps.
    mutating func scenario(_ count: Int) -> [UInt8] {
        let conflict = generator.pick(Self.conflicts)
        let steps = (0..<count).map { _ in step() }.joined(separator: ",\n")
        return Array(
            """
            {"id":"world","title":"a world","clock":"2026-11-21T12:00:00Z",
            "model":{"collections":[{"name":"lists"},{"name":"tasks","conflict":\(conflict),
            "references":{"list":"lists"},"nullable":["note"],"indexes":[["rank"],["title"]]}]},
            "server":{"kind":"kinto","rows":{"lists":[{"id":"home","title":"Home"}]}},
            "steps":[{"sync":"all"},\n\(steps),\n{"sync":"all"}]}
            """.utf8)
    }

    private mutating func step() -> String {
        switch generator.below(12) {
        case 0, 1:
            made += 1
            let name = "\(generator.pick(["t", "task-", "1", "Ä "]))\(made * 7919)"
            names.append(name)
            return #"{"create":"tasks/\#(name)","document":\#(document())}"#
        case 2...4 where !names.isEmpty:
            return #"{"edit":"tasks/\#(generator.pick(names))","set":\#(document())}"#
        case 5...6 where !names.isEmpty:
            return
                #"{"server":{"put":"tasks/\#(generator.pick(names))","document":\#(document())}}"#
        case 7 where names.count > 3:
            let name = names.remove(at: generator.below(names.count))
            return generator.once(in: 2)
                ? #"{"delete":"tasks/\#(name)"}"# : #"{"server":{"delete":"tasks/\#(name)"}}"#
        case 8:
            let status = generator.pick([400, 403, 412, 503])
            return #"{"fault":{"request":"PUT *","status":\#(status),"times":1}}"#
        case 9: return #"{"fault":{"request":"PUT *","drop":"after","times":1}}"#
        case 10: return #"{"advance":"\#(1 + generator.below(100))m"}"#
        default: return #"{"sync":"all","trigger":"userRequested"}"#
        }
    }

    private mutating func document() -> String {
        let title = generator.pick(["tea", "Tea", "", "buy milk, 2 l", "家", #"a\"b\\c\u00e9"#])
        let rank = generator.pick(["1", "-3", "0", "2.50", "17", "1e3", "8000000001"])
        let note = generator.pick(["null", #""n""#, #"{"deep":[1,{"er":"tea"}]}"#, "true"])
        let changed = 10 + generator.below(50)
        return """
            {"title":"\(title)","rank":\(rank),"note":\(note),"list":"home",\
            "changed":"2026-11-21T12:00:\(changed)Z"}
            """
    }
}
