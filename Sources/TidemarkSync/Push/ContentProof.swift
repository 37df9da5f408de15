// ContentProof.swift — whether a write that got no answer left the content that it sent: what the
// server has at the path of the file is fetched and compared.
//
//   the same bytes             it was carried out
//   a beginning of the bytes   what a broken upload left of ours: it is sent again
//   other bytes                another client's
//
// What has another length than the server tells of the file, and not its version either, is none of
// these: a page that came in its place, after which it is asked for once more, later.
//
// The same is asked where an answer told no version: whether the content is the one of before, on
// which another that waits was made.
//
// Where the server tells checksums, these are asked for first, and the file only where they do not
// tell. Of what came only the comparison is kept, in the place of the answer's body.

import HTTPTypes
package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// A question whether the content that a write sent is what the server has.
package struct ContentProof: Sendable, Hashable {
    package var key: EntityKey
    /// The write; nil where the content is compared with the one of before.
    package var attempt: EntityRow.Attempt?
    /// The SHA-256 of what was sent, or was there before, and its length.
    package var digest: String
    package var bytes: Int
    /// What the server says of the entity.
    package var record: ServerRecord
    /// How many bytes the file has by that; nil where it does not say.
    package var listed: Int64?
    /// Whether the write was to make it.
    package var isMade: Bool
    /// The question for the entity, about whose file this is.
    package var call: ServerCall
    package var request: ServerRequest
    /// The question for the file's checksums, which comes first; nil for none.
    package var checksums: ServerRequest?

    /// What is asked next.
    var asked: ServerRequest { checksums ?? request }

    /// The question for the file itself.
    var withoutChecksums: ContentProof {
        var proof = self
        proof.checksums = nil
        return proof
    }

    /// What the server has.
    package enum Finding: String, Sendable {
        case same
        /// A beginning of it, and not all.
        case part
        case other
        /// The checksums do not say: the file is to be fetched.
        case untold
    }

    /// The one member of a comparison.
    private static let member = "content"

    /// Whether what came is the file: its length is the one that the server tells, or the answer
    /// has the version that it tells.
    func isOfFile(_ bytes: UInt64, _ head: HTTPResponse) -> Bool {
        guard let listed, listed != Int64(clamping: bytes) else { return true }
        guard record.revision != nil, let tag = head.headerFields[.eTag] else { return false }
        return isOfVersion(tag)
    }

    /// Whether the file is longer than ours, or may be.
    var mayBeLonger: Bool { listed.map { $0 > Int64(clamping: bytes) } ?? true }

    /// The answer where what came is not the file: nothing stands in it.
    static func answerWithoutFile(_ head: HTTPResponse) -> TransportResponse {
        TransportResponse(response: head, body: [])
    }

    /// The answer in which a comparison stands for the file that came.
    static func answer(_ finding: Finding, _ head: HTTPResponse) -> TransportResponse {
        let body: JSONValue = .object([member: .string(finding.rawValue)])
        return TransportResponse(response: head, body: body.encoded())
    }

    /// What an answer means: a record with the comparison.
    ///
    /// That the file is not there any more in the version that the server told is a failure, so
    /// that it is not asked for in every run.
    func answer(to head: HTTPResponse, _ body: [UInt8]) -> ServerAnswer {
        let status = head.status.code
        switch status {
        case 200:
            guard Self.finding(body) != nil else {
                return .failure(.malformed("a file that could not be compared"))
            }
            if let tag = head.headerFields[.eTag], !isOfVersion(tag) {
                return .failure(.malformed("a file of another version than the one that it tells"))
            }
            let id = if case .read(_, let id) = call { id } else { key.id }
            return .record(ServerRecord(id: id, revision: nil, document: body))
        default: return .failure(SyncFailure(status: status, headerFields: head.headerFields))
        }
    }

    static func finding(_ body: [UInt8]) -> Finding? {
        JSON.value(member, of: body)?.stringValue.flatMap { Finding(rawValue: $0) }
    }

    private func isOfVersion(_ tag: String) -> Bool {
        record.revision.map { EntityTag.isSame($0.description, tag) } ?? true
    }
}

extension ViewReader {
    /// The question whether a write that got no answer left its content; nil where it sent none, or
    /// where the server has the content that was there before.
    ///
    /// - Parameter record: what the server says of the entity.
    func proof(
        of record: ServerRecord, _ key: EntityKey, _ attempt: EntityRow.Attempt,
        _ collection: CollectionModel, _ adapter: any ServerAdapter
    ) throws -> ContentProof? {
        guard let tree = collection.tree, let field = tree.content, let bytes = record.document,
            let row = try entity(key)
        else { return nil }
        let there = try JSONDocument(parsing: bytes)
        guard !tree.isFolder(there), let (digest, count) = try sent(by: attempt, row, collection)
        else { return nil }
        let isMade = row.baseState != .live
        if !isMade, JSON.value(field, of: row.base) == there.value(field) { return nil }
        // Where it was sent, whatever name it has by now.
        let path = try wireID(of: key, row, collection, through: attempt.covers)
        return proof(
            of: record, key, (digest, count), at: path, attempt, isMade: isMade, collection,
            adapter)
    }

    /// The question whether a file has the content of before still, where an answer told no version
    /// of it and another content waits; nil where none does, or there is no copy to compare with.
    func proof(
        of record: ServerRecord, _ key: EntityKey, _ collection: CollectionModel,
        _ adapter: any ServerAdapter
    ) throws -> ContentProof? {
        guard let bytes = record.document, let row = try entity(key),
            let known = try unproven(JSONDocument(parsing: bytes), row, collection),
            let path = try serverPath(of: key, in: collection)
        else { return nil }
        return proof(of: record, key, known, at: path, nil, isMade: false, collection, adapter)
    }

    private func proof(
        of record: ServerRecord, _ key: EntityKey, _ file: (digest: String, bytes: Int),
        at path: String, _ attempt: EntityRow.Attempt?, isMade: Bool,
        _ collection: CollectionModel, _ adapter: any ServerAdapter
    ) -> ContentProof? {
        guard let field = collection.tree?.content,
            let name = record.document.flatMap({ JSON.value(field, of: $0) })
        else { return nil }
        let place = adapter.address(
            ofFile: name.stringValue ?? "", in: field,
            of: EntityKey(key.collection, path))
        guard let place, place.hasPrefix("/") else { return nil }
        var headers: HTTPFields = [.acceptEncoding: "identity"]
        if let version = record.revision?.description, version.hasPrefix("\"") {
            headers[.ifMatch] = EntityTag.condition(version)
        }
        return ContentProof(
            key: key, attempt: attempt, digest: file.digest, bytes: file.bytes, record: record,
            listed: record.document.flatMap { adapter.listedLength(in: $0) }, isMade: isMade,
            call: .read(collection, id: path),
            request: ServerRequest(method: .get, path: place, headers: headers),
            checksums: adapter.checksumRequest(of: record, at: path))
    }

    /// The content of before of a file, where an answer told no version of it, another one waits,
    /// and the server's may be the same under another name; nil where it is not here.
    private func unproven(
        _ told: JSONDocument, _ row: EntityRow, _ collection: CollectionModel
    ) throws -> (digest: String, bytes: Int)? {
        guard let field = collection.tree?.content, row.attempt == nil, row.baseState == .live,
            row.revision == nil,
            try row.pending.contains(where: { try $0.sets(field) }),
            let known = try row.baseValue(in: collection).document, told.value(field) != nil,
            try !isSameContent(told, known, in: collection),
            let name = known.value(field).flatMap({ ContentName($0) }),
            let digest = try digest(of: name, in: collection.name),
            let stored = try content(digest)?.stored
        else { return nil }
        return (digest, Int(clamping: stored.bytes))
    }

    /// The records of a list; of files whose write of a content has no known outcome, or whose
    /// content is to be compared with the one of before, with the content that was there before:
    /// another one is compared first, by itself.
    func holdingContents(
        of records: [ServerRecord], _ collection: CollectionModel
    ) throws -> [ServerRecord] {
        guard let field = collection.tree?.content else { return records }
        let open = Set(try unknownAttempts())
        return try records.map { record in
            let key = EntityKey(collection.name, record.id)
            guard let bytes = record.document, let row = try entity(key), row.baseState == .live,
                open.contains(key) || row.revision == nil
            else { return record }
            let (there, known) = (
                try JSONDocument(parsing: bytes), try JSONDocument(parsing: row.base)
            )
            let isToBeCompared =
                try row.attempt.map {
                    try open.contains(key) && sent(by: $0, row, collection) != nil
                } ?? (unproven(there, row, collection) != nil)
            guard isToBeCompared, there.value(field) != known.value(field) else { return record }
            let held = known.rawValue(field).map { [(key: field, value: Array($0))] } ?? []
            return ServerRecord(
                id: record.id, revision: row.revision, serverTime: record.serverTime,
                parsed: try JSONDocument(
                    parsing: there.applying(set: held, unset: held.isEmpty ? [field] : [])))
        }
    }

    /// The content that a write sent; nil for none.
    private func sent(
        by attempt: EntityRow.Attempt, _ row: EntityRow, _ collection: CollectionModel
    ) throws -> (digest: String, bytes: Int)? {
        guard let field = collection.tree?.content else { return nil }
        let made = try row.made(through: attempt.covers, in: collection)
        let body = try event(at: attempt.call)?.read(RequestSent.self)?.body.bytes
        let named: JSONValue?
        if let body {
            named = try? JSONValue(parsing: body)
        } else {
            // A capsule need not have the request: what renames or moves sends no content.
            let sends = try row.pending.contains {
                try $0.position <= attempt.covers && ($0.kind == .create || $0.sets(field))
            }
            named = sends ? JSON.value(field, of: made) : nil
        }
        if case .file(let digest, let bytes)? = named.flatMap({ ContentName($0) }) {
            return (digest, bytes)
        }
        // What is made without a content is an empty file.
        guard row.baseState != .live, !made.isEmpty, body?.isEmpty ?? true,
            JSON.value(field, of: made) == nil
        else { return nil }
        return (ContentFile.emptyDigest, 0)
    }
}

extension EntityRow.Pending {
    /// Whether it is an edit that sets a field.
    fileprivate func sets(_ field: String) throws -> Bool {
        guard kind == .update else { return false }
        return try Patch(parsing: payload).set.contains {
            ExactString($0.name) == ExactString(field)
        }
    }
}

/// Files of the user's, as they are told apart.
enum ContentFile {
    /// The SHA-256 of no bytes.
    static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
}
