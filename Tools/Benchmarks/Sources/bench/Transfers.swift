// Transfers.swift — P22: a large file down and up, beside curl, and the memory that it takes.

import Foundation
import HTTPTypes
import TidemarkHTTP
import TidemarkSync

/// nginx with a folder of files.
final class FileServer {
    let folder: String
    let port: Int
    private let process = Process()

    /// Starts it in a folder, which it makes.
    init(_ folder: String) throws {
        self.folder = folder
        port = Int.random(in: 20_000..<30_000)
        for name in ["files", "parts"] {
            try FileManager.default.createDirectory(
                atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        let parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \"\(folder)/parts/\($0)\";" }.joined(separator: " ")
        let settings = """
            \(geteuid() == 0 ? "user root root;" : "")
            daemon off; worker_processes 1; pid "\(folder)/pid"; error_log "\(folder)/error.log";
            events { worker_connections 64; }
            http {
                access_log off; client_max_body_size 0; sendfile on; \(parts)
                server {
                    listen 127.0.0.1:\(port); root "\(folder)/files";
                    location / { dav_methods PUT; }
                }
            }
            """
        try Data(settings.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        process.executableURL = URL(filePath: "/usr/sbin/nginx")
        process.arguments = ["-e", folder + "/error.log", "-c", folder + "/nginx.conf"]
        try process.run()
        while !FileManager.default.fileExists(atPath: folder + "/pid") {
            guard process.isRunning else { fatalError("nginx: see \(folder)/error.log") }
            usleep(5000)
        }
    }

    /// Ends it, and removes the folder.
    func stop() throws {
        process.terminate()
        process.waitUntilExit()
        try FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { "\(folder)/files/\(name)" }

    /// Makes a file of bytes that no two blocks have alike.
    func make(_ name: String, mebibytes: Int) throws {
        _ = FileManager.default.createFile(atPath: path(name), contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path(name)))
        var block = (0..<1 << 20).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 16) }
        for number in 0..<mebibytes {
            block[0] = UInt8(truncatingIfNeeded: number)
            try file.write(contentsOf: block)
        }
        try file.close()
    }

    func request(
        _ method: HTTPRequest.Method, _ name: String, _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: "/" + name,
            headerFields: fields)
    }

    func curl(_ arguments: String...) throws {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-sf"] + arguments
        try curl.run()
        curl.waitUntilExit()
        guard curl.terminationStatus == 0 else { fatalError("curl: \(arguments)") }
    }
}

/// What is moved, and how.
enum TransferWork: String, CaseIterable {
    case parts = "down, in parts of 8 MiB"
    case whole = "down, at once"
    case up

    private static let partBytes = 8 << 20
    private static let limits = TransportLimits(deadline: .seconds(3600), responseBytesMax: 1 << 40)

    /// Moves `/content` of so many bytes to or from a file.
    func move(
        _ bytes: Int, _ server: FileServer, _ transport: some Transport, _ file: String
    ) async throws {
        func get(_ fields: HTTPFields, at offset: Int) async throws -> Int? {
            let answer = try await transport.transfer(
                server.request(.get, "content", fields), body: nil,
                into: TransportFile(file, offset: offset), limits: Self.limits)
            return answer.written
        }
        var moved: Int? = 0
        switch self {
        case .whole: moved = try await get([:], at: 0)
        case .parts:
            for start in stride(from: 0, to: bytes, by: Self.partBytes) {
                let end = min(start + Self.partBytes, bytes)
                let written = try await get([.range: "bytes=\(start)-\(end - 1)"], at: start)
                moved = moved.flatMap { moved in written.map { moved + $0 } }
            }
        case .up:
            let answer = try await transport.transfer(
                server.request(.put, "sent"), body: .file(TransportFile(file), count: bytes),
                into: nil, limits: Self.limits)
            moved = answer.response.status.kind == .successful ? bytes : nil
        }
        guard moved == bytes else { fatalError("\(rawValue): \(moved ?? -1) bytes") }
    }

    func moveByCurl(_ server: FileServer, _ file: String) throws {
        let url = "http://127.0.0.1:\(server.port)/"
        switch self {
        case .whole, .parts: try server.curl(url + "content", "-o", file)
        case .up: try server.curl("-T", file, url + "sent")
        }
    }
}

extension Run {
    /// P22: 1 GiB down and up through nginx: time, and private memory over idle.
    mutating func transfers() async throws {
        let mebibytes = max(16, Int(1024 * options.scale))
        let server = try FileServer(directory + "/transfers")
        try server.make("content", mebibytes: mebibytes)
        let file = directory + "/transferred"
        let transport = URLSessionTransport()
        for work in TransferWork.allCases {
            var ours: [Double] = []
            var curls: [Double] = []
            var memory = 0
            for _ in 0..<options.rounds {
                if work != .up {
                    _ = FileManager.default.createFile(atPath: file, contents: nil)
                }
                let (idle, watch) = (Memory.anonymous(), MemoryWatch())
                watch.begin()
                ours.append(
                    try await seconds {
                        try await work.move(mebibytes << 20, server, transport, file)
                    }.0)
                memory = max(memory, watch.end() - idle)
                if work != .up,
                    !FileManager.default.contentsEqual(
                        atPath: file, andPath: server.path("content"))
                {
                    fatalError("\(work.rawValue): other bytes")
                }
                curls.append(try seconds { try work.moveByCurl(server, file) }.0)
            }
            let ratio = median(ours) / median(curls)
            report.add(
                "P22", "a file of \(mebibytes) MiB \(work.rawValue), URLSession",
                median(ours).millis + ", \(memory >> 20) MiB", "curl " + median(curls).millis,
                ratio.times, rounds: ours, must: "≤ 2 ×, ≤ 64 MiB",
                isMet: ratio <= 2 && memory <= 64 << 20)
        }
        try FileManager.default.removeItem(atPath: file)
        try server.stop()
    }
}
