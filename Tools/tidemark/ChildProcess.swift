// ChildProcess.swift — runs a check in a child process: a damaged store may end it by a signal, and
// the user must still be told.

import Foundation

/// A child of this process that runs this program.
enum ChildProcess {
    enum End {
        case exit(code: Int32)
        case signal(Int32)

        /// Whether the process crashed on what it read, rather than being ended from outside.
        var isCrash: Bool {
            guard case .signal(let signal) = self else { return false }
            return [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP].contains(signal)
        }
    }

    /// Runs this program with other arguments, on the same terminal and files, and waits for its
    /// end.
    ///
    /// - Parameter variable: an environment variable that is set for the child.
    static func run(_ arguments: [String], variable: String? = nil) throws -> End {
        if let variable { unsafe setenv(variable, "1", 1) }
        // Nobody reads a backtrace of the child.
        unsafe setenv("SWIFT_BACKTRACE", "enable=no", 1)
        return try run(Bundle.main.executablePath ?? CommandLine.arguments[0], arguments)
    }

    /// Runs a program, on the same terminal and files, and waits for its end.
    static func run(_ program: String, _ arguments: [String]) throws -> End {
        let words = unsafe ([program] + arguments).map { word in unsafe strdup(word) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let problem = unsafe posix_spawn(&process, program, nil, nil, words, environ)
        guard problem == 0 else {
            throw UsageError("\(program) can't be started: error \(problem)")
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw UsageError("waiting failed: error \(errno)") }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exit(code: status >> 8 & 0xFF) : .signal(signal)
    }

    /// From now on, a crash of LMDB on a damaged page ends the tool with a message.
    ///
    /// A file that may not grow further is an error like a full disk, and does not end the process.
    static func watchForCrash() {
        signal(SIGXFSZ, SIG_IGN)
        for crash in [SIGABRT, SIGBUS, SIGSEGV] {
            signal(crash) { number in
                // Only async-signal-safe calls are allowed here.
                ChildProcess.writeError("tidemark: reading the store ended by a signal: ")
                if number == SIGBUS { ChildProcess.writeError("the disk is full, or ") }
                ChildProcess.writeError(
                    """
                    its file is damaged, or this is a bug.
                    tidemark verify tells which; tidemark salvage reads the file without LMDB.

                    """)
                _exit(1)
            }
        }
    }

    private static func writeError(_ words: StaticString) {
        _ = unsafe write(2, words.utf8Start, words.utf8CodeUnitCount)
    }
}
