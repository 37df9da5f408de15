// WebDAVConditions.swift — ETags, the conditions of requests, and what is refused in any case.

import HTTPTypes

extension String {
    /// An ETag without what says that it is weak.
    fileprivate var opaque: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}

extension WebDAVServerModel {
    /// The ETag of an entry; nil where it has none.
    func tag(of node: WebDAVNode) -> String? {
        if node.isFolder, options.folderVersions == .none { return nil }
        let text = "\"\(node.id)-\(node.version)\""
        return options.hasWeakETags ? "W/" + text : text
    }

    /// Refuses a request of which a condition does not hold.
    ///
    /// - Parameter node: what the conditions are about; nil for nothing.
    func check(_ call: WebDAVCall, _ node: WebDAVNode?) throws(WebDAVRefusal) {
        let isRead = call.method == "GET" || call.method == "HEAD"
        if options.ignoresPreconditions, !isRead { return }
        let tag = node.flatMap { self.tag(of: $0) }
        if let wanted = call[.ifMatch] {
            let holds =
                wanted == "*"
                ? node != nil
                : Self.tags(wanted).contains { $0 == tag && !$0.hasPrefix("W/") }
            guard holds else { throw WebDAVRefusal(412) }
        }
        guard let unwanted = call[.ifNoneMatch] else { return }
        let isThere =
            unwanted == "*"
            ? node != nil
            : Self.tags(unwanted).contains { $0.opaque == tag?.opaque }
        guard isThere else { return }
        guard isRead, let node else { throw WebDAVRefusal(412) }
        var refusal = WebDAVRefusal(304)
        refusal.answer = WebDAVReply.plain(304, self.fields(of: node))
        throw refusal
    }

    /// The ETags of a list.
    static func tags(_ list: String) -> [String] {
        var tags: [String] = []
        var rest = list[...]
        while let quote = rest.firstIndex(of: "\"") {
            let isWeak = rest[..<quote].hasSuffix("W/")
            let inner = rest[quote...].dropFirst()
            guard let end = inner.firstIndex(of: "\"") else { break }
            tags.append((isWeak ? "W/" : "") + "\"\(inner[..<end])\"")
            rest = inner[end...].dropFirst()
        }
        return tags
    }

    /// The folder that something is to lie in.
    func folder(above path: WebDAVPath) throws(WebDAVRefusal) -> WebDAVNode {
        guard let folder = tree.find(path.parent), folder.isFolder else {
            throw WebDAVRefusal(409)
        }
        return folder
    }

    /// The path of a request, which must be one that an entry can have.
    func path(of call: WebDAVCall) throws(WebDAVRefusal) -> WebDAVPath {
        guard let path = call.path else { throw WebDAVRefusal(404) }
        guard path.isLegal(nameBytesMax: options.nameBytesMax) else { throw WebDAVRefusal(400) }
        return path
    }

    /// Refuses a write to what can't be written.
    func allowWrite(to path: WebDAVPath) throws(WebDAVRefusal) {
        if let status = options.refusals[path.text] { throw WebDAVRefusal(status) }
    }

    /// Refuses what does not fit.
    func allow(moreBytes: Int) throws(WebDAVRefusal) {
        if let quota = options.quotaBytes, moreBytes > 0, tree.bytes + moreBytes > quota {
            throw WebDAVRefusal(507, "quota-not-exceeded")
        }
    }
}
