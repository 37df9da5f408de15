// ListElementPropertyTests.swift — what holds for all merges of keyed lists, on seeded random ones:
// the same as for a dictionary by key, and in the server's order.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

private let list = KeyedList("values", by: "k")

/// A list as a dictionary, and the order of its keys.
private struct Values: Equatable {
    var keys: [String] = []
    var byKey: [String: Int] = [:]

    init(_ byKey: [String: Int], _ keys: [String]) { (self.byKey, self.keys) = (byKey, keys) }

    init(_ document: JSONDocument) throws {
        for element in document.value("values")?.array ?? [] {
            let key = try #require(element["k"]?.stringValue)
            keys.append(key)
            byKey[key] = try #require(element["v"]?.int64Value.map { Int($0) })
        }
    }

    var base: Base {
        let elements = keys.map { Self.element($0, byKey[$0] ?? 0) }
        return .live(#"{"id":"e","values":[\#(elements.joined(separator: ","))]}"#)
    }

    static func element(_ key: String, _ value: Int) -> String {
        #"{"k":\#(JSONValue.string(key)),"v":\#(value)}"#
    }
}

extension SplitMix64 {
    private static let keys = ["a", "b", "c", "d/e", "~", ""]

    fileprivate mutating func values() -> Values {
        var left = Self.keys
        var byKey: [String: Int] = [:]
        var order: [String] = []
        for _ in 0..<below(6) {
            let key = left.remove(at: below(left.count))
            order.append(key)
            byKey[key] = below(3)
        }
        return Values(byKey, order)
    }

    /// Edits of elements: a key, and its new value or nil.
    fileprivate mutating func edits() -> [[String: Int?]] {
        (0..<below(4)).map { _ in
            var edit: [String: Int?] = [:]
            for key in Self.keys where once(in: 3) {
                edit.updateValue(once(in: 4) ? nil : below(3), forKey: key)
            }
            return edit
        }
    }
}

private func change(_ position: Int, _ edit: [String: Int?]) -> PendingChange {
    var patch = Patch()
    for (key, value) in edit.sorted(by: { $0.key < $1.key }) {
        if let value {
            let bytes = Array(Values.element(key, value).utf8)
            patch.set.append(Patch.Field(list.name(of: key), bytes))
        } else {
            patch.unset.append(list.name(of: key))
        }
    }
    return PendingChange(Position(UInt64(position)), .update(patch), lists: [list])
}

@Suite struct `keyed list properties` {
    @Test(arguments: [0x5EED_0811, 0x5EED_0812, 0x5EED_0813] as [UInt64])
    func `a merge is that of the elements by their keys, in the server's order`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var conflicts = 0
        for round in 0..<3_000 {
            let place: Comment = "seed \(seed), round \(round)"
            let (old, new) = (random.values(), random.values())
            let edits = random.edits()
            let pending = edits.enumerated().map { change($0.offset + 1, $0.element) }
            for side in [ConflictSide.serverWins, .localWins] {
                let rebase = Rebase(
                    pending, from: old.base, to: new.base, .mergeFields(side))
                guard case .document(let bytes) = try Current(rebase.kept, on: new.base) else {
                    Issue.record("\(place): the entity is gone")
                    continue
                }
                let result = try Values(try JSONDocument(parsing: bytes))

                // What each edit does, element by element, to the server's list.
                var (expected, reference) = (new.byKey, old.byKey)
                var touched: Set<String> = []
                for edit in edits {
                    let theirs = edit.filter { key, value in
                        new.byKey[key] != value && new.byKey[key] != reference[key]
                    }
                    conflicts += theirs.count
                    let kept = edit.filter { side == .localWins || theirs[$0.key] == nil }
                    if kept.isEmpty { continue }
                    for (key, value) in kept { expected[key] = value }
                    // What is there already was made on top of it.
                    let isThere = kept.allSatisfy { new.byKey[$0.key] == $0.value }
                    if isThere, touched.isDisjoint(with: kept.keys) {
                        for (key, value) in kept { reference[key] = value }
                    } else {
                        touched.formUnion(kept.keys)
                    }
                }
                #expect(result.byKey == expected, place)
                // What an edit removed, and a later one made anew, is new.
                let stay = new.keys.filter { key in
                    result.byKey[key] != nil && !edits.contains { $0[key] == .some(nil) }
                }
                #expect(result.keys.filter(stay.contains) == stay, place)
                let names = Set(edits.flatMap(\.keys).map(list.name))
                #expect(
                    rebase.conflicts.flatMap(\.fields).allSatisfy(names.contains), place)
            }
        }
        #expect(conflicts > 1_000)
    }

    @Test(arguments: [0x5EED_0814] as [UInt64])
    func `two words of the server make the same as the last one alone where nothing conflicts`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var checked = 0
        for round in 0..<3_000 {
            let (old, middle, new) = (random.values(), random.values(), random.values())
            let pending = random.edits().enumerated().map { change($0.offset + 1, $0.element) }
            let policy = ConflictPolicy.mergeFields(.localWins)

            let first = Rebase(pending, from: old.base, to: middle.base, policy)
            let second = Rebase(first.kept, from: middle.base, to: new.base, policy)
            let direct = Rebase(pending, from: old.base, to: new.base, policy)
            guard [first, second, direct].allSatisfy({ $0.verdicts.allSatisfy { $0 == .stays } })
            else { continue }
            checked += 1

            #expect(
                try Current(second.kept, on: new.base) == Current(direct.kept, on: new.base),
                "seed \(seed), round \(round)")
        }
        #expect(checked > 300)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: [0x5EED_0815, 0x5EED_0816] as [UInt64])
    func `the same word of the server once more changes nothing, whatever the lists are`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<3_000 {
            var bases = [random.values().base, random.values().base]
            if random.once(in: 4) { bases[random.below(2)] = .live(#"{"id":"e"}"#) }
            if random.once(in: 4) {
                bases[random.below(2)] = .live(#"{"id":"e","values":[{"k":"a"},{"k":"a"}]}"#)
            }
            var pending = random.edits().enumerated().map { change($0.offset + 1, $0.element) }
            if random.once(in: 4) {
                let whole = Patch(set: [Patch.Field("values", Array("[]".utf8))])
                pending.append(PendingChange(Position(9), .update(whole), lists: [list]))
            }
            let policy = random.pick(ConflictPolicy.examples)

            let kept = Rebase(pending, from: bases[0], to: bases[1], policy).kept
            let again = Rebase(kept, from: bases[1], to: bases[1], policy)

            #expect(again.conflicts == [], "seed \(seed), round \(round), \(policy)")
            // An edit of what a list that is one field does not have may be settled by then.
            #expect(
                try Current(again.kept, on: bases[1]) == Current(kept, on: bases[1]),
                "seed \(seed), round \(round), \(policy)")
        }
    }
}
