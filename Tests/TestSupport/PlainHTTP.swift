// PlainHTTP.swift — HTTP/1.1 in its simplest form: one connection for one request, read to its end.
//
// For tests that send thousands of requests to a server on this machine: cheaper than URLSession,
// and none of the code under test.

import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One request to a server on this machine, and its answer.
package struct PlainHTTP: Sendable {
    package var status = 0
    package var fields: [(name: String, value: String)] = []
    package var body: [UInt8] = []

    /// No whole answer came.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// How long an answer may take before the server hangs.
    private static let secondsMax = 1800

    /// Sends a request and waits for the whole answer, while the calling thread waits.
    ///
    /// - Parameter authority: an IPv4 address and a port: `127.0.0.1:8888`.
    package init(
        _ method: String, authority: String, path: String, fields: [(name: String, value: String)],
        body: [UInt8]?
    ) throws {
        let socket = try Self.connect(authority)
        defer { close(socket) }
        let head = Self.head(method, authority, path, fields, bodyCount: body?.count)
        try Self.write(head + (body ?? []), to: socket)
        try parse(try Self.read(socket), hasBody: method != "HEAD")
    }

    /// Sends a request that breaks off after so many bytes of its body, and waits until the server
    /// is done with it, while the calling thread waits.
    package static func tear(
        _ method: String, authority: String, path: String, fields: [(name: String, value: String)],
        body: [UInt8], after count: Int
    ) throws {
        let socket = try connect(authority)
        defer { close(socket) }
        let head = head(method, authority, path, fields, bodyCount: body.count)
        try write(head + body.prefix(count), to: socket)
        shutdown(socket, Int32(SHUT_WR))
        _ = try read(socket)
    }

    private static func head(
        _ method: String, _ authority: String, _ path: String,
        _ fields: [(name: String, value: String)], bodyCount: Int?
    ) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(authority)\r\nConnection: close\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        if let bodyCount { head += "Content-Length: \(bodyCount)\r\n" }
        return Array((head + "\r\n").utf8)
    }

    /// The same without blocking the thread of the calling task: for a server in this process.
    package static func sending(
        _ method: String, authority: String, path: String, fields: [(name: String, value: String)],
        body: [UInt8]?
    ) async throws -> PlainHTTP {
        try await inBackground {
            try PlainHTTP(method, authority: authority, path: path, fields: fields, body: body)
        }
    }

    /// Does something that blocks, without blocking the thread of the calling task.
    package static func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Swift.Result { try work() })
            }
        }
    }

    private static func connect(_ authority: String) throws -> Int32 {
        let parts = authority.split(separator: ":")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        guard parts.count == 2, let port = UInt16(parts[1]),
            unsafe inet_pton(AF_INET, String(parts[0]), &address.sin_addr) == 1
        else { throw Failure(description: "\(authority) is no IPv4 address with a port") }
        address.sin_port = port.bigEndian
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
        unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #if canImport(Glibc)
                    unsafe Glibc.connect(descriptor, $0, size)
                #elseif canImport(Musl)
                    unsafe Musl.connect(descriptor, $0, size)
                #else
                    unsafe Darwin.connect(descriptor, $0, size)
                #endif
            }
        }
        guard result == 0 else {
            let problem = errno
            close(descriptor)
            throw Failure(description: "\(authority) can't be reached: error \(problem)")
        }
        return descriptor
    }

    private static func write(_ bytes: [UInt8], to socket: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "not sent: error \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    private static func read(_ socket: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let count = unsafe recv(socket, &part, part.count, 0)
            guard count >= 0 else { throw Failure(description: "not answered: error \(errno)") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: part[..<count])
        }
    }

    private mutating func parse(_ bytes: [UInt8], hasBody: Bool) throws {
        let blank = Array("\r\n\r\n".utf8)
        guard let end = bytes.firstRange(of: blank) else {
            throw Failure(description: "no answer but \(bytes.count) bytes")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            .split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else {
            throw Failure(description: "no status but \(lines.first ?? "")")
        }
        self.status = status
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
        }
        body = Array(bytes[end.upperBound...])
        let length = fields.first { $0.name.lowercased() == "content-length" }
        guard hasBody, status != 304 else { return }
        let coding = fields.first { $0.name.lowercased() == "transfer-encoding" }
        if coding?.value.lowercased() == "chunked" { body = try Self.joined(body) }
        if let length, let count = Int(length.value), body.count != count {
            throw Failure(description: "\(body.count) bytes of \(count)")
        }
    }

    /// The chunks of a body as one: each has its length in hexadecimal digits on a line before it,
    /// and the last one is empty.
    private static func joined(_ chunks: [UInt8]) throws -> [UInt8] {
        var (body, rest) = ([UInt8](), chunks[...])
        while let end = rest.firstRange(of: Array("\r\n".utf8)) {
            let line = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            guard let count = Int(line.prefix { $0 != ";" }, radix: 16), count >= 0,
                rest.distance(from: end.upperBound, to: rest.endIndex) >= count + 2
            else { break }
            if count == 0 { return body }
            body += rest[end.upperBound...].prefix(count)
            rest = rest[end.upperBound...].dropFirst(count + 2)
        }
        throw Failure(description: "\(chunks.count) bytes of chunks that do not end")
    }
}
