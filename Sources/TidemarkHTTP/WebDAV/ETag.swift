// ETag.swift — ETags as versions: those that a precondition can name, and those of trees, where
// weak ones count, too.

import TidemarkEvents

/// ETags as versions.
enum ETag {
    /// How many bytes one may have.
    static let bytesMax = 1024

    /// The ETag as it is, with its quotes; nil when there is none that a precondition can use: `*`
    /// is any version.
    static func strong(_ text: String?) -> Revision? {
        guard let text, !text.isEmpty, text != "*", !text.hasPrefix("W/"), !text.hasPrefix("w/"),
            text.utf8.count <= bytesMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Revision(text)
    }
}

/// The version of an entry of a tree.
///
///     "x"     a file's ETag; without quotes, as some servers write it in lists, it gets them, and
///             what is escaped as in XML stands as itself
///     W/"x"   a weak one: it tells whether a file is another, and is never sent
///     /"x"    a folder's, weak or not: it is never sent
///     /       a folder without an ETag
struct WebDAVVersion: Hashable {
    private static let folderMark = "/"

    var isFolder: Bool
    /// Between the quotes; nil for a folder without an ETag.
    private(set) var tag: String?
    private(set) var isWeak = false

    /// Reads an ETag of a server; nil for a file without one that could be a version.
    init?(_ text: String?, isFolder: Bool) {
        self.isFolder = isFolder
        guard let text, text.utf8.count <= ETag.bytesMax, let (tag, isWeak) = Self.parts(text)
        else {
            if isFolder { return }
            return nil
        }
        self.tag = tag
        self.isWeak = isWeak && !isFolder
    }

    /// Reads a version as the log has it.
    init?(_ revision: Revision) {
        let text = revision.description
        let isFolder = text.hasPrefix(Self.folderMark)
        self.init(isFolder ? String(text.dropFirst()) : text, isFolder: isFolder)
    }

    /// The version as the log has it.
    var revision: Revision {
        let quoted = tag.map { "\(isWeak ? "W/" : "")\"\($0)\"" } ?? ""
        return Revision(isFolder ? Self.folderMark + quoted : quoted)
    }

    /// What a precondition names; nil where nothing can: for a folder, or a weak ETag.
    var condition: String? {
        guard !isFolder, !isWeak, let tag else { return nil }
        return EntityTag.condition("\"\(tag)\"")
    }

    private static func parts(_ text: String) -> (tag: String, isWeak: Bool)? {
        let isWeak = text.hasPrefix("W/\"")
        var tag = isWeak ? text.dropFirst(2) : text[...]
        if tag.utf8.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") {
            tag = tag.dropFirst().dropLast()
        } else if tag.contains("\"") {
            return nil
        }
        // By RFC 9110 there is no space in it. mod_dav_svn has the path of the file there.
        let isLegal = tag.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return tag.isEmpty || !isLegal ? nil : (EntityTag.plain(tag), isWeak)
    }
}
