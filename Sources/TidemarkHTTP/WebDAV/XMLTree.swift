// XMLTree.swift — an XML document as a tree of elements, and text for one.

/// An element: its name, its own text and its child elements; attributes are ignored.
package struct XMLTree: Sendable {
    /// The namespace's address; empty for none.
    package var namespace: String
    /// The name without prefix.
    package var name: String
    /// All of its own text, joined across its child elements.
    package var text = ""
    /// The child elements, in order.
    package var children: [XMLTree] = []

    /// Whether the element has that name and namespace.
    package func `is`(_ name: String, in namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }

    /// The child elements of that name and namespace.
    package func all(_ name: String, in namespace: String) -> [XMLTree] {
        children.filter { $0.is(name, in: namespace) }
    }

    /// The first child element of that name and namespace.
    package func first(_ name: String, in namespace: String) -> XMLTree? {
        children.first { $0.is(name, in: namespace) }
    }

    /// The text with everything escaped that markup uses, or that an XML reader would change.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
