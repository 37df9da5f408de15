// PageScan.swift — finds the log's records on pages that nobody vouches for: also on those that
// were freed, and on those whose header or offsets are damaged.
//
// A leaf that accounts for all of its bytes is walked node by node. On every other page each even
// offset is tried as well: a frame is known by its checksum, a commit's record and a body's by the
// shape of its node.

import TidemarkEvents
package import TidemarkStore

/// A look at one page after another.
package struct PageScan {
    package private(set) var found = FoundRecords()

    private let pageBytes: Int
    /// Reads bytes of the file, fewer at its end.
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]
    /// The frames of the page at hand, by where they begin in it.
    private var own: [Int: FoundFrame] = [:]

    package init(pageBytes: Int, read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]) {
        self.pageBytes = pageBytes
        self.read = read
    }

    /// Looks at the page of that number.
    package mutating func look(at page: PageImage, number: Int) {
        let base = UInt64(number * pageBytes)
        own.removeAll(keepingCapacity: true)
        switch page.kind {
        case .overflow where page.number == UInt64(number): noteHead(page.bytes, base)
        case .branch where page.number == UInt64(number): break
        case .meta where number < 2: break
        case .leaf: if !walk(page, base) { search(page, base) }
        default:
            _ = walk(page, base)
            search(page, base)
        }
        found.frames += own.values
        inferPositions()
    }

    // MARK: Nodes

    /// Walks over a page as a leaf; whether it accounts for all of its bytes, and every record of
    /// the log in it is whole.
    private mutating func walk(_ page: PageImage, _ base: UInt64) -> Bool {
        guard let count = page.nodeCount else { return false }
        var isWhole = true
        var bytes = 0
        for index in 0..<count {
            guard let node = page.node(index, of: .leaf) else {
                isWhole = false
                continue
            }
            bytes += (node.bytes.count + 1) & ~1
            if !take(node, of: page, base) { isWhole = false }
        }
        return isWhole && bytes == page.bytes.count - page.upper
    }

    /// Takes what a node holds if it is the log's; false where it should be and is damaged.
    private mutating func take(
        _ node: PageImage.Node, of page: PageImage, _ base: UInt64
    ) -> Bool {
        guard !node.isTable else { return true }
        let key = page.bytes[node.key]
        switch key.count {
        case 4 where key.elementsEqual("edge".utf8):
            if let data = node.data,
                let edge = try? MerkleEdge(parsing: Array(page.bytes[data]))
            {
                found.note(edge)
            }
        case 8 where key.elementsEqual("identity".utf8):
            if let data = node.data,
                let mark = try? EventLog.Mark(parsing: Array(page.bytes[data]))
            {
                found.storeIDs.insert(mark.storeID)
            }
        case 8:
            guard let position = Position(bigEndianBytes: key), isPlausible(position) else {
                return true
            }
            return take(position, node, of: page, base)
        case CommitRecord.keyBytes where key.last == CommitRecord.mark:
            guard let position = Position(bigEndianBytes: key.dropLast()), isPlausible(position)
            else { return true }
            return take(commit: node, position, of: page)
        case 12: take(sealed: node, of: page, base)
        case 36: take(part: node, of: page, base)
        default: break
        }
        return true
    }

    private mutating func take(
        _ position: Position, _ node: PageImage.Node, of page: PageImage, _ base: UInt64
    ) -> Bool {
        let offset: UInt64
        let data: [UInt8]
        if let inline = node.data {
            offset = base + UInt64(inline.lowerBound)
            data = Array(page.bytes[inline])
        } else if let first = node.page, let start = dataOffset(first) {
            offset = UInt64(start)
            data = read(start, node.dataBytes)
        } else {
            return false
        }
        if let commit = FoundCommit(beginning: data, last: position) {
            found.commits.append(commit)
            return true
        }
        guard data.count == node.dataBytes else { return false }
        if let frame = frame(data, at: offset, position) {
            own[node.bytes.lowerBound] = frame
            return true
        }
        guard let bit = EventFrame.turnedBit(of: data) else { return false }
        var mended = data
        mended.turn(bit: bit)
        if var frame = frame(mended, at: offset, position) {
            frame.mendedBit = Int32(bit)
            found.frames.append(frame)
        }
        return false
    }

    private mutating func take(
        commit node: PageImage.Node, _ last: Position, of page: PageImage
    ) -> Bool {
        let data =
            node.data.map { Array(page.bytes[$0]) }
            ?? node.page.flatMap(dataOffset).map { read($0, node.dataBytes) }
        guard let data, data.count == node.dataBytes,
            let record = try? CommitRecord(framed: data.span, last: last)
        else { return false }
        if record.root.count == SHA256Digest.byteCount, record.first <= record.last {
            found.commits.append(
                FoundCommit(first: record.first, last: record.last, root: record.root))
        }
        return true
    }

    private mutating func take(part node: PageImage.Node, of page: PageImage, _ base: UInt64) {
        guard let part = part(node, of: page, base) else { return }
        let hash = Array(page.bytes[node.key].prefix(32))
        if found.parts[hash]?.contains(part) != true { found.parts[hash, default: []].append(part) }
    }

    private mutating func take(sealed node: PageImage.Node, of page: PageImage, _ base: UInt64) {
        guard let last = Position(bigEndianBytes: page.bytes[node.key].prefix(8)),
            last > .start, isPlausible(last), let part = part(node, of: page, base),
            found.sealedParts[last]?.contains(part) != true
        else { return }
        found.sealedParts[last, default: []].append(part)
    }

    /// What a node holds as a record of something that was cut into records.
    private func part(_ node: PageImage.Node, of page: PageImage, _ base: UInt64) -> FoundPart? {
        guard (1...EventLog.bodyRecordBytesMax).contains(node.dataBytes) else { return nil }
        var start = node.data.map { base + UInt64($0.lowerBound) }
        if let first = node.page { start = dataOffset(first).map(UInt64.init) }
        guard let start else { return nil }
        let number = page.bytes[node.key].suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return FoundPart(number: number, offset: start, bytes: UInt32(node.dataBytes))
    }

    private func isPlausible(_ position: Position) -> Bool {
        position.rawValue < FoundRecords.positionsMax
    }

    /// Where the data on overflow pages begins.
    private func dataOffset(_ page: UInt64) -> Int? {
        guard page >= 2, page < 1 << 40 else { return nil }
        return Int(page) * pageBytes + PageImage.headerBytes
    }

    /// The frame in these bytes, if they are one.
    private mutating func frame(
        _ bytes: [UInt8], at offset: UInt64, _ position: Position
    ) -> FoundFrame? {
        guard bytes.count > EventFrame.prefixBytes, bytes.count <= UInt32.max else { return nil }
        do throws(EventFrame.Damage) { _ = try EventFrame.Layout(of: bytes.span) } catch {
            switch error {
            case .newerFormat, .unknownFlags: found.newer += 1
            default: break
            }
            return nil
        }
        return FoundFrame(
            position: position, offset: offset, bytes: UInt32(bytes.count),
            checksum: (4..<8).reversed().reduce(0) { $0 << 8 | UInt32(bytes[$1]) })
    }

    // MARK: Any offset

    /// The bytes of a node before its key, and of a position.
    private static let (nodeBytes, positionBytes) = (8, 8)

    /// Tries every even offset of a page, where all nodes and what they hold begin.
    private mutating func search(_ page: PageImage, _ base: UInt64) {
        let bytes = page.bytes
        let end = bytes.count - Self.nodeBytes - Self.positionBytes
        guard end > 0 else { return }
        for start in stride(from: 0, to: end, by: 2) {
            // A node with a key of 12 or 36 bytes, and flags that ours have.
            let keyBytes = bytes[start + 6]
            if keyBytes == 12 || keyBytes == 36, bytes[start + 7] == 0, bytes[start + 5] == 0,
                bytes[start + 4] <= 1, let node = page.node(at: start, of: .leaf)
            {
                if keyBytes == 36 {
                    take(part: node, of: page, base)
                } else {
                    take(sealed: node, of: page, base)
                }
            }
            let data = start + Self.nodeBytes + Self.positionBytes
            guard let position = Position(bigEndianBytes: bytes[data - 8..<data]) else { continue }
            if bytes[data] == CommitRecord.mark, position > .start, isPlausible(position) {
                note(commitAt: data + 1, position, in: bytes)
            }
            if bytes[data] == 0x08, position > .start, isPlausible(position),
                let commit = FoundCommit(
                    beginning: Array(bytes[data..<min(data + 64, bytes.count)]), last: position)
            {
                found.commits.append(commit)
            }
            // A header's first field is its kind, which no event lacks.
            if bytes[data] == EventFrame.format, bytes[data + 1] <= 1, own[start] == nil,
                data + EventFrame.prefixBytes < bytes.count,
                bytes[data + EventFrame.prefixBytes] == 0x08,
                let frame = frame(in: page, node: start, base, position)
            {
                own[start] = frame
            }
        }
    }

    /// Notes what may be the record of a commit, without its checksum: its root is what proves it.
    private mutating func note(commitAt start: Int, _ last: Position, in bytes: [UInt8]) {
        let record = start + CommitRecord.prefixBytes
        guard record < bytes.count, bytes[start] == CommitRecord.format,
            bytes[start + 1] == CommitRecord.flags, bytes[start + 2] == 0, bytes[start + 3] == 0,
            let commit = FoundCommit(
                beginning: Array(bytes[record..<min(record + 64, bytes.count)]), last: last)
        else { return }
        found.commits.append(commit)
    }

    /// The frame behind what may be a node; its length is that of the node, or else any that fits
    /// the checksum.
    private mutating func frame(
        in page: PageImage, node start: Int, _ base: UInt64, _ position: Position
    ) -> FoundFrame? {
        let data = start + Self.nodeBytes + Self.positionBytes
        let offset = base + UInt64(data)
        if let node = page.node(at: start, of: .leaf), node.key.count == Self.positionBytes,
            let range = node.data,
            let frame = frame(Array(page.bytes[range]), at: offset, position)
        {
            return frame
        }
        return page.bytes.span.frameLength(at: data).flatMap {
            frame(Array(page.bytes[data..<data + $0]), at: offset, position)
        }
    }

    /// Gives frames of one page whose positions do not follow one another the position that would,
    /// where that is one bit off: the root decides.
    private mutating func inferPositions() {
        // Positions are only ever appended: a later node lies before an earlier one.
        let order = own.sorted { $0.key > $1.key }.map(\.value)
        for (before, after) in zip(order, order.dropFirst())
        where before.position.next != after.position {
            var (left, right) = (before, after)
            (left.isMoved, right.isMoved) = (true, true)
            left.position = Position(after.position.rawValue &- 1)
            right.position = Position(before.position.rawValue &+ 1)
            for (frame, other) in [(left, before.position), (right, after.position)] {
                let difference = frame.position.rawValue ^ other.rawValue
                if difference.nonzeroBitCount == 1, frame.position > .start {
                    found.frames.append(frame)
                }
            }
        }
    }

    /// Notes an overflow page that seems to begin a body.
    private mutating func noteHead(_ bytes: [UInt8], _ base: UInt64) {
        let start = PageImage.headerBytes
        guard bytes.count > start + StoredBody.headBytes, bytes[start] == StoredBody.format,
            bytes[start + 1] <= 1
        else { return }
        let length = bytes[start + 2..<start + 10].reversed().reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        guard length < 1 << 40 else { return }
        found.bodyHeads[length, default: []].append(base + UInt64(start))
    }
}

extension Span<UInt8> {
    /// How long the frame at an offset is, by its checksum alone; nil where no length fits.
    fileprivate func frameLength(at start: Int) -> Int? {
        let headerBytes = Int(self[start + 2]) | Int(self[start + 3]) << 8
        let least = start + EventFrame.prefixBytes + headerBytes
        guard headerBytes > 0, least <= count else { return nil }
        var stored: UInt32 = 0
        for index in (4..<8).reversed() { stored = stored << 8 | UInt32(self[start + index]) }
        var crc = CRC32C()
        crc.update(extracting(start..<start + 4))
        crc.update(extracting(start + 8..<least))
        for end in least...count {
            if crc.value == stored { return end - start }
            if end < count { crc.update(extracting(end..<end + 1)) }
        }
        return nil
    }
}
