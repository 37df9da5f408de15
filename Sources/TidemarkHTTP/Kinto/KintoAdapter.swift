// KintoAdapter.swift — calls and answers of a Kinto server, API 1 (docs.kinto-storage.org).
//
//   describe  GET …/collections?_fields=last_modified
//   list    GET    …/records?_since="R"&_limit=N   next page: Next-Page
//                                                  next cursor: the first page's ETag
//   fetch   GET    …/records?in_id="ID",…          what a list names as a tombstone, and may be a
//                                                  record; of many …/records?deleted=true
//   read    GET    …/records/ID
//   create  PUT    …/records/ID   If-None-Match: *
//   update  PUT    …/records/ID   If-Match: "R"
//   delete  DELETE …/records/ID   If-Match: "R"
//   batch   POST   /v1/batch      the writes, each with its own precondition

import HTTPTypes
import Tidemark
import TidemarkEvents
public import TidemarkSync

/// Speaks to a Kinto server.
///
/// A version is the number of `last_modified`, taken as opaque.
public struct KintoAdapter: ServerAdapter {
    private let base: String
    private let version: String
    /// Whether it is the personal bucket, which the server knows by another id as well.
    private let isPersonal: Bool

    /// It describes collections and takes several writes at once; 25 is what a server takes unless
    /// it is told otherwise.
    ///
    /// However many tombstones a list names, one request tells which of them are records.
    public var traits: ServerTraits {
        ServerTraits(
            describesCollections: true, entitiesPerFetchMax: 10_000, writesPerRequestMax: 25)
    }

    /// An adapter for one bucket.
    ///
    /// - Parameters:
    ///   - origin: where the server is: scheme, host and port, and a base path if it has one. The
    ///     API's version (`/v1`) is added unless it is there.
    ///   - bucket: the bucket that holds the collections; `default` is the user's own.
    public init(origin: String, bucket: String) {
        let path = URLPath.path(of: origin)
        prefix = path
        version = path.hasSuffix("/v1") ? "" : "/v1"
        isPersonal = bucket == "default"
        base = "\(version)/buckets/\(URLPath.escape(bucket.utf8))/collections/"
    }

    /// The path of the origin, which stands before every path.
    private let prefix: String

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        if case .batch(let calls) = call { return try batch(calls) }
        guard let collection = call.collection else {
            return ServerRequest(
                method: .get, path: base.dropLast() + "?_fields=last_modified")
        }
        let place = URLPath.escape(collection.name.rawValue.utf8) + "/records"
        let records = base + place
        switch call {
        case .list(_, _, let page?):
            return ServerRequest(method: .get, path: records + (try query(of: page, below: place)))
        case .list(_, let after, nil):
            let after = after.map { Self.strong($0.description) }
            // From 0 on, deletions are listed as well: a first list may follow one that was cut
            // off.
            var query = ["_since=" + URLPath.escape((after ?? "0").utf8)]
            if let size = collection.pageSize { query.append("_limit=\(size)") }
            let suffix = "?" + query.joined(separator: "&")
            var headers: HTTPFields = [:]
            if let after { headers[.ifNoneMatch] = after }
            return ServerRequest(method: .get, path: records + suffix, headers: headers)
        case .fetch(_, let ids):
            return ServerRequest(method: .get, path: "\(records)?\(Self.filter(ids))")
        case .read(_, let id):
            return ServerRequest(method: .get, path: records + "/" + URLPath.escape(id.utf8))
        case .create(_, let id, let body):
            return put(records, id, body, [.ifNoneMatch: "*"])
        case .update(_, let id, let body, let revision):
            return put(records, id, body, [.ifMatch: "\"\(revision)\""])
        case .delete(_, let id, let revision):
            return ServerRequest(
                method: .delete, path: records + "/" + URLPath.escape(id.utf8),
                headers: [.ifMatch: "\"\(revision)\""])
        case .describe, .listWindow, .refetch, .batch:
            throw .client(status: 0, "Kinto has no such call")
        }
    }

    /// Refuses to create what has no id that Kinto allows: a letter or digit of ASCII, then also
    /// `-` and `_`.
    ///
    /// A server reads others as another address (`a/`, `..`), and does not say whether they exist.
    public func refusal(of call: ServerCall) -> ServerRefusal? {
        guard case .create(_, let id, _) = call, !KintoID.isValid(id) else { return nil }
        return ServerRefusal(
            status: 0,
            message: "an id of a Kinto record has only letters, digits, - and _ (ASCII), "
                + "and begins with a letter or digit")
    }

    private func batch(_ calls: [ServerCall]) throws(SyncFailure) -> ServerRequest {
        var body = Array(#"{"requests":["#.utf8)
        for (index, call) in calls.enumerated() {
            let part = try request(for: call)
            var headers = JSONObject()
            for field in part.headers { headers[field.name.rawName] = .string(field.value) }
            let head: JSONObject = [
                "method": .string(part.method.rawValue), "path": .string(part.path),
                "headers": .object(headers),
            ]
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += JSONValue.object(head).encoded().dropLast()
            if let own = part.body { body += Array(#","body":"#.utf8) + own }
            body.append(UInt8(ascii: "}"))
        }
        body += Array("]}".utf8)
        return ServerRequest(
            method: .post, path: version + "/batch", headers: [.contentType: "application/json"],
            body: body)
    }

    private func put(
        _ records: String, _ id: String, _ document: [UInt8], _ precondition: HTTPFields
    ) -> ServerRequest {
        var headers = precondition
        headers[.contentType] = "application/json"
        return ServerRequest(
            method: .put, path: records + "/" + URLPath.escape(id.utf8), headers: headers,
            body: Array(#"{"data":"#.utf8) + document + Array("}".utf8))
    }

    /// The query of a Next-Page address, with its question mark.
    ///
    /// It is asked for at our own origin and path: behind a proxy the server may know itself by
    /// another name, and it names the personal bucket by the id that `default` stands for.
    private func query(of address: String, below place: String) throws(SyncFailure) -> Substring {
        let path = address.dropFirst(URLPath.authority(of: address).count)
        let own = path.dropPrefix("\(prefix)\(base)\(place)")
        if let query = own ?? (isPersonal ? personal(path, place) : nil), query.first == "?" {
            return query
        }
        throw .malformed("the next page is none of this bucket's collection: \(address)")
    }

    /// What follows the path of a list in whatever bucket.
    private func personal(_ path: Substring, _ place: String) -> Substring? {
        guard let inside = path.dropPrefix("\(prefix)\(version)/buckets/") else { return nil }
        let id = inside.prefix { $0 != "/" }
        guard KintoID.isValid(id) else { return nil }
        return inside.dropFirst(id.count).dropPrefix("/collections/\(place)")
    }

    /// The cursor of an ETag, which a proxy that compresses makes a weak one.
    static func strong(_ tag: String) -> String {
        tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }

    /// The query for those of some records that are there, among others perhaps.
    ///
    /// A list without `_since` has no tombstones. An address has no room for very many ids: they
    /// are asked for by the field that makes them look like tombstones.
    private static func filter(_ ids: [String]) -> String {
        // In quotes, since one of digits alone would be taken for a number.
        let list = ids.map { "%22\($0)%22" }.joined(separator: ",")
        let isShort = list.utf8.count <= idsBytesMax && ids.allSatisfy { KintoID.isValid($0) }
        return isShort ? "in_id=\(list)" : "deleted=true"
    }

    /// Some servers take an address of no more than four thousand bytes; fifty UUIDs have room.
    private static let idsBytesMax = 2400
}

extension Substring {
    fileprivate func dropPrefix(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}

/// What a Kinto server takes as an id.
private enum KintoID {
    /// Whether the text is an id by the rule that every Kinto has unless it is told another one.
    static func isValid(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "_")
        else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
