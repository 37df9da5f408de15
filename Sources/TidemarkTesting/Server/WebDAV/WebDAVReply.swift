// WebDAVReply.swift — the answers of a WebDAV server, and why it refuses.

import HTTPTypes
import TidemarkHTTP
import TidemarkSync

/// Why a request is refused.
struct WebDAVRefusal: Error {
    var answer: TransportResponse

    init(_ status: Int, _ condition: String? = nil) {
        answer = WebDAVReply.error(status, condition)
    }
}

/// What the parts of an answer look like.
enum WebDAVReply {
    static let methods =
        "OPTIONS, GET, HEAD, PUT, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE"
    static let declaration = #"<?xml version="1.0" encoding="utf-8"?>"# + "\n"

    static func plain(
        _ status: Int, _ fields: HTTPFields = [:], _ body: [UInt8] = []
    ) -> TransportResponse {
        TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields), body: body)
    }

    static func xml(_ status: Int, _ text: String) -> TransportResponse {
        plain(
            status, [.contentType: "application/xml; charset=utf-8"],
            Array((declaration + text + "\n").utf8))
    }

    /// An error, with the condition of RFC 4918 that was not met where there is one.
    static func error(_ status: Int, _ condition: String? = nil) -> TransportResponse {
        let inner = condition.map { "<d:\($0)/>" } ?? ""
        var answer = xml(status, #"<d:error xmlns:d="DAV:">\#(inner)</d:error>"#)
        if status == 405, let allow = HTTPField.Name("Allow") {
            answer.response.headerFields[allow] = methods
        }
        return answer
    }

    /// The answer about several addresses.
    static func multistatus(_ responses: [String]) -> TransportResponse {
        xml(
            207,
            #"<d:multistatus xmlns:d="DAV:" xmlns:oc="\#(WebDAVProperty.ownCloud)">"#
                + responses.joined() + "</d:multistatus>")
    }

    /// The part of it that says one status of one address.
    static func response(_ href: String, _ status: Int) -> String {
        "<d:response><d:href>\(href)</d:href>\(line(status))</d:response>"
    }

    private static let phrases = [
        200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 403: "Forbidden",
        404: "Not Found", 409: "Conflict", 412: "Precondition Failed", 423: "Locked",
        424: "Failed Dependency", 500: "Internal Server Error", 507: "Insufficient Storage",
    ]

    static func line(_ status: Int) -> String {
        "<d:status>HTTP/1.1 \(status) \(phrases[status] ?? "Error")</d:status>"
    }
}
