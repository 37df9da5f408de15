// NameBeside.swift — the name of a file that is kept beside another one of its name.
//
//   Photo.jpg             Photo (2026-11-27 02-20-17).jpg
//   and that is taken     Photo (2026-11-27 02-20-17) 2.jpg
//   Makefile, .profile    Makefile (2026-11-27 02-20-17), .profile (2026-11-27 02-20-17)
//   a.tar.gz              a.tar (2026-11-27 02-20-17).gz
//
// The time is the server's, in UTC: no clock of the device's is looked at, and no time zone, so
// that the same log always makes the same name. A name that has such a time already gets the new
// one in its place; what is too long loses the end of what stands before the time.

package import TidemarkEvents

/// A name, taken apart.
package struct NameBeside: Sendable, Hashable {
    /// What stands before the time.
    private var stem: Substring
    /// The time, as it is written; nil where it has none.
    private var time: Substring?
    /// Which one it is of those with the same time.
    private var number = 1
    /// With the dot; empty for none.
    private var suffix: Substring

    /// The most bytes of a name, in UTF-8.
    package static let bytesMax = 255
    /// The longest suffix that is taken for one, with the dot.
    private static let suffixMax = 16

    /// - Parameter isFolder: whether it is a folder's, which has no suffix.
    package init(_ name: String, isFolder: Bool = false) {
        (stem, suffix) = (name[...], "")
        if !isFolder, let dot = name.lastIndex(of: "."), dot > name.startIndex,
            name[..<dot].contains(where: { $0 != "." })
        {
            let end = name[dot...]
            let isSuffix =
                (2...Self.suffixMax).contains(end.utf8.count)
                && !end.contains(where: \.isWhitespace)
            if isSuffix { (stem, suffix) = (name[..<dot], end) }
        }
        takeTime()
    }

    /// Whether it has a time, as a name that was made here does.
    package var isMade: Bool { time != nil }

    /// Takes the time off the end of the stem, with the number after it.
    private mutating func takeTime() {
        var rest = stem
        var number = 1
        if let space = rest.lastIndex(of: " "), let given = Int(rest[rest.index(after: space)...]),
            (2..<1_000_000).contains(given), "\(given)" == rest[rest.index(after: space)...]
        {
            (rest, number) = (rest[..<space], given)
        }
        guard rest.last == ")", let open = rest.lastIndex(of: "("), open > rest.startIndex,
            rest[rest.index(before: open)] == " "
        else { return }
        let inner = rest[rest.index(after: open)...].dropLast()
        guard Self.isTime(inner) else { return }
        (time, self.number) = (inner, number)
        stem = rest[..<rest.index(before: open)]
    }

    private static func isTime(_ text: Substring) -> Bool {
        text.utf8.count == 19
            && zip(text.utf8, "0000-00-00 00-00-00".utf8).allSatisfy { byte, form in
                form == 0x30 ? (0x30...0x39).contains(byte) : byte == form
            }
    }

    /// The next name that is free.
    ///
    /// - Parameters:
    ///   - date: the server's time.
    ///   - isTaken: whether another one has a name.
    package func next(
        at date: Timestamp, isTaken: (String) throws -> Bool
    ) rethrows -> String {
        let text = String(
            date.toTheSecond.dropLast().map { $0 == "T" ? " " : $0 == ":" ? "-" : $0 })
        var number = time == text[...] ? self.number + 1 : 1
        while true {
            let name = made(text, number)
            if try !isTaken(name) { return name }
            number += 1
        }
    }

    private func made(_ time: String, _ number: Int) -> String {
        let end = " (\(time))" + (number > 1 ? " \(number)" : "") + suffix
        var stem = stem
        while !stem.isEmpty, stem.utf8.count + end.utf8.count > Self.bytesMax { stem.removeLast() }
        return stem + end
    }
}
