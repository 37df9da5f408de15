// LogCheckpoint.swift — a log's size and root as a text to keep elsewhere: the body of the C2SP
// tlog-checkpoint, as of https://c2sp.org/tlog-checkpoint.
//
//   tidemark/8c2f…                                  origin: which log
//   1234                                            how many events it covers
//   47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=    their Merkle root
//                                                   an empty line; signatures may follow

import TidemarkEvents

/// What a log was at one of its sizes.
package struct LogCheckpoint: Sendable, Hashable {
    package var origin: String
    package var size: UInt64
    package var root: Hash

    package init(origin: String, size: UInt64, root: Hash) {
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// The text, without signatures.
    package var text: String { "\(origin)\n\(size)\n\(Base64.encode(root))\n\n" }

    /// Why a text is no checkpoint.
    package struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Reads what ``text`` wrote; refuses whatever else there could be in it.
    ///
    /// Lines of signatures may follow; they are not checked.
    package init(parsing text: [UInt8]) throws(Mistake) {
        guard text.count <= 1 << 16 else { throw Mistake(description: "it is longer than 64 KiB") }
        guard let text = String(validating: text, as: UTF8.self) else {
            throw Mistake(description: "it is not UTF-8")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 5, lines[3].isEmpty, lines[4...].last?.isEmpty == true else {
            throw Mistake(description: "it is not three lines, an empty one, and signatures")
        }
        for line in lines[4...].dropLast() where !line.hasPrefix("— ") {
            throw Mistake(description: "what follows the empty line is no signature")
        }
        origin = String(lines[0])
        guard !origin.isEmpty, origin.unicodeScalars.allSatisfy({ $0.value > 0x20 }) else {
            throw Mistake(description: "line 1 names no log")
        }
        guard let size = UInt64(lines[1]), String(size) == lines[1] else {
            throw Mistake(description: "line 2 is no number of events")
        }
        self.size = size
        guard let root = Base64.decode(String(lines[2])), root.count == 32 else {
            throw Mistake(description: "line 3 is no SHA-256 in base64")
        }
        self.root = root
    }
}
