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
        // In the order in which Kinto looks for mistakes.
        let limit = min(try query.limit() ?? pageRowsMax, pageRowsMax)
        let filters = try query.filters(nowMilliseconds)
        let orders = try query.orders()
        let names = try query.fields()
        let token = try query.token()
        let list = lists[place, default: KintoList()]
        let rows = try list.rows(filters, orders, before: token)

        if request.method == .head {
            var answer = KintoAnswer.json(200, Array("{\"data\":[]}".utf8), etag: etag)
            let total = String(rows.count { $0.value("deleted") != .bool(true) })
            answer.response.headerFields.set("Total-Objects", total)
            answer.response.headerFields.set("Total-Records", total)
            return answer
        }
        let page = rows.prefix(limit)
        let bodies = page.map { object in names.map { object.json(only: $0) } ?? object.json }
        var answer = KintoAnswer.json(
            200,
            Array("{\"data\":[".utf8) + Array(bodies.joined(separator: [UInt8(ascii: ",")]))
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

extension KintoQuery {
    /// The fields that are requested; nil for all.
    fileprivate func fields() throws(KintoRefusal) -> [String]? {
        guard let text = self["_fields"] else { return nil }
        let names = text.split(separator: ",").map(String.init)
        guard !names.contains(where: { $0.contains(".") }) else {
            throw .invalid("querystring", "_fields", "Paths are not part of the model")
        }
        return names
    }

    /// The order that is requested; empty for the usual one.
    fileprivate func orders() throws(KintoRefusal) -> [KintoOrder] {
        guard let names = self["_sort"]?.split(separator: ",") else { return [] }
        var orders: [KintoOrder] = []
        for name in names {
            guard !name.contains(".") else {
                throw .invalid("querystring", "_sort", "Paths are not part of the model")
            }
            // Kinto ignores a field of another form.
            guard let order = KintoOrder(name) else { continue }
            orders.append(order)
        }
        guard !names.contains("last_modified") else { return orders }
        return orders + [KintoOrder(field: "last_modified", isDescending: true)]
    }

    /// The last row's timestamp of the page before.
    fileprivate func token() throws(KintoRefusal) -> Int64? {
        guard let text = self["_token"] else { return nil }
        guard let token = Int64(text) else {
            throw KintoRefusal.invalid("querystring", nil, "_token has invalid content")
        }
        guard self["_sort"] == nil else {
            throw .invalid(
                "querystring", "_token", "Pages of a sorted list are not part of the model")
        }
        return token
    }

    /// The requested page size; nil for all.
    fileprivate func limit() throws(KintoRefusal) -> Int? {
        guard let limit = try integer("_limit"), limit > 0 else { return nil }
        return Int(clamping: limit)
    }
}
