// PageAudit.swift — is every page of a data file what LMDB would have left? Read by `pread`, never
// through LMDB, which believes what it reads and may fall over it, or write over what is in use.
//
//   of each tree   pages by their own number and kind, at one depth; nodes within their page, none
//                  over another; keys in order and between those of the branch above; overflow
//                  runs whole; as many pages and records as the tree's record says
//   of the file    every page after the two meta pages is in use exactly once, or free exactly
//                  once, up to the last one that the meta page counts

/// One look at the pages of a data file, as one of its meta pages has them.
package struct PageAudit {
    /// What is wrong with a page.
    package struct Finding: Hashable, Sendable, CustomStringConvertible {
        package var page: UInt64
        package var problem: String
        /// The table whose tree led to it; nil for the free list and the list of tables.
        package var table: String?
        package var description: String { "page \(page) \(problem)" }
    }

    /// What was found.
    package struct Result: Sendable {
        /// What is wrong, of each table at most ``PageAudit/findingsMax``.
        package var findings: [Finding] = []
        /// Pages that are in use.
        package var used: UInt64 = 0
        /// Pages that are free.
        package var free: UInt64 = 0
        /// Pages that are neither: lost to the file, but no damage.
        package var lost: UInt64 = 0

        package var isFine: Bool { findings.isEmpty }
    }

    /// How much is looked at.
    package enum Extent: Sendable {
        /// All pages.
        case all
        /// The free list, the trees of the tables with these names, and of other tables the branch
        /// pages: which pages are leaves is known by these. What lies on overflow pages of other
        /// tables is not. Of the leaves of some of them it is looked at what they say they are.
        case tables(Set<String>, leaves: Set<String> = [])
        /// Only branch pages of all tables: whether a walk over them ends.
        case branches
    }

    package static let findingsMax = 100

    private let file: PageFile
    private let meta: DataFile.Meta
    private let extent: Extent
    private let progress: Progress
    private var marks: PageMarks
    private var result = Result()
    private var read: UInt64 = 0
    /// The table that is looked at, and how many findings were noted of it.
    private var table: String?
    private var noted = 0

    init(
        _ file: PageFile, _ meta: DataFile.Meta, _ extent: Extent,
        progress: @escaping Progress
    ) {
        self.file = file
        self.meta = meta
        self.extent = extent
        self.progress = progress
        marks = PageMarks(pages: meta.lastPage + 1)
    }

    /// Looks at everything.
    mutating func run() throws -> Result {
        if case .branches = extent {} else { try walkFree() }
        try walkMain()
        // Each was counted once, after the two meta pages.
        if case .all = extent { result.lost = meta.lastPage - 1 - (result.used + result.free) }
        return result
    }

    /// Looks at the free pages and at all of one table.
    ///
    /// - Parameter isRight: whether a record is what was written, by its key and value.
    mutating func run(
        table name: String, _ tree: DataFile.Tree,
        isRight: (_ key: [UInt8], _ value: [UInt8]) -> Bool
    ) throws -> Result {
        try walkFree()
        (table, noted) = (name, 0)
        try walk(tree, "the table \(name)", .records) { audit, page, node in
            let value = try audit.data(of: node, in: page)
            guard let value, isRight(Array(page.bytes[node.key]), value) else {
                return audit.note(page.number, "of \(name) has a record that was not written so")
            }
        }
        return result
    }

    private mutating func note(_ page: UInt64, _ problem: String) {
        noted += 1
        guard noted <= Self.findingsMax else { return }
        result.findings.append(Finding(page: page, problem: problem, table: table))
    }

    // MARK: Free pages

    /// The tree of free pages: by transaction, lists of page numbers, the greatest first.
    private mutating func walkFree() throws {
        try walk(meta.free, "the list of free pages", .numbers) { audit, page, node in
            let transaction = page.bytes.integer(at: node.key.lowerBound, bytes: 8)
            if transaction > audit.meta.transaction {
                audit.note(page.number, "frees pages in the transaction \(transaction) to come")
            }
            guard let list = try audit.data(of: node, in: page) else {
                return audit.note(page.number, "lists free pages that can't be read")
            }
            audit.free(list, by: page.number)
        }
    }

    private mutating func free(_ list: [UInt8], by page: UInt64) {
        guard list.count >= 8, list.count % 8 == 0 else {
            return note(page, "has a list of \(list.count) bytes of free pages")
        }
        let count = list.integer(at: 0, bytes: 8)
        guard count <= UInt64(list.count / 8 - 1) else {
            return note(page, "counts \(count) free pages, more than it lists")
        }
        var before = UInt64.max
        for index in 0..<Int(count) {
            let free = list.integer(at: 8 + index * 8, bytes: 8)
            guard free >= 2, free <= meta.lastPage else {
                return note(page, "calls page \(free) free, which is not in the file")
            }
            if free >= before { note(page, "lists free pages out of order") }
            before = free
            if marks.mark(free) {
                result.free += 1
            } else {
                note(free, "is free and in use, or free twice")
            }
        }
    }

    // MARK: Tables

    /// The tree of tables, and each of theirs.
    private mutating func walkMain() throws {
        var tables: [(name: String, tree: DataFile.Tree)] = []
        try walk(meta.main, "the list of tables", .records) { audit, page, node in
            let name = String(decoding: page.bytes[node.key], as: UTF8.self)
            if !node.isTable, CatalogKey(rawValue: name) != nil { return }
            guard node.isTable, let data = node.data, data.count == DataFile.Tree.bytes else {
                return audit.note(page.number, "has a record that is no table among the tables")
            }
            tables.append((name, DataFile.Tree(Array(page.bytes[data]), at: 0)))
        }
        for (name, tree) in tables {
            let how: Walk =
                switch extent {
                case .all: .records
                case .tables(let names, let leaves):
                    names.contains(name) ? .records : leaves.contains(name) ? .leaves : .branches
                case .branches: .branches
                }
            (table, noted) = (name, 0)
            try walk(tree, "the table \(name)", how) { audit, page, node in
                if node.isTable { audit.note(page.number, "has a table within \(name)") }
            }
        }
    }

    // MARK: Trees

    private typealias Visit = (inout PageAudit, PageImage, PageImage.Node) throws -> Void

    /// How a tree is walked.
    private enum Walk {
        /// All of it; keys are byte strings.
        case records
        /// All of it; keys are numbers.
        case numbers
        /// Branch pages; of leaves only which they are.
        case branches
        /// The same, and what leaves say of themselves.
        case leaves

        var readsRecords: Bool { self == .records || self == .numbers }
    }

    /// What was counted of a tree.
    private struct Counts {
        var branches: UInt64 = 0
        var leaves: UInt64 = 0
        var overflows: UInt64 = 0
        var records: UInt64 = 0
        var last: [UInt8]?
    }

    private mutating func walk(
        _ tree: DataFile.Tree, _ name: String, _ how: Walk, _ visit: Visit
    ) throws {
        guard tree.flags == (how == .numbers ? Self.numberKeys : 0) else {
            return note(0, "gives \(name) the flags \(tree.flags)")
        }
        guard tree.root != DataFile.Meta.noRoot else {
            if tree.depth != 0 || tree.records != 0 {
                note(0, "says that \(name) is empty, and counts \(tree.records) records")
            }
            return
        }
        guard (1...Self.depthMax).contains(tree.depth) else {
            return note(tree.root, "is the root of \(name) with a depth of \(tree.depth)")
        }
        let before = noted
        var counts = Counts()
        try walk(
            tree.root, depth: 1, of: tree, name, how, lower: nil, upper: nil, &counts, visit)
        guard noted == before else { return }
        let known = (tree.branches, tree.leaves, tree.overflows, tree.records)
        let found =
            how.readsRecords
            ? (counts.branches, counts.leaves, counts.overflows, counts.records)
            : (counts.branches, counts.leaves, known.2, known.3)
        if known != found {
            note(
                tree.root,
                "is the root of \(name) with \(known.0) + \(known.1) + \(known.2) pages and "
                    + "\(known.3) records, and there are \(found.0) + \(found.1) + \(found.2) and "
                    + "\(found.3)")
        }
    }

    /// The most levels that LMDB walks.
    private static let depthMax = 32

    /// The flag of a tree whose keys are numbers.
    private static let numberKeys: UInt64 = 8

    private mutating func walk(
        _ number: UInt64, depth: Int, of tree: DataFile.Tree, _ name: String, _ how: Walk,
        lower: ArraySlice<UInt8>?, upper: ArraySlice<UInt8>?, _ counts: inout Counts, _ visit: Visit
    ) throws {
        let kind: PageImage.Kind = depth < tree.depth ? .branch : .leaf
        if kind == .leaf, !how.readsRecords {
            counts.leaves += 1
            guard use(unread: number, in: name), how == .leaves else { return }
            return try lookAtLeaf(number, in: name)
        }
        guard let page = try use(number, in: name) else { return }
        guard page.kind == kind else {
            return note(number, "is no \(kind) page of \(name)")
        }
        if kind == .branch { counts.branches += 1 } else { counts.leaves += 1 }
        guard let count = page.nodeCount, count > 0, let nodes = page.nodes(of: kind) else {
            return note(number, "of \(name) has nodes out of its bounds")
        }
        var before: ArraySlice<UInt8>?
        for (index, node) in nodes.enumerated() {
            let key = page.bytes[node.key]
            // A branch knows nothing of the keys below its first node but those of its own branch.
            let isBound = kind == .leaf || index > 0
            if isBound {
                let follows = before.map { Self.precedes($0, key, how) } ?? true
                let isInside =
                    (lower.map { !Self.precedes(key, $0, how) } ?? true)
                    && (upper.map { Self.precedes(key, $0, how) } ?? true)
                guard follows, isInside else {
                    return note(number, "of \(name) has a key out of order")
                }
                before = key
            }
            if kind == .leaf {
                counts.records += 1
                guard (how == .numbers ? 8...8 : Bounds.keyBytes).contains(key.count) else {
                    return note(number, "of \(name) has a key of \(key.count) bytes")
                }
                if let first = node.page,
                    try !useRun(first, of: node.dataBytes, in: name, &counts)
                {
                    continue
                }
                try visit(&self, page, node)
            } else if let child = node.page {
                let next = index + 1 < nodes.count ? page.bytes[nodes[index + 1].key] : upper
                try walk(
                    child, depth: depth + 1, of: tree, name, how,
                    lower: isBound ? key : lower, upper: next, &counts, visit)
            }
        }
    }

    /// The order of a tree's keys: by bytes; those of the free list by number.
    private static func precedes(
        _ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, _ how: Walk
    ) -> Bool {
        guard how == .numbers, left.count == 8, right.count == 8 else {
            return ByteOrder.precedes(left, right)
        }
        return Array(left).integer(at: 0, bytes: 8) < Array(right).integer(at: 0, bytes: 8)
    }

    // MARK: Pages

    /// Notes that a page is in use.
    @discardableResult
    private mutating func use(unread number: UInt64, in name: String) -> Bool {
        guard number >= 2, number <= meta.lastPage, number < file.wholePages else {
            note(number, "is a page of \(name), and not in the file")
            return false
        }
        guard marks.mark(number) else {
            note(number, "is a page of \(name), and free or in use elsewhere")
            return false
        }
        result.used += 1
        return true
    }

    /// Reads a page that a tree has, and notes that it is in use.
    private mutating func use(_ number: UInt64, in name: String) throws -> PageImage? {
        guard use(unread: number, in: name), let page = try file.page(number) else { return nil }
        try countRead()
        guard page.number == number else {
            note(number, "of \(name) says that it is page \(page.number)")
            return nil
        }
        return page
    }

    private mutating func countRead() throws {
        read += 1
        if read.isMultiple(of: 4096) { try progress(read, meta.lastPage) }
    }

    /// Looks at what a leaf in use says that it is, and not at its records.
    private mutating func lookAtLeaf(_ number: UInt64, in name: String) throws {
        let start = Int(number) * file.pageBytes
        guard let bytes = try file.bytes(from: start, count: PageImage.headerBytes) else { return }
        try countRead()
        let page = PageImage(bytes)
        guard page.number == number, page.kind == .leaf, page.lower > PageImage.headerBytes,
            page.lower % 2 == 0, page.lower <= page.upper, page.upper < file.pageBytes
        else { return note(number, "is no leaf page of \(name)") }
    }

    /// Looks at the pages that hold a record's data.
    ///
    /// - Returns: whether they are right: only then may the data be read.
    private mutating func useRun(
        _ first: UInt64, of bytes: Int, in name: String, _ counts: inout Counts
    ) throws -> Bool {
        guard let page = try use(first, in: name) else { return false }
        let pages = UInt64((PageImage.headerBytes + bytes + file.pageBytes - 1) / file.pageBytes)
        // A record that was made shorter in the transaction that wrote it keeps its pages.
        let run = UInt64(page.overflowPages)
        guard page.kind == .overflow, run >= pages, run <= meta.lastPage else {
            note(first, "of \(name) is not the first of \(pages) that hold one record")
            return false
        }
        counts.overflows += run
        for number in first + 1..<first + run {
            guard use(unread: number, in: name) else { return false }
        }
        return true
    }

    /// A record's data, whose pages were looked at; nil where it can't be read.
    private func data(of node: PageImage.Node, in page: PageImage) throws -> [UInt8]? {
        if let data = node.data { return Array(page.bytes[data]) }
        guard let first = node.page, first < file.wholePages,
            UInt64(node.dataBytes / file.pageBytes) < file.wholePages - first
        else { return nil }
        return try file.bytes(
            from: Int(first) * file.pageBytes + PageImage.headerBytes, count: node.dataBytes)
    }
}

/// A bit for each page.
private struct PageMarks {
    private var words: [UInt64]

    init(pages: UInt64) { words = Array(repeating: 0, count: Int(pages / 64 + 1)) }

    func isMarked(_ page: UInt64) -> Bool { words[Int(page / 64)] >> (page % 64) & 1 == 1 }

    /// Marks a page; false when it was marked already.
    mutating func mark(_ page: UInt64) -> Bool {
        guard !isMarked(page) else { return false }
        words[Int(page / 64)] |= 1 << (page % 64)
        return true
    }
}

/// The pages of an open data file.
struct PageFile {
    let descriptor: Int32
    let pageBytes: Int
    /// How many pages the file has in full.
    let wholePages: UInt64

    init(_ descriptor: Int32, pageBytes: Int) throws(SystemNumber) {
        self.descriptor = descriptor
        self.pageBytes = pageBytes
        wholePages = UInt64(try Platform.status(of: descriptor).sizeBytes / pageBytes)
    }

    /// A page; nil beyond the end.
    func page(_ number: UInt64) throws -> PageImage? {
        guard number < wholePages else { return nil }
        return try bytes(from: Int(number) * pageBytes, count: pageBytes).map(PageImage.init)
    }

    func bytes(from offset: Int, count: Int) throws -> [UInt8]? {
        do throws(SystemNumber) {
            let bytes = try Platform.read(descriptor, at: offset, count: count)
            return bytes.count == count ? bytes : nil
        } catch { throw StoreError.system(error.number, during: "read", "data.mdb") }
    }
}
