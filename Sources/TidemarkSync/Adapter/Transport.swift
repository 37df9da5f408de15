// Transport.swift — the only access to the network. The implementation is injected.

public import HTTPTypes

/// Sends one HTTP request and returns its whole answer.
///
/// A transport follows no redirect to another origin, keeps no cookies and no cache, adds no
/// credentials, and honours task cancellation and both limits by returning at once.
public protocol Transport: Sendable {
    /// Whether a request without a body may silently be sent a second time, as platforms do when a
    /// reused connection closes under it. The answer is then the one to the second request.
    ///
    /// A deletion that is answered by 429 may then have been carried out. The default is false.
    var mayRepeat: Bool { get }

    /// Sends `request` and waits for the whole answer; any HTTP status is an answer.
    ///
    /// - Parameters:
    ///   - request: method, scheme, authority, path and header fields; nothing is added to them
    ///     but what HTTP itself needs.
    ///   - body: the bytes to send, or nil for a request without a body.
    ///   - limits: how long the whole exchange may take and how large the answer may be.
    /// - Throws: ``TransportError`` when there is no whole answer.
    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse

    /// Sends and receives bodies that may lie in files.
    ///
    /// The body of an answer goes to `file`: that of a 206 at its offset, that of a 200, which is
    /// whole, at its beginning. What the file had from there on is cut off. Where an offset was
    /// given, a 200 ends the exchange with its head, and the file stays as it was, as
    /// ``TransportTransfer/isWithoutBody(_:for:)`` says. Of every other answer the first 64 KiB
    /// stay in memory, so that it can be told what was wrong; without a `file`, all of it does. A
    /// transport that has no way of its own for files does by ``send(_:body:limits:)``, with both
    /// bodies whole in memory. Nothing is durable when this returns, and when it throws, the file
    /// may hold a part of the body; it gets nothing afterwards.
    ///
    /// - Parameters:
    ///   - request: as for ``send(_:body:limits:)``.
    ///   - body: what to send, or nil for a request without a body.
    ///   - file: where the body of an answer goes, or nil to have it in memory.
    ///   - limits: how long the whole exchange may take, and how large the answer may be.
    /// - Throws: ``TransportError`` when there is no whole answer; `file` where the caller's file
    ///   can't be read or written, or has fewer bytes than was said.
    func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer
}

extension Transport {
    /// False: every request is sent once.
    public var mayRepeat: Bool { false }
}

/// Bounds on one exchange.
public struct TransportLimits: Sendable, Hashable {
    /// From the call to the last byte of the answer; not an idle time.
    public var deadline: Duration
    /// The largest answer body that is accepted, after decompression, in bytes.
    public var responseBytesMax: Int

    /// Limits; by default thirty seconds and 64 MiB.
    public init(deadline: Duration = .seconds(30), responseBytesMax: Int = 64 << 20) {
        self.deadline = deadline
        self.responseBytesMax = responseBytesMax
    }
}

/// A whole HTTP answer.
public struct TransportResponse: Sendable, Hashable {
    /// Status and header fields.
    public var response: HTTPResponse
    /// The body's bytes as the server meant them (content encoding removed).
    public var body: [UInt8]

    /// An answer from its two parts.
    public init(response: HTTPResponse, body: [UInt8]) {
        self.response = response
        self.body = body
    }
}

/// Why there is no whole answer.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A reason, in a word.
    @nonexhaustive public enum Code: String, Sendable, CaseIterable {
        /// No connection was made: refused, no route, name not found. The request did not arrive.
        case offline
        /// The deadline passed. The request may have arrived.
        case timeout
        /// The connection broke after the request may have been sent.
        case connectionLost
        /// The server redirected the client: to another origin, or too often.
        case redirectRefused
        /// The answer was larger than the limit. The request arrived.
        case tooLarge
        /// The calling task was cancelled. The request may have arrived.
        case cancelled
        /// The request could not be built: a programmer's or configuration mistake.
        case invalidRequest
        /// A file of the caller's could not be read or written. The request may have arrived.
        case file
        /// The disk has no room for what was to be written to a file of the caller's. The request
        /// may have arrived.
        case diskFull
    }

    /// What to switch on.
    public var code: Code
    /// What the platform said, for a person to read.
    public var detail: String

    /// An error from its parts.
    public init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    /// Whether the server may have seen, and acted on, the request.
    public var mayHaveArrived: Bool {
        switch code {
        case .offline, .invalidRequest: false
        case .timeout, .connectionLost, .redirectRefused, .tooLarge, .cancelled, .file, .diskFull:
            true
        }
    }

    /// One line: the code and what the platform said.
    public var description: String {
        detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)"
    }
}
