// KeptAnswer+Response.swift — an answer between the network and what is kept of it.

import HTTPTypes
import TidemarkEvents
package import TidemarkLog

extension KeptAnswer {
    /// - Parameter uptime: microseconds since the device's boot, when it came.
    init(_ response: TransportResponse, uptime: Int64) {
        self.init()
        self.uptime = uptime
        status = response.response.status.code
        fields = response.response.headerFields.map { Named($0.name.rawName, $0.value) }
        body = response.body
    }

    /// - Parameter uptime: microseconds since the device's boot, when it was given up.
    init(_ error: TransportError, uptime: Int64) {
        self.init()
        self.uptime = uptime
        self.error = error.code.rawValue
        detail = error.detail
    }

    /// The answer as it came; nil where none did.
    package var response: TransportResponse? {
        guard status > 0, hasStatus else { return nil }
        var head = HTTPResponse(status: HTTPResponse.Status(code: status))
        for field in fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: field.value))
        }
        return TransportResponse(response: head, body: body)
    }

    /// Why none came.
    package var transportError: TransportError {
        TransportError(TransportError.Code(rawValue: error) ?? .connectionLost, detail: detail)
    }

    /// What is known of a request that no event tells of.
    mutating func note(_ exchange: ReadExchange) {
        let request = RequestSent(exchange.request, at: exchange.sentAt)
        self.request = Request(
            method: request.method ?? "", path: request.path ?? "", ifMatch: request.ifMatch,
            ifNoneMatch: request.ifNoneMatch, sentAt: exchange.sentAt, asOf: exchange.asOf)
    }
}
