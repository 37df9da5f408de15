// SmallFile.swift — a file that is read whole and replaced whole, beside the data file.

/// A small file in a store's directory.
package struct SmallFile: Sendable {
    private let directory: String
    private let name: String

    private var path: String { directory + "/" + name }

    package init(_ name: String, in directory: String) {
        self.name = name
        self.directory = directory
    }

    /// More than any file of ours has.
    private static let bytesMax = 1 << 20

    /// Its bytes, not following links; nil when there is none.
    package func read() throws(StoreError) -> [UInt8]? {
        guard try StorePath.existingFile(path) != nil else { return nil }
        do throws(SystemNumber) {
            let descriptor = try Platform.openForReading(path)
            defer { Platform.closeFile(descriptor) }
            return try Platform.read(descriptor, at: 0, count: Self.bytesMax)
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
    package func replace(with bytes: [UInt8], isDurable: Bool) throws(StoreError) {
        let temporary = path + ".new"
        do throws(SystemNumber) {
            try Platform.remove(temporary)
            let descriptor = try Platform.createFile(temporary)
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
        } catch {
            throw .system(error.number, during: "write", path)
        }
    }
}
