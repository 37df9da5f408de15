// ExactString.swift — text compared byte for byte.
//
// Swift's `String` takes "é" and "e" + U+0301 for equal; JSON does not, and neither do servers.

/// A string that equals another only when both have the same UTF-8 bytes.
struct ExactString: Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool {
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // Equal bytes hash equally; equivalent texts may collide, which is fine.
        hasher.combine(text)
    }
}
