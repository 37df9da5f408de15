// AnswerRecord.swift — what the log keeps of an answer: the status, the header fields that decide
// anything, and the body of every failure.

package import HTTPTypes
package import TidemarkEvents
package import TidemarkRules
import TidemarkViews

extension AnswerRecord {
    /// The header fields that decide anything, in the order in which they are logged.
    fileprivate static let kept: [HTTPField.Name] =
        [.date, .eTag]
        + ["Alert", "Backoff", "Next-Page"]
        .compactMap { HTTPField.Name($0) }

    /// - Parameters:
    ///   - uptime: microseconds since the device's boot, when the answer came.
    ///   - isRepeatable: whether it is the answer to a write that may have been sent twice.
    init(
        _ response: TransportResponse, _ answer: ServerAnswer, uptime: Int64,
        isRepeatable: Bool = false
    ) {
        var payload = PayloadBuilder()
        let head = response.response
        let status = head.status.code
        payload.add("status", Int64(status))
        // Where the status alone does not say so.
        if AttemptRule.mayHaveArrived(status: status, isRepeatable: isRepeatable),
            !AttemptRule.mayHaveArrived(status: status)
        {
            payload.add("mayHaveArrived", true)
        }
        for name in Self.kept { payload.add(name.rawName, head.headerFields[name]) }
        let backoff = HTTPField.Name("Backoff").flatMap { head.headerFields[$0] }
        var asksToWait = backoff != nil
        if case .failure = answer { asksToWait = true }
        // A pause, also one of ours, and the server's clock are measured by the clock that nobody
        // sets.
        if head.headerFields[.date] != nil || asksToWait { payload.add("uptime", uptime) }
        var bodies: [[UInt8]] = []
        var name: String?
        if case .failure(let failure) = answer {
            name = failure.name
            payload.add("failure", failure.name)
            payload.add("retryAfter", failure.retryAfterSeconds)
        }
        if answer.keepsBody { bodies = payload.answerBody(response.body) }
        self.init(payload: payload.bytes)
        self.bodies = bodies
        self.uptime = uptime
        failure = name
        self.status = status
        take(head.headerFields)
        // Who answers in the server's place has a clock of its own.
        if case .failure = answer { date = nil }
        kind = answer.word(for: head.status)
    }

    private mutating func take(_ fields: HTTPFields) {
        func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
        date = fields[.date]
        backoff = field("Backoff")
        alert = field("Alert")
        tag = fields[.eTag]
        nextPage = field("Next-Page").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What it says of the server's clock, in a run that began at a moment.
    package func sighting(begun: Moment) -> ClockSighting? {
        guard let serverTime, let uptime else { return nil }
        return ClockSighting(serverTime, begun: begun, uptime: uptime)
    }

    /// What was logged of an answer, with what it names by hash.
    package init(logged payload: [UInt8], bodies: [[UInt8]], isFailure: Bool) {
        self.init(payload: payload)
        self.bodies = bodies
        self.isFailure = isFailure
        isLogged = true
        guard let document = try? JSONDocument(parsing: payload) else { return }
        take(document.answerFields)
        if document.rawValue("failure") != nil { date = nil }
        status = document.value("status")?.int64Value.flatMap(Int.init(exactly:))
        uptime = document.value("uptime")?.int64Value
        failure = document.value("failure")?.stringValue
    }

    /// - Parameter uptime: microseconds since the device's boot, when it was given up.
    package init(_ error: TransportError, uptime: Int64? = nil) {
        var payload = PayloadBuilder()
        payload.add("error", error.code.rawValue)
        payload.add("mayHaveArrived", error.mayHaveArrived)
        payload.add("detail", error.detail)
        payload.add("uptime", uptime)
        self.init(payload: payload.bytes)
        self.uptime = uptime
        isFailure = true
    }
}

extension JSONDocument {
    /// The header fields that a payload of `request.answered` holds.
    package var answerFields: HTTPFields {
        var fields: HTTPFields = [:]
        for name in AnswerRecord.kept { fields[name] = value(name.rawName)?.stringValue }
        fields[.retryAfter] = value("retryAfter")?.int64Value.map(String.init)
        return fields
    }
}
