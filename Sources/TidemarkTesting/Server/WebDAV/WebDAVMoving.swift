// WebDAVMoving.swift — COPY and MOVE.

import HTTPTypes
import TidemarkHTTP
import TidemarkSync

extension WebDAVServerModel {
    mutating func transfer(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let isMove = call.method == "MOVE"
        let path = try path(of: call)
        guard let node = tree.find(path) else { throw WebDAVRefusal(404) }
        let target = try destination(of: call)
        let depth = try call.depth(isMove && node.isFolder ? ["infinity"] : ["0", "infinity"])
        let overwrites = try Self.overwrites(call)
        guard path != target, !(node.isFolder && target.isBelow(path)), !path.isRoot,
            // What lies there would go, and this with it.
            !path.isBelow(target)
        else { throw WebDAVRefusal(403) }
        try check(call, node)
        let folder = try folder(above: target)
        let old = tree.find(target)
        guard old == nil || overwrites else { throw WebDAVRefusal(412) }
        if isMove { try allowWrite(to: path) }
        try allowWrite(to: target)
        if !isMove {
            try allow(moreBytes: tree.size(of: node) - (old.map { tree.size(of: $0) } ?? 0))
        }
        if let old {
            let left = remove(old, target)
            guard left.isEmpty else {
                return WebDAVReply.multistatus(
                    left.map { WebDAVReply.response($0.href(home: home, isFolder: false), $1) })
            }
        }
        if isMove {
            tree.move(node.id, to: folder.id, as: target.last)
            if options.changesETagsOfMoved, !node.isFolder {
                tree.touch(node.id, node.modifiedMilliseconds)
            }
            tree.noteChange(in: node.parent, options.folderVersions, call.now)
        } else {
            tree.copy(
                node.id, to: folder.id, as: target.last, withMembers: depth != "0", call.now)
        }
        if !isMove || folder.id != node.parent {
            tree.noteChange(in: folder.id, options.folderVersions, call.now)
        }
        return WebDAVReply.plain(old == nil ? 201 : 204)
    }

    private static func overwrites(_ call: WebDAVCall) throws(WebDAVRefusal) -> Bool {
        switch call["Overwrite"] {
        case nil, "T": return true
        case "F": return false
        default: throw WebDAVRefusal(400)
        }
    }

    /// Where it goes: an address of this server, or a path on it.
    private func destination(of call: WebDAVCall) throws(WebDAVRefusal) -> WebDAVPath {
        guard let text = call["Destination"], !text.isEmpty else { throw WebDAVRefusal(400) }
        var path = text[...]
        if !text.hasPrefix("/") {
            let authority = URLPath.authority(of: text)
            guard let scheme = authority.firstRange(of: "://") else { throw WebDAVRefusal(400) }
            guard authority[scheme.upperBound...] == call.authority else {
                throw WebDAVRefusal(502)
            }
            path = text.dropFirst(authority.count)
        }
        guard let target = WebDAVPath(target: path, home: home) else { throw WebDAVRefusal(502) }
        guard target.isLegal(nameBytesMax: options.nameBytesMax) else { throw WebDAVRefusal(400) }
        return target
    }
}
