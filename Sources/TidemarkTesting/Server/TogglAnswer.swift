// TogglAnswer.swift — answers and errors in Toggl's form.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// An error answer, thrown within the model.
struct TogglRefusal: Error {
    var status: Int
    /// The body: a JSON text.
    var words: String
    var retryAfterSeconds: Int64?

    init(_ status: Int, _ words: String, retryAfterSeconds: Int64? = nil) {
        self.status = status
        self.words = words
        self.retryAfterSeconds = retryAfterSeconds
    }

    var answer: TransportResponse {
        var answer = TogglAnswer.json(status, JSONValue.string(words).encoded())
        if let seconds = retryAfterSeconds {
            answer.response.headerFields[.retryAfter] = "\(seconds)"
        }
        return answer
    }
}

enum TogglAnswer {
    /// An answer with a JSON body, or an empty one.
    static func json(_ status: Int, _ body: [UInt8]) -> TransportResponse {
        let status = HTTPResponse.Status(code: status, reasonPhrase: KintoAnswer.reason(status))
        let fields: HTTPFields = body.isEmpty ? [:] : [.contentType: "application/json"]
        return TransportResponse(
            response: HTTPResponse(status: status, headerFields: fields), body: body)
    }

    /// An array of documents.
    static func list(_ rows: [TogglRow]) -> TransportResponse {
        var body = [UInt8(ascii: "[")]
        for (index, row) in rows.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body += row.document.bytes
        }
        return json(200, body + [UInt8(ascii: "]")])
    }

    /// A time in the server's form, as JSON text.
    static func time(_ time: Timestamp) -> [UInt8] { DateFormat.iso8601.encoded(time) }

    /// The time in a JSON text.
    static func time(of raw: ArraySlice<UInt8>?) -> Timestamp? {
        raw.flatMap { DateFormat.iso8601.timestamp($0) }
    }
}
