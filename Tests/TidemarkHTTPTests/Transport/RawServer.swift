// RawServer.swift — a server that says exactly the bytes a test tells it to, on 127.0.0.1.
//
// Every connection is a thread that runs the test's script; blocking reads take the place of
// sleeping. A connection is closed when its script returns.

import Foundation

/// One request as it came over the wire.
struct RawRequest: Sendable {
    /// Method, target and version, as sent.
    var line: String
    /// The header lines, as sent, in order.
    var headerLines: [String]
    var body: [UInt8]

    var method: String { String(line.prefix { $0 != " " }) }

    var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

    /// The values of a header field, in order.
    func values(_ name: String) -> [String] {
        headerLines.compactMap { line in
            guard let colon = line.firstIndex(of: ":"),
                line[..<colon].lowercased() == name.lowercased()
            else { return nil }
            return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
    }
}

/// A scripted server on a free port.
final class RawServer: @unchecked Sendable {
    // @unchecked because: every variable is only touched while `lock` is held.
    typealias Script = @Sendable (RawConnection) -> Void

    let port: Int
    private let lock = NSLock()
    private let listener: Int32
    private var seen: [RawRequest] = []
    private var accepted = 0
    private var open: Set<Int32> = []
    private var stopped = false

    /// Listens and runs `script` for every connection.
    init(_ script: @escaping Script) throws {
        (listener, port) = try RawSocket.listen()
        Thread.detachNewThread { [self] in
            while let socket = RawSocket.accept(listener) {
                guard admit(socket) else { break }
                Thread.detachNewThread { [self] in
                    script(RawConnection(socket: socket) { self.record($0) })
                    dismiss(socket)
                }
            }
            RawSocket.close(listener)
        }
    }

    /// Answers every request on every connection with the text `answer` gives for it.
    static func answering(
        _ answer: @escaping @Sendable (RawRequest) -> String
    ) throws -> RawServer {
        try RawServer { connection in
            while let request = connection.readRequest() { connection.write(answer(request)) }
        }
    }

    var requests: [RawRequest] { lock.withLock { seen } }

    var connections: Int { lock.withLock { accepted } }

    /// Ends the accepting thread and every connection.
    func stop() {
        lock.withLock {
            stopped = true
            for socket in open { RawSocket.shutdown(socket) }
        }
        RawSocket.shutdown(listener)
    }

    private func admit(_ socket: Int32) -> Bool {
        lock.withLock {
            guard !stopped else {
                RawSocket.close(socket)
                return false
            }
            accepted += 1
            open.insert(socket)
            return true
        }
    }

    private func dismiss(_ socket: Int32) {
        lock.withLock {
            open.remove(socket)
            RawSocket.close(socket)
        }
    }

    private func record(_ request: RawRequest) { lock.withLock { seen.append(request) } }
}

/// The server's end of a connection; used by the thread of its script only.
final class RawConnection {
    private let socket: Int32
    private let record: (RawRequest) -> Void
    private var buffer: [UInt8] = []

    init(socket: Int32, record: @escaping (RawRequest) -> Void) {
        self.socket = socket
        self.record = record
    }

    /// Waits for the next whole request; nil when the client has closed.
    func readRequest() -> RawRequest? {
        guard var request = readHead() else { return nil }
        let length = request.values("Content-Length").first.flatMap { Int($0) } ?? 0
        while buffer.count < length { guard readMore() else { return nil } }
        request.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        record(request)
        return request
    }

    /// Waits for the head of the next request, and leaves its body unread.
    func readHead() -> RawRequest? {
        let end = Array("\r\n\r\n".utf8)
        var range = buffer.firstRange(of: end)
        while range == nil {
            guard readMore() else { return nil }
            range = buffer.firstRange(of: end)
        }
        guard let range else { return nil }
        let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
        var lines = head.components(separatedBy: "\r\n")
        buffer.removeSubrange(..<range.upperBound)
        return RawRequest(line: lines.removeFirst(), headerLines: lines, body: [])
    }

    /// Waits until so many bytes of a body have come.
    func waitForBody(_ count: Int) { while buffer.count < count, readMore() {} }

    /// Sends all of it; false when the client has closed.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool { RawSocket.write(bytes, to: socket) }

    /// Sends all of it; false when the client has closed.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Waits until the client closes, ignoring what it says.
    func waitForClose() { while readMore() {} }

    /// Waits this long at most for the client to say something or close.
    func wait(milliseconds: Int32) { RawSocket.wait(socket, milliseconds: milliseconds) }

    /// Makes closing a reset instead of an orderly end.
    func closeWithReset() { RawSocket.lingerZero(socket) }

    private func readMore() -> Bool {
        let bytes = RawSocket.read(socket)
        buffer += bytes
        return !bytes.isEmpty
    }
}
