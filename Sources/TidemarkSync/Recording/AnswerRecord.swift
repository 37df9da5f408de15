// AnswerRecord.swift — what the log keeps of an answer: the status, the header fields that decide
// anything, and the body of every failure.

import HTTPTypes
package import TidemarkEvents
import TidemarkLog
package import TidemarkRules
import TidemarkViews

/// What is kept of an answer's head, and of its body where it failed; or that none came.
package struct AnswerRecord: Sendable {
    /// What an event says of it.
    package enum Content: Sendable {
        case answered(RequestAnswered)
        case failed(RequestFailed)
    }

    package var content: Content
    /// What the content names by hash.
    package var bodies: [[UInt8]] = []
    /// A notice of the server to the operator of the app.
    package private(set) var alert: String?
    /// Whether a document that came holds the credentials.
    var isExposing = false
    /// What a failure concerns, where it is not the whole run.
    var concern: FailureConcern?
    /// The pool that it concerns.
    var place = PoolPlace()
    /// Microseconds since the device's boot, when the answer was read, or given up.
    package var uptime: Int64?
    /// The answer as it came, to be kept beside the log; nil where it may not be.
    var kept: KeptAnswer?

    package init(_ answered: RequestAnswered) { content = .answered(answered) }

    private init(_ answered: RequestAnswered, _ words: ServerWords) {
        self.init(answered)
        alert = words.text(.notice, of: answered)
    }

    private init(_ failed: RequestFailed) { content = .failed(failed) }

    /// Has it prove nothing: what was sent after it may have undone what it says.
    mutating func leaveOpen() {
        guard case .answered(var answered) = content else { return }
        answered.prove(.unknown)
        content = .answered(answered)
    }
}

extension AnswerRecord {
    /// - Parameters:
    ///   - effect: what it proves of a write; nil of a read.
    ///   - words: what the server's header fields mean.
    ///   - uptime: microseconds since the device's boot, when the answer came.
    ///   - isRepeatable: whether it is the answer to a write that may have been sent twice.
    init(
        _ response: TransportResponse, _ answer: ServerAnswer, _ effect: WriteEffect?,
        _ words: ServerWords, uptime: Int64, isRepeatable: Bool = false
    ) {
        let head = response.response
        let status = head.status.code
        var answered = RequestAnswered(status: status)
        answered.prove(effect)
        // Who turns away what comes too often does so before looking at it: that answers the
        // second of two, and says nothing of the first.
        answered.mayHaveArrived = isRepeatable && status == 429
        answered.date = head.headerFields[.date]
        answered.tag = head.headerFields[.eTag]
        answered.fields = words.kept(of: head.headerFields)
        var asksToWait = answered.backoff != nil
        if case .failure(let failure) = answer {
            asksToWait = true
            answered.failure = FailureName(failure.kind)
            answered.retryAfter = failure.secondsToWait
        }
        // A pause, also one of ours, and the server's clock are measured by the clock that nobody
        // sets.
        let isTimed = answered.date != nil || asksToWait
        answered.uptime = isTimed ? uptime : nil
        self.init(answered, words)
        self.uptime = uptime
        if answer.keepsBody { keep(response.body) }
    }

    /// Keeps a body: a long one is named by length and hash, so that equal ones are stored once.
    private mutating func keep(_ body: [UInt8]) {
        guard case .answered(var answered) = content else { return }
        if body.count > EventLog.inlinePayloadBytesMax {
            let reference = BodyReference(to: body)
            answered.namedBody = NamedBody(length: reference.bytes, digest: reference.digits)
            bodies = [body]
        } else {
            answered.body = PayloadBody(body)
        }
        content = .answered(answered)
    }

    /// - Parameter uptime: microseconds since the device's boot, when it was given up.
    package init(_ error: TransportError, uptime: Int64? = nil) {
        var failed = RequestFailed()
        failed.error = error.code.rawValue
        failed.mayHaveArrived = error.mayHaveArrived
        failed.detail = error.detail
        failed.uptime = uptime
        self.init(failed)
        self.uptime = uptime
    }

    /// What is kept of one write's answer in a batch; its body lies with that of the batch.
    ///
    /// - Parameter uptime: microseconds since the device's boot, when the batch's answer came.
    init(_ answer: BatchedAnswer, uptime: Int64?) {
        var part = RequestAnswered(status: answer.status)
        part.prove(answer.effect)
        guard case .failure(let failure) = answer.answer else {
            self.init(part)
            return
        }
        part.failure = FailureName(failure.kind)
        part.retryAfter = failure.secondsToWait
        // A pause is measured by the clock that nobody sets.
        part.uptime = uptime
        self.init(part)
        if !failure.stopsRun { concern = .entity }
    }

    /// What an answer to a whole batch says of each write in it.
    var ofEachWrite: AnswerRecord {
        guard case .answered(let whole) = content else { return self }
        var part = RequestAnswered(status: whole.status)
        part.proves = whole.proves
        part.failure = whole.failure
        var record = AnswerRecord(part)
        record.concern = concern
        return record
    }
}

extension AnswerRecord {
    /// The answer's head; nil where none came.
    package var answered: RequestAnswered? {
        if case .answered(let answered) = content { answered } else { nil }
    }

    /// The group of requests whose quota it says is used up.
    package var exhausted: RequestGroup? {
        get { RequestGroup(parts: answered?.quota) }
        set {
            guard case .answered(var answered) = content else { return }
            answered.quota = newValue?.parts
            content = .answered(answered)
        }
    }

    var isFailure: Bool { answered == nil }

    /// Notes that nothing can be done with what the answer holds.
    mutating func fail(_ kind: FailureKind) {
        guard case .answered(var answered) = content else { return }
        answered.failure = FailureName(kind)
        // A pause of ours is measured by the clock that nobody sets.
        answered.uptime = uptime
        content = .answered(answered)
    }

    /// Notes that it counts as no failure.
    mutating func clearFailure() {
        guard case .answered(var answered) = content else { return }
        answered.failure = nil
        content = .answered(answered)
    }

    package var status: Int? { answered?.status }

    /// Keeps that the server left a write alone, and what it says of its entity.
    mutating func note(_ answer: ServerAnswer) {
        guard case .ignored(let issues) = answer, case .answered(var answered) = content else {
            return
        }
        answered.isIgnored = true
        answered.issues = issues
        content = .answered(answered)
    }

    /// The server's clock, verbatim; not that of a machine that answered in its place.
    var date: String? { answered.flatMap { $0.failure == nil ? $0.date : nil } }

    /// The same, where it can be read.
    package var serverTime: Timestamp? { answered?.serverTime }

    /// For how many seconds the server asked not to be called without need.
    var backoff: String? { answered?.backoff }

    /// What it says of the server's clock, in a run that began at a moment.
    package func sighting(begun: Moment) -> ClockSighting? {
        guard let serverTime, let uptime else { return nil }
        return ClockSighting(serverTime, begun: begun, uptime: uptime)
    }

    /// The payload, and in it what it concerns, and by what it names the answer as it came.
    func payload(naming kept: KeptName) -> [UInt8] {
        switch content {
        case .answered(var answered):
            answered.concern = concern
            answered.place = place
            answered.kept = kept
            return answered.encoded
        case .failed(var failed):
            failed.concern = concern
            failed.place = place
            failed.kept = kept
            return failed.encoded
        }
    }
}

extension RequestAnswered {
    /// Keeps what the answer proves of a write, where the status alone does not say so.
    fileprivate mutating func prove(_ effect: WriteEffect?) {
        proves = effect == WriteEffect(status: status) ? nil : effect
    }
}
