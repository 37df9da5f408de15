// PoolKey.swift — of which values a pool is meant: the pool's name, and what the values are of.

/// A pool of the model, and what its values are of there: an attribute, an attribute and a unit.
///
/// Two keys are equal where all bytes are.
package struct PoolKey: Sendable, Hashable, CustomStringConvertible {
    /// The name of the pool.
    package var pool: String
    /// What the values are of, at least one text.
    ///
    /// The same value is none of another key that begins with the same text.
    package var texts: [String]

    /// That pool and these texts, unchecked; see ``problem``.
    package init(_ pool: String, _ texts: [String]) {
        self.pool = pool
        self.texts = texts
    }

    /// The largest name of a pool, and the most bytes of all texts, in UTF-8: with a value they fit
    /// an LMDB key.
    package static let nameBytesMax = 64
    package static let textsBytesMax = 160
    /// The most texts.
    package static let textsMax = 8
    /// The largest value, in bytes of UTF-8.
    package static let valueBytesMax = 240

    /// What is wrong with it; nil where it can be used.
    package var problem: String? { Self.problem(name: pool) ?? Self.problem(texts: texts) }

    /// What is wrong with the name of a pool; nil where it can be used.
    package static func problem(name: String) -> String? {
        isUsable(name, upTo: nameBytesMax)
            ? nil : "a name of 1 to \(nameBytesMax) bytes without control characters is needed"
    }

    /// What is wrong with the texts of a key; nil where they can be used.
    package static func problem(texts: [String]) -> String? {
        let count = texts.reduce(0) { $0 + $1.utf8.count }
        let isUsable =
            (1...textsMax).contains(texts.count) && count <= textsBytesMax
            && texts.allSatisfy { Self.isUsable($0, upTo: textsBytesMax) }
        return isUsable
            ? nil
            : "1 to \(textsMax) texts are needed, none of them empty or with control characters, "
                + "of at most \(textsBytesMax) bytes together"
    }

    /// Whether a value can be kept and handed out.
    package static func isUsable(value: String) -> Bool { isUsable(value, upTo: valueBytesMax) }

    private static func isUsable(_ text: String, upTo bytesMax: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= bytesMax
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// `numbers of A1, U2`.
    package var description: String { "\(pool) of \(texts.joined(separator: ", "))" }

    /// The pool and each text, with a zero byte behind each, and one more.
    package var bytes: [UInt8] {
        var bytes = Array(pool.utf8) + [0]
        for text in texts { bytes += Array(text.utf8) + [0] }
        return bytes + [0]
    }

    /// Reads what ``bytes`` wrote, from the beginning.
    ///
    /// - Returns: the key, and the rest; nil where there is none.
    package static func reading(
        _ bytes: ArraySlice<UInt8>
    ) -> (key: PoolKey, rest: ArraySlice<UInt8>)? {
        var texts: [String] = []
        var rest = bytes
        while let zero = rest.firstIndex(of: 0) {
            let part = rest[..<zero]
            rest = rest[(zero + 1)...]
            if part.isEmpty, let name = texts.first {
                return (PoolKey(name, Array(texts.dropFirst())), rest)
            }
            guard let text = String(utf8: part) else { return nil }
            texts.append(text)
        }
        return nil
    }

    package static func == (left: PoolKey, right: PoolKey) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
