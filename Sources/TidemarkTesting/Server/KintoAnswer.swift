// KintoAnswer.swift — answers and errors in the server's form.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// An error answer, thrown within the model.
struct KintoRefusal: Error {
    var answer: TransportResponse

    /// An error body: code, errno, error, message and details.
    init(
        _ status: Int, _ errno: Int, message: String? = nil, details: String? = nil,
        etag: Int64? = nil, isInvalidParameter: Bool = false
    ) {
        let reason = KintoAnswer.reason(status)
        var body = "{\"code\":\(status),\"errno\":\(errno)"
        body += ",\"error\":\"\(isInvalidParameter ? "Invalid parameters" : reason)\""
        if let message { body += ",\"message\":\(JSONValue.string(message))" }
        if let details { body += ",\"details\":\(details)" }
        answer = KintoAnswer.json(status, Array((body + "}").utf8), etag: etag)
    }

    /// 400/107: something about the request is wrong.
    static func invalid(_ location: String, _ name: String?, _ text: String) -> KintoRefusal {
        let detail: JSONObject = [
            "location": .string(location), "name": name.map { .string($0) } ?? .null,
            "description": .string(text),
        ]
        let place = name.map { "\($0) in \(location)" } ?? location
        // A description that has the name says it all.
        let isEnough = name.map { text.contains($0) || $0.isEmpty } ?? false
        return KintoRefusal(
            400, 107, message: isEnough ? text : "\(place): \(text)",
            details: "[\(JSONValue.object(detail))]", isInvalidParameter: true)
    }

    /// 500/999: the server failed, for example to compare two objects.
    static let failed = KintoRefusal(
        500, 999,
        message: "A programmatic error occurred, developers have been informed.")

    /// 404: the object does not exist; errno 111 when it is a parent in the address.
    static func missing(_ id: String, _ resourceName: String, errno: Int = 110) -> KintoRefusal {
        KintoRefusal(
            404, errno, details: "{\"id\":\"\(id)\",\"resource_name\":\"\(resourceName)\"}")
    }

    /// 412/114: the object has another version, or does not exist.
    static func precondition(_ existing: KintoObject?, listTimestamp: Int64) -> KintoRefusal {
        KintoRefusal(
            412, 114, message: "Resource was modified meanwhile",
            details: existing.map { "{\"existing\":\(String(decoding: $0.json, as: UTF8.self))}" },
            etag: existing?.lastModified ?? listTimestamp)
    }
}

enum KintoAnswer {
    /// An answer with a JSON body.
    static func json(_ status: Int, _ body: [UInt8], etag: Int64? = nil) -> TransportResponse {
        var answer = empty(status, etag: etag)
        answer.response.headerFields[.contentType] = "application/json"
        answer.body = body
        return answer
    }

    /// An answer without a body.
    static func empty(_ status: Int, etag: Int64? = nil) -> TransportResponse {
        var fields = HTTPFields()
        if let etag { fields[.eTag] = "\"\(etag)\"" }
        let status = HTTPResponse.Status(code: status, reasonPhrase: reason(status))
        return TransportResponse(
            response: HTTPResponse(status: status, headerFields: fields), body: [])
    }

    /// An object with its permissions.
    static func object(_ status: Int, _ object: KintoObject) -> TransportResponse {
        let permissions = "{\"permissions\":{\"write\":[\"system.Authenticated\"]},\"data\":"
        return json(
            status, Array(permissions.utf8) + object.json + [UInt8(ascii: "}")],
            etag: object.lastModified)
    }

    /// The reason phrase of a status code.
    static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        default: "Status \(status)"
        }
    }

    /// The default errno of a status code.
    static func errno(_ status: Int) -> Int {
        switch status {
        case 400: 107
        case 401: 104
        case 403: 121
        case 404: 110
        case 405: 115
        case 409: 122
        case 410: 202
        case 412: 114
        case 429: 117
        case 503: 201
        default: 999
        }
    }
}

extension HTTPFields {
    /// Sets a field by its name, which must be a legal one.
    mutating func set(_ name: String, _ value: String) {
        guard let name = HTTPField.Name(name) else {
            fatalError("\(name) is no legal header name")
        }
        self[name] = value
    }
}
