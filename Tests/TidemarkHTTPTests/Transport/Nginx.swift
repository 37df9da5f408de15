// Nginx.swift — a real server with files: nginx, started by a test on a free port.

import Foundation
import HTTPTypes
import TestSupport

/// nginx that serves a folder with ranges and ETags, and takes uploads into it.
///
/// Below `/whole` it ignores ranges; `/same`, `/other` and `/disk` redirect: within the origin, to
/// another one, and to a file.
final class Nginx: @unchecked Sendable {
    // @unchecked because: the only variable is only touched while `lock` is held.
    struct Failure: Error { let why: String }

    static let isPossible = program != nil
    static let reason = "needs nginx, as Debian's package nginx-light has it"
    private static let program = ["/usr/sbin/nginx", "/usr/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let port: Int
    private let scratch: ScratchFolder
    private let lock = NSLock()
    private var ended: Command?

    /// Starts it, and waits until it listens.
    init() throws {
        guard let program = Self.program else { throw Failure(why: Self.reason) }
        scratch = try ScratchFolder()
        port = try RawSocket.closedPort()
        for folder in ["files", "parts"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path + "/" + folder, withIntermediateDirectories: false)
        }
        let settings = try scratch.file(configuration.utf8, "nginx.conf")
        // Ends when this process does, however that comes about.
        let tie =
            FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")
            ? ["setpriv", "--pdeathsig", "TERM"] : []
        let words = tie + [program, "-e", "\(scratch.path)/error.log", "-c", settings]
        Thread.detachNewThread { [self] in
            let command = try? Command.run("env", words)
            lock.withLock { ended = command ?? ended }
        }
        while !RawSocket.listens(on: port) {
            if let ended = lock.withLock({ ended }) { throw Failure(why: ended.complaints) }
            RawSocket.wait(-1, milliseconds: 5)
        }
    }

    /// Ends it.
    func stop() {
        guard let text = try? String(contentsOfFile: scratch.path + "/pid", encoding: .utf8),
            let process = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        kill(process, SIGTERM)
    }

    /// Where a file that it serves lies.
    func path(_ name: String) -> String { "\(scratch.path)/files/\(name)" }

    /// A request to it.
    func request(
        _ path: String, _ fields: HTTPFields = [:]
    ) -> HTTPRequest { request(.get, path, fields) }

    /// A request to it.
    func request(
        _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path,
            headerFields: fields)
    }

    private var configuration: String {
        let parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \"\(scratch.path)/parts/\($0)\";" }.joined(separator: " ")
        return """
            \(geteuid() == 0 ? "user root root;" : "")
            daemon off;
            worker_processes 1;
            pid "\(scratch.path)/pid";
            error_log "\(scratch.path)/error.log";
            events { worker_connections 64; }
            http {
                access_log off;
                client_max_body_size 0;
                \(parts)
                server {
                    listen 127.0.0.1:\(port);
                    root "\(scratch.path)/files";
                    location / { dav_methods PUT; }
                    location /whole/ { alias "\(scratch.path)/files/"; max_ranges 0; }
                    location /same/ { rewrite ^/same(/.*)$ $1 redirect; }
                    location /other/ { return 302 http://localhost:\(port)/file; }
                    location /disk/ { return 302 file:///etc/passwd; }
                }
            }
            """
    }
}

/// Runs `body` with nginx, and stops it afterwards.
func withNginx<Result>(_ body: (Nginx) async throws -> Result) async throws -> Result {
    let server = try Nginx()
    defer { server.stop() }
    return try await body(server)
}
