// Terminal.swift — the tool's output: data to standard output, everything else to standard error.
//
// Ids, names and messages come from a server. Characters that a terminal obeys are always escaped
// in text. JSON that goes to a terminal is escaped so that it still parses to the same value;
// elsewhere it is not changed.

import Foundation
import Synchronization
import TidemarkInspect
import TidemarkReplay
import TidemarkStore

enum Terminal {
    private static let buffer = Mutex<[UInt8]>([])

    /// Writes JSON as a line of data.
    static func write(_ json: [UInt8]) {
        writeLine(isTerminal ? EventText.escaped(json: json) : json)
    }

    /// Writes text as one line of data.
    static func write(_ line: String) { writeLine(EventText.escaped(line).utf8) }

    private static let isTerminal = isatty(1) == 1

    /// Buffered until ``flush()``, or until there are more than 64 KiB.
    private static func writeLine(_ line: some Sequence<UInt8>) {
        let full = buffer.withLock { bytes -> [UInt8]? in
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
            guard bytes.count > 1 << 16 else { return nil }
            defer { bytes = [] }
            return bytes
        }
        if let full { writeOut(full) }
    }

    /// Writes out everything that is buffered.
    static func flush() {
        let rest = buffer.withLock { bytes -> [UInt8] in
            defer { bytes = [] }
            return bytes
        }
        if !rest.isEmpty { writeOut(rest) }
    }

    /// Writes text as it is, with a line break behind it.
    static func writePlain(_ text: String) { writeLine(text.utf8) }

    /// Writes data; where that fails, the tool ends with a message and exit code 2.
    private static func writeOut(_ bytes: [UInt8]) {
        guard let problem = StandardStream.output.put(bytes) else { return }
        say("tidemark: standard output can't be written: \(problem)")
        exit(2)
    }

    /// Writes a message that is not data, on one line, to standard error.
    static func say(_ message: String) {
        StandardStream.errors.say(EventText.escaped(message) + "\n")
    }

    /// Writes a message on several lines.
    static func say(lines: String) {
        for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
            say(String(line))
        }
    }

    /// Shows progress on one line that is overwritten; only if standard error is a terminal.
    static func progress(_ text: String) {
        guard isatty(2) == 1 else { return }
        let line = EventText.cut(EventText.escaped(text), to: max(columns(of: 2) - 1, 20))
        StandardStream.errors.say("\r\u{1B}[2K\(line)")
    }

    /// Removes the progress line.
    static func endProgress() {
        guard isatty(2) == 1 else { return }
        StandardStream.errors.say("\r\u{1B}[2K")
    }

    /// The width to cut lines of data to: the terminal's, or nil when the output is no terminal.
    static var outputColumns: Int? { isatty(1) == 1 ? columns(of: 1) : nil }

    /// The index of an argument that is not UTF-8, and would be read as another one; nil for none.
    static var unreadableArgument: Int? {
        (0..<Int(CommandLine.argc)).first { index in
            guard let word = unsafe CommandLine.unsafeArgv[index] else { return false }
            return unsafe String(validatingCString: word) == nil
        }
    }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }
}
