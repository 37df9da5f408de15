// MapPages.swift — is the page that a record was found on the one that it says, and whole? LMDB
// takes whatever lies where a branch leads to.
//
// A page begins at a multiple of its size, in the map as in the file, so a pointer to a record tells
// where its page begins. Each page bears its number: numbers and places of all pages fit together.

import CLMDB

/// What is known of the map of one environment.
@safe final class MapPages: Sendable {
    /// The bytes of a page; 0 where pages are larger than the system's, and lie anywhere.
    private let pageBytes: UInt
    /// Where page 0 lies, and where the map ends; nil until a page was read, and after the map was
    /// moved.
    private let place = Lock<Range<UInt>?>(nil)

    init(pageBytes: Int) {
        self.pageBytes = pageBytes <= Platform.pageBytes ? UInt(pageBytes) : 0
    }

    /// The map was, or may have been, moved.
    func forget() { place.withLock { $0 = nil } }

    /// What one transaction knows of it.
    ///
    /// - Parameter mapBytes: how long the map is.
    func view(mapBytes: () -> Int) -> View? {
        guard pageBytes > 0 else { return nil }
        return View(pages: self, pageBytes: pageBytes, place: known, mapBytes: mapBytes())
    }

    private var known: Range<UInt>? { place.withLock(\.self) }

    private func learn(_ place: Range<UInt>) { self.place.withLock { $0 = $0 ?? place } }

    /// The pages as one transaction sees them.
    @safe struct View {
        private let pages: MapPages
        private let pageBytes: UInt
        private let place: Range<UInt>?
        private let mapBytes: Int

        fileprivate init(
            pages: MapPages, pageBytes: UInt, place: Range<UInt>?, mapBytes: Int
        ) {
            self.pages = pages
            self.pageBytes = pageBytes
            self.place = place
            self.mapBytes = mapBytes
        }

        /// Where the page begins that a pointer leads into; nil for memory of a transaction that
        /// writes, which is no page of the file yet.
        private func page(of pointer: UnsafeRawPointer, isWriting: Bool) -> UnsafeRawPointer? {
            let start = UInt(bitPattern: pointer) & ~(pageBytes - 1)
            if isWriting, place?.contains(start) != true { return nil }
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
            guard let place = place ?? pages.known else {
                // The first one that is read tells where the others are to be.
                let start = UInt(bitPattern: page) &- number &* pageBytes
                let end = start &+ UInt(mapBytes)
                guard number < UInt(mapBytes) / pageBytes, start < end else { return false }
                pages.learn(start..<end)
                return true
            }
            return place.lowerBound &+ number &* pageBytes == UInt(bitPattern: page)
        }

        /// Whether a pointer leads into a leaf that is the right one and whole: its nodes within
        /// their bounds, its keys in order.
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
                guard node + 8 + count <= Int(pageBytes) else { return false }
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
