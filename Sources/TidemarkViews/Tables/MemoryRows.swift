// MemoryRows.swift — view rows in memory: for folds of a few thousand events that leave nothing on
// disk.

package import TidemarkEvents

/// The rows of all views, in memory and in the order of their keys.
package struct MemoryRows: Sendable, Equatable {
    private var values: [RowKey: [UInt8]] = [:]
    private var keys: [RowKey] = []

    package init() {}

    package var count: Int { keys.count }

    package subscript(_ key: RowKey) -> [UInt8]? { values[key] }

    /// Takes changes over, in the order of their keys; nil removes a row.
    package mutating func write(_ changes: RowChanges) {
        var added: [RowKey] = []
        var removed: Set<RowKey> = []
        for (key, value) in changes {
            let before = values.updateValue(value ?? [], forKey: key)
            if value == nil {
                values[key] = nil
                if before != nil { removed.insert(key) }
            } else if before == nil {
                added.append(key)
            }
        }
        if removed.count < 16 {
            for key in removed { keys.remove(at: index(of: key)) }
        } else {
            keys.removeAll { removed.contains($0) }
        }
        if added.count < 16 {
            for key in added { keys.insert(key, at: index(of: key)) }
        } else {
            merge(added)
        }
    }

    private mutating func merge(_ added: [RowKey]) {
        var merged: [RowKey] = []
        merged.reserveCapacity(keys.count + added.count)
        var done = 0
        for key in added {
            let next = index(of: key, from: done)
            merged.append(contentsOf: keys[done..<next])
            merged.append(key)
            done = next
        }
        merged.append(contentsOf: keys[done...])
        keys = merged
    }

    /// Where the first key lies that is not before another one.
    private func index(of key: RowKey, from start: Int = 0) -> Int {
        var (low, high) = (start, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Walks over all rows in the order of their keys.
    package func forEach(_ body: (RowKey, [UInt8]) throws -> Void) rethrows {
        for key in keys { try body(key, values[key] ?? []) }
    }

    /// Walks over the rows of a tree under a prefix, from a key on or, reversed, back from it;
    /// `body` says whether to go on.
    package func scan(
        _ tree: Tree, prefix: [UInt8] = [], from: [UInt8]? = nil, reversed: Bool = false,
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) rethrows {
        let first = index(of: RowKey(tree, prefix))
        var range = keys[first...].prefix { $0.tree == tree && $0.bytes.starts(with: prefix) }
        if let from {
            let bound = RowKey(tree, from)
            range = reversed ? range.prefix { !(bound < $0) } : range.drop { $0 < bound }
        }
        if reversed {
            for key in range.reversed() where try !body(key.bytes, values[key] ?? []) { return }
        } else {
            for key in range where try !body(key.bytes, values[key] ?? []) { return }
        }
    }

    /// The rows as what a reader reads; there are no indexes.
    var source: RowSource {
        RowSource(
            get: { self[$0] }, walk: { try scan($0, prefix: $1, from: $2, reversed: $3, $4) })
    }

    /// Folds over the rows, which stay as they are.
    package func withFold<R>(_ models: ModelCache, _ body: (Fold) throws -> R) rethrows -> R {
        try body(Fold(source, models))
    }

    /// Reads the rows as those of a store whose log ends at a position; it has no indexes.
    package func read<R>(
        _ models: ModelCache, last: Position, event: @escaping (Position) throws -> Event?,
        _ body: (ViewReader) throws -> R
    ) rethrows -> R {
        try body(ViewReader(source, models, last: last, event: event))
    }
}
