// RebasePropertyTests.swift — what holds for every decision, on seeded random ones.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `rebase properties` {
    private let serverFields: Set<String> = ["id", "last_modified"]

    @Test(arguments: [0x5EED_0301, 0x5EED_0302] as [UInt64])
    func `every input has one verdict for each change, and no local change loses by localWins`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var seen: Set<Verdict> = []
        for round in 0..<10_000 {
            let place: Comment = "seed \(seed), round \(round)"
            let (pending, old, new) = (random.pending(), random.base(), random.base())
            let policy = random.pick(ConflictPolicy.allCases)

            let rebase = Rebase(pending, from: old, to: new, policy)

            #expect(rebase.verdicts.count == pending.count, place)
            #expect(rebase == Rebase(pending, from: old, to: new, policy), place)
            let places = rebase.conflicts.map(\.position)
            #expect(places == places.sorted() && Set(places).count == places.count, place)
            for (change, verdict) in zip(pending, rebase.verdicts) {
                seen.insert(verdict)
                let isLost = rebase.conflicts.contains {
                    $0.position == change.position && !$0.localWins
                }
                #expect((verdict == .superseded) == isLost, place)
            }
            if policy == .localWins { #expect(!rebase.verdicts.contains(.superseded), place) }
            // What stays can be shown and sent.
            let kept = zip(pending, rebase.verdicts).filter { $0.1 == .stays }.map(\.0)
            _ = try Current(kept, on: new)
            _ = try PushWrite(
                kept, on: new, revision: Revision("1"), id: "7",
                collection: CollectionModel("t", lastChangeField: "last_modified"))
        }
        #expect(seen == [.stays, .arrived, .coalesced, .superseded])
    }

    @Test(arguments: [0x5EED_0303] as [UInt64])
    func `a change of fields that nobody else touched is never lost`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var checked = 0
        for round in 0..<10_000 {
            let (old, new, pending) = (random.document(), random.document(), random.pending())
            let touched = Patch(from: old, to: new, except: serverFields).fieldNames
                .map(ExactString.init)

            let rebase = Rebase(pending, from: .live(old), to: .live(new))

            for (change, verdict) in zip(pending, rebase.verdicts) {
                let isUntouched =
                    change.patch(except: serverFields).map { patch in
                        patch.fieldNames.allSatisfy { !touched.contains(ExactString($0)) }
                    } ?? touched.isEmpty
                guard isUntouched else { continue }
                checked += 1
                #expect(verdict != .superseded, "seed \(seed), round \(round)")
            }
        }
        #expect(checked > 1_000)
    }

    @Test(arguments: [0x5EED_0304, 0x5EED_0305] as [UInt64])
    func `no value that was meant is lost but with a change that is reported`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<7_500 {
            let pending = random.pending().filter { !$0.isDeletion }
            let new = random.document()
            let policy = random.pick(ConflictPolicy.allCases)
            let meant = pending.reduce(Patch()) { all, change in
                all.followed(by: change.patch(except: serverFields) ?? Patch())
            }

            let rebase = Rebase(pending, from: random.base(), to: .live(new), policy)

            let kept = zip(pending, rebase.verdicts).filter { $0.1 == .stays }.map(\.0)
            guard case .document(let bytes) = try Current(kept, on: .live(new)) else {
                Issue.record("seed \(seed), round \(round): the entity is gone")
                return
            }
            let result = try JSONDocument(parsing: bytes)
            let lost = Set(rebase.conflicts.filter { !$0.localWins }.map(\.position))
            let reported = pending.filter { lost.contains($0.position) }
                .flatMap { $0.patch(except: serverFields)?.fieldNames ?? [] }
                .map(ExactString.init)
            for field in meant.fieldNames where !reported.contains(ExactString(field)) {
                let value = try meant.value(of: field).map { try JSONValue(parsing: $0) }
                #expect(result.value(field) == value, "seed \(seed), round \(round), \(field)")
            }
        }
    }
}
