// CalDAVNames.swift — how the ids of entities and the addresses of a server's items are one to one.
//
// The name of an item is the last part of its address, with its percent-encoding removed. Servers
// and other clients choose names freely, mostly UID.ics; an id says them all:
//
//   id           name          when
//   tea          tea.ics       the usual: the id and the suffix
//   =tea.txt     tea.txt       without the suffix
//   ==tea.ics    =tea.ics      what would look like one of the other forms
//   %FF.ics      (FF hex).ics  no text, or with control characters: percent-encoded

import TidemarkEvents

/// Names of items in a collection.
struct CalDAVNames {
    /// What usual names end in: `.ics` or `.vcf`.
    var suffix: String

    /// The id of the item of an address's last part; nil when it would be too long to be one.
    func id(ofComponent component: some StringProtocol) -> String? {
        let bytes = URLPath.unescape(component)
        let isMarked = bytes.first == UInt8(ascii: "=") || bytes.first == UInt8(ascii: "%")
        let isUsual = !isMarked && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        let forms = [
            isUsual ? String(validating: bytes.dropLast(suffix.utf8.count), as: UTF8.self) : nil,
            String(validating: Array("=".utf8) + bytes, as: UTF8.self),
            "%" + URLPath.escape(bytes),
        ]
        return forms.lazy.compactMap { $0 }.first { EntityKey("c", $0).isValid }
    }

    /// The last part of the address of an id's item, percent-encoded.
    func component(of id: String) -> String {
        switch id.utf8.first {
        case UInt8(ascii: "="): URLPath.escape(id.utf8.dropFirst())
        case UInt8(ascii: "%"): String(decoding: id.utf8.dropFirst(), as: UTF8.self)
        default: URLPath.escape(id.utf8) + suffix
        }
    }

    /// Whether an item may be made under the id: a server would name it so again, and reads its
    /// address as that of one item of the collection.
    func canCreate(_ id: String) -> Bool {
        let component = component(of: id)
        guard !component.isEmpty, component != ".", component != ".." else { return false }
        guard !URLPath.unescape(component).contains(UInt8(ascii: "/")) else { return false }
        return self.id(ofComponent: component).map { Array($0.utf8) } == Array(id.utf8)
    }

    /// The parts of an address's path, without percent-encoding.
    static func parts(ofPath path: Substring) -> [[UInt8]] {
        path.split(separator: "/").map { URLPath.unescape($0) }
    }
}
