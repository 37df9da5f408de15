// LoopbackListener.swift — sockets by FlyingFox. Its names clash with HTTPTypes' ones, so only here.

import FlyingFox
import FlyingSocks
import Foundation

/// Listens on 127.0.0.1 and gives each request to a handler.
final class LoopbackListener: Sendable {
    let port: UInt16
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    private init(port: UInt16, server: HTTPServer, running: Task<Void, any Error>) {
        self.port = port
        self.server = server
        self.running = running
    }

    /// Starts to listen; a handler that returns nil has the connection closed without an answer.
    static func start(
        _ handle: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer?
    ) async throws -> LoopbackListener {
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0),
            pool: PromptSocketPool(pool: HTTPServer.defaultPool()), logger: .disabled,
            handler: LoopbackHandler(handle: handle))
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
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

private struct LoopbackHandler: HTTPHandler {
    let handle: @Sendable (LoopbackRequest) -> LoopbackAnswer?

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let message = LoopbackRequest(
            method: request.method.rawValue, target: request.target.rawValue,
            fields: request.headers.map { ($0.key.rawValue, $0.value) },
            body: Array(try await request.bodyData))
        guard let answer = handle(message) else { return HTTPResponse(webSocket: HangUp()) }
        var headers = HTTPHeaders()
        for (name, value) in answer.fields { headers.addValue(value, for: HTTPHeader(name)) }
        return HTTPResponse(
            statusCode: HTTPStatusCode(answer.status, phrase: answer.reason), headers: headers,
            body: Data(answer.body))
    }
}

/// Closes the connection before a byte is written.
///
/// An error thrown by a handler becomes 500 and one thrown by a body comes after the header, but a
/// web socket's frames are asked for before the header is written, and an error there ends it all.
private struct HangUp: WSHandler {
    func makeFrames(
        for client: AsyncThrowingStream<WSFrame, any Error>
    ) async throws -> AsyncStream<WSFrame> {
        throw SocketError.disconnected
    }
}

/// A socket pool that has small packets sent at once (TCP_NODELAY).
///
/// Header and body are written apart; without it the second one waits 40 ms for an acknowledgement.
/// The listening socket waits here before it accepts, and what it accepts inherits the option.
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
