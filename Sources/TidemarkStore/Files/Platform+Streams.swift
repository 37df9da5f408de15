// Platform+Streams.swift — standard input, output and error by the calls of the system: an error of
// them is a value, and ends no process.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One of the three files that a process is started with.
package struct StandardStream: Sendable {
    package static let output = StandardStream(descriptor: 1)
    package static let errors = StandardStream(descriptor: 2)

    /// Why standard input can't be read, in the system's words.
    package struct Failure: Error {
        package let words: String
    }

    private let descriptor: Int32

    /// Opens those of the three that are closed, as empty.
    package static func openAll() { Platform.openStandardStreams() }

    /// Reads standard input to its end.
    package static func readInput() throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe part.withUnsafeMutableBytes {
                unsafe read(0, $0.baseAddress, $0.count)
            }
            if count == 0 { return bytes }
            let number = errno
            if count > 0 {
                bytes += part[..<count]
            } else if number == EAGAIN {
                wait(for: 0, POLLIN)
            } else if number != EINTR {
                throw Failure(words: words(number))
            }
        }
    }

    /// Writes a message; that this fails can't be told anywhere.
    package func say(_ message: String) { _ = put(Array(message.utf8)) }

    /// Writes all of some bytes.
    ///
    /// - Returns: why it can't, in the system's words; nil where they are written.
    package func put(_ bytes: [UInt8]) -> String? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let number = errno
            switch number {
            case EINTR: continue
            case EAGAIN: Self.wait(for: descriptor, POLLOUT)
            default: return Self.words(number)
            }
        }
        return nil
    }

    /// How many bytes a stream takes without a wait where it is ready: as many as POSIX lets each
    /// pipe take.
    package static let readyBytes = 512

    /// Whether bytes are taken now, or none are ever again.
    package var isReady: Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&wanted, 1, 0) > 0
    }

    private static func wait(for descriptor: Int32, _ events: Int32) {
        var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = unsafe poll(&wanted, 1, -1)
    }

    private static func words(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }
}
