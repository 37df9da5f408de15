// Dhis2Reply.swift — answers and refusals in DHIS2's form: a web message, or a bare JSON value.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// A refusal: a web message with the status `ERROR`.
struct Dhis2Rejection: Error {
    var status: Int
    var message: String
    var errorCode: String?

    init(_ status: Int, _ message: String, code errorCode: String? = nil) {
        self.status = status
        self.message = message
        self.errorCode = errorCode
    }

    var answer: TransportResponse {
        var object = Dhis2Reply.message(status, "ERROR", message)
        if let errorCode { object["errorCode"] = .string(errorCode) }
        return Dhis2Reply.json(status, .object(object))
    }

    /// An address that there is not.
    static let noAddress = Dhis2Rejection(404, "404 Not Found")

    static func missing(_ word: String, _ id: String) -> Dhis2Rejection {
        Dhis2Rejection(404, "\(word) with id \(id) could not be found.", code: "E1005")
    }
}

enum Dhis2Reply {
    static func json(_ status: Int, _ value: JSONValue) -> TransportResponse {
        let code = HTTPResponse.Status(code: status, reasonPhrase: KintoAnswer.reason(status))
        var fields: HTTPFields = [:]
        fields[.contentType] = "application/json;charset=UTF-8"
        return TransportResponse(
            response: HTTPResponse(status: code, headerFields: fields), body: value.encoded())
    }

    static func empty(_ status: Int) -> TransportResponse {
        let code = HTTPResponse.Status(code: status, reasonPhrase: KintoAnswer.reason(status))
        return TransportResponse(response: HTTPResponse(status: code), body: [])
    }

    /// The members that every web message has.
    static func message(_ httpStatus: Int, _ status: String, _ text: String) -> JSONObject {
        [
            "httpStatus": .string(KintoAnswer.reason(httpStatus)),
            "httpStatusCode": .integer(Int64(httpStatus)), "status": .string(status),
            "message": .string(text),
        ]
    }

    /// A web message around what was done; 409 unless all of it went well.
    static func message(around response: JSONObject) -> TransportResponse {
        let status = response["status"]?.stringValue ?? "SUCCESS"
        let isFine = status == "SUCCESS"
        let code = isFine ? 200 : 409
        var object = message(
            code, isFine ? "OK" : status,
            isFine ? "Import was successful." : "An error occurred, please check import summary.")
        object["response"] = .object(response)
        return json(code, .object(object))
    }
}
