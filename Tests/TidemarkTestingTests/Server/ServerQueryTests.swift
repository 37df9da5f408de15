// ServerQueryTests.swift — random queries, asked of the model and of the real server.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `queries of lists` {
    @Test(
        .enabled(if: ServerCurl.kintoURL != nil, "TIDEMARK_KINTO names no real server"),
        arguments: [0x5EED_0001, 0x5EED_0002, 0x5EED_0003] as [UInt64])
    func `the model answers a random query as Kinto does`(seed: UInt64) async throws {
        let url = try #require(ServerCurl.kintoURL.flatMap(URL.init))
        let host = try #require(url.host)
        let scheme = url.scheme ?? "http"
        let authority = url.port.map { "\(host):\($0)" } ?? host
        let world = ServerWorld()
        var asked = QueryChance(seed)
        let bucket = "/v1/buckets/queries\(seed)"
        func both(
            _ method: HTTPRequest.Method, _ path: String, body: String? = nil
        ) async throws -> (model: QueryAnswer, real: QueryAnswer) {
            var request = HTTPRequest(
                method: method, scheme: scheme, authority: authority, path: bucket + path,
                headerFields: [.authorization: "Basic Y29uZm9ybTpwdw=="])
            if body != nil { request.headerFields[.contentType] = "application/json" }
            let bytes = body.map { Array($0.utf8) }
            world.advance(milliseconds: 10)
            let model = try await world.server.send(request, body: bytes, limits: TransportLimits())
            let real = try await ServerCurl.send(request, bytes)
            return (QueryAnswer(model), QueryAnswer(real))
        }

        _ = try await both(.delete, "")
        _ = try await both(.put, "")
        _ = try await both(.put, "/collections/c")
        for (id, document) in asked.records() {
            let (model, real) = try await both(
                .put, "/collections/c/records/\(id)", body: #"{"data":\#(document)}"#)
            #expect(model == real, "seed \(seed), record \(id): \(document)")
        }
        for id in QueryChance.deleted {
            _ = try await both(.delete, "/collections/c/records/\(id)")
        }
        for number in 1...80 {
            let query = asked.query()
            let (model, real) = try await both(.get, "/collections/c/records?\(query)")
            #expect(model == real, "seed \(seed), query \(number): \(query)")
        }
        _ = try await both(.delete, "")
    }
}

/// What of an answer has to be the same.
private struct QueryAnswer: Equatable, CustomStringConvertible {
    var description: String

    init(_ answer: TransportResponse) {
        let fields = answer.response.headerFields
        let hasMore = HTTPField.Name("Next-Page").map { fields[$0] != nil } ?? false
        let body = try? JSONValue(parsing: answer.body)
        let rows = body?["data"]?.array?.map { Self.row($0) }
        let error = ["errno", "error", "message", "details"].map { body?[$0]?.description ?? "" }
        description =
            "\(answer.response.status.code), more: \(hasMore), etag: \(fields[.eTag] != nil), "
            + (rows.map { "\($0)" } ?? "\(error)")
    }

    /// A row, its members in one order; when a tombstone was made is the server's clock's.
    private static func row(_ row: JSONValue) -> String {
        (row.object?.keys.sorted() ?? []).map { key in
            let isClock = key == "last_modified" && (row[key]?.int64Value ?? 0) > 1_700_000_000_000
            return "\(key): \(isClock ? "now" : row[key]?.description ?? "")"
        }.joined(separator: ", ")
    }
}

/// Records and queries by chance.
private struct QueryChance {
    static let deleted = ["k", "7", "1e5"]
    private static let ids = [
        "a", "b", "c", "D", "e-f", "e_f", "12", "7", "1e5", "true", "null", "k", "z9", "0", "x",
        "y",
    ]
    private static let texts = [
        "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00Z", "2026",
        "20260101", "é", "e\u{301}", "", "a&b=c", "a+b c", "\\\"", "true", "null", "%41", "1e3",
    ]
    private static let numbers = [
        "0", "-1", "1", "1.0", "1.5", "1000.0", "1000", "2026", "20260101", "1795536128763",
    ]
    private static let fields = ["d", "n", "x", "min_x", "_u", "deleted"]

    private var chance: SplitMix64

    init(_ seed: UInt64) { chance = SplitMix64(seed: seed) }

    mutating func records() -> [(id: String, document: String)] {
        Self.ids.enumerated().map { index, id in
            var members = ["\"last_modified\":\(1_600_000_000_000 + index * 7)"]
            for field in Self.fields where !chance.once(in: 3) {
                members.append("\"\(field)\":\(value(field))")
            }
            return (id, "{\(members.joined(separator: ","))}")
        }
    }

    mutating func query() -> String {
        var items: [String] = []
        for _ in 0..<chance.below(3) { items.append(filter()) }
        if chance.once(in: 4) { items.append(version()) }
        if chance.once(in: 3) {
            items.append(chance.pick(["gt", "min", "max", "lt"]) + "_id=" + id())
        }
        if !chance.once(in: 3) { items.append("_sort=\(order())") }
        if chance.once(in: 3) {
            items.append("_limit=" + chance.pick(["1", "2", "5", "0", "99999", "x", "-3"]))
        }
        if chance.once(in: 3) {
            items.append("_fields=" + chance.pick(["id", "d", "d,n", "deleted", "none"]))
        }
        return items.joined(separator: "&")
    }

    private mutating func filter() -> String {
        let field = chance.pick(Self.fields)
        let comparison = chance.pick(["lt_", "max_", "eq_", "not_", "min_", "gt_", "has_"])
        // Kinto ignores a name that begins with `_`; the model refuses it.
        let name = chance.once(in: 5) && field != "_u" ? field : comparison + field
        return "\(name)=\(escaped(queried(value(field))))"
    }

    private mutating func version() -> String {
        let value = chance.pick([
            "0", "1600000000021", "1600000000049", "9999999999999", "x", "true", "-1",
        ])
        return "\(chance.pick(["min_", "gt_", "max_", "eq_", ""]))last_modified=\(value)"
    }

    private mutating func id() -> String {
        let id = chance.pick(Self.ids)
        return chance.once(in: 2) ? id : "%22\(id)%22"
    }

    private mutating func order() -> String {
        let fields = Self.fields + ["id", "last_modified", "a-b"]
        return (0...chance.below(2)).map { _ in
            chance.pick(["", "-", "%2B"]) + chance.pick(fields)
        }.joined(separator: ",")
    }

    /// A value as JSON: mostly a text, in some field a number.
    private mutating func value(_ field: String) -> String {
        switch chance.below(10) {
        case 0: "null"
        case 1: chance.pick(["true", "false"])
        case 2: chance.pick(["[]", "[1]", "[2,1]", "[1,0.5]"])
        case 3...5 where field == "d", 3...8 where field != "d": chance.pick(Self.numbers)
        default: "\(JSONValue.string(chance.pick(Self.texts)))"
        }
    }

    /// A value as it stands in a query: as JSON, or a text without its quotes.
    private mutating func queried(_ value: String) -> String {
        guard value.hasPrefix("\""), chance.once(in: 3) else { return value }
        return String(value.dropFirst().dropLast())
    }

    private func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let hex = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "%0\(hex)" : "%\(hex)"
        }.joined()
    }
}
