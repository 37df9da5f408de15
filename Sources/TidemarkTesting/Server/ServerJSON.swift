// ServerJSON.swift — just enough JSON for a server that returns records byte for byte.
//
// JSONSerialization decides what is valid; a small splitter then cuts an object into its members
// without changing their bytes, so `1.50` stays `1.50`.

import Foundation

enum ServerJSON {
    /// Whether the bytes are one whole JSON value.
    static func isValid(_ bytes: [UInt8]) -> Bool { value(bytes) != nil }

    /// The number, when the bytes are an integer that fits into 64 bits.
    static func integer(_ bytes: [UInt8]) -> Int64? {
        Int64(String(decoding: bytes, as: UTF8.self))
    }

    /// The elements of a JSON array, each as bytes; nil when the bytes are no array.
    static func elements(_ bytes: [UInt8]) -> [[UInt8]]? {
        guard isValid(bytes) else { return nil }
        var splitter = MemberSplitter(bytes: bytes)
        return splitter.elements()
    }

    /// The string, when the bytes are a JSON string.
    static func string(_ bytes: [UInt8]) -> String? { value(bytes) as? String }

    private static func value(_ bytes: [UInt8]) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }
}

/// A JSON object: its members in order, each value as its original bytes.
struct ServerJSONObject: Sendable, Hashable {
    struct Member: Sendable, Hashable {
        var name: String
        /// The name as original bytes, with quotes and escapes.
        var quotedName: [UInt8]
        var value: [UInt8]
    }

    private(set) var members: [Member] = []

    /// An object without members.
    init() {}

    /// Reads an object; nil when the bytes are not valid JSON or not an object.
    init?(_ bytes: [UInt8]) {
        guard ServerJSON.isValid(bytes) else { return nil }
        var splitter = MemberSplitter(bytes: bytes)
        guard let members = splitter.members() else { return nil }
        for member in members { set(member) }
    }

    /// The bytes of one member's value.
    subscript(name: String) -> [UInt8]? { members.first { $0.name == name }?.value }

    /// Replaces a member in its place, or adds it at the end.
    mutating func set(_ member: Member) {
        // Names are equal when their decoded bytes are.
        let isSame = { (other: Member) in other.name.utf8.elementsEqual(member.name.utf8) }
        if let index = members.firstIndex(where: isSame) {
            members[index] = member
        } else {
            members.append(member)
        }
    }

    /// Removes members.
    mutating func remove(_ names: Set<String>) { members.removeAll { names.contains($0.name) } }

    /// The object with no other members than some, in their order.
    func only(_ names: [String]) -> ServerJSONObject {
        var object = ServerJSONObject()
        for name in names {
            if let member = members.first(where: { $0.name == name }) { object.set(member) }
        }
        return object
    }

    /// The text of the members between the braces.
    var inner: [UInt8] {
        Array(
            members.map { $0.quotedName + [UInt8(ascii: ":")] + $0.value }
                .joined(separator: [UInt8(ascii: ",")]))
    }
}

/// Cuts the text of a valid JSON object at its top-level commas and colons.
private struct MemberSplitter {
    let bytes: [UInt8]
    var position = 0

    /// The members, or nil when the value is not an object.
    mutating func members() -> [ServerJSONObject.Member]? {
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return nil }
        var members: [ServerJSONObject.Member] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return members }
        repeat {
            skipSpace()
            let quotedName = takeValue()
            skipSpace()
            guard let name = ServerJSON.string(quotedName), take(UInt8(ascii: ":")) else {
                return nil
            }
            skipSpace()
            members.append(.init(name: name, quotedName: quotedName, value: takeValue()))
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}")) ? members : nil
    }

    /// The elements, or nil when the value is not an array.
    mutating func elements() -> [[UInt8]]? {
        skipSpace()
        guard take(UInt8(ascii: "[")) else { return nil }
        var elements: [[UInt8]] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            skipSpace()
            elements.append(takeValue())
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]")) ? elements : nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { position += 1 }
    }

    private mutating func takeValue() -> [UInt8] {
        let start = position
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}") where depth == 0, UInt8(ascii: "]") where depth == 0,
                UInt8(ascii: ",") where depth == 0,
                UInt8(ascii: ":") where depth == 0, UInt8(ascii: " ") where depth == 0,
                UInt8(ascii: "\t") where depth == 0, UInt8(ascii: "\r") where depth == 0,
                UInt8(ascii: "\n") where depth == 0:
                return Array(bytes[start..<position])
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                position += 1
            default: position += 1
            }
        }
        return Array(bytes[start..<position])
    }

    private mutating func skipString() {
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, bytes.count)
    }
}
