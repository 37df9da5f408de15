// KintoAdapter.swift — calls and answers of a Kinto server, API 1 (docs.kinto-storage.org).
//
//   describe  GET …/collections?_fields=last_modified   next page: Next-Page
//   list    GET    …/records?_since="R"&_limit=N   next page: Next-Page
//                                                  next cursor: the first page's ETag
//   fetch   GET    …/records?in_id="ID",…          what a list shows as a tombstone, and may be a
//                                                  record; for many ids …/records?deleted=true
//   feed    GET    …/records?max_F="K"&…           see KintoFeed.swift
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
/// A version is the number in `last_modified`, treated as opaque.
public struct KintoAdapter: ServerAdapter {
    private let base: String
    private let version: String
    /// Whether it is the user's personal bucket, which also has another id on the server.
    private let isPersonal: Bool

    /// It describes collections, lists by fields, and takes several writes at once; a server takes
    /// 25 by default.
    ///
    /// One request finds out which of any number of tombstones are records.
    public var traits: ServerTraits {
        ServerTraits(
            describesCollections: true, entitiesPerFetchMax: 10_000, writesPerRequestMax: 25,
            hasFeeds: true)
    }

    /// An adapter for one bucket.
    ///
    /// - Parameters:
    ///   - origin: the server's address: scheme, host and port, and a base path if it has one. The
    ///     API's version (`/v1`) is added unless it is there.
    ///   - bucket: the bucket that holds the collections; `default` is the user's own.
    public init(origin: String, bucket: String) {
        let path = URLPath.path(of: origin)
        prefix = path
        version = path.hasSuffix("/v1") ? "" : "/v1"
        isPersonal = bucket == "default"
        base = "\(version)/buckets/\(ServerRequest.percentEncoded(bucket))/collections"
    }

    /// The path of the origin, which is put before every path.
    private let prefix: String

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        if case .batch(let calls) = call { return try batch(calls) }
        guard let collection = call.collection else {
            guard case .describe(_, let page?) = call else {
                return ServerRequest(method: .get, path: base + "?_fields=last_modified")
            }
            return ServerRequest(method: .get, path: base + (try query(of: page, below: "")))
        }
        let place = "/" + ServerRequest.percentEncoded(collection.name.rawValue) + "/records"
        let records = base + place
        switch call {
        case .list(_, _, let page?):
            return ServerRequest(method: .get, path: records + (try query(of: page, below: place)))
        case .list(_, let after, nil):
            let after = after.map { Self.strong($0.description) }
            // From 0 on, deletions are listed as well: a first list may continue one that was cut
            // off.
            var query = ["_since=" + ServerRequest.percentEncoded(after ?? "0")]
            if let size = collection.pageSize { query.append("_limit=\(size)") }
            let suffix = "?" + query.joined(separator: "&")
            var headers: HTTPFields = [:]
            if let after { headers[.ifNoneMatch] = after }
            return ServerRequest(method: .get, path: records + suffix, headers: headers)
        case .fetch(_, let ids):
            return ServerRequest(method: .get, path: "\(records)?\(Self.filter(ids))")
        case .feed(_, let block):
            return ServerRequest(method: .get, path: "\(records)?\(try Self.query(of: block))")
        case .read(_, let id):
            return ServerRequest(
                method: .get, path: records + "/" + ServerRequest.percentEncoded(id))
        case .create(_, let id, let body):
            return put(records, id, body, [.ifNoneMatch: "*"])
        case .update(_, let id, let body, _, let revision):
            return put(records, id, body, [.ifMatch: "\"\(revision)\""])
        case .delete(_, let id, let revision):
            return ServerRequest(
                method: .delete, path: records + "/" + ServerRequest.percentEncoded(id),
                headers: [.ifMatch: "\"\(revision)\""])
        case .describe, .listWindow, .listPart, .combined, .refetch, .perform, .batch, .poll,
            .reserve:
            throw .client(status: 0, "Kinto has no such call")
        }
    }

    /// Refuses to create a record whose id Kinto does not allow: an ASCII letter or digit, followed
    /// by letters, digits, `-` and `_`.
    ///
    /// A server reads other ids as another address (`a/`, `..`), and does not say whether the
    /// record exists.
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
            method: .put, path: records + "/" + ServerRequest.percentEncoded(id), headers: headers,
            body: Array(#"{"data":"#.utf8) + document + Array("}".utf8))
    }

    /// The query of a Next-Page address, with its question mark.
    ///
    /// The page is requested at the adapter's own origin and path: behind a proxy, the server may
    /// have another name for itself, and it uses the id that `default` stands for.
    private func query(of address: String, below place: String) throws(SyncFailure) -> Substring {
        let path = address.dropFirst(URLPath.authority(of: address).count)
        let own = path.dropPrefix("\(prefix)\(base)\(place)")
        if let query = own ?? (isPersonal ? personal(path, place) : nil), query.first == "?" {
            return query
        }
        throw .malformed("the next page is none of this list: \(address)")
    }

    /// The rest of the path after a list in any bucket.
    private func personal(_ path: Substring, _ place: String) -> Substring? {
        guard let inside = path.dropPrefix("\(prefix)\(version)/buckets/") else { return nil }
        let id = inside.prefix { $0 != "/" }
        guard KintoID.isValid(id) else { return nil }
        return inside.dropFirst(id.count).dropPrefix("/collections\(place)")
    }

    /// The cursor of an ETag; a compressing proxy makes the ETag weak.
    static func strong(_ tag: String) -> String {
        tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }

    /// The query for the records among some ids; the answer may hold other records, too.
    ///
    /// A list without `_since` has no tombstones. Very many ids don't fit into an address: then the
    /// query asks for all records with the field that makes them look like tombstones.
    private static func filter(_ ids: [String]) -> String {
        // In quotes, since an id of digits alone would be read as a number.
        let list = ids.map { "%22\($0)%22" }.joined(separator: ",")
        let isShort = list.utf8.count <= idsBytesMax && ids.allSatisfy { KintoID.isValid($0) }
        return isShort ? "in_id=\(list)" : "deleted=true"
    }

    /// Some servers limit an address to four thousand bytes; fifty UUIDs fit.
    private static let idsBytesMax = 2400
}

extension Substring {
    fileprivate func dropPrefix(_ prefix: String) -> Substring? {
        hasPrefix(prefix) ? dropFirst(prefix.count) : nil
    }
}

/// The ids that a Kinto server accepts.
private enum KintoID {
    /// Whether the text is an id by Kinto's default rule.
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
