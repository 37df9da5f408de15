// RawSocket.swift — the few POSIX socket calls that the test server needs.

import Foundation

/// Blocking IPv4 sockets on 127.0.0.1.
enum RawSocket {
    struct Failure: Error { let call: String }

    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        private static let stream = SOCK_STREAM
        private static let sendFlags: Int32 = 0
    #endif

    /// A listening socket and its port.
    static func listen() throws -> (socket: Int32, port: Int) {
        let socket = try bound()
        guard Foundation.listen(socket, 128) == 0 else { throw Failure(call: "listen") }
        return (socket, try port(of: socket))
    }

    /// A port on which nothing listens: bound for a moment, then given back.
    static func closedPort() throws -> Int {
        let socket = try bound()
        defer { close(socket) }
        return try port(of: socket)
    }

    /// Whether something takes connections on a port.
    static func listens(on port: Int) -> Bool {
        let socket = Foundation.socket(AF_INET, stream, 0)
        defer { close(socket) }
        return unsafe call(Foundation.connect, socket, port: port) == 0
    }

    static func accept(_ listener: Int32) -> Int32? {
        let socket = Foundation.accept(listener, nil, nil)
        guard socket >= 0 else { return nil }
        set(socket, IPPROTO_TCP, TCP_NODELAY)
        #if !canImport(Glibc)
            set(socket, SOL_SOCKET, SO_NOSIGPIPE)
        #endif
        return socket
    }

    /// The next bytes, or none at the end.
    static func read(_ socket: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(socket, $0.baseAddress, $0.count, 0)
        }
        return Array(bytes.prefix(max(count, 0)))
    }

    static func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var sent = 0
            while sent < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                let count = unsafe send(socket, rest.baseAddress, rest.count, sendFlags)
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    static func wait(_ socket: Int32, milliseconds: Int32) {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, milliseconds)
    }

    static func shutdown(_ socket: Int32) { _ = Foundation.shutdown(socket, Int32(SHUT_RDWR)) }

    static func close(_ socket: Int32) { _ = Foundation.close(socket) }

    static func lingerZero(_ socket: Int32) {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    private static func set(_ socket: Int32, _ level: some BinaryInteger, _ name: Int32) {
        var one: Int32 = 1
        _ = unsafe setsockopt(
            socket, Int32(level), name, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func bound() throws -> Int32 {
        let socket = Foundation.socket(AF_INET, stream, 0)
        guard socket >= 0 else { throw Failure(call: "socket") }
        guard unsafe call(Foundation.bind, socket, port: 0) == 0 else {
            throw Failure(call: "bind")
        }
        return socket
    }

    /// Calls `bind` or `connect` with a port on 127.0.0.1.
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: Int32,
        port: Int
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func port(of socket: Int32) throws -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe bytes.withMemoryRebound(to: sockaddr.self) {
                unsafe getsockname(socket, $0.baseAddress, &size)
            }
        }
        guard result == 0 else { throw Failure(call: "getsockname") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
