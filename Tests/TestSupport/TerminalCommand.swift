// TerminalCommand.swift — running programs in tests as on somebody's terminal.

import Foundation

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
    /// What it writes, data and complaints, is in `output`, its lines as the program ends them.
    package static func runOnTerminal(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Command {
        // Who reads it must not stop before the program begins, nor go on after its end.
        var (terminal, own): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 1024)
        guard unsafe openpty(&terminal, &own, &name, nil, nil) == 0 else {
            throw Failure(description: "there is no terminal: error \(errno)")
        }
        for descriptor in [terminal, own] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer { close(terminal) }
        let path = String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let reader = TerminalReader(terminal)
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        reader.begin()
        let status = Result {
            try spawn(
                [program] + arguments, merged.filter { !$0.value.isEmpty }, [path, path, path])
        }
        close(own)
        let output = reader.end()
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
