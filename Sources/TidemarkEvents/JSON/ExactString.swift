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
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        // Equal bytes hash equally; equivalent texts may collide, which is fine.
        hasher.combine(text)
    }
}
