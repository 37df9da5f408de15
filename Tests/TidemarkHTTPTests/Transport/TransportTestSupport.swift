// TransportTestSupport.swift — what the transport's tests share: one server, one client, one call.

import Foundation
import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

/// Runs `body` with a server, and stops the server afterwards.
func withServer<Result>(
    _ server: RawServer, _ body: (RawServer) async throws -> Result
) async throws -> Result {
    defer { server.stop() }
    return try await body(server)
}

extension RawServer {
    /// A request to this server.
    func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path,
            headerFields: fields)
    }
}

/// An answer with a length.
func answer(
    _ status: String = "200 OK", _ headerLines: [String] = [], body: String = ""
) -> String {
    let head = ["HTTP/1.1 \(status)"] + headerLines + ["Content-Length: \(body.utf8.count)"]
    return head.joined(separator: "\r\n") + "\r\n\r\n" + body
}

extension URLSessionTransport {
    /// Sends with limits in which no test should come near.
    func send(
        _ request: HTTPRequest, body: [UInt8]? = nil
    ) async throws(TransportError) -> TransportResponse {
        try await send(request, body: body, limits: TransportLimits(deadline: .seconds(600)))
    }

    /// The error of an exchange that must fail.
    func failure(
        _ request: HTTPRequest, body: [UInt8]? = nil,
        limits: TransportLimits = TransportLimits(deadline: .seconds(600)),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> TransportError? {
        do throws(TransportError) {
            let answer = try await send(request, body: body, limits: limits)
            Issue.record("answered \(answer.response)", sourceLocation: sourceLocation)
            return nil
        } catch {
            return error
        }
    }
}

extension TransportResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
