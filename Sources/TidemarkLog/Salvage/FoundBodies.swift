// FoundBodies.swift — bodies put together from their records, wherever these were found; the body's
// SHA-256 proves it.

import TidemarkEvents
import TidemarkStore

/// The bodies of a damaged file.
struct FoundBodies {
    private let file: DataPages
    private let parts: [Hash: [FoundPart]]
    private let heads: [UInt64: [UInt64]]
    private var whole: Set<BodyReference> = []
    private var lacking: Set<BodyReference> = []
    /// Bodies of which one bit was turned back.
    private(set) var mended: [BodyReference: [UInt8]] = [:]
    /// How many bodies may still be searched in vain for a turned bit.
    private var mendingsLeft = 4
    /// Where the data on overflow pages begins that a record's key was found for.
    private lazy var claimed: Set<UInt64> = Set(parts.values.joined().lazy.map(\.offset))

    private enum Most {
        /// How far apart the pages of two records are that follow one another.
        static let pagesApart = 64
        /// Bodies of one length whose keys are lost.
        static let heads = 256
        /// Bytes that are decompressed and hashed to find a turned bit: some half a minute.
        static let mendingBytes = 1 << 35
    }

    init(_ found: FoundRecords, in file: DataPages) {
        self.file = file
        parts = found.parts
        heads = found.bodyHeads
    }

    /// Whether a body is there and whole.
    mutating func has(_ reference: BodyReference) -> Bool {
        if whole.contains(reference) { return true }
        guard !lacking.contains(reference) else { return false }
        let isThere = body(reference) != nil
        if isThere { whole.insert(reference) } else { lacking.insert(reference) }
        return isThere
    }

    /// The bodies that a frame refers to, itself or by what its payload says; nil where one is
    /// not there.
    mutating func bodies(of frame: EventFrame) -> [[UInt8]]? {
        var found: [[UInt8]] = []
        var payload: [UInt8]
        switch frame.payload {
        case .inline(let bytes): payload = bytes
        case .body(let reference):
            guard let body = body(reference) else { return nil }
            found.append(body)
            payload = body
        }
        guard let event = try? Event(header: frame.header, payload: []),
            event.kind == .requestAnswered, let named = BodyReference(NamedBody(stored: payload))
        else { return found }
        guard let body = body(named) else { return nil }
        return found + [body]
    }

    /// The first body that a frame refers to and that is not there.
    mutating func missing(of frame: EventFrame) -> BodyReference? {
        var payload: [UInt8]?
        switch frame.payload {
        case .inline(let bytes): payload = bytes
        case .body(let reference): guard has(reference) else { return reference }
        }
        guard let event = try? Event(header: frame.header, payload: []),
            event.kind == .requestAnswered
        else { return nil }
        if case .body(let reference) = frame.payload { payload = body(reference) }
        guard let payload, let named = BodyReference(NamedBody(stored: payload)) else { return nil }
        return has(named) ? nil : named
    }

    /// A body, proven by its hash.
    mutating func body(_ reference: BodyReference) -> [UInt8]? {
        if let body = mended[reference] { return body }
        let known = (parts[reference.hash] ?? []).sorted { $0.number < $1.number }
        var stored = known.joined(read)
        if let body = decode(stored, reference) { return body }
        // One of several places of a record is right.
        for (index, part) in known.enumerated() {
            let others = known.enumerated().filter { $0.element.number != part.number }
            guard others.count < known.count - 1 else { continue }
            let choice = others.map(\.element) + [known[index]]
            let bytes = choice.sorted { $0.number < $1.number }.joined(read)
            if let body = decode(bytes, reference) { return body }
        }
        if let body = unclaimed(reference, after: known) { return body }
        if stored.isEmpty, let head = heads[reference.bytes]?.first { stored = run(from: head) }
        return isMendable(stored, known, reference) ? mend(stored, reference) : nil
    }

    private func read(_ part: FoundPart) -> [UInt8] {
        file.bytes(at: Int(part.offset), count: Int(part.bytes))
    }

    /// The body in stored bytes, of which there may be too many.
    private func decode(_ bytes: [UInt8], _ reference: BodyReference) -> [UInt8]? {
        guard let count = Self.storedBytes(bytes), bytes.count >= count else { return nil }
        return try? StoredBody.decode(Array(bytes.prefix(count)), as: reference)
    }

    /// How many bytes are stored of a body, its head among them, by what its head says.
    private static func storedBytes(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= StoredBody.headBytes else { return nil }
        let stored = bytes[10..<18].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return stored < 1 << 40 ? Int(stored) + StoredBody.headBytes : nil
    }

    // MARK: Records whose keys are lost

    /// The body on pages that no key was found for, or only for some.
    private mutating func unclaimed(
        _ reference: BodyReference, after known: [FoundPart]
    ) -> [UInt8]? {
        var starts: [UInt64] = []
        if let first = known.first, first.number == 0 { starts.append(first.offset) }
        starts += (heads[reference.bytes] ?? []).filter { !claimed.contains($0) }
        for start in starts.prefix(Most.heads) {
            if let body = decode(run(from: start, known), reference) { return body }
        }
        return nil
    }

    /// The stored bytes that begin at an offset and go on on pages behind it, as they are handed
    /// out in their order; where a record's key is known, that record.
    private mutating func run(from start: UInt64, _ known: [FoundPart] = []) -> [UInt8] {
        let recordBytes = EventLog.bodyRecordBytesMax
        guard let count = Self.storedBytes(file.bytes(at: Int(start), count: recordBytes)),
            count <= file.byteCount
        else { return [] }
        var bytes: [UInt8] = []
        var offset = start
        while bytes.count < count {
            let number = UInt32(bytes.count / recordBytes)
            if let part = known.first(where: { $0.number == number }) {
                offset = part.offset
            } else if number > 0 {
                guard let next = nextRecord(after: offset) else { return [] }
                offset = next
            }
            let part = file.bytes(at: Int(offset), count: min(recordBytes, count - bytes.count))
            guard !part.isEmpty else { return [] }
            bytes += part
        }
        return bytes
    }

    /// The data of the next page that may hold a record and that no key was found for.
    private mutating func nextRecord(after offset: UInt64) -> UInt64? {
        let page = Int(offset) / file.pageBytes
        for number in page + 1..<page + 1 + Most.pagesApart {
            let head = PageImage(
                file.bytes(at: number * file.pageBytes, count: PageImage.headerBytes))
            guard head.bytes.count == PageImage.headerBytes else { return nil }
            let data = UInt64(number * file.pageBytes + PageImage.headerBytes)
            if head.kind == .overflow, head.number == UInt64(number), !claimed.contains(data) {
                return data
            }
        }
        return nil
    }

    // MARK: One turned bit

    /// Whether one turned bit may be all that is wrong with stored bytes, and is worth the search.
    private func isMendable(
        _ stored: [UInt8], _ known: [FoundPart], _ reference: BodyReference
    ) -> Bool {
        let bits = (8 * stored.count).multipliedReportingOverflow(
            by: stored.count + Int(min(reference.bytes, UInt64(Int32.max))))
        guard stored.count >= StoredBody.headBytes, mendingsLeft > 0,
            !bits.overflow, bits.partialValue <= Most.mendingBytes
        else { return false }
        // A sector of zeros, or another page in the place of one of these, is more than a bit.
        let zeros = stored.reduce((run: 0, longest: 0)) { counted, byte in
            let run = byte == 0 ? counted.run + 1 : 0
            return (run, max(run, counted.longest))
        }
        let pages = known.filter { $0.offset % UInt64(file.pageBytes) == PageImage.headerBytes }
        return zeros.longest < 64
            && pages.allSatisfy { file.page(Int($0.offset) / file.pageBytes).kind == .overflow }
    }

    /// The body, with one bit of its stored bytes turned back.
    private mutating func mend(_ stored: [UInt8], _ reference: BodyReference) -> [UInt8]? {
        var bytes = stored
        for bit in 0..<8 * bytes.count {
            bytes.turn(bit: bit)
            if let body = try? StoredBody.decode(bytes, as: reference) {
                mended[reference] = body
                return body
            }
            bytes.turn(bit: bit)
        }
        mendingsLeft -= 1
        return nil
    }
}
