// ContentFiles.swift — files beside the data of a store, each under the SHA-256 of its bytes.
//
//   STORE/contents/ab/abcd…   a file, 0400: its name is 64 hexadecimal digits, its folder's name
//                             the first two of them
//   STORE/contents/.part/ID   a file in the making: ID is 1 to 64 of a–z, 0–9 and -
//
// A file is whole and on disk before it gets its name, and the name is on disk before anybody says
// that it is there. Names of any other form are nobody's business here: they are neither made, nor
// read, nor removed.

/// The folder with the contents of one store.
package struct ContentFiles: Sendable {
    /// A whole file.
    package struct Content: Sendable, Hashable {
        /// SHA-256 in 64 hexadecimal digits.
        package let digest: String
        /// Its length in bytes.
        package let bytes: UInt64

        package init(digest: String, bytes: UInt64) {
            self.digest = digest
            self.bytes = bytes
        }
    }

    /// The name of the folder in a store.
    static let name = "contents"
    private static let partsName = ".part"
    /// How much of a file is in memory at a time.
    private static let chunkBytes = 256 << 10

    let store: String
    /// Which directory the store is; nil where that does not matter.
    private let place: FileIdentity?
    private var folder: String { store + "/" + Self.name }
    var parts: String { folder + "/" + Self.partsName }

    /// The contents of the store in a directory; nothing is made yet.
    ///
    /// - Parameter place: which directory it must be for anything to be written or removed there.
    package init(of store: String, at place: FileIdentity? = nil) {
        self.store = StoreFiles.trimmed(store)
        self.place = place
    }

    func checkPlace() throws(StoreError) {
        try place?.checkPlace(store, during: "contents")
    }

    // MARK: Names

    /// Whether a text can name a file: 64 of 0–9 and a–f.
    package static func isDigest(_ name: String) -> Bool {
        name.utf8.count == 64 && name.utf8.allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// Whether a text can name a file in the making.
    package static func isPart(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                isDigit(byte) || (UInt8(ascii: "g")...UInt8(ascii: "z")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }

    /// Where a file lies, whether or not it is there.
    ///
    /// - Throws: ``StoreError``: `unfitFile` for a name that no file can have.
    package func path(of digest: String) throws(StoreError) -> String {
        guard Self.isDigest(digest) else {
            throw Self.unfit("\(digest.debugDescription) is no SHA-256 in 64 hexadecimal digits")
        }
        return shelf(digest) + "/" + digest
    }

    /// Where a file in the making lies.
    ///
    /// - Throws: ``StoreError``: `unfitFile` for a name that none can have.
    package func path(ofPart part: String) throws(StoreError) -> String {
        guard Self.isPart(part) else {
            throw Self.unfit(
                "\(part.debugDescription) is no name of a part: 1 to 64 of a–z, 0–9 and -")
        }
        return parts + "/" + part
    }

    private func shelf(_ digest: String) -> String { folder + "/" + digest.prefix(2) }

    static func unfit(_ detail: String) -> StoreError {
        StoreError(.unfitFile, during: "contents", detail: detail)
    }

    // MARK: Making

    /// Makes the folders; durable when this returns.
    package func prepare() throws(StoreError) {
        try checkPlace()
        do throws(SystemNumber) {
            try makeFolder(folder, in: store)
            try makeFolder(parts, in: folder)
        } catch { throw .system(error.number, during: "contents", folder) }
    }

    private func makeFolder(_ path: String, in parent: String) throws(SystemNumber) {
        guard try Self.kind(path) != .directory else { return }
        do throws(SystemNumber) { try Platform.makeDirectory(path, inStore: store) } catch
            where error.number == Platform.exists
        {
            // Another thread made it, or it is no folder of ours.
            guard try Self.kind(path) == .directory else { throw error }
        }
        try Platform.syncDirectory(parent)
    }

    /// Copies a file into the making: its blocks are shared where the file system can do so.
    ///
    /// It takes no more memory than a part of the file. The source must be a regular file, and stay
    /// what it is meanwhile.
    ///
    /// - Parameter progress: told how many bytes were copied so far.
    /// - Returns: what was copied; nothing of it is durable yet.
    /// - Throws: ``StoreError``: `unfitFile` for a source that is none or changed, `diskFull`, or
    ///   what else the system says; nothing is left of the copy then.
    package func copy(
        _ source: String, toPart part: String, progress: (_ bytes: UInt64) -> Void = { _ in }
    ) throws(StoreError) -> Content {
        let target = try path(ofPart: part)
        try prepare()
        let opened = try Self.openSource(source)
        defer { Platform.closeFile(opened.descriptor) }
        do throws(StoreError) {
            let content = try copy(opened.descriptor, source, to: target, progress)
            // What was opened, is as long as before, and was not written to.
            let now = try Self.status(source) { () throws(SystemNumber) in
                try Platform.status(of: opened.descriptor)
            }
            let named = try Self.status(source) { () throws(SystemNumber) in
                try Platform.status(of: source, followingLinks: true)
            }
            guard now.mark == opened.mark, named.identity == now.identity,
                content.bytes == UInt64(clamping: now.sizeBytes)
            else { throw Self.unfit("\(source) changed while it was copied") }
            return content
        } catch {
            try? Platform.remove(target)
            throw error
        }
    }

    private static func openSource(
        _ path: String
    ) throws(StoreError) -> (descriptor: Int32, mark: FileMark) {
        do throws(SystemNumber) {
            // A pipe would wait for whoever writes to it.
            guard try Platform.status(of: path, followingLinks: true).kind == .regular else {
                throw SystemNumber(number: Platform.invalidArgument)
            }
            let descriptor = try Platform.openFollowing(path)
            do throws(SystemNumber) {
                let status = try Platform.status(of: descriptor)
                guard status.kind == .regular else {
                    throw SystemNumber(number: Platform.invalidArgument)
                }
                return (descriptor, status.mark)
            } catch {
                Platform.closeFile(descriptor)
                throw error
            }
        } catch  where error.number == Platform.noEntry {
            throw unfit("there is no file \(path)")
        } catch  where error.number == Platform.invalidArgument {
            throw unfit("\(path) is no regular file")
        } catch { throw .system(error.number, during: "contents", path) }
    }

    private static func status(
        _ path: String, _ ask: () throws(SystemNumber) -> FileStatus
    ) throws(StoreError) -> FileStatus {
        do throws(SystemNumber) { return try ask() } catch  where error.number == Platform.noEntry {
            throw unfit("\(path) went away while it was copied")
        } catch { throw .system(error.number, during: "contents", path) }
    }

    private func copy(
        _ source: Int32, _ path: String, to target: String, _ progress: (_ bytes: UInt64) -> Void
    ) throws(StoreError) -> Content {
        do throws(SystemNumber) {
            try Platform.remove(target)
            let made = try Platform.createFile(target, inStore: store)
            defer { Platform.closeFile(made) }
            if Platform.clone(source, to: made) { return try Self.content(of: made, progress) }
            var hash = SHA256Stream()
            var offset = 0
            while true {
                let bytes = try Platform.read(source, at: offset, count: Self.chunkBytes)
                hash.add(bytes[...])
                try Platform.write(bytes, to: made, at: offset)
                offset += bytes.count
                progress(UInt64(offset))
                guard bytes.count == Self.chunkBytes else { break }
            }
            return Content(digest: Self.digits(hash.digest), bytes: UInt64(offset))
        } catch { throw .system(error.number, during: "contents", "copying \(path) to \(target)") }
    }

    private static func content(
        of file: Int32, _ progress: (_ bytes: UInt64) -> Void = { _ in }
    ) throws(SystemNumber) -> Content {
        var hash = SHA256Stream()
        var offset = 0
        while true {
            let bytes = try Platform.read(file, at: offset, count: chunkBytes)
            hash.add(bytes[...])
            offset += bytes.count
            progress(UInt64(offset))
            guard bytes.count == chunkBytes else { break }
        }
        return Content(digest: digits(hash.digest), bytes: UInt64(offset))
    }

    /// A hash in hexadecimal digits.
    static func digits(_ digest: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
            as: UTF8.self)
    }

    /// What a file in the making holds by now.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where there is none.
    package func content(ofPart part: String) throws(StoreError) -> Content {
        try Self.content(at: try path(ofPart: part))
    }

    /// What a regular file holds, wherever it lies; takes as long as reading it.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where there is none.
    package static func content(at path: String) throws(StoreError) -> Content {
        do throws(SystemNumber) {
            guard try kind(path) == .regular else { throw SystemNumber(number: Platform.noEntry) }
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            return try content(of: descriptor)
        } catch  where error.number == Platform.noEntry {
            throw unfit("there is no file \(path)")
        } catch { throw .system(error.number, during: "contents", path) }
    }

    /// Gives a file in the making its name, in the place of what may have that name; durable when
    /// this returns.
    ///
    /// - Parameter content: what it holds, as the caller has found by reading it.
    /// - Throws: ``StoreError``: `unfitFile` where its length is another one; what the system says.
    ///   The part stays as it was, unless only its rights or the folder could not be made durable.
    package func admit(part: String, as content: Content) throws(StoreError) {
        let (from, target) = (try path(ofPart: part), try path(of: content.digest))
        try checkPlace()
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(from)
            defer { Platform.closeFile(descriptor) }
            let bytes = try Platform.status(of: descriptor).sizeBytes
            guard UInt64(clamping: bytes) == content.bytes else {
                throw SystemNumber(number: Platform.invalidArgument)
            }
            try Platform.sync(descriptor)
            try makeFolder(shelf(content.digest), in: folder)
            try Platform.rename(from, to: target)
            // A part that has no name yet can still be written to: a later try goes on with it.
            try Platform.makeReadOnly(descriptor)
            try Platform.syncDirectory(shelf(content.digest))
        } catch  where error.number == Platform.invalidArgument {
            throw Self.unfit("\(from) does not have the \(content.bytes) bytes that it should have")
        } catch { throw .system(error.number, during: "contents", from) }
    }
}

// MARK: What there is

extension ContentFiles {
    /// The length of a file; nil where it isn't there.
    package func bytes(of digest: String) throws(StoreError) -> UInt64? {
        try Self.length(at: try path(of: digest))
    }

    /// The length of a regular file; nil where none is there.
    static func length(at path: String) throws(StoreError) -> UInt64? {
        do throws(SystemNumber) {
            let status = try Platform.status(of: path, followingLinks: false)
            return status.kind == .regular ? UInt64(clamping: status.sizeBytes) : nil
        } catch  where error.number == Platform.noEntry {
            return nil
        } catch { throw .system(error.number, during: "contents", path) }
    }

    /// What a file holds; takes as long as reading it.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where it isn't there.
    package func content(of digest: String) throws(StoreError) -> Content {
        try Self.content(at: try path(of: digest))
    }

    /// The bytes of a file; as many as are asked for where it is longer.
    ///
    /// - Throws: ``StoreError``: `unfitFile` where it isn't there.
    package func read(_ digest: String, bytesMax: Int) throws(StoreError) -> [UInt8] {
        let path = try path(of: digest)
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            return try Platform.read(descriptor, at: 0, count: bytesMax)
        } catch  where error.number == Platform.noEntry {
            throw Self.unfit("there is no file \(path)")
        } catch { throw .system(error.number, during: "contents", path) }
    }

    /// The names of all files, in order.
    package func digests() throws(StoreError) -> [String] {
        do throws(SystemNumber) {
            guard try Self.kind(folder) == .directory else { return [] }
            var found: [String] = []
            for shelf in try Platform.names(in: folder) where Self.isShelf(shelf) {
                let path = folder + "/" + shelf
                guard try Self.kind(path) == .directory else { continue }
                found += try Platform.names(in: path).filter {
                    Self.isDigest($0) && $0.hasPrefix(shelf)
                }
            }
            return found
        } catch { throw .system(error.number, during: "contents", folder) }
    }

    private static func isShelf(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy(isDigit)
    }

    /// The names of all files in the making, in order.
    package func partNames() throws(StoreError) -> [String] {
        do throws(SystemNumber) {
            guard try Self.kind(folder) == .directory, try Self.kind(parts) == .directory else {
                return []
            }
            return try Platform.names(in: parts).filter(Self.isPart)
        } catch { throw .system(error.number, during: "contents", parts) }
    }

    private static func kind(_ path: String) throws(SystemNumber) -> FileStatus.Kind? {
        do throws(SystemNumber) {
            return try Platform.status(of: path, followingLinks: false).kind
        } catch  where error.number == Platform.noEntry { return nil }
    }

    // MARK: Removing

    /// Removes a file; nothing where it isn't there.
    ///
    /// After a power cut it may be there again: a store's opening removes what its log does not
    /// name.
    package func remove(_ digest: String) throws(StoreError) {
        try remove(at: try path(of: digest))
    }

    /// Removes a file in the making; nothing where it isn't there.
    package func remove(part: String) throws(StoreError) {
        try remove(at: try path(ofPart: part))
    }

    private func remove(at path: String) throws(StoreError) {
        try checkPlace()
        do throws(SystemNumber) { try Platform.remove(path) } catch {
            throw .system(error.number, during: "contents", path)
        }
    }

    /// Removes all files and folders of ours, as far as it can; what is not ours stays.
    package func removeAll() {
        guard (try? Self.kind(folder)) == .directory else { return }
        for part in (try? partNames()) ?? [] { try? remove(part: part) }
        try? Platform.removeDirectory(parts)
        for digest in (try? digests()) ?? [] { try? remove(digest) }
        for shelf in (try? Platform.names(in: folder)) ?? [] where Self.isShelf(shelf) {
            try? Platform.removeDirectory(folder + "/" + shelf)
        }
        try? Platform.removeDirectory(folder)
    }
}

extension ContentFiles {
    /// Copies all files that are what their names say into the contents of another store; those
    /// that are there stay.
    ///
    /// - Parameter isLossy: whether what can't be read is left out, too.
    /// - Returns: the names of those that were left out as they hold something else.
    /// - Throws: `diskFull`, `fileTooLarge`: nothing more can be written. Unless it is lossy, also
    ///   why a file that is there, or the list of all, can't be read or copied.
    @discardableResult
    package func copyWhole(
        to other: ContentFiles, isLossy: Bool
    ) throws(StoreError) -> [String] {
        let names: [String]
        do throws(StoreError) { names = try digests() } catch {
            guard isLossy else { throw error }
            return []
        }
        var damaged: [String] = []
        for digest in names {
            guard try other.bytes(of: digest) == nil else { continue }
            let part = "copy"
            let content: Content
            do throws(StoreError) {
                content = try other.copy(try path(of: digest), toPart: part)
            } catch {
                if [.diskFull, .fileTooLarge].contains(error.code) { throw error }
                if isLossy { continue }
                // One that is not needed any more may go meanwhile.
                guard error.code == .unfitFile, try bytes(of: digest) == nil else { throw error }
                continue
            }
            if content.digest == digest {
                try other.admit(part: part, as: content)
            } else {
                try other.remove(part: part)
                damaged.append(digest)
            }
        }
        return damaged
    }
}
