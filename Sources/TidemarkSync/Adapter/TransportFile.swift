// TransportFile.swift — bodies of requests and answers that lie in files, not in memory.

public import HTTPTypes
import TidemarkStore

/// The bytes that a request sends.
public enum TransportBody: Sendable, Hashable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A part of a file, read while it is sent.
    case file(TransportFile, count: Int)
}

/// A place in a file of the caller's, where a body begins.
public struct TransportFile: Sendable, Hashable {
    /// The path of a regular file that exists.
    public var path: String
    /// How many bytes of it come before; it must have as many.
    public var offset: Int

    /// A place in a file; its beginning unless an offset is given.
    public init(_ path: String, offset: Int = 0) {
        self.path = path
        self.offset = offset
    }
}

/// An answer whose body may have gone to a file.
public struct TransportTransfer: Sendable, Hashable {
    /// Status and header fields.
    public var response: HTTPResponse
    /// The body, unless it went to the file.
    public var body: [UInt8]
    /// How many bytes of the body were written to the file; nil where the body is in ``body``.
    public var written: Int?

    /// A transfer from its parts.
    public init(response: HTTPResponse, body: [UInt8], written: Int? = nil) {
        self.response = response
        self.body = body
        self.written = written
    }
}

extension TransportTransfer {
    /// Where in the file the body of an answer goes; nil where it stays in memory.
    ///
    /// That of a 206 goes to the place that was asked for, that of a 200, which is whole, to the
    /// beginning.
    public static func place(of response: HTTPResponse, in file: TransportFile) -> Int? {
        switch response.status.code {
        case 200: 0
        case 206: file.offset
        default: nil
        }
    }
}

extension Transport {
    /// Sends and receives by ``send(_:body:limits:)``, with the bytes in memory between.
    public func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        let answer = try await send(request, body: try body?.bytes(), limits: limits)
        guard let file, let place = TransportTransfer.place(of: answer.response, in: file) else {
            return TransportTransfer(response: answer.response, body: answer.body)
        }
        do throws(StoreError) {
            let target = try PartFile(file.path, writing: true, atLeast: file.offset)
            try target.cut(at: place)
            try target.write(answer.body, at: place)
        } catch { throw TransportError(.file, detail: "\(error)") }
        return TransportTransfer(response: answer.response, body: [], written: answer.body.count)
    }
}

extension TransportBody {
    /// The bytes in memory.
    ///
    /// - Throws: ``TransportError``: `file` where the file can't be read or is too short.
    fileprivate func bytes() throws(TransportError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let file, let count):
            let bytes: [UInt8]
            do throws(StoreError) {
                bytes = try PartFile(file.path, writing: false, atLeast: file.offset)
                    .read(at: file.offset, count: count)
            } catch { throw TransportError(.file, detail: "\(error)") }
            guard bytes.count == count else {
                throw TransportError(
                    .file,
                    detail: "\(file.path) has \(bytes.count) of \(count) bytes to be sent")
            }
            return bytes
        }
    }
}
