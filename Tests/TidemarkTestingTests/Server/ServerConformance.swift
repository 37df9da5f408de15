// ServerConformance.swift — runs a script of requests and writes the answers below them.

import Foundation
import HTTPTypes
import TidemarkSync

/// One request of a script and, below it, the answer that is expected.
struct ConformanceStep {
    var request: String
    var body: String?
    var answer: [String] = []

    /// The steps of a script: requests, bodies behind `> `, on one line or several, and answers
    /// behind `= `.
    static func steps(of script: String) -> [ConformanceStep] {
        script.split(separator: "\n").reduce(into: []) { steps, line in
            if line.hasPrefix("> ") {
                let begun = steps[steps.count - 1].body ?? ""
                steps[steps.count - 1].body = begun + String(line.dropFirst(2))
            } else if line.hasPrefix("= ") {
                steps[steps.count - 1].answer.append(String(line.dropFirst(2)))
            } else {
                steps.append(ConformanceStep(request: String(line)))
            }
        }
    }

    /// The step as it stands in a script.
    var text: String {
        ([request] + (body.map { ["> \($0)"] } ?? []) + answer.map { "= \($0)" })
            .joined(separator: "\n")
    }
}

/// Sends steps to a server and brings its answers into a form without times and random ids.
struct ConformanceRun {
    typealias Send = (HTTPRequest, [UInt8]?) async throws -> TransportResponse

    let scheme: String
    let authority: String
    let bucket: String
    let send: Send
    private var timestamps: [Int64] = []
    private var nextPage = ""

    init(scheme: String, authority: String, bucket: String, send: @escaping Send) {
        self.scheme = scheme
        self.authority = authority
        self.bucket = bucket
        self.send = send
    }

    /// The step with the answer that the server gives to it.
    mutating func answered(_ step: ConformanceStep) async throws -> ConformanceStep {
        let words = step.request.split(separator: " ")
        let path = filled(String(words[1])).replacing("$next", with: nextPage)
        var request = HTTPRequest(
            method: try name(HTTPRequest.Method(String(words[0]))), scheme: scheme,
            authority: authority, path: path,
            headerFields: [.authorization: "Basic Y29uZm9ybTpwdw=="])
        if step.body != nil { request.headerFields[.contentType] = "application/json" }
        for word in words.dropFirst(2) {
            let halves = word.split(separator: "=", maxSplits: 1).map(String.init)
            let field = try name(HTTPField.Name(halves[0]))
            request.headerFields[field] = halves[1] == "none" ? nil : filled(halves[1])
        }
        let body = step.body.map { Array(filled($0).utf8) }
        let answer = try await send(request, body)
        var step = step
        step.answer = try describe(answer)
        return step
    }

    private func filled(_ text: String) -> String {
        var text = text.replacing("$p", with: "/v1/buckets/default/collections")
            .replacing("$r", with: "$c/records")
            .replacing("$c", with: "$b/collections/c")
            .replacing("$b", with: "/v1/buckets/\(bucket)")
        for index in timestamps.indices.reversed() {
            text = text.replacing("$t\(index + 1)", with: "\(timestamps[index])")
        }
        return text
    }

    private mutating func describe(_ answer: TransportResponse) throws -> [String] {
        let fields = answer.response.headerFields
        let body = try answer.body.isEmpty ? nil : normalised(parsed(answer.body))
        let object = body as? [String: Any] ?? [:]
        let status = answer.response.status.code

        var words = [object["errno"].map { "\(status)/\($0)" } ?? "\(status)"]
        if let etag = fields[.eTag] { words.append(label(Int64(etag.dropFirst().dropLast()))) }
        if let error = object["error"] as? String { words.append(error) }
        if object["permissions"] != nil { words.append("perms") }
        if let address = fields[try name(HTTPField.Name("Next-Page"))] {
            let prefix = "\(scheme)://\(authority)"
            guard address.hasPrefix(prefix) else { throw Mistake.text(address) }
            nextPage = String(address.dropFirst(prefix.count))
            words.append("next")
        }
        if let total = fields[try name(HTTPField.Name("Total-Records"))] {
            words.append("total=\(total)")
        }
        if fields[.wwwAuthenticate] != nil { words.append("auth") }
        if fields[try name(HTTPField.Name("Allow"))] != nil { words.append("allow") }
        if body != nil, fields[.contentType] != "application/json" { words.append("notJSON") }
        if fields[.date] == nil { words.append("noDate") }

        var rows: [Any] = object["data"].map { $0 as? [Any] ?? [$0] } ?? []
        if let details = object["details"] { rows += [details] }
        if object["code"] != nil, object["code"] as? Int != status { words.append("otherCode") }
        var lines = try [words.joined(separator: " ")] + rows.map(line)
        for part in object["responses"] as? [[String: Any]] ?? [] { lines += try describe(part) }
        return lines
    }

    /// One answer of a batch's: `part`, its path and words, then its rows or its error's details.
    private mutating func describe(_ part: [String: Any]) throws -> [String] {
        let body = part["body"] as? [String: Any] ?? [:]
        let headers = part["headers"] as? [String: Any] ?? [:]
        let status = part["status"] as? Int ?? 0
        let path = (part["path"] as? String ?? "none")
            .replacing("/v1/buckets/\(bucket)", with: "$b")
            .replacing("$b/collections/c", with: "$c").replacing("$c/records", with: "$r")
        var words = ["part", path, body["errno"].map { "\(status)/\($0)" } ?? "\(status)"]
        if let etag = headers["ETag"] as? String {
            words.append(label(Int64(etag.dropFirst().dropLast())))
        }
        if let error = body["error"] as? String { words.append(error) }
        if body["permissions"] != nil { words.append("perms") }
        var rows: [Any] = body["data"].map { $0 as? [Any] ?? [$0] } ?? []
        if let details = body["details"] { rows += [details] }
        return try [words.joined(separator: " ")] + rows.map(line)
    }

    /// Timestamps become labels, ids that the server made become `made`; keys stay.
    private mutating func normalised(_ value: Any) -> Any {
        if let list = value as? [Any] { return list.map { normalised($0) } }
        guard var object = value as? [String: Any] else { return value }
        for key in object.keys.sorted() {
            if key == "last_modified", let number = object[key] as? NSNumber {
                object[key] = label(number.int64Value)
            } else if key == "id", let id = object[key] as? String, id.utf8.count == 36 {
                object[key] = "made"
            } else if let inner = object[key] {
                object[key] = normalised(inner)
            }
        }
        return object
    }

    private mutating func label(_ timestamp: Int64?) -> String {
        guard let timestamp else { return "noTimestamp" }
        if !timestamps.contains(timestamp) { timestamps.append(timestamp) }
        return "t\((timestamps.firstIndex(of: timestamp) ?? 0) + 1)"
    }

    /// One row on one line; of an invalid parameter only where it was.
    private func line(_ row: Any) throws -> String {
        if let list = row as? [[String: Any]] {
            let places = list.map { "\($0["location"] ?? "").\($0["name"] as? String ?? "")" }
            return "invalid \(Set(places).sorted().joined(separator: " "))"
        }
        let data = try JSONSerialization.data(
            withJSONObject: row, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    private func parsed(_ bytes: [UInt8]) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(bytes))
    }

    private func name<Name>(_ name: Name?) throws -> Name {
        guard let name else { throw Mistake.text("not a legal name") }
        return name
    }

    private enum Mistake: Error { case text(String) }
}
