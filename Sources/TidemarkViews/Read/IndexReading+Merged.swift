// IndexReading+Merged.swift — reading several ranges of an index as one.

package import TidemarkEvents
import TidemarkStore

extension IndexReading {
    /// Walks over ranges of an index at once, as ``forEachIndexed(_:in:from:to:reversed:_:)`` does
    /// over one: by the components behind the first fields, and by id where those are equal.
    ///
    /// - Parameters:
    ///   - groups: those of a group have the same values of the first fields, none of them cut, and
    ///     are ascending.
    ///   - pinnedFields: how many fields that are.
    ///   - body: gets the components behind those fields.
    package func forEachMerged(
        _ index: IndexModel, in collection: CollectionName, _ groups: [[KeyRange]],
        behind pinnedFields: Int, reversed: Bool,
        _ body: (_ components: [UInt8], _ isCut: Bool, _ id: String) throws -> Bool
    ) throws {
        var heads = groups.map { IndexHead($0, behind: pinnedFields, reversed: reversed) }
        while true {
            var next: (place: Int, entry: IndexHead.Entry)?
            for place in heads.indices {
                try heads[place].fill(self, index, collection)
                guard let entry = heads[place].next else { continue }
                if let other = next?.entry {
                    let isNext = reversed ? other.precedes(entry) : entry.precedes(other)
                    guard isNext else { continue }
                }
                next = (place, entry)
            }
            guard let (place, entry) = next else { return }
            heads[place].drop()
            guard try body(entry.rest, entry.isCut, entry.id) else { return }
        }
    }
}

/// The next entries of ranges of an index, read some at a time.
private struct IndexHead {
    struct Entry {
        let components: [UInt8]
        /// The components behind the first fields.
        let rest: [UInt8]
        let isCut: Bool
        let id: String

        func precedes(_ other: Entry) -> Bool {
            if rest != other.rest { return ByteOrder.precedes(rest, other.rest) }
            return id.utf8.lexicographicallyPrecedes(other.id.utf8)
        }

        /// Whether its key tells its place among all others.
        private var isDistinct: Bool { !isCut && id.utf8.count < KeptIndex.idPrefixBytes }

        /// What its key begins with, and those of all whose order only ids or documents tell.
        private var beginning: [UInt8] {
            isCut ? components : components + id.utf8.prefix(KeptIndex.idPrefixBytes)
        }

        func isNeighbour(of other: Entry) -> Bool {
            !isDistinct && !other.isDistinct && beginning == other.beginning
        }

        /// What is left of a range behind this entry and its neighbours.
        func left(of range: KeyRange, reversed: Bool) -> KeyRange {
            if reversed { return KeyRange(range.lower, beginning) }
            let lower = isDistinct ? beginning + [0] : KeyRange(beginning: beginning).upper
            return KeyRange(lower, range.upper)
        }
    }

    private let first: Int
    private let reversed: Bool
    /// What is not read yet, the next of it last.
    private var ranges: [KeyRange]
    private var entries: [Entry] = []
    private var place = 0

    /// How many entries are read at a time; more where those that follow are neighbours.
    private static let batch = 64

    init(_ ranges: [KeyRange], behind first: Int, reversed: Bool) {
        self.ranges = reversed ? ranges : ranges.reversed()
        self.first = first
        self.reversed = reversed
    }

    /// The next entry, once it was read; nil behind the last.
    var next: Entry? { place < entries.count ? entries[place] : nil }

    mutating func drop() { place += 1 }

    /// Reads on where nothing is left of what was read.
    mutating func fill(
        _ views: some IndexReading, _ index: IndexModel, _ collection: CollectionName
    ) throws {
        guard place == entries.count else { return }
        var found: [Entry] = []
        while found.isEmpty, let range = ranges.popLast() {
            var left: KeyRange?
            try views.forEachIndexed(
                index, in: collection, from: IndexBound(range.lower, isInclusive: true),
                to: IndexBound(range.upper, isInclusive: false), reversed: reversed
            ) { components, isCut, id in
                let rest = components[OrderKey.end(of: components, behind: first)...]
                let entry = Entry(
                    components: components, rest: Array(rest), isCut: isCut, id: id)
                if found.count >= Self.batch, let last = found.last, !entry.isNeighbour(of: last) {
                    left = last.left(of: range, reversed: reversed)
                    return false
                }
                found.append(entry)
                return true
            }
            if let left { ranges.append(left) }
        }
        (entries, place) = (found, 0)
    }
}
