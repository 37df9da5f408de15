// KintoReading.swift — reads lists with their pages, and single objects.

import HTTPTypes
import TidemarkSync

extension KintoServerModel {
    /// One page of a list, newest first, or its total for HEAD.
    mutating func list(
        _ place: KintoPlace, _ request: HTTPRequest, _ query: KintoQuery, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        let etag = timestamp(of: place, nowMilliseconds)
        if try KintoPreconditions(request).isNotModified(since: etag) {
            return KintoAnswer.empty(304, etag: etag)
        }
        try KintoPreconditions(request).checkList(timestamp: etag)
        let known: Set = [
            "_since", "gt_last_modified", "_limit", "_token", "_fields", "in_id", "deleted",
        ]
        for item in query.items where !known.contains(item.name) {
            throw KintoRefusal.invalid(
                "querystring", "unknown", "This parameter is not part of the model")
        }

        let since = try query.timestamp(
            query["_since"] == nil ? "gt_last_modified" : "_since", nowMilliseconds)
        let token = query["_token"].map { Int64($0) }
        if case .some(nil) = token {
            throw KintoRefusal.invalid("querystring", nil, "_token has invalid content")
        }
        let limit = min(try query.limit() ?? pageRowsMax, pageRowsMax)
        let filter = try query.filter()
        let rows = lists[place, default: KintoList()].page(since: since, before: token ?? nil)
            .filter(filter)

        if request.method == .head {
            var answer = KintoAnswer.json(200, Array("{\"data\":[]}".utf8), etag: etag)
            let total = String(rows.count { $0.fields != nil })
            answer.response.headerFields.set("Total-Objects", total)
            answer.response.headerFields.set("Total-Records", total)
            return answer
        }
        let isBare = try query.isBare()
        let page = rows.prefix(limit).map { isBare ? $0.bare : $0 }
        var answer = KintoAnswer.json(
            200,
            Array("{\"data\":[".utf8)
                + Array(page.map(\.json).joined(separator: [UInt8(ascii: ",")]))
                + Array("]}".utf8),
            etag: etag)
        if rows.count > limit, let last = page.last {
            let path = (request.path ?? "/").prefix { $0 != "?" }
            let next = query.next(limit: limit, token: last.lastModified)
            answer.response.headerFields.set(
                "Next-Page", "\(Self.origin(of: request))\(path)?\(next)")
        }
        return answer
    }

    /// One object.
    mutating func get(
        _ id: String, in place: KintoPlace, _ request: HTTPRequest, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        guard let object = lists[place]?[id] else {
            throw KintoRefusal.missing(id, place.resourceName)
        }
        let preconditions = try KintoPreconditions(request)
        if preconditions.isNotModified(since: object.lastModified) {
            return KintoAnswer.empty(304, etag: object.lastModified)
        }
        try preconditions.check(object, listTimestamp: timestamp(of: place, nowMilliseconds))
        return KintoAnswer.object(200, object)
    }

    /// The list's timestamp; the first reading sets it.
    mutating func timestamp(of place: KintoPlace, _ nowMilliseconds: Int64) -> Int64 {
        lists[place, default: KintoList()].timestamp(nowMilliseconds: nowMilliseconds)
    }
}

extension KintoObject {
    /// Whether it was deleted, or has a field `deleted` that is true.
    fileprivate var isMarkedDeleted: Bool {
        fields.map { $0["deleted"] == Array("true".utf8) } ?? true
    }

    /// The object with nothing but its id and version.
    fileprivate var bare: KintoObject {
        var object = self
        if fields != nil { object.fields = ServerJSONObject() }
        return object
    }
}

extension KintoQuery {
    /// Whether only ids and versions are requested.
    fileprivate func isBare() throws(KintoRefusal) -> Bool {
        guard let names = self["_fields"] else { return false }
        guard names == "last_modified" else {
            throw .invalid("querystring", "_fields", "Only last_modified is part of the model")
        }
        return true
    }

    /// A timestamp in the query, bare or in quotes; at most a day ahead of the server's clock.
    fileprivate func timestamp(
        _ name: String, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> Int64? {
        guard let text = self[name] else { return nil }
        let isQuoted = text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let bare = isQuoted ? String(text.dropFirst().dropLast()) : text
        guard let value = Int64(bare), 0...(nowMilliseconds + 86_400_000) ~= value else {
            throw KintoRefusal.invalid("querystring", name, "Invalid value for \(name)")
        }
        return value
    }

    /// The filter for the requested objects: some ids, those whose field `deleted` is true, or all.
    fileprivate func filter() throws(KintoRefusal) -> (KintoObject) -> Bool {
        var ids: Set<String>?
        if let text = self["in_id"] {
            var names: Set<String> = []
            for item in text.split(separator: ",", omittingEmptySubsequences: false) {
                // An item that is JSON counts as its value, any other as a string.
                let bytes = Array(item.utf8)
                let name = ServerJSON.isValid(bytes) ? ServerJSON.string(bytes) : String(item)
                guard let name else {
                    throw .invalid("querystring", "in_id", "Invalid value for in_id")
                }
                names.insert(name)
            }
            ids = names
        }
        if let text = self["deleted"], text != "true" {
            throw .invalid("querystring", "deleted", "Only true is part of the model")
        }
        let isMarked = self["deleted"] != nil
        return { object in
            (ids?.contains(object.id) ?? true) && (!isMarked || object.isMarkedDeleted)
        }
    }

    /// The requested page size; nil for all.
    fileprivate func limit() throws(KintoRefusal) -> Int? {
        guard let text = self["_limit"] else { return nil }
        guard let value = Int(text), value >= 0 else {
            throw KintoRefusal.invalid("querystring", "_limit", "The value is not a number")
        }
        return value == 0 ? nil : value
    }
}
