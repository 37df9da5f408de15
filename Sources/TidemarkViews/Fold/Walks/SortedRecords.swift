// SortedRecords.swift — records of an index in the order of their keys. They lie in pages, so that
// one more among many moves few.

import TidemarkStore

/// Records of an index in the order of their keys.
struct SortedRecords {
    /// None of them is empty.
    private var pages: [[IndexEntry]] = []
    private static let pageMax = 512

    /// Where a record stands; behind the last one is the beginning of another page.
    private struct Place: Comparable {
        var page: Int
        var index: Int

        static func < (left: Place, right: Place) -> Bool {
            (left.page, left.index) < (right.page, right.index)
        }
    }

    init() {}

    init(_ records: some Sequence<IndexEntry>) {
        let sorted = records.sorted(by: IndexEntry.precedes)
        // Half of each is left for those to come.
        let count = Self.pageMax / 2
        pages = stride(from: 0, to: sorted.count, by: count).map { start in
            Array(sorted[start..<min(start + count, sorted.count)])
        }
    }

    mutating func insert(_ record: IndexEntry) {
        var place = place(of: record.key)
        if place.page == pages.count {
            if pages.isEmpty { pages.append([]) }
            let last = pages.count - 1
            place = Place(page: last, index: pages[last].count)
        }
        pages[place.page].insert(record, at: place.index)
        let count = pages[place.page].count
        guard count > Self.pageMax else { return }
        let moved = Array(pages[place.page][(count / 2)...])
        pages[place.page].removeLast(moved.count)
        pages.insert(moved, at: place.page + 1)
    }

    /// Removes a record, if it is here.
    mutating func remove(_ record: IndexEntry) {
        let place = place(of: record.key)
        guard place.page < pages.count, pages[place.page][place.index] == record else { return }
        pages[place.page].remove(at: place.index)
        if pages[place.page].isEmpty { pages.remove(at: place.page) }
    }

    /// Those from a key on, itself among them, up or down; all of them from none.
    func walk(from: [UInt8]?, reversed: Bool) -> AnyIterator<(key: [UInt8], row: [UInt8])> {
        let pages = pages
        var first = Place(page: 0, index: 0)
        var end = Place(page: pages.count, index: 0)
        if let from {
            if reversed { end = place(of: from + [0]) } else { first = place(of: from) }
        }
        var next = reversed ? end : first
        return AnyIterator {
            if reversed {
                guard first < next else { return nil }
                if next.index == 0 {
                    next.page -= 1
                    next.index = pages[next.page].count
                }
                next.index -= 1
                let record = pages[next.page][next.index]
                return (key: record.key, row: record.value)
            }
            guard next < end else { return nil }
            let record = pages[next.page][next.index]
            next.index += 1
            if next.index == pages[next.page].count { next = Place(page: next.page + 1, index: 0) }
            return (key: record.key, row: record.value)
        }
    }

    /// Where the first record stands whose key does not come before this one.
    private func place(of key: [UInt8]) -> Place {
        let page = (0..<pages.count).beginning { place in
            pages[place].last.map { !ByteOrder.precedes($0.key, key) } ?? true
        }
        guard page < pages.count else { return Place(page: page, index: 0) }
        let index = (0..<pages[page].count).beginning { place in
            !ByteOrder.precedes(pages[page][place].key, key)
        }
        return Place(page: page, index: index)
    }
}

extension Range<Int> {
    /// The first number of which something is true, as it is of all behind it; the end where it is
    /// true of none.
    func beginning(where isTrue: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
