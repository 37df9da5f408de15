// KintoAdapter.swift — calls and answers of a Kinto server, API 1 (docs.kinto-storage.org).
//
//   list    GET    …/records?_since="R"&_limit=N   next page: Next-Page
//                                                  next cursor: the first page's ETag
//   read    GET    …/records/ID
//   create  PUT    …/records/ID   If-None-Match: *
//   update  PUT    …/records/ID   If-Match: "R"
//   delete  DELETE …/records/ID   If-Match: "R"

import HTTPTypes
import Tidemark
import TidemarkEvents
public import TidemarkSync

/// Speaks to a Kinto server.
///
/// A version is the number of `last_modified`, taken as opaque.
public struct KintoAdapter: ServerAdapter {
    private let base: String

    /// An adapter for one bucket.
    ///
    /// - Parameters:
    ///   - origin: where the server is: scheme, host and port, and a base path if it has one. The
    ///     API's version (`/v1`) is added unless it is there.
    ///   - bucket: the bucket that holds the collections.
    public init(origin: String, bucket: String) {
        let path = KintoPath.path(of: origin)
        prefix = path
        let version = path.hasSuffix("/v1") ? "" : "/v1"
        base = "\(version)/buckets/\(KintoPath.escape(bucket))/collections/"
        self.origin = KintoPath.authority(of: origin)
    }

    /// The path of the origin, which the driver puts before every path.
    private let prefix: String
    /// Scheme, host and port.
    private let origin: String

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        let collection = call.collection
        let records = base + KintoPath.escape(collection.name.rawValue) + "/records"
        switch call {
        case .list(_, let after, let page?):
            _ = after
            return ServerRequest(method: .get, path: try nextPage(page))
        case .list(_, let after, nil):
            var query: [String] = []
            if let after { query.append("_since=" + KintoPath.escape(after.description)) }
            if let size = collection.pageSize { query.append("_limit=\(size)") }
            let suffix = query.isEmpty ? "" : "?" + query.joined(separator: "&")
            var headers: HTTPFields = [:]
            if let after { headers[.ifNoneMatch] = after.description }
            return ServerRequest(method: .get, path: records + suffix, headers: headers)
        case .read(_, let id):
            return ServerRequest(method: .get, path: records + "/" + KintoPath.escape(id))
        case .create(_, let id, let body):
            return put(records, id, body, [.ifNoneMatch: "*"])
        case .update(_, let id, let body, let revision):
            return put(records, id, body, [.ifMatch: "\"\(revision)\""])
        case .delete(_, let id, let revision):
            return ServerRequest(
                method: .delete, path: records + "/" + KintoPath.escape(id),
                headers: [.ifMatch: "\"\(revision)\""])
        }
    }

    private func put(
        _ records: String, _ id: String, _ document: [UInt8], _ precondition: HTTPFields
    ) -> ServerRequest {
        var headers = precondition
        headers[.contentType] = "application/json"
        return ServerRequest(
            method: .put, path: records + "/" + KintoPath.escape(id), headers: headers,
            body: Array(#"{"data":"#.utf8) + document + Array("}".utf8))
    }

    /// The path of a Next-Page address, which must be of this origin.
    private func nextPage(_ address: String) throws(SyncFailure) -> String {
        let start = origin + prefix
        guard address.hasPrefix(start + "/") else {
            throw .malformed("the next page is at another origin: \(address)")
        }
        return String(address.dropFirst(start.count))
    }
}

/// Percent-encoding and taking addresses apart.
enum KintoPath {
    /// Escapes everything but what RFC 3986 calls unreserved.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.append(Character(Unicode.Scalar(byte)))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                escaped += byte < 16 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return escaped
    }

    /// The part of an address after host and port, without a slash at its end.
    static func path(of origin: String) -> String {
        let rest = origin.dropFirst(authority(of: origin).count)
        return String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    }

    /// Scheme, host and port of an address.
    static func authority(of origin: String) -> String {
        guard let scheme = origin.firstRange(of: "://") else { return origin }
        let rest = origin[scheme.upperBound...]
        return String(origin[..<(rest.firstIndex(of: "/") ?? origin.endIndex)])
    }
}
