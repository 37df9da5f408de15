// KintoBatch.swift — several requests in one, each with an answer of its own.

import HTTPTypes
import TidemarkSync

extension KintoServerModel {
    /// The most requests in one batch, by the server's default.
    private static let requestsMax = 25

    /// Handles the requests of a batch one after another; each is final, whatever happens to the
    /// next.
    mutating func batch(
        _ request: HTTPRequest, _ body: [UInt8], _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        guard let list = ServerJSONObject(body)?["requests"].flatMap(ServerJSON.elements) else {
            throw KintoRefusal.invalid("body", "requests", "Required")
        }
        guard list.count <= Self.requestsMax else {
            throw KintoRefusal.invalid(
                "body", "requests", "Number of requests is limited to \(Self.requestsMax)")
        }
        var answers: [[UInt8]] = []
        for bytes in list {
            guard let part = KintoBatchPart(bytes, request) else {
                throw KintoRefusal.invalid("body", "requests", "The value is not a request")
            }
            var answer: TransportResponse
            do throws(KintoRefusal) {
                answer = try route(
                    part.request, body: part.body, nowMilliseconds: nowMilliseconds)
            } catch {
                answer = error.answer
            }
            answers.append(part.json(answer))
        }
        return KintoAnswer.json(
            200,
            Array("{\"responses\":[".utf8) + Array(answers.joined(separator: [UInt8(ascii: ",")]))
                + Array("]}".utf8))
    }
}

/// One request of a batch.
private struct KintoBatchPart {
    var request: HTTPRequest
    var body: [UInt8]

    /// Reads `{"method","path","headers","body"}`; the other header fields are those of the batch.
    init?(_ bytes: [UInt8], _ batch: HTTPRequest) {
        guard let object = ServerJSONObject(bytes),
            var path = object["path"].flatMap(ServerJSON.string)
        else { return nil }
        if !path.hasPrefix("/v1/") { path = "/v1" + path }
        let method = object["method"].flatMap(ServerJSON.string) ?? "GET"
        request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get, scheme: batch.scheme,
            authority: batch.authority, path: path,
            headerFields: [.authorization: batch.headerFields[.authorization] ?? ""])
        for member in object["headers"].flatMap(ServerJSONObject.init)?.members ?? [] {
            guard let value = ServerJSON.string(member.value) else { return nil }
            request.headerFields.set(member.name, value)
        }
        body = object["body"] ?? []
    }

    func json(_ answer: TransportResponse) -> [UInt8] {
        var text = "{\"status\":\(answer.response.status.code)"
        text += ",\"path\":\"\(request.path ?? "")\",\"headers\":{"
        if let etag = answer.response.headerFields[.eTag] {
            text += "\"ETag\":\"\\\"\(etag.filter { $0 != "\"" })\\\"\""
        }
        return Array((text + "},\"body\":").utf8)
            + (answer.body.isEmpty ? Array("{}".utf8) : answer.body)
            + [UInt8(ascii: "}")]
    }
}
