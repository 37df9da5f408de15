// RangeTree.swift — values by ranges of bytes: finds those whose range contains something.
//
// A search tree by the beginnings of the ranges, in which each node knows how far the ranges below
// it reach, so that a search passes by all that end before. It is kept in balance by priorities
// that only depend on the numbers (a treap), so its shape only depends on what it holds. Nodes
// never change: a change makes those on its way anew, and a copy costs nothing.

import TidemarkStore

/// Numbered values, each with a range.
///
/// A change costs the logarithm of the count, a search that for each value found.
struct RangeTree<Value: Sendable>: Sendable {
    private final class Node: Sendable {
        let number: Int
        let range: KeyRange
        let value: Value
        let priority: UInt64
        let left: Node?
        let right: Node?
        /// The greatest upper bound of this node and those below it.
        let reach: [UInt8]

        init(_ number: Int, _ range: KeyRange, _ value: Value, _ priority: UInt64) {
            self.number = number
            self.range = range
            self.value = value
            self.priority = priority
            left = nil
            right = nil
            reach = range.upper
        }

        private init(_ old: Node, _ left: Node?, _ right: Node?) {
            number = old.number
            range = old.range
            value = old.value
            priority = old.priority
            self.left = left
            self.right = right
            var reach = old.range.upper
            for below in [left, right] {
                if let below, ByteOrder.precedes(reach, below.reach) { reach = below.reach }
            }
            self.reach = reach
        }

        /// The node with others below it.
        func over(_ left: Node?, _ right: Node?) -> Node { Node(self, left, right) }

        /// Whether it stands before a place.
        func precedes(_ lower: [UInt8], _ number: Int) -> Bool {
            if ByteOrder.precedes(range.lower, lower) { return true }
            return self.number < number && ByteOrder.areEqual(range.lower, lower)
        }
    }

    private var root: Node?

    var isEmpty: Bool { root == nil }

    /// How many nodes a search looks at, at most.
    var height: Int {
        func height(_ node: Node?) -> Int {
            node.map { 1 + max(height($0.left), height($0.right)) } ?? 0
        }
        return height(root)
    }

    /// Adds a value under a number that no other one has.
    mutating func insert(_ value: Value, _ number: Int, _ range: KeyRange) {
        root = Self.inserting(Node(number, range, value, Self.priority(number)), into: root)
    }

    /// Removes what has a number and a range.
    mutating func remove(_ number: Int, _ range: KeyRange) {
        root = Self.removing(number, range, from: root)
    }

    /// Visits the values whose ranges contain some bytes, by the beginnings of the ranges.
    func forEach(containing bytes: [UInt8], _ body: (Value) -> Void) {
        func visit(_ node: Node?) {
            guard let node, ByteOrder.precedes(bytes, node.reach) else { return }
            visit(node.left)
            // What follows begins even later.
            if ByteOrder.precedes(bytes, node.range.lower) { return }
            if ByteOrder.precedes(bytes, node.range.upper) { body(node.value) }
            visit(node.right)
        }
        visit(root)
    }

    /// Visits all values.
    func forEach(_ body: (Value) -> Void) {
        func visit(_ node: Node?) {
            guard let node else { return }
            visit(node.left)
            body(node.value)
            visit(node.right)
        }
        visit(root)
    }

    // MARK: Balance

    /// A number that is as good as random, and the same each time (SplitMix64).
    private static func priority(_ number: Int) -> UInt64 {
        var bits = (UInt64(bitPattern: Int64(number)) &+ 1) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    private static func inserting(_ new: Node, into node: Node?) -> Node {
        guard let node else { return new }
        if new.priority > node.priority {
            let (before, after) = split(node, new.range.lower, new.number)
            return new.over(before, after)
        }
        return node.precedes(new.range.lower, new.number)
            ? node.over(node.left, inserting(new, into: node.right))
            : node.over(inserting(new, into: node.left), node.right)
    }

    private static func removing(_ number: Int, _ range: KeyRange, from node: Node?) -> Node? {
        guard let node else { return nil }
        if node.number == number { return merged(node.left, node.right) }
        return node.precedes(range.lower, number)
            ? node.over(node.left, removing(number, range, from: node.right))
            : node.over(removing(number, range, from: node.left), node.right)
    }

    /// What stands before a place, and what does not.
    private static func split(
        _ node: Node?, _ lower: [UInt8], _ number: Int
    ) -> (before: Node?, after: Node?) {
        guard let node else { return (nil, nil) }
        if node.precedes(lower, number) {
            let (before, after) = split(node.right, lower, number)
            return (node.over(node.left, before), after)
        }
        let (before, after) = split(node.left, lower, number)
        return (before, node.over(after, node.right))
    }

    /// Two trees as one; all of `left` stands before all of `right`.
    private static func merged(_ left: Node?, _ right: Node?) -> Node? {
        guard let left else { return right }
        guard let right else { return left }
        return left.priority > right.priority
            ? left.over(left.left, merged(left.right, right))
            : right.over(merged(left, right.left), right.right)
    }
}
