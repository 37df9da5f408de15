// CalDAVNames.swift — maps the ids of entities one to one to the addresses of a server's items.
//
// The name of an item is the last part of its address, percent-decoded. Servers and other clients
// choose names freely, mostly UID.ics; every name has an id:
//
//   id           name          when
//   tea          tea.ics       the usual: the id and the suffix
//   =tea.txt     tea.txt       without the suffix
//   ==tea.ics    =tea.ics      a name that would look like one of the other forms
//   %FF.ics      (FF hex).ics  not UTF-8, or with control characters: percent-encoded

import TidemarkEvents
import TidemarkSync

/// Names of items in a collection.
struct CalDAVNames {
    /// The suffix of usual names: `.ics` or `.vcf`.
    var suffix: String

    /// The id of an item, by the last part of its address; nil when the id would be too long.
    func id(ofComponent component: some StringProtocol) -> String? {
        let bytes = URLPath.unescape(component)
        let isMarked = bytes.first == UInt8(ascii: "=") || bytes.first == UInt8(ascii: "%")
        let isUsual = !isMarked && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        let forms = [
            isUsual ? String(validating: bytes.dropLast(suffix.utf8.count), as: UTF8.self) : nil,
            String(validating: Array("=".utf8) + bytes, as: UTF8.self),
            "%" + ServerRequest.percentEncoded(bytes),
        ]
        return forms.lazy.compactMap { $0 }.first { EntityKey("c", $0).isValid }
    }

    /// The last part of the address of an item with this id, percent-encoded.
    func component(of id: String) -> String {
        switch id.utf8.first {
        case UInt8(ascii: "="): ServerRequest.percentEncoded(id.utf8.dropFirst())
        case UInt8(ascii: "%"): String(decoding: id.utf8.dropFirst(), as: UTF8.self)
        default: ServerRequest.percentEncoded(id) + suffix
        }
    }

    /// Whether the last part of an address would be another place: `.`, `..`, or nothing.
    static func isPlace(_ component: some StringProtocol) -> Bool {
        let name = String(decoding: URLPath.unescape(component), as: UTF8.self)
        return name.isEmpty || URLPath.isPlace(name)
    }

    /// Whether an item may be created under the id: its name maps back to the same id, and its
    /// address names one item of the collection.
    func canCreate(_ id: String) -> Bool {
        let component = component(of: id)
        guard !Self.isPlace(component) else { return false }
        guard !URLPath.unescape(component).contains(UInt8(ascii: "/")) else { return false }
        return self.id(ofComponent: component).map { Array($0.utf8) } == Array(id.utf8)
    }

    /// The parts of a path, percent-decoded.
    static func parts(ofPath path: Substring) -> [[UInt8]] {
        path.split(separator: "/").map { URLPath.unescape($0) }
    }
}
