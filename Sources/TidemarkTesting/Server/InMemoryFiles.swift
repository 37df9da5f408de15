// InMemoryFiles.swift — files of a server in this process, beside what another transport answers:
// they are fetched, and where it takes them, sent.

public import HTTPTypes
import Synchronization
public import TidemarkSync

/// A transport that answers requests for files, by their whole addresses, and hands all others on.
///
/// It gives parts for `Range`, with `If-Match`, as RFC 9110 says. What is PUT below an address that
/// takes files is one; of what is POSTed to it, `Location` tells the path.
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

    fileprivate struct State: Sendable {
        var files: [String: File] = [:]
        var requests: [HTTPRequest] = []
        var fault: Fault?
        /// The addresses below which files are taken.
        var places: [String] = []
        /// The number of the last file that was POSTed; none is used twice.
        var lastNumber = 0
    }
    private let state = Mutex(State())
    private let others: any Transport
    private let givesAll: Bool

    /// Files beside what `others` answers.
    ///
    /// - Parameters:
    ///   - others: answers what is no file.
    ///   - givesAll: whether there are no other files; else `others` are asked for what is not
    ///     here.
    public init(beside others: any Transport, givesAll: Bool = true) {
        self.others = others
        self.givesAll = givesAll
    }

    /// The file at a whole address, as `http://host/path`; nil for none.
    public subscript(_ address: String) -> File? {
        get { state.withLock { $0.files[address] } }
        set { state.withLock { $0.files[address] = newValue } }
    }

    /// The requests for files so far, those for missing ones among them, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// From now on takes files below an address, as `http://host/files`.
    public func takeFiles(below address: String) {
        state.withLock { $0.places.append(address) }
    }

    /// What happens to exchanges about files; nil for nothing.
    public var fault: Fault? {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }

    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if isAboutFile(request) {
            guard !Task.isCancelled else { throw TransportError(.cancelled) }
        } else {
            return try await others.send(request, body: body, limits: limits)
        }
        var (answer, fault) = state.withLock { state in
            state.requests.append(request)
            let answer =
                request.method == .get
                ? state.files[request.address].map { $0.answer(to: request) } ?? File.answer(404)
                : state.take(body ?? [], request)
            return (answer, state.fault)
        }
        if let fault { answer = try fault(request, answer) }
        guard answer.body.count <= limits.responseBytesMax else {
            throw TransportError(.tooLarge, detail: "\(answer.body.count) bytes")
        }
        return answer
    }
}

extension InMemoryFiles {
    /// Only a file is asked for as it is.
    private func isAboutFile(_ request: HTTPRequest) -> Bool {
        switch request.method {
        case .get:
            request.headerFields[.acceptEncoding] == "identity"
                && (givesAll || self[request.address] != nil)
        case .put, .post: state.withLock { $0.place(of: request) != nil }
        default: false
        }
    }
}

extension InMemoryFiles.State {
    fileprivate func place(of request: HTTPRequest) -> String? {
        let address = request.address
        return places.first { place in
            request.method == .post ? address == place : address.hasPrefix(place + "/")
        }
    }

    /// Keeps a file that was sent.
    fileprivate mutating func take(_ bytes: [UInt8], _ request: HTTPRequest) -> TransportResponse {
        guard request.method == .post else {
            let isNew = files[request.address] == nil
            files[request.address] = InMemoryFiles.File(bytes)
            return InMemoryFiles.File.answer(isNew ? 201 : 204)
        }
        lastNumber = max(lastNumber, files.count) + 1
        while files[request.address + "/\(lastNumber)"] != nil { lastNumber += 1 }
        files[request.address + "/\(lastNumber)"] = InMemoryFiles.File(bytes)
        return InMemoryFiles.File.answer(201, [.location: "\(request.path ?? "")/\(lastNumber)"])
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
