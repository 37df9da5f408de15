// PartReader.swift — a part of a file that goes out, from its beginning to its end.

/// Reads a part of a file, as much at a time as is asked for.
package struct PartReader: Sendable {
    /// How many bytes the part has.
    package let count: Int
    /// How many of them are still to be read.
    package private(set) var left: Int
    private let file: PartFile
    private let path: String
    private let end: Int

    /// Opens a regular file that has the whole part.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where there is none or it is too short, or what else
    ///   the system says.
    package init(_ path: String, offset: Int, count: Int) throws(StoreError) {
        guard offset >= 0, count >= 0, offset <= Int.max - count else {
            throw ContentFiles.unfit("\(count) bytes from \(offset) are no part of \(path)")
        }
        file = try PartFile(path, writing: false, atLeast: offset + count)
        self.path = path
        self.count = count
        left = count
        end = offset + count
    }

    /// The next bytes, `most` or fewer; none only at the end of the part.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where the file has become too short meanwhile, or
    ///   what else the system says.
    package mutating func next(_ most: Int) throws(StoreError) -> [UInt8] {
        let wanted = min(most, left)
        guard wanted > 0 else { return [] }
        let bytes = try file.read(at: end - left, count: wanted)
        guard bytes.count == wanted else {
            throw ContentFiles.unfit(
                "\(path) became shorter while it was read: \(count) bytes to \(end) are wanted")
        }
        left -= wanted
        return bytes
    }
}
