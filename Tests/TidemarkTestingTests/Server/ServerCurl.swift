// ServerCurl.swift — requests over a real connection, by the curl program.
//
// Not by URLSession: on Linux one without a delegate never ends a request that is answered with
// 401 and WWW-Authenticate.

import Foundation
import HTTPTypes
import TestSupport
import TidemarkSync

enum ServerCurl {
    /// Where a real Kinto is, if there is one.
    static var kintoURL: String? { ProcessInfo.processInfo.environment["TIDEMARK_KINTO"] }

    /// curl ended with this exit code: 7 is refused, 18 a cut answer, 52 none.
    struct Failure: Error, Equatable { var code: Int32 }

    /// Sends one request on a connection of its own.
    static func send(
        _ request: HTTPRequest, _ body: [UInt8]?
    ) async throws -> TransportResponse {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        var arguments = ["--include", "--request", request.method.rawValue]
        if request.method == .head { arguments = ["--head"] }
        for field in request.headerFields {
            arguments += ["--header", "\(field.name.rawName): \(field.value)"]
        }
        if let body { arguments += ["--data-binary", String(decoding: body, as: UTF8.self)] }
        return try answer(try await run(arguments + [url]))
    }

    /// Runs curl and returns what it wrote.
    static func run(_ arguments: [String]) async throws -> [UInt8] {
        let usual = ["--silent", "--max-time", "20", "--noproxy", "*", "--http1.1"]
        let curl = try await Command.running("curl", usual + arguments)
        guard curl.code == 0 else { throw Failure(code: curl.code ?? -1) }
        return Array(curl.output)
    }

    private static func answer(_ bytes: [UInt8]) throws -> TransportResponse {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { throw Failure(code: 0) }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let status = lines[0].split(separator: " ", maxSplits: 2)
        guard status.count > 1, let code = Int(status[1]) else { throw Failure(code: 0) }
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else { continue }
            fields[name] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        return TransportResponse(
            response: HTTPResponse(
                status: HTTPResponse.Status(code: code), headerFields: fields),
            body: Array(text[end.upperBound...].utf8))
    }
}
