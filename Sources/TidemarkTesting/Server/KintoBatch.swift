// KintoBatch.swift — several requests in one, each with an answer of its own.
//
//   defaults   members of a request that each request gets which has none of its own; what of them
//              is an object is filled in member by member
//   requests   {"method", "path", "headers", "body"}; only the path is needed
//
// All are read before the first is handled. A request has the header fields of the batch besides
// its own.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension KintoServerModel {
    /// Handles the requests of a batch one after another; each is final, whatever happens to the
    /// next.
    mutating func batch(
        _ request: HTTPRequest, _ body: [UInt8], _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        let parts = try KintoBatch(body, request).parts(of: request)
        var answers: [[UInt8]] = []
        for part in parts {
            var answer: TransportResponse
            do throws(KintoRefusal) {
                answer = try route(
                    part.request, body: part.body, nowMilliseconds: nowMilliseconds)
            } catch {
                answer = error.answer
            }
            // Kinto fails to put an answer that has no body into its own.
            guard answer.response.status.code != 304 else { throw .failed }
            answers.append(part.json(answer))
        }
        return KintoAnswer.json(
            200,
            Array("{\"responses\":[".utf8) + Array(answers.joined(separator: [UInt8(ascii: ",")]))
                + Array("]}".utf8))
    }
}

/// The body of a batch.
private struct KintoBatch {
    /// The most requests in one batch, by the server's default.
    private static let requestsMax = 25
    private static let methods = ["GET", "HEAD", "DELETE", "TRACE", "POST", "PUT", "PATCH"]
    private static let members = ["method", "path", "headers", "body"]

    /// The requests, with what the defaults add.
    private var requests: [ServerJSONObject] = []

    /// Reads a body; 400 at the first mistake, whichever request has it.
    init(_ bytes: [UInt8], _ request: HTTPRequest) throws(KintoRefusal) {
        try KintoRefusal.requireJSON(request)
        var body = ServerJSONObject()
        if !bytes.isEmpty {
            guard ServerJSON.isValid(bytes) else {
                throw KintoRefusal.invalid("body", "", "Invalid JSON")
            }
            // Kinto looks for members in whatever it is.
            guard let object = ServerJSONObject(bytes) else { throw KintoRefusal.failed }
            body = object
        }
        let list = body["requests"].flatMap(ServerJSON.elements)
        let defaults = body["defaults"].flatMap { ServerJSONObject($0) }
        var objects: [ServerJSONObject?] = []
        for bytes in list ?? [] {
            var object = ServerJSONObject(bytes)
            if let defaults { try object?.fill(from: defaults) }
            objects.append(object)
        }
        guard body.members.allSatisfy({ ["defaults", "requests"].contains($0.name) }) else {
            throw KintoRefusal.invalid("body", "", "Unrecognized keys in mapping")
        }
        if body["defaults"] != nil {
            try Self.check(defaults, "defaults", needsPath: false)
        }
        guard list != nil else {
            let isThere = body["requests"] != nil
            throw KintoRefusal.invalid(
                "body", "requests", isThere ? "The value is not iterable" : "Required")
        }
        for (index, object) in objects.enumerated() {
            try Self.check(object, "requests.\(index)", needsPath: true)
            if let object { requests.append(object) }
        }
    }

    /// The requests; 400 where there are too many, or one is a batch itself.
    func parts(of batch: HTTPRequest) throws(KintoRefusal) -> [KintoBatchPart] {
        guard requests.count <= Self.requestsMax else {
            throw KintoRefusal.invalid(
                "body", "requests", "Number of requests is limited to \(Self.requestsMax)")
        }
        let paths = requests.map { $0["path"].flatMap(ServerJSON.string) ?? "" }
        guard !paths.contains(where: { $0.contains("/batch") }) else {
            throw KintoRefusal.invalid(
                "body", "requests", "Recursive call on /batch endpoint is forbidden.")
        }
        var parts: [KintoBatchPart] = []
        for (object, path) in zip(requests, paths) {
            parts.append(try KintoBatchPart(object, path, batch))
        }
        return parts
    }

    private static func check(
        _ object: ServerJSONObject?, _ name: String, needsPath: Bool
    ) throws(KintoRefusal) {
        guard let object else {
            throw KintoRefusal.invalid("body", name, "The value is not a mapping type")
        }
        if let method = object["method"], !isNothing(method) {
            guard let text = ServerJSON.string(method), methods.contains(text) else {
                throw KintoRefusal.invalid(
                    "body", "\(name).method", "The value is not one of \(methods)")
            }
        }
        if let path = object["path"], !isNothing(path) {
            guard let text = ServerJSON.string(path), text.hasPrefix("/") else {
                throw KintoRefusal.invalid(
                    "body", "\(name).path", "String does not match expected pattern")
            }
        } else if needsPath {
            throw KintoRefusal.invalid("body", "\(name).path", "Required")
        }
        if let headers = object["headers"] {
            guard let fields = ServerJSONObject(headers),
                fields.members.allSatisfy({ ServerJSON.string($0.value) != nil })
            else {
                throw KintoRefusal.invalid(
                    "body", "\(name).headers", "The value is not a mapping of strings")
            }
        }
        if let body = object["body"], ServerJSONObject(body) == nil {
            throw KintoRefusal.invalid(
                "body", "\(name).body", "The value is not a mapping type")
        }
        guard object.members.allSatisfy({ members.contains($0.name) }) else {
            throw KintoRefusal.invalid("body", name, "Unrecognized keys in mapping")
        }
    }

    /// Whether Kinto takes the value of a text for none.
    private static func isNothing(_ value: [UInt8]) -> Bool {
        value == Array("null".utf8) || ServerJSON.string(value) == ""
    }
}

extension ServerJSONObject {
    /// Adds the members of other objects that are missing, and those missing inside of members;
    /// 500 where Kinto fails, as a member is no object and the default is one.
    fileprivate mutating func fill(from defaults: ServerJSONObject) throws(KintoRefusal) {
        for member in defaults.members {
            guard let own = self[member.name] else {
                set(member)
                continue
            }
            guard let more = ServerJSONObject(member.value), !more.members.isEmpty else { continue }
            guard var inner = ServerJSONObject(own) else { throw KintoRefusal.failed }
            try inner.fill(from: more)
            var filled = member
            filled.value = [UInt8(ascii: "{")] + inner.inner + [UInt8(ascii: "}")]
            set(filled)
        }
    }
}

/// One request of a batch.
private struct KintoBatchPart {
    var request: HTTPRequest
    var body: [UInt8] = []

    /// - Throws: 400 for a header field whose name can't be one, which is not modelled.
    init(
        _ object: ServerJSONObject, _ path: String, _ batch: HTTPRequest
    ) throws(KintoRefusal) {
        let method = object["method"].flatMap(ServerJSON.string) ?? ""
        request = batch
        request.method = HTTPRequest.Method(method) ?? .get
        request.path = path.hasPrefix("/v1") ? path : "/v1" + path
        request.headerFields[.contentLength] = nil
        for member in object["headers"].flatMap({ ServerJSONObject($0) })?.members ?? [] {
            guard let name = HTTPField.Name(member.name) else {
                throw KintoRefusal.invalid(
                    "body", "requests", "\(member.name) is no name of a header field")
            }
            request.headerFields[name] = ServerJSON.string(member.value) ?? ""
        }
        // An empty body is none.
        if let bytes = object["body"], let members = ServerJSONObject(bytes)?.members,
            !members.isEmpty
        {
            body = bytes
            request.headerFields[.contentType] = "application/json"
        }
    }

    /// The answer as it stands in that to the batch: status, path without the query, header fields
    /// but the content's type, and body.
    func json(_ answer: TransportResponse) -> [UInt8] {
        let path = KintoQuery.decoded((request.path ?? "").prefix { $0 != "?" })
        let fields = answer.response.headerFields.filter { $0.name != .contentType }
            .map { "\(JSONValue.string($0.name.rawName)):\(JSONValue.string($0.value))" }
        var text = "{\"status\":\(answer.response.status.code)"
        text += ",\"path\":\(JSONValue.string(path))"
        text += ",\"headers\":{\(fields.joined(separator: ","))},\"body\":"
        let none = request.method == .head ? "\"\"" : "{}"
        let hasBody = request.method != .head && !answer.body.isEmpty
        return Array(text.utf8) + (hasBody ? answer.body : Array(none.utf8))
            + [UInt8(ascii: "}")]
    }
}
