// XMLTree.swift — an XML document as a tree of elements, and text for one.

/// An element: its name, its own text and the elements in it; attributes are passed over.
struct XMLTree {
    /// The namespace's address; empty for none.
    var namespace: String
    /// The name without prefix.
    var name: String
    /// All of its own text, whatever elements stand between.
    var text = ""
    /// The elements directly in it, in order.
    var children: [XMLTree] = []

    /// Whether it is the element of that name and namespace.
    func `is`(_ name: String, in namespace: String) -> Bool {
        self.name == name && self.namespace == namespace
    }

    /// The elements directly in it of that name and namespace.
    func all(_ name: String, in namespace: String) -> [XMLTree] {
        children.filter { $0.is(name, in: namespace) }
    }

    /// The first of them.
    func first(_ name: String, in namespace: String) -> XMLTree? {
        children.first { $0.is(name, in: namespace) }
    }

    /// The text with everything escaped that could end it, or that a reader would change.
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
