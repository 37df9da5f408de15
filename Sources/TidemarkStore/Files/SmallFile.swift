// SmallFile.swift — a file that is read whole and replaced whole, as those beside the data file.

/// A file that is read whole and replaced whole.
package struct SmallFile: Sendable {
    private let directory: String
    private let name: String
    /// Whether it is in a directory of which all files are the library's.
    private let isInStore: Bool

    private var path: String { directory + "/" + name }

    /// A file of that name in a directory of the library's own.
    package init(_ name: String, in directory: String) {
        self.name = name
        self.directory = directory
        isInStore = true
    }

    /// The file at a path; what lies beside it is not the library's.
    package init(at path: String) {
        let parent = StorePath.parent(of: path)
        directory = parent
        name = String(path.split(separator: "/", omittingEmptySubsequences: true).last ?? "")
        isInStore = false
    }

    /// More than any file beside the data has.
    package static let bytesMax = 1 << 20

    /// Its bytes, not following links; nil when there is none.
    ///
    /// - Parameter bytesMax: where it ends to be read, however long it is.
    package func read(bytesMax: Int = bytesMax) throws(StoreError) -> [UInt8]? {
        guard try StorePath.existingFile(path) != nil else { return nil }
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            let bytes = try Platform.status(of: descriptor).sizeBytes
            return try Platform.read(descriptor, at: 0, count: min(max(bytes, 0), bytesMax))
        } catch  where error.number == Platform.noEntry {
            return nil
        } catch {
            throw .system(error.number, during: "open", path)
        }
    }

    /// Replaces it: after a crash it holds the old bytes or these.
    ///
    /// - Parameter isDurable: whether these bytes must be there after a power cut; if not, either
    ///   may be.
    /// - Throws: ``StoreError``: `invalidPath` where the folder of a file that is not the library's
    ///   is not there; or what the system says.
    package func replace(with bytes: [UInt8], isDurable: Bool) throws(StoreError) {
        do throws(SystemNumber) {
            let (temporary, descriptor) = try makeTemporary()
            do throws(SystemNumber) {
                defer { Platform.closeFile(descriptor) }
                try Platform.write(bytes, to: descriptor)
                try Platform.sync(descriptor)
                try Platform.rename(temporary, to: path)
            } catch {
                try? Platform.remove(temporary)
                throw error
            }
            if isDurable { try Platform.syncDirectory(directory) }
        } catch  where error.number == Platform.noEntry && !isInStore {
            throw StoreError(
                .invalidPath, number: error.number, during: "write",
                detail: "the folder \(directory) is not there; make it first")
        } catch {
            throw .system(error.number, during: "write", path)
        }
    }

    /// Makes the file that takes its place.
    ///
    /// In a store it replaces what a crash left; elsewhere its name is one that nothing has.
    private func makeTemporary() throws(SystemNumber) -> (path: String, descriptor: Int32) {
        if isInStore {
            let temporary = path + ".new"
            try Platform.remove(temporary)
            return (temporary, try Platform.createFile(temporary, inStore: directory))
        }
        var number = 0
        while true {
            let temporary = "\(directory)/.tidemark-\(Platform.processID)-\(number)"
            do throws(SystemNumber) {
                return (temporary, try Platform.createFile(temporary))
            } catch {
                guard error.number == Platform.exists, number < 1000 else { throw error }
                number += 1
            }
        }
    }
}
