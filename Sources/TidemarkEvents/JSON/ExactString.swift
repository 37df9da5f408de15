// ExactString.swift — text compared byte for byte.
//
// Swift's `String` takes "é" and "e" + U+0301 for equal; JSON does not, and neither do servers.

/// A string that equals another only when both have the same UTF-8 bytes.
package struct ExactString: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// Whether both have the same bytes.
    package static func == (left: Self, right: Self) -> Bool {
        guard left.text.utf8.count == right.text.utf8.count, left.text == right.text else {
            return false
        }
        // Equal texts of ASCII alone are the same bytes; comparing those one by one takes long.
        return left.isASCII && right.isASCII || left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Whether it is of ASCII alone.
    ///
    /// Any other character takes more bytes of UTF-8 than units of UTF-16, and a string knows how
    /// many it has of both.
    private var isASCII: Bool { text.utf8.count == text.utf16.count }

    package func hash(into hasher: inout Hasher) {
        // Equal bytes hash equally; equivalent texts may collide, which is fine.
        hasher.combine(text)
    }
}

extension Set<ExactString> {
    /// Its texts, in the order of their bytes.
    package var inOrder: [String] {
        map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
