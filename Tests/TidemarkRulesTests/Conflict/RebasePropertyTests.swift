// RebasePropertyTests.swift — what holds for every decision, on seeded random ones.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `rebase properties` {
    private let serverFields: Set<String> = ["id", "last_modified"]

    @Test(.enabled(if: TestRun.isWhole), arguments: [0x5EED_0301, 0x5EED_0302] as [UInt64])
    func `every policy has one verdict for each change, and what loses is reported`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var seen: Set<Verdict> = []
        var results: Set<Conflict.Result> = []
        for round in 0..<10_000 {
            let place: Comment = "seed \(seed), round \(round)"
            let (pending, old, new) = (random.pending(), random.base(), random.base())
            let policy = random.pick(ConflictPolicy.examples)
            let answer = policy == .custom("rule") ? random.answer() : nil

            let rebase = Rebase(pending, from: old, to: new, policy, answer: answer)

            #expect(rebase.verdicts.count == pending.count, place)
            #expect(rebase.rewritten.count == pending.count, place)
            #expect(rebase == Rebase(pending, from: old, to: new, policy, answer: answer), place)
            let places = rebase.conflicts.map(\.position)
            #expect(places == places.sorted() && Set(places).count == places.count, place)
            results.formUnion(rebase.conflicts.map(\.result))
            for (change, verdict) in zip(pending, rebase.verdicts) {
                seen.insert(verdict)
                let isLost = rebase.conflicts.contains {
                    $0.position == change.position && !$0.localWins
                }
                if verdict == .superseded { #expect(isLost, place) }
                // Only field by field a change may lose something and go on.
                if case .mergeFields = policy { continue }
                #expect((verdict == .superseded) == isLost, place)
            }
            let keepsLocal = policy == .localWins || policy == .mergeFields(.localWins)
            if keepsLocal { #expect(!rebase.verdicts.contains(.superseded), place) }
            // What stays can be shown and sent.
            _ = try Current(rebase.kept, on: new)
            _ = try PushWrite(
                rebase.kept, on: new, revision: Revision("1"), id: "7",
                collection: CollectionModel("t", lastChangeField: "last_modified"))
        }
        #expect(seen == [.stays, .arrived, .present, .coalesced, .superseded])
        #expect(results == [.serverWins, .localWins, .merged])
    }

    @Test(arguments: [0x5EED_0306, 0x5EED_0307] as [UInt64])
    func `the same word of the server once more changes nothing`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<10_000 {
            let (pending, old, new) = (random.pending(), random.base(), random.base())
            let policy = random.pick(ConflictPolicy.examples)
            let answer = policy == .custom("rule") ? random.answer() : nil
            let kept = Rebase(pending, from: old, to: new, policy, answer: answer).kept
            let known = new.isLive ? new : .deleted(last: old.lastDocument)

            let again = Rebase(kept, from: known, to: new, policy, answer: answer)

            // Of what was deleted there and made anew here there is a second word each time.
            guard new.isLive else { continue }
            #expect(again.conflicts == [], "seed \(seed), round \(round), \(policy)")
            #expect(again.kept == kept, "seed \(seed), round \(round), \(policy)")
        }
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
            let all = random.pending()
            // What is deleted is made anew at once.
            let pending = all.indices.filter { index in
                !all[index].isDeletion || all.dropFirst(index + 1).first?.isCreation == true
            }.map { all[$0] }
            let new = random.document()
            let policy = random.pick(ConflictPolicy.examples.filter { $0 != .custom("rule") })
            let meant = pending.reduce(Patch()) { meant, change in
                change.patch(except: serverFields).map { meant.followed(by: $0) } ?? Patch()
            }

            // What is changed of nothing is not seen, and not kept whole.
            let isWhole = !ConflictPolicy.changewise.contains(policy)
            let old = isWhole ? .live(random.document()) : random.base()

            let rebase = Rebase(pending, from: old, to: .live(new), policy)

            guard case .document(let bytes) = try Current(rebase.kept, on: .live(new)) else {
                Issue.record("seed \(seed), round \(round): the entity is gone")
                return
            }
            let result = try JSONDocument(parsing: bytes)
            let lost = Set(rebase.conflicts.filter { !$0.localWins }.map(\.position))
            let reported =
                pending.filter { lost.contains($0.position) }
                .flatMap { $0.patch(except: serverFields)?.fieldNames ?? [] }
                .map(ExactString.init) + rebase.writings.flatMap(\.fields).map(ExactString.init)
            for field in meant.fieldNames where !reported.contains(ExactString(field)) {
                let value = try meant.value(of: field).map { try JSONValue(parsing: $0) }
                #expect(result.value(field) == value, "seed \(seed), round \(round), \(field)")
            }
        }
    }
}
