// JSONTape.swift — a whole text cut up once, so that any value in it is reached without reading
// the bytes before it again.
//
//   {"a":[1,2],"b":null}   0 object →8   1 key a   2 array →5   3 number   4 number
//                          5 key b   6 null
//
// `next` is the node behind a value and all that is in it: 7 for the object, 5 for the array.

/// A JSON text, and its values in the order in which they begin.
package struct JSONTape: Sendable {
    /// What a node is.
    package enum Kind: UInt8, Sendable {
        case null, bool, number, string, array, object
    }

    /// A value, or the key of a member, which stands just before the member's value.
    package struct Node: Sendable {
        package var kind: Kind
        /// Whether a string has a backslash in it.
        var hasEscapes: Bool
        /// Where it begins in ``JSONTape/bytes``, the quotes of a string included.
        package var start: Int
        /// Where it ends.
        package var end: Int
        /// The node behind it and everything in it.
        package var next: Int
    }

    /// The text.
    package let bytes: [UInt8]
    /// The values; the first one is the whole text.
    package let nodes: [Node]

    /// Checks a whole text and cuts it up.
    ///
    /// - Throws: ``JSONError`` by the rules of ``JSONValue/init(parsing:)``.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var nodes: [Node] = []
        let usualNodes = 40
        nodes.reserveCapacity(usualNodes)
        try JSONScanner.whole(bytes[...]) { (scanner, bytes) throws(JSONError) in
            try scanner.cut(bytes, into: &nodes)
        }
        self.bytes = bytes
        self.nodes = nodes
    }
}

extension JSONScanner {
    /// Walks over one value and notes where everything in it stands.
    fileprivate mutating func cut(
        _ bytes: Span<UInt8>, into nodes: inout [JSONTape.Node]
    ) throws(JSONError) {
        let place = nodes.count
        let start = at
        switch try peek(bytes) {
        case UInt8(ascii: "{"):
            nodes.append(.init(kind: .object, hasEscapes: false, start: start, end: 0, next: 0))
            try members(bytes) { (scanner, bytes, key) throws(JSONError) in
                nodes.append(
                    .init(
                        kind: .string, hasEscapes: key.hasEscapes,
                        start: key.content.lowerBound - 1, end: key.content.upperBound + 1,
                        next: nodes.count + 1))
                try scanner.cut(bytes, into: &nodes)
            }
        case UInt8(ascii: "["):
            nodes.append(.init(kind: .array, hasEscapes: false, start: start, end: 0, next: 0))
            try elements(bytes) { (scanner, bytes) throws(JSONError) in
                try scanner.cut(bytes, into: &nodes)
            }
        default:
            var hasEscapes = false
            let kind: JSONTape.Kind
            switch try scalar(bytes) {
            case .null: kind = .null
            case .bool: kind = .bool
            case .number: kind = .number
            case .string(let token): (kind, hasEscapes) = (.string, token.hasEscapes)
            }
            nodes.append(
                .init(kind: kind, hasEscapes: hasEscapes, start: start, end: at, next: place + 1))
            return
        }
        nodes[place].end = at
        nodes[place].next = nodes.count
    }
}

// MARK: - Values

extension JSONTape {
    /// The bytes of a node as they came.
    package func raw(_ node: Int) -> ArraySlice<UInt8> {
        bytes[nodes[node].start..<nodes[node].end]
    }

    /// The text of a string or key.
    package func text(_ node: Int) -> String {
        let node = nodes[node]
        let content = node.start + 1..<node.end - 1
        if node.hasEscapes {
            let token = JSONStringToken(content: content, hasEscapes: true)
            return JSONScanner(source: bytes[...]).text(token)
        }
        return String(decoding: bytes[content], as: UTF8.self)
    }

    /// The text of a number.
    package func number(_ node: Int) -> JSONNumber {
        JSONNumber(scanned: String(decoding: raw(node), as: UTF8.self))
    }

    /// Whether a node that is a `bool` is true.
    package func isTrue(_ node: Int) -> Bool { bytes[nodes[node].start] == UInt8(ascii: "t") }

    /// A number that is written as at most 18 digits, with a minus or without; nil for others.
    package func integer(_ node: Int) -> Int64? {
        let node = nodes[node]
        let span = bytes.span
        var at = node.start
        let isNegative = span[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        guard node.end - at <= 18 else { return nil }
        var value: Int64 = 0
        while at < node.end {
            let digit = span[at] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
            at += 1
        }
        return isNegative ? -value : value
    }

    /// The value of the member of an object with a key, looked for first at `hint`.
    ///
    /// - Parameters:
    ///   - name: the key's UTF-8.
    ///   - object: a node that is an object.
    ///   - hint: a key of the object, or the node behind it.
    package func member(_ name: [UInt8], of object: Int, from hint: Int) -> Int? {
        let end = nodes[object].next
        var key = hint
        while key < end {
            if isKey(key, name) { return key + 1 }
            key = nodes[key + 1].next
        }
        key = object + 1
        while key < hint {
            if isKey(key, name) { return key + 1 }
            key = nodes[key + 1].next
        }
        return nil
    }

    private func isKey(_ key: Int, _ name: [UInt8]) -> Bool {
        let node = nodes[key]
        if node.hasEscapes { return text(key).utf8.elementsEqual(name) }
        guard node.end - node.start - 2 == name.count else { return false }
        let (left, right) = (bytes.span, name.span)
        for at in right.indices where left[node.start + 1 + at] != right[at] { return false }
        return true
    }

    /// The keys and values of an object or the elements of an array that hold a node, from the
    /// whole text down to the node: what a person would call its path.
    package func path(to node: Int) -> [Step] {
        var steps: [Step] = []
        var parent = 0
        while parent < node, node < nodes[parent].next {
            let isObject = nodes[parent].kind == .object
            var child = parent + 1
            var index = 0
            while child < nodes[parent].next {
                let value = isObject ? child + 1 : child
                if node < nodes[value].next {
                    steps.append(isObject ? .key(text(child)) : .index(index))
                    parent = value
                    break
                }
                child = nodes[value].next
                index += 1
            }
        }
        return steps
    }

    /// One step of a path.
    package enum Step: Sendable, Hashable {
        case key(String)
        case index(Int)
    }
}
