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

#if AsyncHTTP
    /// The transport that the tests are about: `Tools/test --async-http` takes this one.
    typealias TestedTransport = AsyncHTTPTransport
#else
    /// The transport that the tests are about.
    typealias TestedTransport = URLSessionTransport
#endif

extension Transport {
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

extension Transport {
    /// Transfers with limits in which no test should come near.
    func transfer(
        _ request: HTTPRequest, body: TransportBody? = nil, into path: String? = nil,
        at offset: Int = 0
    ) async throws(TransportError) -> TransportTransfer {
        try await transfer(
            request, body: body, into: path.map { TransportFile($0, offset: offset) },
            limits: TransportLimits(deadline: .seconds(600), responseBytesMax: 1 << 30))
    }

    /// The error of a transfer that must fail.
    func transferFailure(
        _ request: HTTPRequest, body: TransportBody? = nil, into path: String? = nil,
        at offset: Int = 0, limits: TransportLimits = TransportLimits(deadline: .seconds(600)),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> TransportError? {
        do throws(TransportError) {
            let answer = try await transfer(
                request, body: body, into: path.map { TransportFile($0, offset: offset) },
                limits: limits)
            Issue.record("answered \(answer.response)", sourceLocation: sourceLocation)
            return nil
        } catch {
            return error
        }
    }
}

/// A folder for files of a test, which goes with it.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "tidemark-transfer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes a file, and says its path.
    func file(_ bytes: some Sequence<UInt8>, _ name: String = "file") throws -> String {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
        return path + "/" + name
    }
}

/// The bytes of a file.
func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

/// Bytes of which no part is like another.
func numbered(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 16) }
}

extension TransportResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
