// KintoAdapter.swift — calls and answers of a Kinto server, API 1 (docs.kinto-storage.org).
//
//   describe  GET …/collections?_fields=last_modified
//   list    GET    …/records?_since="R"&_limit=N   next page: Next-Page
//                                                  next cursor: the first page's ETag
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

    /// It describes collections and takes several writes at once; 25 is what a server takes unless
    /// it is told otherwise.
    public var traits: ServerTraits {
        ServerTraits(describesCollections: true, writesPerRequestMax: 25)
    }

    /// An adapter for one bucket.
    ///
    /// - Parameters:
    ///   - origin: where the server is: scheme, host and port, and a base path if it has one. The
    ///     API's version (`/v1`) is added unless it is there.
    ///   - bucket: the bucket that holds the collections.
    public init(origin: String, bucket: String) {
        let path = URLPath.path(of: origin)
        prefix = path
        version = path.hasSuffix("/v1") ? "" : "/v1"
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
        let records = base + URLPath.escape(collection.name.rawValue.utf8) + "/records"
        switch call {
        case .list(_, let after, let page?):
            _ = after
            return ServerRequest(method: .get, path: try nextPage(page))
        case .list(_, let after, nil):
            // From 0 on, deletions are listed as well: a first list may follow one that was cut
            // off.
            var query = ["_since=" + URLPath.escape((after?.description ?? "0").utf8)]
            if let size = collection.pageSize { query.append("_limit=\(size)") }
            let suffix = "?" + query.joined(separator: "&")
            var headers: HTTPFields = [:]
            if let after { headers[.ifNoneMatch] = after.description }
            return ServerRequest(method: .get, path: records + suffix, headers: headers)
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
        case .describe, .listWindow, .fetch, .refetch, .batch:
            throw .client(status: 0, "Kinto has no call that fetches several records")
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

    /// The path of a Next-Page address below ours.
    ///
    /// It is asked for at our own origin: behind a proxy the server may know itself by another
    /// name.
    private func nextPage(_ address: String) throws(SyncFailure) -> String {
        let path = address.dropFirst(URLPath.authority(of: address).count)
        guard path.hasPrefix(prefix + base) else {
            throw .malformed("the next page is none of this bucket: \(address)")
        }
        return String(path.dropFirst(prefix.count))
    }
}

/// What a Kinto server takes as an id.
private enum KintoID {
    /// Whether the text is an id by the rule that every Kinto has unless it is told another one.
    static func isValid(_ text: String) -> Bool {
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
