// Conversation.swift — a program that is talked to line by line while it runs.

import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program whose standard input and output are both ends of one socket.
///
/// Whoever starts it reads until ``line()`` is nil, or calls ``end()``; for one thread at a time.
package final class Conversation: @unchecked Sendable {
    // @unchecked because: only one test at a time talks to a program, from one task.
    private let socket: Int32
    private let process: pid_t
    private var heard: [UInt8] = []

    /// Starts a program.
    package init(_ program: String, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Command.Failure(description: "no socket for \(program): error \(errno)")
        }
        // The other end of every conversation stays with this process alone.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        let words: [UnsafeMutablePointer<CChar>?] =
            unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let problem = unsafe posix_spawnp(&process, program, &actions, nil, words, environ)
        close(ends[1])
        socket = ends[0]
        self.process = process
        guard problem == 0 else {
            throw Command.Failure(description: "\(program) can't be started: error \(problem)")
        }
    }

    /// Says a line; nobody hears it when the program has ended.
    package func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes {
            unsafe send(
                socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// The next line that the program says, awaited; nil when it has ended.
    package func line() -> String? {
        while true {
            if let end = heard.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: heard[..<end], as: UTF8.self)
                heard.removeSubrange(...end)
                return line
            }
            var more = [UInt8](repeating: 0, count: 1 << 12)
            let count = unsafe read(socket, &more, more.count)
            guard count > 0 else { return nil }
            heard.append(contentsOf: more[..<count])
        }
    }

    /// Lets the program know that nothing more is said, and waits for its end.
    ///
    /// - Returns: the signal that ended it; nil when it ended by itself with code 0.
    package func end() throws -> Int32? {
        shutdown(socket, Int32(SHUT_WR))
        while line() != nil {}
        close(socket)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw Command.Failure(description: "can't be waited for: error \(errno)")
            }
        }
        let signal = status & 0x7F
        guard signal == 0 else { return signal }
        let code = status >> 8 & 0xFF
        guard code == 0 else { throw Command.Failure(description: "ended with code \(code)") }
        return nil
    }
}
