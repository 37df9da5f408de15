// DataPages.swift — LMDB's file page by page, read by pread: never mapped, never opened by LMDB, so
// that nothing in it can harm who reads it.

/// A data file that is only read, whatever is in it.
package final class DataPages: Sendable {
    package let pageBytes: Int
    /// How long the file is.
    package let byteCount: Int
    private let descriptor: Int32
    /// The meta pages that can be read.
    private let metas: [DataFile.Meta]
    /// The one that counts; nil where that can't be told for certain.
    private var meta: DataFile.Meta? { Self.newest(metas) }

    /// The sizes that are tried where no meta page says which it is; the commonest first.
    private static let triedPageBytes = [4096, 16384, 65536, 8192, 32768, 2048, 1024, 512]

    /// Opens the data file in a directory.
    ///
    /// - Throws: ``StoreError``: `missing`, `invalidPath`, or what the system says.
    package init(in directory: String) throws(StoreError) {
        let path = directory + "/data.mdb"
        guard try StorePath.existingFile(path) != nil else {
            throw StoreError(.missing, during: "open", detail: "no \(path)")
        }
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            self.descriptor = descriptor
            byteCount = try Platform.status(of: descriptor).sizeBytes
            let file = DataFile(descriptor: descriptor)
            metas = Self.metas(of: file)
            pageBytes =
                metas.first?.pageBytes ?? Self.likelyPageBytes(descriptor, byteCount: byteCount)
        } catch {
            throw .system(error.number, during: "open", path)
        }
    }

    deinit { Platform.closeFile(descriptor) }

    /// How many pages there are; the last one may be cut off.
    package var pageCount: Int { (byteCount + pageBytes - 1) / pageBytes }

    /// Up to `count` bytes at an offset; fewer only at the end of the file.
    ///
    /// What the disk can't read is zeros.
    package func bytes(at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        let count = min(count, byteCount - offset)
        if let bytes = try? Platform.read(descriptor, at: offset, count: count) { return bytes }
        var bytes: [UInt8] = []
        let sectorBytes = 512
        while bytes.count < count {
            let part = min(sectorBytes, count - bytes.count)
            let read = try? Platform.read(descriptor, at: offset + bytes.count, count: part)
            bytes += read ?? []
            bytes += [UInt8](repeating: 0, count: part - (read?.count ?? 0))
        }
        return bytes
    }

    /// A page, or a run of pages that begins with it; what is behind the end of the file is zeros.
    package func page(_ number: Int, count: Int = 1) -> PageImage {
        let bytes = bytes(at: number * pageBytes, count: count * pageBytes)
        return PageImage(bytes + [UInt8](repeating: 0, count: count * pageBytes - bytes.count))
    }

    /// A single value of the store, by the meta page that counts; see ``Catalog``.
    ///
    /// Nil where there is none, or a page on the way or a meta page is damaged.
    package func value(of key: CatalogKey) -> [UInt8]? {
        guard let meta else { return nil }
        let found = find(key.bytes, root: meta.main.root).flatMap {
            $0.node.isTable ? nil : $0.value
        }
        return found ?? value(of: key.bytes, in: Array(Catalog.formerTableName.utf8))
    }

    /// The same by any meta page that can be read: it may be there no more.
    package func oldValue(of key: CatalogKey) -> [UInt8]? {
        metas.lazy.compactMap { meta in
            self.find(key.bytes, root: meta.main.root).flatMap { $0.node.isTable ? nil : $0.value }
        }.first
    }

    /// The value of a key of a table, by the meta page that counts.
    ///
    /// Nil where there is none, and where a page on the way, or a meta page, is damaged.
    package func value(of key: [UInt8], in table: [UInt8]) -> [UInt8]? {
        guard let meta, let record = find(table, root: meta.main.root), record.node.isTable,
            record.value.count >= DataFile.Tree.bytes
        else { return nil }
        let found = find(key, root: DataFile.Tree(record.value, at: 0).root)
        return found.flatMap { $0.node.isTable ? nil : $0.value }
    }

    private static let depthMax = 32

    private func find(
        _ key: [UInt8], root: UInt64
    ) -> (node: PageImage.Node, value: [UInt8])? {
        var number = root
        for _ in 0..<Self.depthMax {
            guard number >= 2, number < UInt64(byteCount / pageBytes) else { return nil }
            let page = page(Int(number))
            guard page.number == number, let kind = page.kind, kind == .branch || kind == .leaf,
                let count = page.nodeCount
            else { return nil }
            let nodes = (0..<count).map { page.node($0, of: kind) }
            guard kind == .leaf else {
                // A branch's first key says nothing: what is before the second one lies there.
                let next = nodes.indices.last { index in
                    guard let node = nodes[index] else { return false }
                    return index == 0 || !ByteOrder.precedes(key, Array(page.bytes[node.key]))
                }
                guard let next, let child = nodes[next]?.page else { return nil }
                number = child
                continue
            }
            let node = nodes.compactMap(\.self).first { page.bytes[$0.key].elementsEqual(key) }
            guard let node else { return nil }
            if let data = node.data { return (node, Array(page.bytes[data])) }
            guard let first = node.page, first < UInt64(byteCount / pageBytes),
                self.page(Int(first)).kind == .overflow
            else { return nil }
            let value = bytes(
                at: Int(first) * pageBytes + PageImage.headerBytes, count: node.dataBytes)
            return value.count == node.dataBytes ? (node, value) : nil
        }
        return nil
    }

    // MARK: Meta pages

    private static func metas(of file: DataFile) -> [DataFile.Meta] {
        let first = (try? file.meta(at: 0)) ?? nil
        let sizes = first.map { [$0.pageBytes] } ?? triedPageBytes
        let second = sizes.lazy.compactMap { size in
            ((try? file.meta(at: size)) ?? nil).flatMap { $0.pageBytes == size ? $0 : nil }
        }.first
        return [first, second].compactMap(\.self)
    }

    /// The one with the greater transaction: they take turns, so anything else is damage.
    private static func newest(_ metas: [DataFile.Meta]) -> DataFile.Meta? {
        guard metas.count == 2, metas[0].isFollowed(by: metas[1]) else { return nil }
        return metas[0].transaction > metas[1].transaction ? metas[0] : metas[1]
    }

    /// The size by which the most pages bear their own number, of the first some thousand.
    private static func likelyPageBytes(_ descriptor: Int32, byteCount: Int) -> Int {
        func fitting(_ size: Int) -> Int {
            (2..<max(3, min(byteCount / size, 2048))).count { number in
                let head = try? Platform.read(
                    descriptor, at: number * size, count: PageImage.headerBytes)
                guard let head, head.count == PageImage.headerBytes else { return false }
                let page = PageImage(head)
                return page.kind != nil && page.number == UInt64(number)
            }
        }
        let sizes = triedPageBytes.map { (bytes: $0, pages: fitting($0)) }
        let best = sizes.max { $0.pages * $0.bytes < $1.pages * $1.bytes }
        return best.map { $0.pages > 0 ? $0.bytes : triedPageBytes[0] } ?? triedPageBytes[0]
    }
}
