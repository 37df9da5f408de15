// WebDAVPatching.swift — PROPPATCH: all of what it sets and removes, or nothing.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

extension WebDAVServerModel {
    /// What a patch does with one property.
    private enum Change {
        case set(XMLTree)
        case remove(XMLTree)

        var property: WebDAVProperty {
            switch self {
            case .set(let tree), .remove(let tree): WebDAVProperty(tree)
            }
        }
    }

    mutating func patchProperties(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let path = try path(of: call)
        guard let node = tree.find(path) else { throw WebDAVRefusal(404) }
        let changes = try Self.changes(call.body)
        try check(call, node)
        try allowWrite(to: path)
        let refused = changes.filter { !isAllowed($0) }.map(\.property)
        let others = changes.map(\.property).filter { !refused.contains($0) }
        var told = ""
        if refused.isEmpty {
            for change in changes { apply(change, to: node.id, call.now) }
            told = Self.part(200, others.map { $0.element() }, isNeeded: true)
        } else {
            told =
                Self.part(403, refused.map { $0.element() })
                + Self.part(424, others.map { $0.element() })
        }
        let href = path.href(home: home, isFolder: node.isFolder)
        return WebDAVReply.multistatus([
            "<d:response><d:href>\(href)</d:href>\(told)</d:response>"
        ])
    }

    private static func changes(_ body: [UInt8]) throws(WebDAVRefusal) -> [Change] {
        guard let root = try? XMLReader.read(body), root.is("propertyupdate", in: "DAV:") else {
            throw WebDAVRefusal(400)
        }
        return root.children.flatMap { part -> [Change] in
            let properties = part.all("prop", in: "DAV:").flatMap(\.children)
            if part.is("set", in: "DAV:") { return properties.map { .set($0) } }
            return part.is("remove", in: "DAV:") ? properties.map { .remove($0) } : []
        }
    }

    /// Whether a property is a client's to change: not one that the server makes, and of its own
    /// namespaces only the time of the last change, where it takes times.
    private func isAllowed(_ change: Change) -> Bool {
        let property = change.property
        guard property.namespace == "DAV:" else {
            let made = ["id", "fileid", "size", "checksums"]
            return property.namespace != WebDAVProperty.ownCloud || !made.contains(property.name)
        }
        guard case .set(let tree) = change, property.name == "lastmodified" else { return false }
        return options.takesTimes && Self.seconds(tree.text) != nil
    }

    private mutating func apply(_ change: Change, to id: Int, _ now: Int64) {
        let property = change.property
        if property == WebDAVProperty("lastmodified"), case .set(let tree) = change {
            self.tree.touch(id, (Self.seconds(tree.text) ?? 0) * 1000)
            self.tree.noteChange(in: self.tree.node(id).parent, options.folderVersions, now)
            return
        }
        var properties = tree.node(id).properties.filter { WebDAVProperty($0) != property }
        if case .set(let tree) = change { properties.append(tree) }
        tree.set(properties: properties, of: id)
    }

    /// Seconds since 1970, as a number or as a date of HTTP.
    private static func seconds(_ text: String) -> Int64? {
        Int64(text) ?? HTTPDate.parse(text).map { $0.milliseconds / 1000 }
    }
}
