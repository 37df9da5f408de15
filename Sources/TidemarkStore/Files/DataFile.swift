// DataFile.swift — is data.mdb whole? Asked before LMDB maps it, by reading the file ourselves.
//
// LMDB takes an empty file for a new store and maps a truncated one, which later kills the process
// with SIGBUS. The file starts with two meta pages, which commits write in turn, the first those of
// even transactions; the one with the greater transaction counts:
//
//   offset  width  field            notes
//       10      2  page flags       8 is a meta page
//       16      4  magic            0xBEEFC0DE
//       20      4  version          1
//       40      4  page size        a power of two, 512 … 65,536
//       40     48  the tree of free pages; its first four bytes are the page size
//       88     48  the tree of tables
//      136      8  last page
//      144      8  transaction
//
// All numbers in the machine's own order, little-endian on every machine this runs on.

/// The checks of a data file, and nothing else.
struct DataFile {
    /// What a meta page says that we need.
    struct Meta {
        static let bytes = 152
        static let noRoot = UInt64.max

        var pageBytes: Int
        /// The tree of free pages.
        var free: Tree
        /// The tree of tables.
        var main: Tree
        var lastPage: UInt64
        var transaction: UInt64

        /// Whether the two may be those of one file, in this order: of two commits, one after the
        /// other, or of none.
        ///
        /// Else a changed number has an older commit count.
        func isFollowed(by second: Meta) -> Bool {
            if transaction == 0, second.transaction == 0 { return true }
            return transaction % 2 == 0 && second.transaction % 2 == 1
                && max(transaction, second.transaction) - min(transaction, second.transaction) == 1
        }
    }

    /// What is known of a tree, in a meta page or in the list of tables: 48 bytes.
    ///
    ///     offset  width  field
    ///          4      2  flags
    ///          6      2  depth
    ///          8      8  branch pages
    ///         16      8  leaf pages
    ///         24      8  overflow pages
    ///         32      8  records
    ///         40      8  root, all ones when it is empty
    struct Tree {
        static let bytes = 48

        var flags: UInt64
        var depth: Int
        var branches: UInt64
        var leaves: UInt64
        var overflows: UInt64
        var records: UInt64
        var root: UInt64

        init(_ bytes: [UInt8], at offset: Int) {
            func number(_ place: Int) -> UInt64 { bytes.integer(at: offset + place, bytes: 8) }
            flags = bytes.integer(at: offset + 4, bytes: 2)
            depth = Int(bytes.integer(at: offset + 6, bytes: 2))
            branches = number(8)
            leaves = number(16)
            overflows = number(24)
            records = number(32)
            root = number(40)
        }
    }

    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// The meta pages that are whole, the one that counts last.
    func metas() throws(SystemNumber) -> [Meta] {
        guard let first = try meta(at: 0) else { return [] }
        guard let second = try meta(at: first.pageBytes) else { return [first] }
        return second.transaction > first.transaction ? [first, second] : [second, first]
    }

    /// Throws `lost` when the file is empty, `damaged` when it isn't a whole store.
    static func check(_ path: String) throws(StoreError) {
        var problem: StoreError.Code?
        var detail = ""
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            // Again and again, because another process may commit between two of our reads; damage
            // stays.
            for _ in 0..<10 {
                (problem, detail) = try DataFile(descriptor: descriptor).problem()
                if problem == nil { return }
            }
        } catch {
            throw .system(error.number, during: "open", path)
        }
        if let problem {
            throw StoreError(problem, during: "open", detail: "\(path) \(detail)")
        }
    }

    private func problem() throws(SystemNumber) -> (StoreError.Code?, String) {
        guard try Platform.status(of: descriptor).sizeBytes > 0 else { return (.lost, "is empty") }
        guard let first = try meta(at: 0) else {
            for bytes in Self.pageSizes where try meta(at: bytes)?.pageBytes == bytes {
                return (.damaged, "has a damaged first meta page; the second is whole")
            }
            return (.damaged, "has two damaged meta pages, or never was a store")
        }
        guard let second = try meta(at: first.pageBytes), second.pageBytes == first.pageBytes
        else { return (.damaged, "has a damaged second meta page; the first is whole") }
        guard first.isFollowed(by: second) else {
            return (
                .damaged,
                "has meta pages of the transactions \(first.transaction) and "
                    + "\(second.transaction), of which neither follows on the other"
            )
        }
        let newest = second.transaction > first.transaction ? second : first

        // After the meta pages: a writer extends the file before it says so.
        let wholePages = UInt64(try Platform.status(of: descriptor).sizeBytes / first.pageBytes)
        guard wholePages >= 2 else { return (.damaged, "is smaller than its two meta pages") }
        for root in [newest.free.root, newest.main.root] where root != Meta.noRoot {
            guard root >= 2, root <= newest.lastPage, root < wholePages else {
                return (.damaged, "has a root page outside of the file")
            }
        }
        guard newest.lastPage >= wholePages else { return (nil, "") }
        return try shortFileProblem(newest, wholePages)
    }

    /// LMDB may leave pages at the end unwritten when they were taken and freed again in one
    /// transaction; so a shorter file is whole when all that is missing is on the free list.
    private func shortFileProblem(
        _ meta: Meta, _ wholePages: UInt64
    ) throws(SystemNumber) -> (StoreError.Code?, String) {
        let missing = meta.lastPage - wholePages + 1
        let text = "is \(missing) pages of \(meta.pageBytes) bytes short"
        // LMDB never leaves more than some pages; a list this long isn't worth reading.
        guard missing <= 1 << 20 else { return (.damaged, text) }
        var list = FreePages(
            descriptor: descriptor, pageBytes: meta.pageBytes, wholePages: wholePages,
            lastPage: meta.lastPage)
        guard try list.collect(root: meta.free.root), UInt64(list.beyondEnd.count) == missing else {
            return (.damaged, text)
        }
        return (nil, "")
    }

    /// The sizes that a page may have.
    private static let pageSizes = (9...16).map { 1 << $0 }

    func meta(at offset: Int) throws(SystemNumber) -> Meta? {
        let bytes = try Platform.read(descriptor, at: offset, count: Meta.bytes)
        guard bytes.count == Meta.bytes, bytes.integer(at: 10, bytes: 2) & 8 != 0,
            bytes.integer(at: 16, bytes: 4) == 0xBEEF_C0DE, bytes.integer(at: 20, bytes: 4) == 1
        else { return nil }
        let pageBytes = Int(bytes.integer(at: 40, bytes: 4))
        guard Self.pageSizes.contains(pageBytes) else { return nil }
        let lastPage = bytes.integer(at: 136, bytes: 8)
        guard lastPage >= 1, lastPage < 1 << 47 else { return nil }
        return Meta(
            pageBytes: pageBytes, free: Tree(bytes, at: 40), main: Tree(bytes, at: 88),
            lastPage: lastPage,
            transaction: bytes.integer(at: 144, bytes: 8))
    }
}

extension [UInt8] {
    /// The little-endian number of that many bytes; the caller has checked that they are there.
    func integer(at offset: Int, bytes count: Int) -> UInt64 {
        unsafe withUnsafeBytes { bytes in
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
            switch count {
            case 2: return UInt64(unsafe bytes.loadUnaligned(as: UInt16.self).littleEndian)
            case 4: return UInt64(unsafe bytes.loadUnaligned(as: UInt32.self).littleEndian)
            case 8: return unsafe bytes.loadUnaligned(as: UInt64.self).littleEndian
            default: return unsafe bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }
}
