// PushPayloads.swift — what the fold reads of the payloads of requests and answers. Lenient: a
// member that is missing or of another type is as if it were not there.

package import TidemarkEvents

/// `request.answered`: `{"status":…,"Date":…,"Backoff":…,"retryAfter":…,"uptime":…,
/// "failure":…,"concerns":…}`.
package struct AnswerPayload: Sendable, Hashable {
    package var status = 0
    /// Seconds for which the server asked not to be called.
    package var retryAfter: Int64?
    /// Seconds for which it asked for no call that is not needed.
    package var backoff: Int64?
    /// The server's clock, where it is one to go by: not that of whoever answered in its place.
    package var date: Timestamp?
    /// Microseconds since the device's boot, when the answer came.
    package var uptime: Int64?
    /// The failure's name; nil where the call did not fail.
    package var failure: String?
    /// What a failure concerns, where it is not the whole run.
    package var concern: FailureConcern?
    /// Whether what was asked for may have been done all the same, which the status alone does not
    /// say.
    package var mayHaveArrived = false

    package var isGone: Bool { status == 404 || status == 410 }

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        status = document.value("status")?.int64Value.flatMap(Int.init(exactly:)) ?? 0
        retryAfter = document.value("retryAfter")?.int64Value
        backoff = document.value("Backoff")?.stringValue.flatMap(BackoffField.seconds)
        uptime = document.value("uptime")?.int64Value
        concern = document.value("concerns")?.stringValue.flatMap(FailureConcern.init)
        failure = document.value("failure")?.stringValue
        mayHaveArrived = document.value("mayHaveArrived") == .bool(true)
        guard document.rawValue("failure") == nil else { return }
        date = document.value("Date")?.stringValue.flatMap(HTTPDate.parse)
    }
}

/// `request.sent`: `{"method":…,"path":…,"sentAt":…,…}`.
package struct RequestPayload: Sendable, Hashable {
    package var sentAt: Timestamp?

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        sentAt = document.value("sentAt")?.int64Value.map { Timestamp(rawValue: $0) }
    }
}

/// `request.failed`: `{"error":…,"mayHaveArrived":…,"detail":…,"uptime":…,"concerns":…}`.
package struct FailurePayload: Sendable, Hashable {
    package var neverArrived = false
    package var error = ""
    /// Microseconds since the device's boot, when it was given up.
    package var uptime: Int64?
    /// What it concerns, where it is not the whole run.
    package var concern: FailureConcern?

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        neverArrived = document.value("mayHaveArrived") == .bool(false)
        error = document.value("error")?.stringValue ?? ""
        uptime = document.value("uptime")?.int64Value
        concern = document.value("concerns")?.stringValue.flatMap(FailureConcern.init)
    }
}

/// `push.rejected`: `{"status":…,"message":…,"issues":[…]}`.
package struct RefusalPayload: Sendable, Hashable {
    package var status: UInt32 = 0
    package var message = ""

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        status = document.value("status")?.int64Value.flatMap(UInt32.init(exactly:)) ?? 0
        message = document.value("message")?.stringValue ?? ""
    }
}

/// `push.accepted`: `{"serverID":…}` where the server gave the entity an id of its own.
package struct BindingPayload: Sendable, Hashable {
    package var serverID: String?

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        serverID = document.value("serverID")?.stringValue
    }
}

/// `rule.answered`: `{"rule":…,"version":…,"inputs":…,"answer":…}`.
package struct RuleAnswerPayload: Sendable, Hashable {
    package var version: UInt64
    package var answer: ConflictAnswer

    /// Nil when there is no answer in it.
    package init?(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload),
            let answer = document.rawValue("answer").flatMap({ ConflictAnswer(json: Array($0)) })
        else { return nil }
        self.answer = answer
        version = document.value("version")?.int64Value.flatMap(UInt64.init(exactly:)) ?? 0
    }
}
