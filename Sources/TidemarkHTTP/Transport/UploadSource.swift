// UploadSource.swift — from where a client reads the body of a request that takes a whole file, or
// bytes in memory, and no stream whose length it believes: URLSession on Apple's systems.

package import Foundation
package import TidemarkStore
package import TidemarkSync

/// From where the body of a request is read.
package enum UploadSource: Sendable, Hashable {
    /// From the file at this path, which is all of it.
    case file(String)
    /// From a copy in a file; see ``UploadCopy``.
    case copy
    /// From memory.
    case memory

    /// How many bytes of a body are read into memory at most, and copied at a time.
    package static let memoryBytesMax = 1 << 20

    /// Where a body is read from.
    ///
    /// - Parameter fileBytes: how long the file at a path is; nil where that can't be told.
    package init(of body: TransportBody, fileBytes: (String) -> Int?) {
        switch body {
        case .bytes: self = .memory
        case .file(let file, let count) where file.offset == 0 && fileBytes(file.path) == count:
            self = .file(file.path)
        case .file, .framed: self = body.count > Self.memoryBytesMax ? .copy : .memory
        }
    }
}

/// A body that was written into a file of its own, which goes with the last reference to this.
package final class UploadCopy: Sendable {
    package let url: URL

    /// Copies a body, a MiB at a time, into a new file in a folder; nobody is told of what is read.
    ///
    /// - Throws: ``TransportError``: `diskFull`; `file` where the body can't be read or the file
    ///   not be made. No file is left then.
    package init(_ part: PartReader, in folder: URL) throws(TransportError) {
        url = folder.appending(path: "tidemark-upload-" + Dependencies.live.makeID())
        let path = url.path(percentEncoded: false)
        let isMade = FileManager.default.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw TransportError(.file, detail: "\(path) can't be made") }
        do throws(StoreError) {
            let file = try PartFile(path, writing: true, atLeast: 0)
            var rest = part
            rest.onRead = nil
            while rest.left > 0 {
                let offset = rest.count - rest.left
                let bytes = try rest.next(UploadSource.memoryBytesMax)
                try file.write(bytes, at: offset)
            }
        } catch { throw TransportError(error) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
