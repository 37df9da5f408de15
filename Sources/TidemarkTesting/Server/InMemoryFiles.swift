// InMemoryFiles.swift — files of a server in this process, beside what another transport answers.

public import HTTPTypes
import Synchronization
public import TidemarkSync

/// A transport that answers requests for files, by their whole addresses, and hands all others on.
///
/// It gives parts for `Range`, with `If-Match`, as RFC 9110 says.
public final class InMemoryFiles: Transport, Sendable {
    /// A file.
    public struct File: Sendable {
        public var bytes: [UInt8]
        /// The version as it stands in ETag; nil for none.
        public var tag: String?
        /// Whether the server gives parts of it.
        public var hasParts: Bool

        /// A file; by default in parts, with no version.
        public init(_ bytes: [UInt8], tag: String? = nil, hasParts: Bool = true) {
            self.bytes = bytes
            self.tag = tag
            self.hasParts = hasParts
        }
    }

    /// What happens to an exchange besides: it may change the answer, or throw.
    public typealias Fault =
        @Sendable (
            HTTPRequest, TransportResponse
        ) throws(TransportError) -> TransportResponse

    private struct State: Sendable {
        var files: [String: File] = [:]
        var requests: [HTTPRequest] = []
        var fault: Fault?
    }
    private let state = Mutex(State())
    private let others: any Transport

    /// Files beside what `others` answers.
    public init(beside others: any Transport) { self.others = others }

    /// The file at a whole address, as `http://host/path`; nil for none.
    public subscript(_ address: String) -> File? {
        get { state.withLock { $0.files[address] } }
        set { state.withLock { $0.files[address] = newValue } }
    }

    /// The requests for files so far, those for missing ones among them, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// What happens to exchanges about files; nil for nothing.
    public var fault: Fault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        // Only a file is asked for as it is.
        guard request.method == .get, request.headerFields[.acceptEncoding] == "identity" else {
            return try await others.send(request, body: body, limits: limits)
        }
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        let (file, fault) = state.withLock { state in
            state.requests.append(request)
            return (state.files[request.address], state.fault)
        }
        var answer = file.map { $0.answer(to: request) } ?? File.answer(404)
        if let fault { answer = try fault(request, answer) }
        guard answer.body.count <= limits.responseBytesMax else {
            throw TransportError(.tooLarge, detail: "\(answer.body.count) bytes")
        }
        return answer
    }
}

extension HTTPRequest {
    /// The whole address.
    fileprivate var address: String { "\(scheme ?? "")://\(authority ?? "")\(path ?? "")" }
}

extension InMemoryFiles.File {
    static func answer(
        _ status: Int, _ fields: HTTPFields = [:], _ body: [UInt8] = []
    ) -> TransportResponse {
        TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields), body: body)
    }

    fileprivate func answer(to request: HTTPRequest) -> TransportResponse {
        var fields = HTTPFields()
        if let tag { fields[.eTag] = tag }
        if let demanded = request.headerFields[.ifMatch], demanded != tag {
            return Self.answer(412, fields)
        }
        let range = request.headerFields[.range].flatMap { field -> ClosedRange<Int>? in
            let ends = field.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
            return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
        }
        guard hasParts, let range else {
            fields[.contentLength] = String(bytes.count)
            return Self.answer(200, fields, bytes)
        }
        guard range.lowerBound < bytes.count else {
            fields[.contentRange] = "bytes */\(bytes.count)"
            return Self.answer(416, fields)
        }
        let last = min(range.upperBound, bytes.count - 1)
        fields[.contentRange] = "bytes \(range.lowerBound)-\(last)/\(bytes.count)"
        fields[.contentLength] = String(last - range.lowerBound + 1)
        return Self.answer(206, fields, Array(bytes[range.lowerBound...last]))
    }
}
