// TogglReply.swift — answers and refusals in Toggl's form.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// A refusal: the body is a JSON text in most cases.
struct TogglRejection: Error {
    enum Body: Sendable {
        case json(String)
        case plain(String)
        case none
    }
    var status: Int
    var body: Body
    var fields: HTTPFields = [:]

    init(_ status: Int, _ words: String) {
        self.status = status
        body = .json(words)
    }

    init(_ status: Int, body: Body, fields: HTTPFields = [:]) {
        self.status = status
        self.body = body
        self.fields = fields
    }

    /// The same as an answer, without the header fields that all answers have.
    var answer: TransportResponse {
        var answer =
            switch body {
            case .json(let words): TogglReply.json(status, .string(words))
            case .plain(let words): TogglReply.plain(status, words)
            case .none: TogglReply.empty(status)
            }
        for field in fields { answer.response.headerFields[field.name] = field.value }
        return answer
    }

    static func missing(_ kind: TogglKind) -> TogglRejection {
        TogglRejection(404, "\(kind.word) not found")
    }

    static let noWorkspace = TogglRejection(403, "User cannot access workspace")

    /// An address that there is not.
    static let noAddress = TogglRejection(404, body: .plain("404 page not found"))
}

enum TogglReply {
    /// An answer with a JSON body, in which `&`, `<` and `>` are escaped.
    static func json(_ status: Int, _ value: JSONValue) -> TransportResponse {
        var body: [UInt8] = []
        for byte in value.encoded() {
            switch byte {
            case UInt8(ascii: "&"): body += Array("\\u0026".utf8)
            case UInt8(ascii: "<"): body += Array("\\u003c".utf8)
            case UInt8(ascii: ">"): body += Array("\\u003e".utf8)
            default: body.append(byte)
            }
        }
        return answer(status, body, "application/json; charset=utf-8")
    }

    static func plain(_ status: Int, _ text: String) -> TransportResponse {
        answer(status, Array(text.utf8), "text/plain; charset=utf-8")
    }

    static func empty(_ status: Int) -> TransportResponse { answer(status, [], nil) }

    private static func answer(
        _ status: Int, _ body: [UInt8], _ type: String?
    ) -> TransportResponse {
        let status = HTTPResponse.Status(code: status, reasonPhrase: reason(status))
        var fields: HTTPFields = [:]
        fields[.contentType] = type
        return TransportResponse(
            response: HTTPResponse(status: status, headerFields: fields), body: body)
    }

    static func reason(_ status: Int) -> String {
        status == 402 ? "Payment Required" : KintoAnswer.reason(status)
    }
}

extension HTTPField.Name {
    static let togglQuotaRemaining = named("X-Toggl-Quota-Remaining")
    static let togglQuotaResetsIn = named("X-Toggl-Quota-Resets-In")
    static let togglRequestID = named("X-Toggl-Request-Id")
    static let requestID = named("X-Request-Id")
    static let authorizationMissing = named("X-Authorization-Missing")

    private static func named(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else {
            fatalError("\(text) is no legal header name")
        }
        return name
    }
}
