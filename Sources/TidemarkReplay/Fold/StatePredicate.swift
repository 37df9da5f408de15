// StatePredicate.swift — a question about the views at a position: what `--predicate` takes.
//
//   predicate   any of: all of: [not] test, joined with `or`, `and`; in parentheses where needed
//   test        tasks/1 exists                 tasks/1 missing
//               tasks/1.due exists             tasks/1.due missing
//               tasks/1.done == true           a field, and a JSON value; also list.name for a path
//               tasks/1.status is error        the sync status: synced, created, …
//               count(tasks) > 3               how many entities are visible
//               pending > 0    refused > 0     how many mutations wait for the server, or the user
//               outcome(@12) == superseded     the outcome of a mutation; pending without one
//   compared    ==  !=  <  <=  >  >=  is

import TidemarkEvents
package import TidemarkViews

/// A condition on the views at a position.
package struct StatePredicate: Sendable, Hashable, CustomStringConvertible {
    /// How two values are compared.
    enum Comparison: String, Sendable, CaseIterable {
        case equal = "=="
        case unequal = "!="
        case atMost = "<="
        case atLeast = ">="
        case less = "<"
        case more = ">"
        case isWord = "is"

        /// Whether the comparison is one of order.
        var isOfOrder: Bool { self != .equal && self != .unequal && self != .isWord }
    }

    /// One question.
    enum Test: Sendable, Hashable {
        case exists(EntityKey, path: [String])
        case field(EntityKey, path: [String], Comparison, JSONValue)
        case status(EntityKey, isEqual: Bool, EntityStatus)
        case count(CollectionName, Comparison, Int64)
        case pending(Comparison, Int64)
        case refused(Comparison, Int64)
        case outcome(Position, isEqual: Bool, MutationOutcome?)
    }

    indirect enum Node: Sendable, Hashable {
        case test(Test)
        case not(Node)
        case all([Node])
        case any([Node])
    }

    /// The predicate as it was written.
    package let description: String
    let root: Node

    /// Reads a predicate.
    ///
    /// - Throws: ``StatePredicateError`` with the place of the mistake.
    package init(_ text: String) throws(StatePredicateError) {
        description = text
        var parser = PredicateParser(text)
        root = try parser.parse()
    }

    package static func == (left: Self, right: Self) -> Bool { left.root == right.root }
    package func hash(into hasher: inout Hasher) { hasher.combine(root) }

    /// Whether it holds in the views.
    package func holds(in views: ViewReader) throws -> Bool { try Self.holds(root, views) }

    private static func holds(_ node: Node, _ views: ViewReader) throws -> Bool {
        switch node {
        case .test(let test): try holds(test, views)
        case .not(let node): try !holds(node, views)
        case .all(let nodes): try nodes.allSatisfy { try holds($0, views) }
        case .any(let nodes): try nodes.contains { try holds($0, views) }
        }
    }

    private static func holds(_ test: Test, _ views: ViewReader) throws -> Bool {
        switch test {
        case .exists(let key, let path): return try value(key, path, views) != nil
        case .field(let key, let path, let comparison, let wanted):
            let found = try value(key, path, views)
            guard comparison.isOfOrder else { return (found == wanted) != (comparison == .unequal) }
            guard let found else { return false }
            return comparison.orders(found, wanted)
        case .status(let key, let isEqual, let status):
            let row = try views.entity(key).flatMap {
                $0.content == nil && $0.pending.isEmpty ? nil : $0
            }
            return (row?.status == status) == isEqual
        case .count(let collection, let comparison, let number):
            var count: Int64 = 0
            try views.forEachEntity(in: collection) { _, row in
                if row.document != nil { count += 1 }
                return true
            }
            return comparison.holds(count, number)
        case .pending(let comparison, let number):
            return comparison.holds(Int64(try OutboxCounts(views).pending), number)
        case .refused(let comparison, let number):
            return comparison.holds(Int64(try OutboxCounts(views).refused), number)
        case .outcome(let position, let isEqual, let outcome):
            guard let mutation = try views.mutation(position) else { return !isEqual }
            return (mutation.outcome == outcome) == isEqual
        }
    }

    /// An entity's visible document, or the value at the end of a path in it.
    private static func value(
        _ key: EntityKey, _ path: [String], _ views: ViewReader
    ) throws -> JSONValue? {
        // A document that today's model can't read counts as missing.
        guard let bytes = try? views.document(key) else { return nil }
        guard let first = path.first else { return .null }
        let value = try? JSONDocument(parsing: bytes).value(first)
        return path.dropFirst().reduce(value) { $0?[$1] }
    }
}

extension StatePredicate.Comparison {
    func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal, .isWord: left == right
        case .unequal: left != right
        case .atMost: left <= right
        case .atLeast: left >= right
        case .less: left < right
        case .more: left > right
        }
    }

    /// Compares values of one kind by order; values of different kinds have none.
    fileprivate func orders(_ left: JSONValue, _ right: JSONValue) -> Bool {
        let (left, right) = (Self.order(left), Self.order(right))
        guard left.first == right.first else { return false }
        if left == right { return self == .atMost || self == .atLeast }
        let isLess = left.lexicographicallyPrecedes(right)
        return isLess == (self == .less || self == .atMost)
    }

    private static func order(_ value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        OrderKey.append(value, kind: .value, dates: .iso8601, to: &bytes)
        return bytes
    }
}

extension StatePredicate {
    /// The entities, positions and collections that the predicate names.
    struct Subjects {
        var keys: [EntityKey] = []
        var positions: [Position] = []
        var collections: [CollectionName] = []
    }

    var subjects: Subjects {
        var found = Subjects()
        func visit(_ node: Node) {
            switch node {
            case .not(let node): visit(node)
            case .all(let nodes), .any(let nodes): nodes.forEach(visit)
            case .test(.exists(let key, _)), .test(.field(let key, _, _, _)),
                .test(.status(let key, _, _)):
                found.keys.append(key)
            case .test(.count(let collection, _, _)): found.collections.append(collection)
            case .test(.outcome(let position, _, _)): found.positions.append(position)
            case .test(.pending), .test(.refused): break
            }
        }
        visit(root)
        return found
    }
}
