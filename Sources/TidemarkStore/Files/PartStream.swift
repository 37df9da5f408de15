// PartStream.swift — a part of a file as a stream, for Foundation's HTTP client on Linux.
//
// Here because a stream fills memory that it is handed a pointer to.

#if canImport(FoundationNetworking)
    package import Foundation

    /// A part of a file as a stream; one thread at a time reads it.
    package final class PartStream: InputStream {
        private var part: PartReader
        private let failed: (StoreError) -> Void
        private var status = Status.notOpen

        /// A stream of what `part` has left.
        ///
        /// `failed` is called on the reading thread where the file can't be read to the end.
        package init(_ part: PartReader, failed: @escaping (StoreError) -> Void) {
            self.part = part
            self.failed = failed
            super.init(data: Data())
        }

        package override var streamStatus: Status { status }

        package override var hasBytesAvailable: Bool { part.left > 0 }

        package override func open() { status = .open }

        package override func close() { status = .closed }

        package override func read(
            _ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int
        ) -> Int {
            do throws(StoreError) {
                let bytes = try part.next(length)
                unsafe buffer.update(from: bytes, count: bytes.count)
                if part.left == 0 { status = .atEnd }
                return bytes.count
            } catch {
                status = .error
                failed(error)
                return -1
            }
        }
    }
#endif
