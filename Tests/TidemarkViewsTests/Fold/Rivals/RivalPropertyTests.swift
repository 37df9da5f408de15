// RivalPropertyTests.swift — whatever the order in which a list comes, the same timers run.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `rivals in any order` {
    static let seeds = (0..<6).map { 0x5EED_0700 + UInt64($0) << 16 }

    /// What is left of an entity when positions are put aside.
    private struct Seen: Hashable {
        var document: String?
        var derived: [[UInt8]]
        var winner: EntityKey?
        var stop: String
    }

    private func time(_ random: inout SplitMix64) -> String {
        let hour = 8 + random.below(4)
        return "\(hour < 10 ? "0" : "")\(hour):\(random.below(5))0"
    }

    private func says(_ id: Int, _ random: inout SplitMix64) -> Event {
        let (start, at) = (time(&random), time(&random))
        return random.once(in: 6)
            ? .about(.serverDeleted, "entries/\(id)")
            : Timers.says(
                "\(id)", start, at: at, random.once(in: 2) ? random.below(9) * 600 : nil)
    }

    private func seen(_ fold: MemoryFold) throws -> [String: Seen] {
        var result: [String: Seen] = [:]
        for id in 1...8 {
            let key = EntityKey("entries", "\(id)")
            let row = try fold.entity(key)
            let loss = try fold.rows[.rival(key)].map { try RivalRow(parsing: $0) }?.loss
            result["\(id)"] = Seen(
                document: text(row?.document),
                derived: row?.pending.filter(\.isDerived).map(\.payload) ?? [],
                winner: loss?.winner, stop: loss.map { "\($0.stop) \($0.at) \($0.winnerAt)" } ?? "")
        }
        return result
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: seeds) func `pages bring the same about`(
        _ seed: UInt64
    ) throws {
        for seed in seed..<seed + 100 {
            var random = SplitMix64(seed: seed)
            let stop = random.pick(RivalRule.Stop.allCases)
            var before: [Event] = [.timers(stop: stop)]
            // A list of some time ago, and edits made since.
            for id in 1...random.below(6) + 1 { before.append(says(id, &random)) }
            before.append(Timers.page())
            before = try before.map { try $0.at("12:00") }
            let words = (1...8).filter { _ in random.once(in: 2) }.map { says($0, &random) }
            for number in 0..<random.below(4) {
                let id = 1 + random.below(8)
                let fields = random.pick([
                    #""title":1"#, #""duration":null"#, #""duration":60"#,
                    #""start":"2018-06-13T09:30:00Z""#,
                ])
                let edit =
                    id > 6
                    ? Event.about(
                        .localCreated, "entries/\(id)", Timers.entry("\(id)", time(&random)))
                    : .about(.localUpdated, "entries/\(id)", #"{"set":{\#(fields)}}"#)
                var made = try edit.at("12:\(number + 1)0")
                made.serverTime = made.recordedAt
                before.append(made)
            }
            before.append(try Timers.run(at: "13:00"))

            var results: [[String: Seen]] = []
            for _ in 0..<3 {
                let fold = MemoryFold()
                try fold.apply(before)
                let run = fold.last.rawValue
                var left = words
                while !left.isEmpty {
                    var page: [Event] = []
                    for _ in 0...random.below(3) where !left.isEmpty {
                        page.append(left.remove(at: random.below(left.count)))
                    }
                    page.append(Timers.page())
                    try fold.apply(page.map { $0.of(run: run) })
                }
                try fold.apply([Timers.page().of(run: run)])
                results.append(try seen(fold))
            }
            #expect(results[1] == results[0], "seed \(seed)")
            #expect(results[2] == results[0], "seed \(seed)")
        }
    }

    @Test(arguments: seeds) func `one of a group runs at most`(_ seed: UInt64) throws {
        for seed in seed..<seed + 100 {
            var random = SplitMix64(seed: seed)
            let fold = MemoryFold()
            try fold.apply([.timers(), Timers.run(at: "12:00")])
            for _ in 0..<12 {
                let word =
                    random.once(in: 4)
                    ? try Event.about(
                        .localUpdated, "entries/\(1 + random.below(8))",
                        #"{"set":{"duration":null}}"#
                    ).at("12:30") : says(1 + random.below(8), &random).of(run: 2)
                try fold.apply([word, Timers.page().of(run: 2)])
                let running = try (1...8).filter { id in
                    let row = try fold.entity(EntityKey("entries", "\(id)"))
                    return text(row?.document)?.contains(#""duration":null"#) ?? false
                }
                let hasAny = fold.rows.keys.contains { $0.view == .rivals }
                #expect(running.count <= 1 && (hasAny || running.isEmpty), "seed \(seed)")
            }
        }
    }
}
