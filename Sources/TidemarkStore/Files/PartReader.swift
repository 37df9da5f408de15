// PartReader.swift — a part of a file that goes out, from its beginning to its end.

/// Reads a part of a file, and what stands around it, as much at a time as is asked for.
package struct PartReader: Sendable {
    /// How many bytes there are.
    package let count: Int
    /// How many of them are still to be read.
    package private(set) var left: Int
    private let file: PartFile
    private let path: String
    private let offset: Int
    /// What comes before the part, and after it.
    private let before: [UInt8]
    private let after: [UInt8]
    /// Is told how many bytes of the file were read.
    package var onRead: (@Sendable (Int) -> Void)?

    /// Opens a regular file that has the whole part.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where there is none or it is too short, or what else
    ///   the system says.
    package init(
        _ path: String, offset: Int, count: Int, before: [UInt8] = [], after: [UInt8] = []
    ) throws(StoreError) {
        guard offset >= 0, count >= 0, offset <= Int.max - count - before.count - after.count
        else {
            throw ContentFiles.unfit("\(count) bytes from \(offset) are no part of \(path)")
        }
        file = try PartFile(path, writing: false, atLeast: offset + count)
        self.path = path
        self.count = before.count + count + after.count
        left = self.count
        self.offset = offset
        self.before = before
        self.after = after
    }

    /// Tells ``onRead`` how many bytes of the file are among the first ones of all that goes out:
    /// for a sender that reads them elsewhere.
    package var onSent: (@Sendable (Int) -> Void)? {
        guard let onRead else { return nil }
        let (first, most) = (before.count, count - before.count - after.count)
        return { onRead(min(max($0 - first, 0), most)) }
    }

    /// The next bytes, `most` or fewer; none only at the end.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where the file has become too short meanwhile, or
    ///   what else the system says.
    package mutating func next(_ most: Int) throws(StoreError) -> [UInt8] {
        let place = count - left
        let end = count - after.count
        let bytes: [UInt8]
        if place < before.count {
            bytes = Array(before[place...].prefix(most))
        } else if place < end {
            bytes = try read(from: place - before.count, min(most, end - place))
            onRead?(place - before.count + bytes.count)
        } else {
            bytes = Array(after[(place - end)...].prefix(most))
        }
        left -= bytes.count
        return bytes
    }

    private func read(from place: Int, _ wanted: Int) throws(StoreError) -> [UInt8] {
        guard wanted > 0 else { return [] }
        let bytes = try file.read(at: offset + place, count: wanted)
        guard bytes.count == wanted else {
            let (part, end) = (count - before.count - after.count, offset + place + wanted)
            throw ContentFiles.unfit(
                "\(path) became shorter while it was read: of \(part) bytes from \(offset) on "
                    + "those up to \(end) are wanted")
        }
        return bytes
    }
}
