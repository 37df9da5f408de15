// WebDAVProperties.swift — PROPFIND: lists of folders, and what is told of each entry.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// The name of a property.
struct WebDAVProperty: Sendable, Hashable {
    static let ownCloud = "http://owncloud.org/ns"

    var namespace = "DAV:"
    var name: String

    init(_ name: String, in namespace: String = "DAV:") {
        self.name = name
        self.namespace = namespace
    }

    init(_ tree: XMLTree) { self.init(tree.name, in: tree.namespace) }

    /// The element with something in it.
    func element(_ inner: String = "") -> String {
        switch namespace {
        case "DAV:": "<d:\(name)>\(inner)</d:\(name)>"
        case Self.ownCloud: "<oc:\(name)>\(inner)</oc:\(name)>"
        case "": "<\(name) xmlns=\"\">\(inner)</\(name)>"
        default:
            "<x:\(name) xmlns:x=\"\(XMLTree.escape(namespace))\">\(inner)</x:\(name)>"
        }
    }

    /// Those of RFC 4918 that the server itself makes, in the order in which it tells them.
    static let live = [
        "resourcetype", "displayname", "creationdate", "getlastmodified", "getcontentlength",
        "getcontenttype", "getetag",
    ].map { WebDAVProperty($0) }
}

/// What a PROPFIND asks for.
private enum AskedProperties {
    case all(also: [WebDAVProperty])
    case names
    case some([WebDAVProperty])

    init(_ body: [UInt8]) throws(WebDAVRefusal) {
        guard !body.isEmpty else {
            self = .all(also: [])
            return
        }
        guard let root = try? XMLReader.read(body), root.is("propfind", in: "DAV:") else {
            throw WebDAVRefusal(400)
        }
        if let some = root.first("prop", in: "DAV:") {
            self = .some(some.children.map { WebDAVProperty($0) })
        } else if root.first("propname", in: "DAV:") != nil {
            self = .names
        } else if root.first("allprop", in: "DAV:") != nil {
            let also = root.first("include", in: "DAV:")?.children ?? []
            self = .all(also: also.map { WebDAVProperty($0) })
        } else {
            throw WebDAVRefusal(400)
        }
    }
}

extension WebDAVServerModel {
    func findProperties(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let path = try path(of: call)
        guard let node = tree.find(path) else { throw WebDAVRefusal(404) }
        let depth = try call.depth(["0", "1", "infinity"]) ?? "infinity"
        if depth == "infinity", node.isFolder, !options.listsWholeTrees {
            throw WebDAVRefusal(403, "propfind-finite-depth")
        }
        let asked = try AskedProperties(call.body)
        var responses: [String] = []
        add(node, path, depth: depth == "0" ? 0 : depth == "1" ? 1 : Int.max, asked, &responses)
        return WebDAVReply.multistatus(responses)
    }

    private func add(
        _ node: WebDAVNode, _ path: WebDAVPath, depth: Int, _ asked: AskedProperties,
        _ responses: inout [String]
    ) {
        let href = path.href(home: home, isFolder: node.isFolder)
        responses.append("<d:response><d:href>\(href)</d:href>\(told(node, asked))</d:response>")
        guard depth > 0 else { return }
        for member in tree.members(of: node) {
            let place = path.appending(member.name)
            if let status = options.failingMembers[place.text] {
                let href = place.href(home: home, isFolder: member.isFolder)
                responses.append(WebDAVReply.response(href, status))
            } else {
                add(member, place, depth: depth - 1, asked, &responses)
            }
        }
    }

    private func told(_ node: WebDAVNode, _ asked: AskedProperties) -> String {
        let own = WebDAVProperty.live + node.properties.map { WebDAVProperty($0) }
        switch asked {
        case .names:
            return Self.part(
                200, own.filter { value(of: $0, node) != nil }.map { $0.element() })
        case .all(let also):
            return told(node, own.filter { value(of: $0, node) != nil } + also)
        case .some(let properties):
            return told(node, properties)
        }
    }

    private func told(_ node: WebDAVNode, _ properties: [WebDAVProperty]) -> String {
        var found: [String] = []
        var missing: [String] = []
        for property in properties {
            if let value = value(of: property, node) {
                found.append(property.element(value))
            } else {
                missing.append(property.element())
            }
        }
        return Self.part(200, found, isNeeded: missing.isEmpty) + Self.part(404, missing)
    }

    /// The properties of one status; nothing where there are none and none are needed.
    static func part(_ status: Int, _ elements: [String], isNeeded: Bool = false) -> String {
        guard isNeeded || !elements.isEmpty else { return "" }
        return "<d:propstat><d:prop>\(elements.joined())</d:prop>\(WebDAVReply.line(status))"
            + "</d:propstat>"
    }

    /// What stands in the element of a property; nil where the entry does not have it.
    private func value(of property: WebDAVProperty, _ node: WebDAVNode) -> String? {
        switch property.namespace {
        case "DAV:": if let value = liveValue(property.name, node) { return value }
        case WebDAVProperty.ownCloud: if let value = ownValue(property.name, node) { return value }
        default: break
        }
        let said = node.properties.first { WebDAVProperty($0) == property }
        return said.map { $0.inner }
    }

    private func liveValue(_ name: String, _ node: WebDAVNode) -> String? {
        switch name {
        case "resourcetype": return node.isFolder ? "<d:collection/>" : ""
        case "displayname":
            return XMLTree.escape(String(decoding: node.name, as: UTF8.self))
        case "creationdate":
            return "\(Timestamp(milliseconds: node.createdMilliseconds / 1000 * 1000))"
        case "getlastmodified":
            return HTTPDate.text(Timestamp(milliseconds: node.modifiedMilliseconds))
        case "getcontentlength": return node.isFolder ? nil : "\(node.content.count)"
        case "getcontenttype": return node.isFolder ? nil : XMLTree.escape(node.type)
        case "getetag": return tag(of: node).map { XMLTree.escape($0) }
        default: return nil
        }
    }

    private func ownValue(_ name: String, _ node: WebDAVNode) -> String? {
        switch name {
        case "id" where options.hasFileIDs: return fileID(of: node)
        case "fileid" where options.hasFileIDs: return "\(node.target ?? node.id)"
        case "size" where options.hasFileIDs: return "\(tree.size(of: node))"
        case "checksums" where options.hasChecksums && !node.isFolder:
            return "<oc:checksum>SHA1:\(Self.sha1(node.content))</oc:checksum>"
        default: return nil
        }
    }

    /// An entry's id for life, or that of the one to which it is a link: at least eight digits, and
    /// the server's name.
    func fileID(of node: WebDAVNode) -> String {
        let digits = "\(node.target ?? node.id)"
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + "memory"
    }
}

extension XMLTree {
    /// What stands in it, as text of a document of its own namespaces.
    fileprivate var inner: String {
        XMLTree.escape(text)
            + children.map { WebDAVProperty($0).element($0.inner) }.joined()
    }
}
