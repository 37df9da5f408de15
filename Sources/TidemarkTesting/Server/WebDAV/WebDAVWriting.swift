// WebDAVWriting.swift — PUT, MKCOL and DELETE.

import Crypto
import Foundation
import HTTPTypes
import TidemarkSync

extension WebDAVServerModel {
    mutating func put(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let path = try path(of: call)
        let old = tree.find(path)
        guard !path.isRoot, old?.isFolder != true else { throw WebDAVRefusal(405) }
        // A part of a file would be taken for all of it.
        guard call[.contentRange] == nil else { throw WebDAVRefusal(400) }
        let folder = try folder(above: path)
        try check(call, old)
        try allowWrite(to: path)
        try allow(moreBytes: call.body.count - (old?.content.count ?? 0))
        if options.hasChecksums, let name = WebDAVCall.checksumField, let sent = call[name],
            sent.hasPrefix("SHA1:"),
            sent.dropFirst(5).lowercased() != Self.sha1(call.body)
        {
            throw WebDAVRefusal(400)
        }
        let modified = options.takesTimes ? call["X-OC-MTime"].flatMap { Int64($0) } : nil
        let time = modified.map { $0 * 1000 } ?? call.now
        let file: Int
        if let old {
            file = old.id
            tree.write(call.body, to: file, time)
        } else {
            file = tree.add(path.last, to: folder.id, isFolder: false, call.body, time)
        }
        if let type = call[.contentType] { tree.set(type: type, of: file) }
        tree.noteChange(in: folder.id, options.folderVersions, call.now)
        var fields = fields(of: tree.node(file))
        fields[.lastModified] = nil
        if !options.tellsETagOfUploads { fields[.eTag] = nil }
        if modified != nil, let name = HTTPField.Name("X-OC-MTime") { fields[name] = "accepted" }
        return WebDAVReply.plain(old == nil ? 201 : 204, fields)
    }

    /// A checksum in hexadecimal digits.
    static func sha1(_ bytes: [UInt8]) -> String {
        Insecure.SHA1.hash(data: bytes).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    mutating func makeFolder(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let path = try path(of: call)
        guard call.body.isEmpty else { throw WebDAVRefusal(415) }
        let old = tree.find(path)
        guard old == nil else { throw WebDAVRefusal(405) }
        let folder = try folder(above: path)
        try check(call, old)
        try allowWrite(to: path)
        _ = tree.add(path.last, to: folder.id, isFolder: true, [], call.now)
        tree.noteChange(in: folder.id, options.folderVersions, call.now)
        return WebDAVReply.plain(201)
    }

    mutating func delete(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let path = try path(of: call)
        guard let node = tree.find(path) else { throw WebDAVRefusal(404) }
        guard !path.isRoot else { throw WebDAVRefusal(403) }
        if node.isFolder { _ = try call.depth(["infinity"]) }
        try check(call, node)
        try allowWrite(to: path)
        let left = remove(node, path)
        tree.noteChange(in: node.parent, options.folderVersions, call.now)
        if left.isEmpty { return WebDAVReply.plain(204) }
        return WebDAVReply.multistatus(
            left.map { WebDAVReply.response($0.href(home: home, isFolder: false), $1) })
    }

    /// Removes an entry with what is below it, but for what can't be removed and the folders above
    /// that.
    ///
    /// - Returns: what can't be removed, each with its status.
    mutating func remove(_ node: WebDAVNode, _ path: WebDAVPath) -> [(WebDAVPath, Int)] {
        var left: [(WebDAVPath, Int)] = []
        for member in tree.members(of: node) {
            let place = path.appending(member.name)
            if let status = options.refusals[place.text] {
                left.append((place, status))
            } else {
                left += remove(member, place)
            }
        }
        if left.isEmpty { tree.remove(node.id) }
        return left
    }
}
