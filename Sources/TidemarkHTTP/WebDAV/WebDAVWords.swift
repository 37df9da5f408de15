// WebDAVWords.swift — which words of servers of files are no secrets.

import TidemarkEvents
public import TidemarkSync

extension WebDAVAdapter {
    /// No header field is kept; names of entries don't stay.
    public var words: ServerWords { Self.words }

    static let words = ServerWords(
        segments: ["dav", "webdav", "remote.php", "files", "v1", "v2"],
        members: [
            "kind": .anything, "size": .content, WebDAVPatch.member: .anything, "type": .content,
            "fileId": .anything,
        ],
        constants: [Remote.preconditions: ["heeded"]],
        others: ["PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "folder", "file"])
}
