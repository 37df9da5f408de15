// LanesTests.swift — which changes of a tree wait for an earlier one.

import Testing
import TidemarkEvents

@testable import TidemarkRules

@Suite struct `changes of a tree in lanes` {
    private func change(
        _ entity: String, moves: Bool = true, _ places: [(String, above: [String])],
        copyOf source: (String, above: [String])? = nil
    ) -> LaneTags {
        var tags = LaneTags(
            entity, moves: moves, places: places.map { TreePlace($0.0, above: $0.above) })
        tags.source = source.map { LaneTags.Source($0.0, above: $0.above) }
        return tags
    }

    private func waits(_ later: LaneTags, after earlier: LaneTags) -> Bool {
        var lanes = Lanes()
        lanes.add(earlier)
        let holders = lanes.holders(of: later)
        #expect(holders == (lanes.hold(later) ? [earlier.entity] : []))
        return lanes.hold(later)
    }

    /// A copy of `F/a` at the root.
    private var copy: LaneTags {
        change("copy", [("b", [])], copyOf: ("a", ["F"]))
    }

    @Test func `two in one folder don't wait for each other`() {
        let one = change("a", [("a", ["F"])])
        #expect(!waits(change("b", [("b", ["F"])]), after: one))
        #expect(waits(change("b", [("a", ["F"])]), after: one))
    }

    @Test func `what is in a folder waits for its move, and that for what is in it`() {
        let move = change("F", [("F", []), ("G", [])])
        let edit = change("a", moves: false, [("a", ["F"])])
        #expect(waits(edit, after: move))
        #expect(waits(move, after: edit))
    }

    @Test func `a copy waits for what changes in what it is a copy of`() {
        #expect(waits(copy, after: change("a", moves: false, [("a", ["F"])])))
        #expect(waits(copy, after: change("F", [("F", []), ("G", [])])))
        let folder = change("copy", [("b", [])], copyOf: ("F", []))
        #expect(waits(folder, after: change("deep", moves: false, [("x", ["D", "F"])])))
        #expect(!waits(copy, after: change("other", [("z", ["F"])])))
    }

    @Test func `what is copied waits for the copy, with all in it`() {
        #expect(waits(change("a", moves: false, [("a", ["F"])]), after: copy))
        #expect(waits(change("F", [("F", []), ("G", [])]), after: copy))
        let folder = change("copy", [("b", [])], copyOf: ("F", []))
        #expect(waits(change("deep", moves: false, [("x", ["D", "F"])]), after: folder))
        #expect(!waits(change("other", [("z", ["F"])]), after: copy))
    }

    @Test func `two copies of one don't wait for each other`() {
        let another = change("other", [("c", [])], copyOf: ("a", ["F"]))
        let whole = change("whole", [("G", [])], copyOf: ("F", []))
        #expect(!waits(another, after: copy))
        #expect(!waits(whole, after: copy) && !waits(copy, after: whole))
    }

    @Test func `nothing waits for itself`() {
        let again = change("copy", moves: false, [("b", [])])
        #expect(!waits(again, after: copy))
    }
}
