// AnswerRecord.swift — what the log keeps of an answer: the status, the header fields that decide
// anything, and the body of every failure.

import HTTPTypes
import TidemarkEvents

extension AnswerRecord {
    /// The header fields that decide anything, in the order in which they are logged.
    private static let kept: [HTTPField.Name] =
        [.date, .eTag]
        + ["Alert", "Backoff", "Next-Page"]
        .compactMap { HTTPField.Name($0) }

    /// - Parameter uptime: microseconds since the device's boot, when the answer came.
    init(_ response: TransportResponse, _ answer: ServerAnswer, uptime: Int64) {
        var payload = PayloadBuilder()
        let head = response.response
        payload.add("status", Int64(head.status.code))
        for name in Self.kept { payload.add(name.rawName, head.headerFields[name]) }
        let backoff = HTTPField.Name("Backoff").flatMap { head.headerFields[$0] }
        var asksToWait = backoff != nil
        if case .failure(let failure) = answer, failure.retryAfterSeconds != nil {
            asksToWait = true
        }
        // A pause, as the server's clock, is measured by the clock that nobody sets.
        if head.headerFields[.date] != nil || asksToWait { payload.add("uptime", uptime) }
        var bodies: [[UInt8]] = []
        switch answer {
        case .failure(let failure):
            payload.add("failure", failure.name)
            payload.add("retryAfter", failure.retryAfterSeconds)
            bodies = payload.answerBody(response.body)
        case .refused, .conflict, .conflictUnknown, .batch:
            bodies = payload.answerBody(response.body)
        case .page, .unchanged, .record, .records, .stored, .deleted, .absent, .description,
            .cursorExpired:
            break
        }
        self.init(
            payload: payload.bytes, bodies: bodies, date: head.headerFields[.date], uptime: uptime,
            backoff: backoff, status: head.status.code,
            alert: HTTPField.Name("Alert").flatMap { head.headerFields[$0] })
    }

    init(_ error: TransportError) {
        var payload = PayloadBuilder()
        payload.add("error", error.code.rawValue)
        payload.add("mayHaveArrived", error.mayHaveArrived)
        payload.add("detail", error.detail)
        self.init(payload: payload.bytes, isFailure: true)
    }
}
