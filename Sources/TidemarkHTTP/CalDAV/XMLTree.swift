// XMLTree.swift — an XML document as a tree of elements, and text for one.

/// An element: its name, its own text and its child elements; attributes are ignored.
struct XMLTree {
    /// The namespace's address; empty for none.
    var namespace: String
    /// The name without prefix.
    var name: String
    /// All of its own text, joined across its child elements.
    var text = ""
    /// The child elements, in order.
    var children: [XMLTree] = []

    /// Whether the element has that name and namespace.
    func `is`(_ name: String, in namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }

    /// The child elements of that name and namespace.
    func all(_ name: String, in namespace: String) -> [XMLTree] {
        children.filter { $0.is(name, in: namespace) }
    }

    /// The first child element of that name and namespace.
    func first(_ name: String, in namespace: String) -> XMLTree? {
        children.first { $0.is(name, in: namespace) }
    }

    /// The text with everything escaped that markup uses, or that an XML reader would change.
    static func escape(_ text: String) -> String {
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
