// ObserveConditionTests.swift — among many observers of queries, exactly those are woken whose
// condition held before or after a change.

import TestSupport
import Testing
import Tidemark
import TidemarkViews

@testable import SyncSupport

@Suite struct `of many observers of queries` {
    /// A query with the same condition in Swift.
    private struct Case {
        var query: EntityQuery<Errand>
        var holds: (Errand) -> Bool
    }

    private static let titles = ["", "a", "ab", "b", "ba", "c"]
    private static let lists: [String?] = [nil, "home", "work", "school"]

    private static func condition(
        _ random: inout SplitMix64
    ) -> (condition: EntityCondition<Errand>, holds: (Errand) -> Bool) {
        let (one, other) = (random.pick(titles), random.pick(titles))
        switch random.below(8) {
        case 0: return (\.title == one, { $0.title == one })
        case 1: return (\.title > one, { $0.title > one })
        case 2: return (\.title <= one, { $0.title <= one })
        case 3:
            let range = min(one, other)..<max(one, other)
            return (.in(\.title, range), { range.contains($0.title) })
        case 4: return (.hasPrefix(\.title, one), { $0.title.hasPrefix(one) || one.isEmpty })
        case 5:
            let values = (0..<random.below(4)).map { _ in random.pick(lists) }
            return (.in(\.list, values), { values.contains($0.list) })
        case 6:
            let list = random.pick(lists)
            return (\.list != list, { $0.list != list })
        default:
            let values = (0..<200).map { "x\($0)" } + [one, other]
            return (.in(\.title, values), { values.contains($0.title) })
        }
    }

    private static func make(_ random: inout SplitMix64) -> Case {
        let (first, second) = (condition(&random), condition(&random))
        return switch random.below(4) {
        case 0:
            Case(query: Errand.where(first.condition || second.condition)) {
                first.holds($0) || second.holds($0)
            }
        case 1:
            Case(query: Errand.where(first.condition && second.condition)) {
                first.holds($0) && second.holds($0)
            }
        default: Case(query: Errand.where(first.condition), holds: first.holds)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `those are woken to whom a change is news, while some come and go`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        try withReplica { replica in
            var observers: [(wakes: Wakes, wanted: Case)] = []
            var errands: [String: Errand] = [:]
            for _ in 0..<60 {
                for _ in 0..<5 {
                    let wanted = Self.make(&random)
                    observers.append((try Wakes(replica, wanted.query), wanted))
                }
                if observers.count > 40 { observers.remove(at: random.below(observers.count)) }
                let id = "e\(random.below(6))"
                let old = errands[id]
                let new =
                    old != nil && random.once(in: 4)
                    ? nil : Errand(id, random.pick(Self.titles), list: random.pick(Self.lists))
                if let new { try replica.put(new) } else { try replica.delete(id) }
                errands[id] = new

                for (wakes, wanted) in observers {
                    let isNews = old != new && [old, new].contains { $0.map(wanted.holds) == true }
                    #expect(
                        wakes.taken() == (isNews ? 1 : 0),
                        "seed \(seed): \(wanted.query), \(String(describing: (old, new)))")
                }
            }
            observers = []
            #expect(replica.journal.shared.feed.watchCount == 0)
        }
    }
}
