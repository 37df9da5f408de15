// KintoWriting.swift — create, replace, merge and delete.

import HTTPTypes
import TidemarkSync

extension KintoServerModel {
    /// PUT: creates or replaces; without `data` the fields stay as they are.
    mutating func put(
        _ id: String, in place: KintoPlace, _ request: HTTPRequest, _ body: [UInt8],
        _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        let sent = try KintoBody(body, request)
        let existing = lists[place]?[id]
        try KintoPreconditions(request)
            .check(existing, listTimestamp: timestamp(of: place, nowMilliseconds))
        try sent.requireID(id)
        let object = store(id, sent.fields ?? existing?.fields, sent, in: place, nowMilliseconds)
        return KintoAnswer.object(existing == nil ? 201 : 200, object)
    }

    /// PATCH: replaces the top-level members that are named and keeps the others.
    mutating func patch(
        _ id: String, in place: KintoPlace, _ request: HTTPRequest, _ body: [UInt8],
        _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        let sent = try KintoBody(body, request)
        let behavior = HTTPField.Name("Response-Behavior").flatMap { request.headerFields[$0] }
        guard behavior ?? "full" == "full" else {
            throw KintoRefusal.invalid(
                "header", "Response-Behavior", "Answers in part are not part of the model")
        }
        guard sent.fields != nil || sent.hasPermissions else {
            throw KintoRefusal.invalid(
                "body", "data", "Provide at least one of data or permissions")
        }
        guard let existing = lists[place]?[id], var fields = existing.fields else {
            throw KintoRefusal.missing(id, place.resourceName)
        }
        try KintoPreconditions(request)
            .check(existing, listTimestamp: timestamp(of: place, nowMilliseconds))
        try sent.requireID(id)
        for member in sent.fields?.members ?? [] { fields.set(member) }
        return KintoAnswer.object(200, store(id, fields, sent, in: place, nowMilliseconds))
    }

    /// POST: creates under a new id; with an existing id it returns that object and changes
    /// nothing.
    mutating func create(
        in place: KintoPlace, _ request: HTTPRequest, _ body: [UInt8], _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        let sent = try KintoBody(body, request)
        if let id = sent.id, !Self.isLegal(id: id) {
            throw KintoRefusal.invalid("path", nil, "Invalid object id")
        }
        let existing = sent.id.flatMap { lists[place]?[$0] }
        try KintoPreconditions(request)
            .check(existing, listTimestamp: timestamp(of: place, nowMilliseconds))
        if let existing { return KintoAnswer.object(200, existing) }
        let object = store(
            sent.id ?? makeID(), sent.fields, sent, in: place, nowMilliseconds)
        return KintoAnswer.object(201, object)
    }

    /// DELETE: leaves a tombstone, and removes everything inside without one.
    mutating func delete(
        _ id: String, in place: KintoPlace, _ request: HTTPRequest, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        guard let existing = lists[place]?[id] else {
            throw KintoRefusal.missing(id, place.resourceName)
        }
        try KintoPreconditions(request)
            .check(existing, listTimestamp: timestamp(of: place, nowMilliseconds))
        let tombstone = lists[place, default: KintoList()]
            .delete(id, nowMilliseconds: nowMilliseconds)
        lists = lists.filter { !$0.key.isInside(place, id: id) }
        return KintoAnswer.json(
            200, Array("{\"data\":".utf8) + tombstone.json + [UInt8(ascii: "}")],
            etag: tombstone.lastModified)
    }

    private mutating func store(
        _ id: String, _ fields: ServerJSONObject?, _ sent: KintoBody, in place: KintoPlace,
        _ nowMilliseconds: Int64
    ) -> KintoObject {
        lists[place, default: KintoList()].write(
            id, fields ?? ServerJSONObject(), claimed: sent.claimedLastModified,
            nowMilliseconds: nowMilliseconds)
    }
}

/// The body of a write: `{"data": {…}, "permissions": {…}}`, both optional.
private struct KintoBody {
    /// The fields of `data` without `id` and `last_modified`.
    var fields: ServerJSONObject?
    var id: String?
    var claimedLastModified: Int64?
    var hasPermissions = false

    /// Parses a body; 400 when it is not valid, 415 when its type is not JSON.
    init(_ bytes: [UInt8], _ request: HTTPRequest) throws(KintoRefusal) {
        try KintoRefusal.requireJSON(request)
        guard !bytes.isEmpty else { return }
        guard ServerJSON.isValid(bytes) else {
            throw KintoRefusal.invalid("body", "", "Invalid JSON")
        }
        guard let body = ServerJSONObject(bytes) else {
            throw KintoRefusal.invalid("body", "", "The value is not a mapping type")
        }
        guard body.members.allSatisfy({ ["data", "permissions"].contains($0.name) }) else {
            throw KintoRefusal.invalid("body", "", "Unrecognized keys in mapping")
        }
        hasPermissions = body["permissions"] != nil
        guard let data = body["data"] else { return }
        guard var fields = ServerJSONObject(data) else {
            throw KintoRefusal.invalid("body", "data", "The value is not a mapping type")
        }
        if let bytes = fields["id"] {
            guard let text = ServerJSON.string(bytes) else {
                throw KintoRefusal.invalid("body", "id", "The value is not a string")
            }
            id = text
        }
        claimedLastModified = fields["last_modified"].flatMap(ServerJSON.integer)
        fields.remove(["id", "last_modified"])
        self.fields = fields
    }

    /// Refuses a body with the id of another object.
    func requireID(_ expected: String) throws(KintoRefusal) {
        guard let id, id != expected else { return }
        throw KintoRefusal.invalid("body", "id", "Object id does not match existing object")
    }
}

extension KintoRefusal {
    /// Refuses a body that is not sent as JSON, such as a patch of another form.
    static func requireJSON(_ request: HTTPRequest) throws(KintoRefusal) {
        let field = request.headerFields[.contentType] ?? "application/json"
        let type = field.lowercased().prefix { $0 != ";" && $0 != " " }
        guard type != "application/json" else { return }
        throw KintoRefusal(
            415, 107, message: "Content-Type header should be one of ['application/json']",
            details: "[{\"location\":\"header\",\"name\":\"Content-Type\","
                + "\"description\":\"Content-Type header should be application/json\"}]",
            isInvalidParameter: true)
    }
}
