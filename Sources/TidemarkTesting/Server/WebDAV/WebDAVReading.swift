// WebDAVReading.swift — OPTIONS, and GET and HEAD with parts of files (RFC 9110, section 14).

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension WebDAVServerModel {
    func options(_ call: WebDAVCall) -> TransportResponse {
        var fields = HTTPFields()
        for (name, value) in [
            ("DAV", "1"), ("Allow", WebDAVReply.methods), ("MS-Author-Via", "DAV"),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return WebDAVReply.plain(200, fields)
    }

    func get(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        let node = tree.find(try path(of: call))
        try check(call, node)
        guard let node else { throw WebDAVRefusal(404) }
        guard !node.isFolder else { throw WebDAVRefusal(405) }
        var fields = fields(of: node)
        fields[.contentType] = node.type
        if options.hasChecksums, let name = WebDAVCall.checksumField {
            fields[name] = "SHA1:\(Self.sha1(node.content))"
        }
        fields[.acceptRanges] = options.hasRanges ? "bytes" : "none"
        let length = node.content.count
        guard options.hasRanges, call.method == "GET", isCurrent(call, node),
            let range = Self.range(call[.range], length)
        else { return WebDAVReply.plain(200, fields, node.content) }
        guard !range.isEmpty else {
            fields[.contentRange] = "bytes */\(length)"
            return WebDAVReply.plain(416, fields)
        }
        fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        return WebDAVReply.plain(206, fields, Array(node.content[range]))
    }

    /// The fields that tell of an entry's version.
    func fields(of node: WebDAVNode) -> HTTPFields {
        var fields = HTTPFields()
        fields[.eTag] = tag(of: node)
        fields[.lastModified] = HTTPDate.text(
            Timestamp(milliseconds: node.modifiedMilliseconds))
        if options.hasFileIDs, let name = HTTPField.Name("OC-FileId") {
            fields[name] = fileID(of: node)
        }
        return fields
    }

    /// Whether the part that a client has is of this version, where it asks for that.
    private func isCurrent(_ call: WebDAVCall, _ node: WebDAVNode) -> Bool {
        guard let wanted = call["If-Range"] else { return true }
        return wanted == tag(of: node) && !wanted.hasPrefix("W/")
    }

    /// The part that is asked for; empty for one that is not there, nil for all.
    static func range(_ field: String?, _ length: Int) -> Range<Int>? {
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else { return nil }
        let ends = field.dropFirst("bytes=".count).split(
            separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let (first, last) = (Int(ends[0]), Int(ends[1]))
        switch (first, last) {
        case (let first?, let last?) where first > last: return nil
        case (let first?, let last?): return first < length ? first..<min(last + 1, length) : 0..<0
        case (let first?, nil) where ends[1].isEmpty:
            return first < length ? first..<length : 0..<0
        case (nil, let count?) where ends[0].isEmpty: return max(0, length - count)..<length
        default: return nil
        }
    }
}
