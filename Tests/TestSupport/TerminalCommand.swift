// TerminalCommand.swift — running programs in tests as on somebody's terminal.

package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Command {
    /// Runs a program to its end whose standard files are a terminal, while the calling thread
    /// waits.
    ///
    /// What it writes, data and complaints, is in `output`, with the lines as the program ends them.
    package static func runOnTerminal(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Command {
        let terminal = posix_openpt(O_RDWR | O_NOCTTY)
        guard terminal >= 0, grantpt(terminal) == 0, unlockpt(terminal) == 0,
            let name = unsafe ptsname(terminal)
        else { throw Failure(description: "there is no terminal: error \(errno)") }
        let file = FileHandle(fileDescriptor: terminal, closeOnDealloc: true)
        _ = fcntl(terminal, F_SETFD, FD_CLOEXEC)
        let path = unsafe String(cString: name)
        let reader = TerminalReader(terminal)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Who reads it must not stop before the program begins, nor go on after its end.
        let own = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        reader.begin()
        let status = Result {
            try spawn(
                [program] + arguments, merged.filter { !$0.value.isEmpty }, [path, path, path])
        }
        close(own)
        let output = reader.end()
        withExtendedLifetime(file) {}
        let ended = try status.get()
        let signal = ended & 0x7F
        return Command(
            code: signal == 0 ? ended >> 8 & 0xFF : nil, signal: signal == 0 ? nil : signal,
            output: output, errors: Data())
    }
}

/// Reads what a terminal shows, on a thread of its own.
private final class TerminalReader: @unchecked Sendable {
    // @unchecked because: `shown` is written by the thread, and read after it has ended.
    private let terminal: Int32
    private var shown: [UInt8] = []
    private let group = DispatchGroup()

    init(_ terminal: Int32) { self.terminal = terminal }

    func begin() {
        DispatchQueue.global().async(group: group) { [self] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe read(terminal, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                // At the end Linux reports an error, others nothing.
                guard count > 0 else { return }
                shown += buffer[..<count]
            }
        }
    }

    /// Waits for the end; a terminal ends lines with two characters.
    func end() -> Data {
        group.wait()
        return Data(String(decoding: shown, as: UTF8.self).replacing("\r\n", with: "\n").utf8)
    }
}
