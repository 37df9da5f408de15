// Terminal.swift — where the tool's words go: data to standard output, the rest to standard error.

import Foundation
import Synchronization

enum Terminal {
    private static let buffer = Mutex<[UInt8]>([])

    /// Writes a line of data; buffered until ``flush()`` or some 64 KiB.
    static func write(_ line: some Sequence<UInt8>) {
        let full = buffer.withLock { bytes -> [UInt8]? in
            bytes += line
            bytes.append(UInt8(ascii: "\n"))
            guard bytes.count > 1 << 16 else { return nil }
            defer { bytes = [] }
            return bytes
        }
        if let full { FileHandle.standardOutput.write(Data(full)) }
    }

    /// Writes a line of data.
    static func write(_ line: String) { write(line.utf8) }

    /// Hands on everything written so far.
    static func flush() {
        let rest = buffer.withLock { bytes -> [UInt8] in
            defer { bytes = [] }
            return bytes
        }
        if !rest.isEmpty { FileHandle.standardOutput.write(Data(rest)) }
    }

    /// Says something that is not data.
    static func say(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
    }

    /// Shows progress on one line that is written over; nothing unless somebody watches.
    static func progress(_ text: String) {
        guard isatty(2) == 1 else { return }
        let line = String(text.prefix(max(columns(of: 2) - 1, 20)))
        FileHandle.standardError.write(Data("\r\u{1B}[2K\(line)".utf8))
    }

    /// Takes the progress line away.
    static func endProgress() {
        guard isatty(2) == 1 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[2K".utf8))
    }

    /// The width to cut lines of data to: the terminal's, or nil when they go elsewhere.
    static var outputColumns: Int? { isatty(1) == 1 ? columns(of: 1) : nil }

    private static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }
}
