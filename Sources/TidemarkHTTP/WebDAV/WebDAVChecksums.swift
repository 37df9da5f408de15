// WebDAVChecksums.swift — the checksums of files that servers of ownCloud's family tell:
//
//   <oc:checksums><oc:checksum>SHA1:… MD5:… ADLER32:…</oc:checksum></oc:checksums>
//
// Such a server is known by the ids that it gives (oc:id, oc:fileid).

import TidemarkEvents
public import TidemarkSync

extension WebDAVAdapter {
    /// Asks a server that gives files ids.
    public func checksumRequest(of record: ServerRecord, at id: String) -> ServerRequest? {
        guard record.revision != nil,
            record.document.flatMap({ JSON.value("fileId", of: $0) }) != nil
        else { return nil }
        return try? find(id, depth: "0", Self.askedForChecksums)
    }

    /// Reads SHA-256, SHA-1 and MD5; others are passed over.
    public func checksums(of record: ServerRecord, in body: [UInt8]) -> FileChecksums? {
        guard let responses = try? Multistatus(parsing: body).responses,
            let file = responses.first, responses.count == 1, let properties = file.properties,
            let version = WebDAVVersion(
                properties.first("getetag", in: "DAV:")?.text.trimmed, isFolder: false),
            let told = properties.first("checksums", in: WebDAVResource.ownCloud)
        else { return nil }
        var checksums = FileChecksums(
            revision: version.revision,
            bytes: properties.first("getcontentlength", in: "DAV:").flatMap {
                Int64($0.text.trimmed)
            }, digits: [:])
        let words = told.all("checksum", in: WebDAVResource.ownCloud)
        for (algorithm, digits) in words.flatMap({ FileChecksums.pairs(in: $0.text) }) {
            checksums.digits[algorithm] = String(digits)
        }
        return checksums
    }

    private static let askedForChecksums = question(
        for: "<D:getetag/><D:getcontentlength/><O:checksums/>")
}
