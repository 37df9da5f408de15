// Terminal.swift — the tool's output: data to standard output, everything else to standard error.
//
// Ids, names and messages come from a server. Characters that a terminal obeys are always escaped
// in text. JSON that goes to a terminal is escaped so that it still parses to the same value;
// elsewhere it is not changed.

import Foundation
import Synchronization
import Tidemark
import TidemarkInspect
import TidemarkReplay
import TidemarkStore

enum Terminal {
    private static let output = Mutex(Output())

    /// Writes JSON as a line of data.
    static func write(_ json: [UInt8]) {
        writeLine(isTerminal ? EventText.escaped(json: json) : json)
    }

    /// Writes text as one line of data.
    static func write(_ line: String) { writeLine(EventText.escaped(line).utf8) }

    /// Writes a sentence whole: on several lines where the terminal's are too short for it.
    ///
    /// - Parameter indent: as in ``EventText/wrapped(_:to:indent:)``.
    static func write(wrapping line: String, indent: Int? = nil) {
        let line = EventText.escaped(line)
        let columns = outputColumns
        let lines = columns.map { EventText.wrapped(line, to: $0, indent: indent) } ?? [line]
        for line in lines { write(line) }
    }

    private static let isTerminal = isatty(1) == 1

    /// Buffered until ``flush()``, or until there are more than 64 KiB.
    private static func writeLine(_ line: some Sequence<UInt8>) {
        output.withLock { output in
            output.bytes += line
            output.bytes.append(UInt8(ascii: "\n"))
            guard output.bytes.count > 1 << 16 else { return }
            if output.reads > 0 { output.layAside() } else { output.writeOut() }
        }
    }

    /// Writes out everything that is buffered.
    static func flush() { output.withLock { $0.writeOut() } }

    /// Runs a read of a store that does not wait for who takes the output, as a pager may not.
    ///
    /// As long as it goes on no page that is freed can be used again, and the store's file grows.
    static func whileReading<R>(_ body: () throws -> R) rethrows -> R {
        output.withLock { $0.reads += 1 }
        defer {
            output.withLock { output in
                output.reads -= 1
                if output.reads == 0, output.aside != nil { output.writeOut() }
            }
        }
        return try body()
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

extension Terminal {
    /// What was printed and is not written out yet.
    private struct Output {
        var bytes: [UInt8] = []
        /// How many reads go on that may not wait.
        var reads = 0
        /// What comes before the bytes: as much of a file that has no name any more.
        var aside: (file: PartFile, count: Int)?

        /// Writes out what is taken at once, and puts the rest into the file.
        mutating func layAside() {
            var rest = bytes[...]
            bytes = []
            while aside == nil, !rest.isEmpty, StandardStream.output.isReady {
                Terminal.writeOut(Array(rest.prefix(StandardStream.readyBytes)))
                rest = rest.dropFirst(StandardStream.readyBytes)
            }
            guard !rest.isEmpty else { return }
            do {
                let (file, count) = try aside ?? (file: Self.makeFile(), count: 0)
                aside = (file, count)
                try file.write(Array(rest), at: count)
                aside = (file, count + rest.count)
            } catch {
                // There is no room for it: then the read waits.
                bytes = Array(rest)
                writeOut()
            }
        }

        /// Writes out all of it, and waits until it is taken.
        mutating func writeOut() {
            if let (file, count) = aside {
                aside = nil
                var written = 0
                while written < count {
                    let part = try? file.read(at: written, count: min(count - written, 1 << 16))
                    guard let part, !part.isEmpty else {
                        Terminal.say("tidemark: what was to be printed can't be read back")
                        exit(2)
                    }
                    Terminal.writeOut(part)
                    written += part.count
                }
            }
            let rest = bytes
            bytes = []
            if !rest.isEmpty { Terminal.writeOut(rest) }
        }

        private static func makeFile() throws -> PartFile {
            try ScratchDirectory.with(nil) { folder in
                let path = folder + "/output"
                _ = FileManager.default.createFile(atPath: path, contents: nil)
                return try PartFile(path, writing: true, atLeast: 0)
            }
        }
    }
}
