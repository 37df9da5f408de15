// WebDAVPath.swift — where an entry lies: names from the root down, as bytes.

import TidemarkHTTP
import TidemarkSync

/// Names from the root down; none for the root itself.
struct WebDAVPath: Sendable, Hashable {
    var names: [[UInt8]] = []

    /// Names with slashes between them, as tests write them; empty for the root.
    init(_ text: String) {
        names = text.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    init(names: [[UInt8]]) { self.names = names }

    /// The path that an address names below the home; nil for one outside of it.
    ///
    /// - Parameter target: the path of a URL, perhaps with a query.
    init?(target: some StringProtocol, home: WebDAVPath) {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/").map { URLPath.unescape($0) }
        guard path.hasPrefix("/"), parts.starts(with: home.names) else { return nil }
        names = Array(parts.dropFirst(home.names.count))
    }

    var isRoot: Bool { names.isEmpty }
    var last: [UInt8] { names.last ?? [] }
    /// The folder that it lies in; the root's is the root.
    var parent: WebDAVPath { WebDAVPath(names: names.dropLast()) }

    func appending(_ name: [UInt8]) -> WebDAVPath { WebDAVPath(names: names + [name]) }

    /// Whether it lies below another, at any depth.
    func isBelow(_ other: WebDAVPath) -> Bool {
        names.count > other.names.count && names.starts(with: other.names)
    }

    /// The path of a URL, from the server's root on.
    func href(home: WebDAVPath, isFolder: Bool) -> String {
        let parts = (home.names + names).map { ServerRequest.percentEncoded($0) }
        let text = "/" + parts.joined(separator: "/")
        return isFolder && text != "/" ? text + "/" : text
    }

    /// The names with slashes between them.
    var text: String {
        String(decoding: Array(names.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
    }

    /// Whether each name is one that an entry can have: UTF-8 of a length, with neither a slash nor
    /// a zero byte in it, and none of a folder's own names.
    func isLegal(nameBytesMax: Int) -> Bool {
        names.allSatisfy { name in
            name.count <= nameBytesMax && !name.contains(0) && !name.contains(UInt8(ascii: "/"))
                && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
                && String(validating: name, as: UTF8.self) != nil
        }
    }
}
