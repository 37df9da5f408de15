// FreePages.swift — LMDB's list of free pages, read from a file that isn't mapped yet.
//
// It is a tree like any other: a page has a header of 16 bytes (flags at 10, end of the node
// offsets at 12), then 2-byte offsets of its nodes. A node: 8 bytes (size or page number, flags,
// key length), the key, the data. The data of a leaf's node, here or on pages of its own, is a
// count and as many page numbers, 8 bytes each.

/// Finds the free pages that lie beyond the end of a file.
struct FreePages {
    private enum Flag {
        static let branch: UInt64 = 1
        static let leaf: UInt64 = 2
        static let overflow: UInt64 = 4
        static let bigData: UInt64 = 1
    }

    let descriptor: Int32
    let pageBytes: Int
    let wholePages: UInt64
    let lastPage: UInt64

    /// The free pages from `wholePages` to `lastPage`.
    private(set) var beyondEnd: Set<UInt64> = []
    /// Stops a loop in damaged pages: a tree has no more pages than the file.
    private var pagesRead: UInt64 = 0

    init(descriptor: Int32, pageBytes: Int, wholePages: UInt64, lastPage: UInt64) {
        self.descriptor = descriptor
        self.pageBytes = pageBytes
        self.wholePages = wholePages
        self.lastPage = lastPage
    }

    /// Walks the tree; false when it isn't whole itself.
    mutating func collect(root: UInt64) throws(SystemNumber) -> Bool {
        guard root != DataFile.Meta.noRoot else { return true }
        return try collect(page: root, depth: 0)
    }

    private mutating func collect(page number: UInt64, depth: Int) throws(SystemNumber) -> Bool {
        pagesRead += 1
        guard depth < 32, pagesRead <= wholePages, let page = try read(number, pages: 1) else {
            return false
        }
        let flags = page.integer(at: 10, bytes: 2)
        let end = Int(page.integer(at: 12, bytes: 2))
        guard end >= 16, end <= pageBytes, flags & (Flag.branch | Flag.leaf) != 0 else {
            return false
        }
        for offset in stride(from: 16, to: end - 1, by: 2) {
            let node = Int(page.integer(at: offset, bytes: 2))
            guard node >= end, node + 8 <= pageBytes else { return false }
            let isWhole =
                flags & Flag.branch != 0
                ? try collect(page: page.integer(at: node, bytes: 6), depth: depth + 1)
                : try collect(leaf: page, node)
            guard isWhole else { return false }
        }
        return true
    }

    private mutating func collect(leaf page: [UInt8], _ node: Int) throws(SystemNumber) -> Bool {
        let size = Int(page.integer(at: node, bytes: 4))
        let isBig = page.integer(at: node + 4, bytes: 2) & Flag.bigData != 0
        let start = node + 8 + Int(page.integer(at: node + 6, bytes: 2))
        guard size >= 8, start + (isBig ? 8 : size) <= pageBytes else { return false }
        guard isBig else { return collect(list: page[start..<start + size]) }
        let first = page.integer(at: start, bytes: 8)
        let pages = (16 + size + pageBytes - 1) / pageBytes
        guard let overflow = try read(first, pages: pages),
            overflow.integer(at: 10, bytes: 2) & Flag.overflow != 0
        else { return false }
        return collect(list: overflow[16..<16 + size])
    }

    private mutating func collect(list: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(list)
        let count = bytes.integer(at: 0, bytes: 8)
        guard count <= UInt64(bytes.count / 8 - 1) else { return false }
        for index in 0..<Int(count) {
            let page = bytes.integer(at: 8 + index * 8, bytes: 8)
            if page >= wholePages, page <= lastPage { beyondEnd.insert(page) }
        }
        return true
    }

    private func read(_ number: UInt64, pages: Int) throws(SystemNumber) -> [UInt8]? {
        guard number >= 2, number < wholePages, UInt64(pages) <= wholePages - number else {
            return nil
        }
        return try Platform.read(
            descriptor, at: Int(number) * pageBytes, count: pages * pageBytes)
    }
}
