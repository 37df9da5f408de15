// JSONWriting.swift — values as compact JSON bytes.

extension JSONValue {
    /// The compact JSON text: no white space, numbers verbatim, strings as
    /// ``JSON/appendString(_:to:)``.
    ///
    /// - Parameter sortedKeys: members in their own order when false, by the UTF-8 bytes of their
    ///   keys at every level when true.
    public func encoded(sortedKeys: Bool = false) -> [UInt8] {
        var output: [UInt8] = []
        append(to: &output, sortedKeys: sortedKeys)
        return output
    }

    private func append(to output: inout [UInt8], sortedKeys: Bool) {
        switch self {
        case .null:
            output.append(contentsOf: "null".utf8)
        case .bool(let value):
            output.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let value):
            output.append(contentsOf: value.text.utf8)
        case .string(let value):
            JSON.appendString(value, to: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.append(to: &output, sortedKeys: sortedKeys)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            let members =
                sortedKeys
                ? object.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                : Array(object)
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSON.appendString(member.key, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.append(to: &output, sortedKeys: sortedKeys)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}

extension JSON {
    /// Appends a string in quotes, escaped as Python's `json.dumps(s, ensure_ascii=False)` does.
    ///
    /// Quote, backslash and what is below 0x20 are escaped (`\n`, `\r`, `\t`, `\f`, `\b`, else
    /// `\u00xx` in lower case); everything else stands as UTF-8.
    public static func appendString(_ string: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        if string.utf8.contains(where: needsEscape) {
            for byte in string.utf8 { append(byte, to: &output) }
        } else {
            output.append(contentsOf: string.utf8)
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func append(_ byte: UInt8, to output: inout [UInt8]) {
        guard needsEscape(byte) else { return output.append(byte) }
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        default:
            let hex = String(byte, radix: 16)
            output.append(contentsOf: (byte < 0x10 ? "u000" : "u00").utf8)
            output.append(contentsOf: hex.utf8)
        }
    }
}
