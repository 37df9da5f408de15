// WebDAVResource.swift — what a server tells of a folder or a file, as a document.

import TidemarkEvents
import TidemarkSync

/// A folder or a file, as one response of a multistatus tells it.
struct WebDAVResource {
    static let ownCloud = "http://owncloud.org/ns"
    private static let dav = "DAV:"
    /// How long a text may be that is taken over: a type, or an id.
    private static let textBytesMax = 1024

    var isFolder: Bool
    var version: WebDAVVersion?
    private var size: Int64?
    private var modified: Timestamp?
    private var type: String?
    private var fileID: String?

    /// Reads the properties of a response.
    ///
    /// - Parameter href: its address; where the server does not tell what it is, a folder's ends
    ///   with a slash.
    init(_ properties: XMLTree, href: String) {
        func text(_ name: String, in namespace: String = Self.dav) -> String? {
            let text = properties.first(name, in: namespace)?.text.trimmed ?? ""
            return text.isEmpty || text.utf8.count > Self.textBytesMax ? nil : text
        }
        if let kind = properties.first("resourcetype", in: Self.dav) {
            isFolder = kind.first("collection", in: Self.dav) != nil
        } else {
            isFolder = href.hasSuffix("/")
        }
        version = WebDAVVersion(text("getetag"), isFolder: isFolder)
        modified = text("getlastmodified").flatMap { HTTPDate.parse($0) }
        fileID = text("id", in: Self.ownCloud) ?? text("fileid", in: Self.ownCloud)
        guard !isFolder else { return }
        size = text("getcontentlength").flatMap { text in
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
        }
        type = text("getcontenttype")
    }

    /// The entry as a record, by its path.
    func record(_ path: String, _ collection: CollectionModel) -> ServerRecord {
        var record = ServerRecord(
            id: path, revision: version?.revision, document: document(collection))
        record.isKnownByVersion = version?.condition != nil
        return record
    }

    private func document(_ collection: CollectionModel) -> [UInt8] {
        var document = JSONObject()
        document[collection.kindField] = .string(isFolder ? collection.folderWord : "file")
        if let size { document["size"] = JSONValue(integerLiteral: size) }
        if let modified { document[WebDAVPatch.member] = .string(modified.toTheSecond) }
        if let type { document["type"] = .string(type) }
        if let fileID { document["fileId"] = .string(fileID) }
        return JSONValue.object(document).encoded()
    }
}
