// PartFile.swift — a file that bytes come into, or go out of, part by part.

/// An open file that is read or written in parts; closed with its last reference.
///
/// Nothing that is written is durable before the file is synced.
package final class PartFile: Sendable {
    /// After how many bytes they begin to go to the disk, while more come.
    private static let flushBytes = 8 << 20

    private let descriptor: Int32
    private let path: String

    /// Opens a regular file that is there, following no link.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where there is none or it has fewer than `offset`
    ///   bytes, or what else the system says.
    package init(
        _ path: String, writing: Bool, atLeast offset: Int
    ) throws(StoreError) {
        self.path = path
        do throws(SystemNumber) {
            descriptor =
                writing
                ? try Platform.openForWriting(path) : try Platform.openForReading(path)
        } catch  where error.number == Platform.noEntry {
            throw ContentFiles.unfit("there is no file \(path)")
        } catch { throw .system(error.number, during: "contents", path) }
        let status: FileStatus
        do throws(SystemNumber) {
            status = try Platform.status(of: descriptor)
        } catch { throw .system(error.number, during: "contents", path) }
        guard status.kind == .regular, offset >= 0, status.sizeBytes >= offset else {
            throw ContentFiles.unfit("\(path) is no regular file of \(offset) bytes or more")
        }
    }

    deinit { Platform.closeFile(descriptor) }

    /// Writes at a place; what follows it stays.
    package func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
        do throws(SystemNumber) {
            try Platform.write(bytes, to: descriptor, at: offset)
        } catch { throw .system(error.number, during: "contents", path) }
        let (first, last) = (
            offset / Self.flushBytes, (offset + bytes.count) / Self.flushBytes
        )
        guard first < last else { return }
        // Else all of a large file is written when it is synced, and nothing comes meanwhile.
        Platform.beginFlush(
            descriptor, at: first * Self.flushBytes, count: (last - first) * Self.flushBytes)
    }

    /// Refuses to take so many bytes more where no room would be left for what a store writes.
    ///
    /// - Returns: how many more there is room for, as far as that can be told.
    /// - Throws: ``StoreError``: `diskFull`.
    package func expectRoom(for bytes: Int) throws(StoreError) -> Int {
        guard let space = Platform.space(descriptor) else { return .max }
        #if canImport(Darwin)
            // What the system gives up when more is needed is not told as free.
            let bytes = 0
        #endif
        let room = Self.room(free: space.free, of: space.size)
        guard bytes <= room else { throw .system(Platform.noSpace, during: "contents", path) }
        return room - bytes
    }

    /// How many bytes leave room on a disk: 16 MiB, and of small ones a sixteenth.
    package static func room(free: Int, of size: Int) -> Int { free - min(16 << 20, size / 16) }

    /// Takes away what is at a place and after it.
    package func cut(at offset: Int) throws(StoreError) {
        do throws(SystemNumber) { try Platform.cut(descriptor, at: offset) } catch {
            throw .system(error.number, during: "contents", path)
        }
    }

    /// Up to `count` bytes at a place; fewer only at the end of the file.
    package func read(at offset: Int, count: Int) throws(StoreError) -> [UInt8] {
        do throws(SystemNumber) {
            return try Platform.read(descriptor, at: offset, count: count)
        } catch { throw .system(error.number, during: "contents", path) }
    }
}
