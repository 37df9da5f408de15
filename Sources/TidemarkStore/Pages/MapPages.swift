// MapPages.swift — is the page that a record was found on the one that it says, and whole? LMDB
// takes whatever lies where a branch leads to.
//
// A page begins at a multiple of its size, in the map as in the file, so a pointer to a record
// tells where its page begins. Each page bears its number, and numbers fit places.

import CLMDB

/// What is known of the map of one environment.
@safe final class MapPages: Sendable {
    /// The bytes of a page; 0 where pages are larger than the system's, and lie anywhere.
    private let pageBytes: UInt
    /// Where page 0 lies, and where the map ends; nil until a
    /// transaction asked, and after the map was moved.
    private let place = Lock<Range<UInt>?>(nil)

    init(pageBytes: Int) {
        self.pageBytes = pageBytes <= Platform.pageBytes ? UInt(pageBytes) : 0
    }

    /// The map was, or may have been, moved.
    func forget() { place.withLock { $0 = nil } }

    /// What one transaction knows of it, which has written nothing yet.
    ///
    /// - Parameter mapBytes: how long the map is.
    func view(_ transaction: OpaquePointer, mapBytes: () -> Int) -> View? {
        guard pageBytes > 0 else { return nil }
        if let place = place.withLock(\.self) { return View(pageBytes: pageBytes, place: place) }
        guard let found = unsafe find(transaction, mapBytes()) else { return nil }
        place.withLock { $0 = found }
        return View(pageBytes: pageBytes, place: found)
    }

    /// Where the map lies by the first record of the list of tables.
    private func find(_ transaction: OpaquePointer, _ mapBytes: Int) -> Range<UInt>? {
        var tables: MDB_dbi = 0
        var opened: OpaquePointer?
        guard unsafe mdb_dbi_open(transaction, nil, 0, &tables) == 0,
            unsafe mdb_cursor_open(transaction, tables, &opened) == 0, let cursor = unsafe opened
        else { return nil }
        defer { unsafe mdb_cursor_close(cursor) }
        var (key, value) = unsafe (MDB_val(), MDB_val())
        guard unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST) == 0 else { return nil }
        let page = UInt(bitPattern: unsafe key.mv_data) & ~(pageBytes - 1)
        guard let bytes = unsafe UnsafeRawPointer(bitPattern: page) else { return nil }
        let number = unsafe UInt(bytes.load(as: UInt64.self))
        guard number < UInt(mapBytes) / pageBytes, number * pageBytes <= page else { return nil }
        let start = page - number * pageBytes
        return start..<start &+ UInt(mapBytes)
    }

    /// The pages as one transaction sees them.
    @safe struct View {
        let pageBytes: UInt
        fileprivate let place: Range<UInt>

        /// Where the page begins that a pointer leads into; nil for memory of a transaction that
        /// writes, which is no page of the file yet.
        private func page(of pointer: UnsafeRawPointer, isWriting: Bool) -> UnsafeRawPointer? {
            let start = UInt(bitPattern: pointer) & ~(pageBytes - 1)
            if isWriting, !place.contains(start) { return nil }
            return unsafe UnsafeRawPointer(bitPattern: start)
        }

        /// Whether two records lie on different pages.
        func isOther(
            _ key: UnsafeBufferPointer<UInt8>, _ before: UnsafeBufferPointer<UInt8>
        ) -> Bool {
            let bits = UInt(bitPattern: key.baseAddress) ^ UInt(bitPattern: before.baseAddress)
            return bits >= pageBytes
        }

        /// Whether a key is the first on its page, or the last.
        func isAtEdge(
            _ key: UnsafePointer<UInt8>?, ofUpperEnd isUpper: Bool, isWriting: Bool
        ) -> Bool {
            guard let key = unsafe key, let page = unsafe page(of: key, isWriting: isWriting) else {
                return false
            }
            let lower = unsafe Int(page.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
            let place = isUpper ? lower - 2 : PageImage.headerBytes
            guard place >= PageImage.headerBytes, place + 2 <= Int(pageBytes) else { return true }
            let node = unsafe Int(page.loadUnaligned(fromByteOffset: place, as: UInt16.self))
            return unsafe UnsafeRawPointer(key) == page + node + 8
        }

        /// Whether what a pointer leads into is the page that lies there by its number.
        func isRight(_ pointer: UnsafeRawPointer?, isWriting: Bool) -> Bool {
            guard let pointer = unsafe pointer,
                let page = unsafe page(of: pointer, isWriting: isWriting)
            else { return true }
            let number = unsafe UInt(page.load(as: UInt64.self))
            return place.lowerBound &+ number &* pageBytes == UInt(bitPattern: page)
        }

        /// Whether a pointer leads into the right page, a leaf: what LMDB goes by when it makes a
        /// page anew to write to it.
        func isRightLeaf(_ pointer: UnsafeRawPointer?, isWriting: Bool) -> Bool {
            guard let pointer = unsafe pointer,
                let page = unsafe page(of: pointer, isWriting: isWriting)
            else { return true }
            return unsafe isRight(pointer, isWriting: isWriting)
                && page.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == 2
        }

        /// Whether a value lies on pages of its own in the file.
        func isOnRun(_ value: UnsafePointer<UInt8>?, isWriting: Bool) -> Bool {
            let offset = UInt(bitPattern: value) & (pageBytes - 1)
            // In a leaf there are node offsets in that place.
            guard offset == UInt(PageImage.headerBytes), let value = unsafe value else {
                return false
            }
            return unsafe page(of: UnsafeRawPointer(value), isWriting: isWriting) != nil
        }

        /// Whether the pages of a value that lies on its own are the right ones, and enough.
        func isWholeRun(_ value: UnsafeBufferPointer<UInt8>, filePages: Int) -> Bool {
            guard let start = value.baseAddress,
                let page = unsafe page(of: UnsafeRawPointer(start), isWriting: true),
                unsafe isRight(UnsafeRawPointer(start), isWriting: true)
            else { return false }
            let number = Int(UInt(bitPattern: page) - place.lowerBound) / Int(pageBytes)
            guard number < filePages,
                unsafe page.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == 4
            else { return false }
            let run = unsafe Int(page.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            return run <= filePages - number
                && value.count <= run * Int(pageBytes) - PageImage.headerBytes
        }

        /// Whether the record before a key may lie on another page than it.
        func mayBeginPage(_ key: UnsafePointer<UInt8>?) -> Bool {
            guard let key = unsafe key,
                unsafe page(of: UnsafeRawPointer(key), isWriting: true) != nil
            else { return true }
            return unsafe isAtEdge(key, ofUpperEnd: false, isWriting: true)
        }

        /// Whether a pointer leads into a leaf that is the right one and whole: its nodes within
        /// their bounds, its keys in order and as long as a key may be.
        func isWholeLeaf(_ pointer: UnsafeRawPointer?, isWriting: Bool) -> Bool {
            guard let pointer = unsafe pointer,
                let page = unsafe page(of: pointer, isWriting: isWriting)
            else { return true }
            guard unsafe isRight(pointer, isWriting: isWriting) else { return false }
            func half(_ offset: Int) -> Int {
                Int(unsafe page.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            }
            let (lower, upper) = (half(12), half(14))
            guard half(10) == 2, lower >= PageImage.headerBytes, lower <= upper,
                upper <= Int(pageBytes), lower % 2 == 0
            else { return false }
            var before: UnsafeRawBufferPointer?
            for offset in stride(from: PageImage.headerBytes, to: lower, by: 2) {
                let node = half(offset)
                guard node >= upper, node + 8 <= Int(pageBytes) else { return false }
                let count = half(node + 6)
                guard Bounds.keyBytes.contains(count), node + 8 + count <= Int(pageBytes) else {
                    return false
                }
                let key = unsafe UnsafeRawBufferPointer(start: page + node + 8, count: count)
                if let before = unsafe before, unsafe !Self.precedes(before, key) { return false }
                unsafe before = key
            }
            return true
        }

        private static func precedes(
            _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
        ) -> Bool {
            let order = unsafe Platform.order(left, right, count: min(left.count, right.count))
            return order == 0 ? left.count < right.count : order < 0
        }
    }
}
