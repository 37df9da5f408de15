// PassedRecords.swift — the stored records of an index over which a commit's walks pass, as it
// wrote the entities that they are of. What a commit wrote stays written: where many such records
// follow on one another, the next walk goes on behind them.

import TidemarkStore

/// Stretches of an index in which all stored records are of entities that were written.
struct PassedRecords {
    /// From the key of one record to that of another.
    struct Stretch: Equatable {
        var first: [UInt8]
        var last: [UInt8]

        func union(_ other: Stretch) -> Stretch {
            Stretch(
                first: ByteOrder.precedes(other.first, first) ? other.first : first,
                last: ByteOrder.precedes(last, other.last) ? other.last : last)
        }
    }

    /// In the order of their keys; none reaches into another.
    private var stretches: [Stretch] = []

    /// The stretch in which a key lies.
    func stretch(around key: [UInt8]) -> Stretch? {
        let place = place(of: key)
        guard place < stretches.count, !ByteOrder.precedes(key, stretches[place].first) else {
            return nil
        }
        return stretches[place]
    }

    /// Takes in a stretch, as one with those into which it reaches.
    mutating func insert(_ stretch: Stretch) {
        let start = place(of: stretch.first)
        var (end, whole) = (start, stretch)
        while end < stretches.count, !ByteOrder.precedes(stretch.last, stretches[end].first) {
            whole = whole.union(stretches[end])
            end += 1
        }
        stretches.replaceSubrange(start..<end, with: [whole])
    }

    /// Where the first stretch stands that does not end before a key.
    private func place(of key: [UInt8]) -> Int {
        (0..<stretches.count).beginning { !ByteOrder.precedes(stretches[$0].last, key) }
    }
}

/// The records over which one walk passes, up to the next one that counts.
struct PassingRecords {
    private var stretch: PassedRecords.Stretch?
    private var count = 0
    /// Of fewer no walk takes note: passing over them again costs no more than a leap.
    private static let countMin = 16

    /// Passes over a record.
    ///
    /// - Returns: the key of the record at which to go on, where it is known that all before that
    ///   one are to be passed over.
    mutating func pass(
        _ key: [UInt8], knowing known: PassedRecords, reversed: Bool
    ) -> [UInt8]? {
        count += 1
        let own =
            known.stretch(around: key) ?? PassedRecords.Stretch(first: key, last: key)
        stretch = stretch?.union(own) ?? own
        let end = reversed ? own.first : own.last
        return ByteOrder.areEqual(end, key) ? nil : end
    }

    /// Ends before a record that counts, or with the walk.
    mutating func end(noting known: inout PassedRecords) {
        guard let stretch else { return }
        if count >= Self.countMin { known.insert(stretch) }
        self = PassingRecords()
    }
}
