// PayloadCodec.swift — how the values of members stand in JSON.

/// How values of one type are read from JSON and written to it.
package struct PayloadCodec<Value: Sendable>: Sendable {
    /// What stands in JSON, in words: `an integer`.
    let type: String
    /// Reads the bytes of one JSON value; nil where it is something else.
    let read: @Sendable (ArraySlice<UInt8>) -> Value?
    /// The same of a value that was parsed already.
    let parse: @Sendable (JSONValue) -> Value?
    /// Appends one JSON value.
    let append: @Sendable (Value, inout [UInt8]) -> Void
    /// Whether null is a value; elsewhere it is as if there were none.
    var keepsNull = false
    /// Whether a text that it can't read is a word of a newer version, and as if there were none.
    var isOpen = false

    /// For values whose bytes are kept, or read by somebody else.
    init(
        _ type: String, raw read: @escaping @Sendable (ArraySlice<UInt8>) -> Value?,
        append: @escaping @Sendable (Value, inout [UInt8]) -> Void
    ) {
        self.type = type
        self.read = read
        parse = { read($0.encoded()[...]) }
        self.append = append
    }

    init(
        _ type: String, _ parse: @escaping @Sendable (JSONValue) -> Value?,
        append: @escaping @Sendable (Value, inout [UInt8]) -> Void
    ) {
        self.type = type
        read = { bytes in (try? JSONValue(parsing: bytes)).flatMap(parse) }
        self.parse = parse
        self.append = append
    }
}

extension PayloadCodec<String> {
    /// Any text.
    static var text: Self {
        PayloadCodec("a text", \.stringValue) { JSON.appendString($0, to: &$1) }
    }
}

extension PayloadCodec<Bool> {
    /// `true` or `false`.
    static var flag: Self {
        PayloadCodec(
            "true or false", { if case .bool(let value) = $0 { value } else { nil } },
            append: { $1 += ($0 ? "true" : "false").utf8 })
    }
}

extension PayloadCodec where Value: FixedWidthInteger {
    /// An integer that fits.
    static var integer: Self {
        PayloadCodec(
            "an integer", { $0.int64Value.flatMap(Value.init(exactly:)) },
            append: { $1 += String($0).utf8 })
    }

    /// An integer as a text of decimal digits, as it may not fit into a double.
    static var digits: Self {
        PayloadCodec(
            "a text of digits", { $0.stringValue.flatMap { Value($0) } },
            append: { JSON.appendString(String($0), to: &$1) })
    }
}

extension PayloadCodec<Timestamp> {
    /// Microseconds since 1970.
    static var time: Self {
        PayloadCodec(
            "microseconds since 1970", { $0.int64Value.map { Timestamp(rawValue: $0) } },
            append: { $1 += String($0.rawValue).utf8 })
    }
}

extension PayloadCodec<Revision> {
    /// A version, a cursor or an epoch, as the server wrote it.
    static var revision: Self {
        PayloadCodec(
            "a text", { $0.stringValue.map { Revision($0) } },
            append: { JSON.appendString($0.description, to: &$1) })
    }
}

extension PayloadCodec<Position> {
    /// A position in the log.
    static var position: Self {
        PayloadCodec(
            "a position",
            { $0.int64Value.flatMap(UInt64.init(exactly:)).map { Position($0) } },
            append: { $1 += String($0.rawValue).utf8 })
    }
}

extension PayloadCodec where Value: RawRepresentable<String> {
    /// One of a closed list of words.
    static var word: Self {
        var codec = PayloadCodec(
            "a word of ours", { $0.stringValue.flatMap { Value(rawValue: $0) } },
            append: { JSON.appendString($0.rawValue, to: &$1) })
        codec.isOpen = true
        return codec
    }
}

extension PayloadCodec<[UInt8]> {
    /// A JSON value as it came.
    static var json: Self {
        var codec = PayloadCodec("JSON", raw: { Array($0) }, append: { $1 += $0 })
        codec.keepsNull = true
        return codec
    }
}

extension PayloadCodec {
    /// A JSON array.
    static func list<Element: Sendable>(
        of element: PayloadCodec<Element>
    ) -> Self where Value == [Element] {
        PayloadCodec(
            "a list",
            { value in
                guard let parts = value.array else { return nil }
                var elements: [Element] = []
                elements.reserveCapacity(parts.count)
                for part in parts {
                    guard let value = element.parse(part) else { return nil }
                    elements.append(value)
                }
                return elements
            },
            append: { elements, output in
                output.append(UInt8(ascii: "["))
                // A page names a thousand entities, and a generic iterator is slow.
                for index in 0..<elements.count {
                    if index > 0 { output.append(UInt8(ascii: ",")) }
                    element.append(elements[index], &output)
                }
                output.append(UInt8(ascii: "]"))
            })
    }

    /// A JSON object of values of one kind, in its order.
    static func byName<Element: Sendable & Hashable>(
        _ element: PayloadCodec<Element>
    ) -> Self where Value == [Named<Element>] {
        PayloadCodec(
            "an object",
            { value in
                guard let object = value.object else { return nil }
                var elements: Value = []
                for (name, value) in object {
                    guard let value = element.parse(value) else { return nil }
                    elements.append(Named(name, value))
                }
                return elements
            },
            append: { elements, output in
                var writer = MemberWriter()
                for named in elements {
                    writer.add(named.name) { element.append(named.value, &$0) }
                }
                output += writer.finish()
            })
    }
}

/// A value under a name that is no word of ours: an id, or a collection's name.
package struct Named<Value: Sendable & Hashable>: Sendable, Hashable {
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}

extension PayloadCodec where Value: MemberPayload {
    /// An object with members of ours.
    static var object: Self {
        PayloadCodec(
            "an object", raw: { try? Value(reading: Array($0)) }, append: { $1 += $0.encoded })
    }
}
