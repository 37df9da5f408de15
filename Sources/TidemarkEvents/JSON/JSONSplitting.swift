// JSONSplitting.swift — where the parts of a JSON text stand, by its structure alone.
//
// A server's list is cut up before any of its records is judged, so that one that is no JSON hides
// no other. Strings end and brackets match; what stands between them is whatever it is.

extension JSON {
    /// Where the elements of an array stand, verbatim, without white space around them.
    ///
    /// Strings and brackets are looked at, and nothing else: whether an element is JSON is for
    /// whoever reads it, so that one that is not does not hide the others.
    ///
    /// - Parameters:
    ///   - bytes: one JSON text, but for what is in the elements.
    ///   - key: the member of the top-level object that holds the array, or nil when the text
    ///     itself is the array.
    /// - Returns: byte ranges of `bytes` in order, or nil when there is no such member or it is
    ///   no array.
    /// - Throws: ``JSONError`` where strings or brackets do not match, an element is missing, the
    ///   member is there twice, or when a key is given and the text is no object.
    public static func arrayElements(
        of bytes: [UInt8], at key: String? = nil
    ) throws(JSONError) -> [Range<Int>]? {
        var splitter = JSONSplitter(bytes[...])
        guard let first = splitter.first else { throw JSONError(.empty, at: bytes.count) }
        guard let key else {
            guard first == UInt8(ascii: "[") else { return nil }
            let elements = try splitter.elements()
            try splitter.end()
            return elements
        }
        let found = try splitter.member(key) { (splitter) throws(JSONError) -> [Range<Int>]? in
            guard splitter.next == UInt8(ascii: "[") else {
                _ = try splitter.part()
                return nil
            }
            let elements = try splitter.elements()
            splitter.skipSpace()
            return elements
        }
        try splitter.end()
        return found ?? nil
    }

    /// Where the value of a member of an object stands, verbatim, without white space around it.
    ///
    /// As in ``arrayElements(of:at:)`` only strings and brackets are looked at.
    ///
    /// - Returns: a byte range of `bytes`; nil when there is no such member, or more than one, or
    ///   when the text is no object.
    public static func member(_ key: String, of bytes: [UInt8]) -> Range<Int>? {
        var splitter = JSONSplitter(bytes[...])
        let found = try? splitter.member(key) { (splitter) throws(JSONError) in
            try splitter.part()
        }
        guard let found, (try? splitter.end()) != nil else { return nil }
        return found
    }

    /// The value of a member of an object, of which nothing else has to be JSON.
    ///
    /// - Returns: nil where ``member(_:of:)`` finds none, or one that is no JSON.
    public static func value(_ key: String, of bytes: [UInt8]) -> JSONValue? {
        member(key, of: bytes).flatMap { try? JSONValue(parsing: bytes[$0]) }
    }
}

/// Goes through a text once, without recursion.
private struct JSONSplitter {
    private let bytes: ArraySlice<UInt8>
    private var at: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        at = bytes.startIndex
    }

    /// The first byte that is no white space.
    var first: UInt8? { bytes.first { !Self.isSpace($0) } }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    var next: UInt8? { at < bytes.endIndex ? bytes[at] : nil }

    private func wrong(_ code: JSONError.Code) -> JSONError {
        JSONError(at < bytes.endIndex ? code : .unexpectedEnd, at: at)
    }

    mutating func skipSpace() {
        while at < bytes.endIndex, Self.isSpace(bytes[at]) { at += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) throws(JSONError) {
        guard next == UInt8(ascii: byte) else { throw wrong(.unexpectedByte) }
        at += 1
    }

    /// Makes sure that nothing follows but white space.
    mutating func end() throws(JSONError) {
        skipSpace()
        guard at == bytes.endIndex else { throw wrong(.trailingBytes) }
    }

    /// Passes over a string, from its first quotation mark to behind its last one.
    private mutating func skipString() throws(JSONError) {
        try take("\"")
        at = JSON.stringEnd(bytes.span, at - bytes.startIndex) + bytes.startIndex
        if at > bytes.endIndex { throw unended() }
    }

    private mutating func unended() -> JSONError {
        at = bytes.endIndex
        return wrong(.unexpectedEnd)
    }

    /// Passes over what stands up to the comma or bracket that ends it; its range, without the
    /// white space behind it.
    mutating func part() throws(JSONError) -> Range<Int> {
        let start = at
        // A page is megabytes: its bytes are lent once, and the place is kept in a register.
        let source = bytes
        let lent = source.span
        var offset = start - source.startIndex
        var closers: [UInt8] = []
        scan: while offset < lent.count {
            let byte = lent[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset = JSON.stringEnd(lent, offset + 1)
                if offset > lent.count { throw unended() }
                continue
            case UInt8(ascii: "["): closers.append(UInt8(ascii: "]"))
            case UInt8(ascii: "{"): closers.append(UInt8(ascii: "}"))
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                guard let closer = closers.last else { break scan }
                guard closer == byte else {
                    at = source.startIndex + offset
                    throw wrong(.unexpectedByte)
                }
                closers.removeLast()
            case UInt8(ascii: ",") where closers.isEmpty: break scan
            default: break
            }
            offset += 1
        }
        at = source.startIndex + offset
        guard at < bytes.endIndex, closers.isEmpty else { throw wrong(.unexpectedEnd) }
        var end = at
        while end > start, Self.isSpace(bytes[end - 1]) { end -= 1 }
        guard end > start else { throw wrong(.unexpectedByte) }
        return start..<end
    }

    /// The elements of the array that begins here.
    mutating func elements() throws(JSONError) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        try list("[", "]") { (splitter) throws(JSONError) in ranges.append(try splitter.part()) }
        return ranges
    }

    /// What is read of a member of the object that begins here; nil where there is none.
    mutating func member<Value>(
        _ key: String, _ read: (inout JSONSplitter) throws(JSONError) -> Value
    ) throws(JSONError) -> Value? {
        guard first == UInt8(ascii: "{") else {
            throw JSONError(.notAnObject, at: bytes.startIndex)
        }
        var found: Value?
        try list("{", "}") { (splitter) throws(JSONError) in
            let start = splitter.at
            try splitter.skipString()
            let isIt = Self.isKey(splitter.bytes[start..<splitter.at], key)
            splitter.skipSpace()
            try splitter.take(":")
            splitter.skipSpace()
            guard isIt else {
                _ = try splitter.part()
                return
            }
            guard found == nil else { throw JSONError(.duplicateKey, at: start) }
            found = try read(&splitter)
        }
        return found
    }

    private static func isKey(_ written: ArraySlice<UInt8>, _ key: String) -> Bool {
        guard written.contains(UInt8(ascii: "\\")) else {
            return written.dropFirst().dropLast().elementsEqual(key.utf8)
        }
        let text = (try? JSONValue(parsing: written))?.stringValue
        return text.map { ExactString($0) == ExactString(key) } ?? false
    }

    /// Goes through what stands between two brackets, separated by commas.
    private mutating func list(
        _ opening: Unicode.Scalar, _ closing: Unicode.Scalar,
        _ body: (inout JSONSplitter) throws(JSONError) -> Void
    ) throws(JSONError) {
        skipSpace()
        try take(opening)
        skipSpace()
        guard next != UInt8(ascii: closing) else {
            at += 1
            return
        }
        while true {
            skipSpace()
            try body(&self)
            if next == UInt8(ascii: ",") {
                at += 1
                continue
            }
            return try take(closing)
        }
    }
}
