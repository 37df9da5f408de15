// RowDifferences.swift — where rows differ from others: those that are stored from those that a
// fold makes, those of one moment from those of another.

/// Goes through two lists that name the same things: each of the first with its counterpart in the
/// second, in the order of the first, then what only the second has.
package func paired<One, Other, Name: Hashable>(
    _ first: [One], by name: (One) -> Name, with second: [Other], by otherName: (Other) -> Name
) -> [(one: One?, other: Other?)] {
    let others = Dictionary(second.map { (otherName($0), $0) }) { first, _ in first }
    let names = first.map(name)
    let known = Set(names)
    return zip(first, names).map { ($0, others[$1]) }
        + second.filter { !known.contains(otherName($0)) }.map { (nil, $0) }
}

extension RowSource {
    /// Walks over the rows that differ from others: first those that are here, then those that only
    /// the others have, each by trees and keys; `body` says whether to go on.
    func forEachDifference(
        from other: RowSource,
        _ body: (_ key: RowKey, _ mine: [UInt8]?, _ others: [UInt8]?) throws -> Bool
    ) throws {
        var goesOn = true
        for tree in Tree.allCases where goesOn {
            try walk(tree, [], nil, false) { bytes, value in
                let key = RowKey(tree, bytes)
                let counterpart = try other.get(key)
                if counterpart != value { goesOn = try body(key, value, counterpart) }
                return goesOn
            }
        }
        for tree in Tree.allCases where goesOn {
            try other.walk(tree, [], nil, false) { bytes, value in
                let key = RowKey(tree, bytes)
                if try get(key) == nil { goesOn = try body(key, nil, value) }
                return goesOn
            }
        }
    }
}

extension ViewReader {
    /// Walks over the rows that differ from those of another reader: first those that are here,
    /// then those that only the other one has, each by trees and keys; `body` says whether to go
    /// on.
    package func forEachDifference(
        from other: ViewReader,
        _ body: (_ key: RowKey, _ mine: [UInt8]?, _ others: [UInt8]?) throws -> Bool
    ) throws { try rows.forEachDifference(from: other.rows, body) }
}
