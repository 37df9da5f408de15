// CalDAVItems.swift — a server's item as the JSON document of an entity, and back.
//
//   {"id":"tea","data":"BEGIN:VCALENDAR\r\n…"}      the item's text
//   {"id":"tea","dataBase64":"QkVHSU4…"}            an item that is not UTF-8, verbatim
//
// Every line end becomes CR LF, as RFC 5545 and RFC 6350 demand: XML does not keep line ends apart,
// and an item must be the same whether it came in XML or alone. Nothing else is changed.

import TidemarkEvents

enum CalDAVItem {
    /// The member with the item's text.
    static let text = "data"
    /// The member with the bytes of an item that is not UTF-8.
    static let bytes = "dataBase64"

    /// Whether a text begins an object and ends the same one: a connection that broke off may have
    /// left a beginning, and something between may have answered.
    static func isWhole(_ content: [UInt8]) -> Bool {
        let (mark, end): ([UInt8], String) = ([0xEF, 0xBB, 0xBF], "\r\n")
        let isSpace = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
        var text = content.starts(with: mark) ? content.dropFirst(mark.count) : content[...]
        text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        let first = text.prefix { !end.utf8.contains($0) }
        let last = text[(text.lastIndex { end.utf8.contains($0) } ?? text.startIndex)...]
        func line(_ bytes: ArraySlice<UInt8>) -> String {
            String(decoding: bytes, as: UTF8.self).trimmed.uppercased()
        }
        guard line(first).hasPrefix("BEGIN:") else { return false }
        return line(last) == "END:" + line(first).dropFirst("BEGIN:".count)
    }

    /// The document of an item.
    static func document(id: String, idField: String, _ content: [UInt8]) -> [UInt8] {
        var document = Array("{".utf8)
        JSON.appendString(idField, to: &document)
        document.append(UInt8(ascii: ":"))
        JSON.appendString(id, to: &document)
        document.append(UInt8(ascii: ","))
        if let text = String(validating: withLineEnds(content), as: UTF8.self) {
            JSON.appendString(Self.text, to: &document)
            document.append(UInt8(ascii: ":"))
            JSON.appendString(text, to: &document)
        } else {
            JSON.appendString(Self.bytes, to: &document)
            document.append(UInt8(ascii: ":"))
            JSON.appendString(Base64.encode(content), to: &document)
        }
        document.append(UInt8(ascii: "}"))
        return document
    }

    /// The item that a document holds, or what is wrong with it.
    static func content(of document: [UInt8], idField: String) -> Result<[UInt8], Problem> {
        let members: JSONDocument
        do { members = try JSONDocument(parsing: document) } catch {
            return .failure(Problem("not a JSON object: \(error)"))
        }
        if let other = members.keys.first(where: { ![idField, text, bytes].contains($0) }) {
            return .failure(
                Problem("an item has only \(idField) and \(text), and would lose \"\(other)\""))
        }
        if let value = members.value(text) {
            guard let string = value.stringValue else { return .failure(Problem(noText)) }
            return .success(Array(string.utf8))
        }
        if let encoded = members.value(bytes)?.stringValue, let content = Base64.decode(encoded) {
            return .success(content)
        }
        return .failure(Problem(noText))
    }

    /// What is wrong with a document, for a person.
    struct Problem: Error {
        var description: String

        init(_ description: String) { self.description = description }
    }

    private static let noText =
        "a member \"\(text)\" is needed: the item's text, BEGIN:VCALENDAR or BEGIN:VCARD and so on"

    /// The bytes with CR LF for each CR, LF or CR LF.
    private static func withLineEnds(_ content: [UInt8]) -> [UInt8] {
        let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var afterCR = false
        for byte in content {
            switch byte {
            case cr: result += [cr, lf]
            case lf where afterCR: break
            case lf: result += [cr, lf]
            default: result.append(byte)
            }
            afterCR = byte == cr
        }
        return result
    }
}
