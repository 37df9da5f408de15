// LoopbackListener.swift — sockets by FlyingFox; only here, because its names clash with HTTPTypes.

import FlyingFox
import FlyingSocks
import Foundation

/// Listens on 127.0.0.1 and passes each request to a handler.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    private init(port: UInt16, server: HTTPServer, running: Task<Void, any Error>) {
        self.port = port
        self.server = server
        self.running = running
    }

    /// Starts to listen, on a free port for 0; if a handler returns nil, the answer is broken off.
    static func start(
        port: UInt16, _ handle: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer?
    ) async throws -> LoopbackListener {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: port),
            pool: PromptSocketPool(pool: HTTPServer.defaultPool()), logger: .disabled,
            handler: LoopbackHandler(handle: handle))
        // Of itself it hands on the methods of HTTP alone.
        let others = HTTPRoute(methods: methodsOfWebDAV.map { HTTPMethod($0) }, path: "*")
        await server.appendRoute(others, to: LoopbackHandler(handle: handle))
        let running = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port) = await server.listeningAddress else {
            await server.stop()
            throw SocketError.unsupportedAddress
        }
        return LoopbackListener(port: port, server: server, running: running)
    }

    func stop() async {
        await server.stop()
        _ = await running.result
    }
}

/// Methods that HTTP itself does not have.
private let methodsOfWebDAV = [
    "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT",
]

private struct LoopbackHandler: HTTPHandler {
    let handle: @Sendable (LoopbackRequest) -> LoopbackAnswer?

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let message = LoopbackRequest(
            method: request.method.rawValue, target: request.target.rawValue,
            fields: request.headers.map { ($0.key.rawValue, $0.value) },
            body: Array(try await request.bodyData))
        guard let answer = handle(message) else {
            // An answer to HEAD is complete after its header, so it must not even begin.
            guard request.method != .HEAD else { return HTTPResponse(webSocket: HangUp()) }
            return HTTPResponse(
                statusCode: .ok, body: HTTPBodySequence(from: BrokenBody(), count: 1))
        }
        var headers = HTTPHeaders()
        for (name, value) in answer.fields { headers.addValue(value, for: HTTPHeader(name)) }
        return HTTPResponse(
            statusCode: HTTPStatusCode(answer.status, phrase: answer.reason), headers: headers,
            body: Data(answer.body))
    }
}

/// A body that breaks off before its first byte, so that the connection is closed.
///
/// The connection is not closed without an answer: on a reused connection, libcurl (also within
/// URLSession on Linux) would take that as an idle close, and send the request again by itself.
private struct BrokenBody: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    func makeAsyncIterator() -> BrokenBody { self }

    mutating func next() async throws -> UInt8? { throw SocketError.disconnected }

    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
        throw SocketError.disconnected
    }
}

/// Closes the connection before a byte of the answer is written.
///
/// An error thrown by a handler becomes 500, but a web socket is asked for its frames before the
/// header is written, and an error there ends the connection.
private struct HangUp: WSHandler {
    func makeFrames(
        for client: AsyncThrowingStream<WSFrame, any Error>
    ) async throws -> AsyncStream<WSFrame> {
        throw SocketError.disconnected
    }
}

/// A socket pool that sends small packets at once (TCP_NODELAY).
///
/// Header and body are written separately; without the option, the body waits 40 ms for an
/// acknowledgement. The listening socket is suspended here before it accepts, and accepted sockets
/// inherit the option.
private struct PromptSocketPool<Pool: AsyncSocketPool>: AsyncSocketPool {
    let pool: Pool

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        try? socket.setValue(
            true, for: BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY))
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
