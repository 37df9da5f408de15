// TransportFile.swift — bodies of requests and answers that lie in files, not in memory.

public import HTTPTypes
package import TidemarkStore

/// The bytes that a request sends.
@nonexhaustive public enum TransportBody: Sendable, Hashable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A part of a file, read while it is sent.
    case file(TransportFile, count: Int)
    /// The same, with bytes before it and after it, as in a form.
    case framed(before: [UInt8], TransportFile, count: Int, after: [UInt8])
}

/// A place in a file of the caller's, where a body begins.
public struct TransportFile: Sendable, Hashable {
    /// The path of a regular file that exists.
    public var path: String
    /// How many bytes of it come before; it must have as many.
    public var offset: Int
    /// How many bytes of an answer are written to it at most; nil for as many as the limits of the
    /// exchange allow.
    package var bytesMax: Int?
    /// Is told how much of it was read to be sent, or was sent where the platform reads it.
    package var watch: SendingWatch?

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
    /// beginning, unless a rest was asked for: what is there would be lost if it broke off.
    public static func place(of response: HTTPResponse, in file: TransportFile) -> Int? {
        switch response.status.code {
        case 200: file.offset == 0 ? 0 : nil
        case 206: file.offset
        default: nil
        }
    }

    /// Whether the body of an answer is not waited for: it is the whole file, where a rest was
    /// asked for.
    ///
    /// The head tells all that is used of it, and the body may take hours.
    public static func isWithoutBody(_ response: HTTPResponse, for file: TransportFile) -> Bool {
        response.status.code == 200 && file.offset > 0
    }
}

extension Transport {
    /// Sends and receives by ``send(_:body:limits:)``, with the bytes in memory between.
    public func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        var receiver = try TransportReceiver(into: file)
        let answer = try await send(request, body: try body?.bytes(), limits: limits)
        try receiver.begin(answer.response)
        if !receiver.isOver { try receiver.take(answer.body) }
        return receiver.transfer(answer.response)
    }
}

extension TransportBody {
    /// How many bytes it has.
    package var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, let count): count
        case .framed(let before, _, let count, let after): before.count + count + after.count
        }
    }

    /// The bytes in memory.
    ///
    /// - Throws: ``TransportError``: `file` where the file can't be read or is too short.
    package func bytes() throws(TransportError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let file, let count): return try file.part(count).bytes()
        case .framed(let before, let file, let count, let after):
            return try file.part(count, before: before, after: after).bytes()
        }
    }

    /// What it reads from a file, to be read while it is sent; nil for bytes in memory.
    ///
    /// - Throws: ``TransportError``: `file` where the file can't be read or is too short.
    package func part() throws(TransportError) -> PartReader? {
        switch self {
        case .bytes: nil
        case .file(let file, let count): try file.part(count)
        case .framed(let before, let file, let count, let after):
            try file.part(count, before: before, after: after)
        }
    }
}

extension TransportFile {
    /// The part of the file that begins here, to be read, between what stands around it.
    ///
    /// - Throws: ``TransportError``: `file` where the file can't be read or is too short.
    package func part(
        _ count: Int, before: [UInt8] = [], after: [UInt8] = []
    ) throws(TransportError) -> PartReader {
        do throws(StoreError) {
            var reader = try PartReader(
                path, offset: offset, count: count, before: before, after: after)
            if let watch { reader.onRead = { watch.note($0) } }
            return reader
        } catch { throw TransportError(error) }
    }
}

extension PartReader {
    /// All of it, in memory.
    package func bytes() throws(TransportError) -> [UInt8] {
        var (reader, bytes) = (self, [UInt8]())
        do throws(StoreError) {
            while reader.left > 0 { bytes += try reader.next(reader.left) }
        } catch { throw TransportError(error) }
        return bytes
    }
}

extension TransportError {
    /// What went wrong with a file of the caller's.
    package init(_ error: StoreError) {
        self.init(error.code == .diskFull ? .diskFull : .file, detail: "\(error)")
    }

    /// The same of any error.
    package init(file error: any Error) {
        if let error = error as? StoreError {
            self.init(error)
        } else {
            self.init(.file, detail: "\(error)")
        }
    }
}
