// LoopbackServer.swift — the same servers over HTTP, on this machine's loopback address only.

import HTTPTypes
import TidemarkSync

/// One of the servers in this process over real sockets, for clients that speak HTTP.
///
/// It listens on 127.0.0.1, on a port that the system picks unless one is given. A dropped answer
/// is a header that promises a body, followed by the end of the connection: URLSession on Linux
/// fails with −1, curl exits with 18, whether or not the request was applied. A dropped answer to
/// HEAD has no bytes.
public final class LoopbackServer: Sendable {
    /// The server's address, for example `http://127.0.0.1:40123`.
    public let origin: String
    private let listener: LoopbackListener

    private init(_ listener: LoopbackListener) {
        self.listener = listener
        origin = "http://127.0.0.1:\(listener.port)"
    }

    /// Starts to listen and returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - server: what answers.
    ///   - port: where to listen; 0 for a free port.
    /// - Throws: an error of the socket layer when it can't listen.
    public static func start(
        _ server: KintoServer, port: UInt16 = 0
    ) async throws -> LoopbackServer {
        try await start(port) { server.core.exchange($0, body: $1) }
    }

    /// Starts to listen and returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - server: what answers.
    ///   - port: where to listen; 0 for a free port.
    /// - Throws: an error of the socket layer when it can't listen.
    public static func start(
        _ server: TogglServer, port: UInt16 = 0
    ) async throws -> LoopbackServer {
        try await start(port) { server.core.exchange($0, body: $1) }
    }

    /// Starts to listen and returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - server: what answers.
    ///   - port: where to listen; 0 for a free port.
    /// - Throws: an error of the socket layer when it can't listen.
    public static func start(
        _ server: Dhis2Server, port: UInt16 = 0
    ) async throws -> LoopbackServer {
        try await start(port) { server.core.exchange($0, body: $1) }
    }

    /// Starts to listen and returns when connections are accepted.
    ///
    /// - Parameters:
    ///   - server: what answers.
    ///   - port: where to listen; 0 for a free port.
    /// - Throws: an error of the socket layer when it can't listen.
    public static func start(
        _ server: WebDAVServer, port: UInt16 = 0
    ) async throws -> LoopbackServer {
        try await start(port) { server.core.exchange($0, body: $1) }
    }

    private static func start(
        _ port: UInt16,
        _ exchange: @escaping @Sendable (HTTPRequest, [UInt8]) -> ServerOutcome
    ) async throws -> LoopbackServer {
        LoopbackServer(
            try await LoopbackListener.start(port: port) { message in
                guard let method = HTTPRequest.Method(message.method) else {
                    return LoopbackAnswer(status: 400, reason: "Bad Request")
                }
                var fields = HTTPFields()
                for (name, value) in message.fields {
                    guard let name = HTTPField.Name(name) else { continue }
                    fields.append(HTTPField(name: name, value: value))
                }
                let host = HTTPField.Name("Host").flatMap { fields[$0] }
                let request = HTTPRequest(
                    method: method, scheme: "http", authority: host, path: message.target,
                    headerFields: fields)
                switch exchange(request, message.body) {
                case .answered(let answer): return LoopbackAnswer(answer)
                case .dropped, .unsent: return nil
                }
            })
    }

    /// Closes every connection and stops listening; a request in flight may stay unanswered.
    public func stop() async { await listener.stop() }
}

/// A request as it was received from a socket.
struct LoopbackRequest: Sendable {
    var method: String
    /// Path and query, verbatim.
    var target: String
    var fields: [(name: String, value: String)]
    var body: [UInt8]
}

/// An answer as it is sent to a socket.
struct LoopbackAnswer: Sendable {
    var status: Int
    var reason: String
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
}

extension LoopbackAnswer {
    fileprivate init(_ answer: TransportResponse) {
        self.init(
            status: answer.response.status.code, reason: answer.response.status.reasonPhrase,
            fields: answer.response.headerFields.map { ($0.name.rawName, $0.value) },
            body: answer.body)
    }
}
