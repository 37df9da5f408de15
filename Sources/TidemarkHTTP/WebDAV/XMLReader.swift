// XMLReader.swift — reads XML 1.0 with namespaces, as far as answers of servers need it.
//
// Strict: XML that is not well-formed is refused, and so are document types (and with them custom
// entities), encodings other than UTF-8, and documents that are too deep or too large.
//
// The platform's parser is not used: on Linux it ends the process at an element name that is not
// UTF-8, accepts a document that is cut off, and needs a system library that newer systems don't
// have.

package import TidemarkSync

/// Reads a document in one pass, without recursion.
package struct XMLReader {
    /// How deep elements may be nested.
    static let depthMax = 64
    /// How many elements a document may have, and how many attributes an element.
    static let elementsMax = 2_000_000
    static let attributesMax = 64
    /// How many prefixes may hold in one place: each name is looked for among them.
    static let prefixesMax = 256

    /// An element whose end tag has not come yet.
    private struct Open {
        var tree: XMLTree
        /// The name as written, to be compared with the end tag.
        var written: ArraySlice<UInt8>
        var text: [UInt8] = []
        /// How many prefixes were declared outside of the element.
        var outerPrefixes: Int
    }

    private let bytes: [UInt8]
    private var index = 0
    private var open: [Open] = []
    private var prefixes: [(prefix: ArraySlice<UInt8>, namespace: String)] = []
    private var root: XMLTree?
    private var elements = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a document.
    ///
    /// - Throws: `malformed`, with the problem and the byte at which it is.
    package static func read(_ bytes: [UInt8]) throws(SyncFailure) -> XMLTree {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw .malformed("XML that is not UTF-8")
        }
        var reader = XMLReader(bytes)
        return try reader.document()
    }

    private mutating func document() throws(SyncFailure) -> XMLTree {
        if has("\u{FEFF}") { index += 3 }
        if has("<?xml"), has(at: index + 5, where: Self.isSpace) { try declaration() }
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "<") {
                try text()
            } else if has("<!--") {
                _ = try passed("-->", after: 4)
            } else if has("<?") {
                _ = try passed("?>", after: 2)
            } else if has("<![CDATA["), !open.isEmpty {
                let data = try passed("]]>", after: 9)
                try add(data, withReferences: false)
            } else if has("</") {
                try endTag()
            } else {
                try startTag()
            }
        }
        guard let root, open.isEmpty else { throw wrong("the document is cut off") }
        return root
    }

    private mutating func declaration() throws(SyncFailure) {
        let words = String(decoding: try passed("?>", after: 5), as: UTF8.self)
        guard let name = words.firstRange(of: "encoding") else { return }
        let value = words[name.upperBound...].drop { $0 != "'" && $0 != "\"" }.dropFirst()
        let encoding = value.prefix { $0 != "'" && $0 != "\"" }.lowercased()
        guard encoding == "utf-8" || encoding == "us-ascii" else {
            throw wrong("the encoding is \(encoding.prefix(20)), not UTF-8")
        }
    }

    // MARK: Elements

    private mutating func startTag() throws(SyncFailure) {
        guard root == nil else { throw wrong("something stands behind the end") }
        elements += 1
        guard open.count < Self.depthMax, elements <= Self.elementsMax else {
            throw wrong("more than \(Self.depthMax) deep, or than \(Self.elementsMax) elements")
        }
        index += 1
        let outer = prefixes.count
        let written = try name()
        let isClosed = try attributes()
        let (namespace, local) = try resolve(written)
        open.append(
            Open(
                tree: XMLTree(namespace: namespace, name: local), written: written,
                outerPrefixes: outer))
        if isClosed { close() }
    }

    /// Reads the attributes up to the end of a start tag.
    ///
    /// - Returns: whether the element is empty and ends there.
    private mutating func attributes() throws(SyncFailure) -> Bool {
        var names: [ArraySlice<UInt8>] = []
        while true {
            let begin = index
            skipSpace()
            if has(">") || has("/>") {
                let isClosed = has("/>")
                index += isClosed ? 2 : 1
                return isClosed
            }
            guard index > begin else { throw wrong("a space is missing") }
            let attribute = try name()
            guard !names.contains(attribute), names.count < Self.attributesMax else {
                throw wrong("an attribute is there twice, or there are too many")
            }
            names.append(attribute)
            skipSpace()
            guard has("=") else { throw wrong("an attribute has no value") }
            index += 1
            skipSpace()
            guard let quote = [#"""#, "'"].first(where: has) else { throw wrong("no quote") }
            let value = try passed(quote, after: 1)
            guard !value.contains(UInt8(ascii: "<")) else { throw wrong("< in an attribute") }
            let text = String(decoding: try decoded(value), as: UTF8.self)
            if attribute.elementsEqual("xmlns".utf8) {
                prefixes.append(([], text))
            } else if attribute.starts(with: "xmlns:".utf8) {
                prefixes.append((attribute.dropFirst(6), text))
            }
            guard prefixes.count <= Self.prefixesMax else {
                throw wrong("more than \(Self.prefixesMax) prefixes")
            }
        }
    }

    private mutating func endTag() throws(SyncFailure) {
        index += 2
        let written = try name()
        skipSpace()
        guard has(">"), open.last?.written == written else { throw wrong("an end tag of no start") }
        index += 1
        close()
    }

    private mutating func close() {
        guard var closed = open.popLast() else { return }
        closed.tree.text = String(decoding: closed.text, as: UTF8.self)
        prefixes.removeLast(prefixes.count - closed.outerPrefixes)
        if open.isEmpty {
            root = closed.tree
        } else {
            open[open.count - 1].tree.children.append(closed.tree)
        }
    }

    /// Namespace and local part of a name.
    private func resolve(
        _ written: ArraySlice<UInt8>
    ) throws(SyncFailure) -> (namespace: String, name: String) {
        let parts = written.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let prefix = parts.count == 2 ? parts[0] : []
        let known = prefixes.last { $0.prefix == prefix }?.namespace ?? ""
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), prefix.isEmpty || !known.isEmpty
        else { throw wrong("a prefix without a namespace") }
        return (known, String(decoding: parts[parts.count - 1], as: UTF8.self))
    }

    /// A name with its prefix, if it has one.
    private mutating func name() throws(SyncFailure) -> ArraySlice<UInt8> {
        let name = bytes[index...].prefix(while: Self.isNameByte)
        guard let first = name.first, !(0x2D...0x39).contains(first) else {
            throw wrong("a name is missing, or this is a document type")
        }
        index = name.endIndex
        return name
    }

    // MARK: Text

    private mutating func text() throws(SyncFailure) {
        let text = bytes[index...].prefix { $0 != UInt8(ascii: "<") }
        guard !open.isEmpty || text.allSatisfy(Self.isSpace) else {
            throw wrong("text outside of the root")
        }
        index = text.endIndex
        if !open.isEmpty { try add(text, withReferences: true) }
    }

    private mutating func add(
        _ text: ArraySlice<UInt8>, withReferences: Bool
    ) throws(SyncFailure) {
        let plain = try decoded(text, withReferences: withReferences)
        open[open.count - 1].text += plain
    }

    /// Decoded text: references replaced, and each line end as LF.
    private func decoded(
        _ text: ArraySlice<UInt8>, withReferences: Bool = true
    ) throws(SyncFailure) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "&") where withReferences:
                guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
                    let scalar = Self.scalar(rest[..<end])
                else { throw wrong("a reference to nothing") }
                plain.append(contentsOf: String(Character(scalar)).utf8)
                rest = rest[(end + 1)...]
            case 0x0D:
                if rest.first != 0x0A { plain.append(0x0A) }
            case 0..<0x09, 0x0B, 0x0C, 0x0E..<0x20: throw wrong("a control character")
            default: plain.append(byte)
            }
        }
        return plain
    }

    /// What stands between `&` and `;`.
    private static func scalar(_ reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: reference, as: UTF8.self)
        switch text {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard text.hasPrefix("#") else { return nil }
        let isHex = text.hasPrefix("#x")
        let digits = text.dropFirst(isHex ? 2 : 1)
        guard digits.allSatisfy(\.isHexDigit), let code = UInt32(digits, radix: isHex ? 16 : 10)
        else { return nil }
        switch code {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: return Unicode.Scalar(code)
        default: return nil
        }
    }

    // MARK: Bytes

    private func has(_ word: String) -> Bool { bytes[index...].starts(with: word.utf8) }

    private func has(at index: Int, where fits: (UInt8) -> Bool) -> Bool {
        index < bytes.count && fits(bytes[index])
    }

    /// The bytes after the next `count` bytes up to the word; both are passed.
    private mutating func passed(
        _ word: String, after count: Int
    ) throws(SyncFailure) -> ArraySlice<UInt8> {
        let begin = index + count
        let (first, length) = (word.utf8.first, word.utf8.count)
        var end = begin
        while end + length <= bytes.count {
            if bytes[end] == first, bytes[end...].starts(with: word.utf8) {
                index = end + length
                return bytes[begin..<end]
            }
            end += 1
        }
        throw wrong("\(word) is missing")
    }

    private mutating func skipSpace() {
        while has(at: index, where: Self.isSpace) { index += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...:
            true
        default: false
        }
    }

    private func wrong(_ problem: String) -> SyncFailure {
        .malformed("XML, byte \(index): \(problem)")
    }
}
