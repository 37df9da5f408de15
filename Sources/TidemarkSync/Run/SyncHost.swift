// SyncHost.swift — a sync run's access to the outside: store, answers and credentials. A replay has
// one of its own.

package import TidemarkEvents
import TidemarkLog
package import TidemarkViews

/// A sync run's access to the outside, except clock and randomness.
package protocol SyncHost: Sendable {
    /// Whether what begins a run counts for the gates of the model: not where that was recorded.
    var countsAttempts: Bool { get }
    /// Why the run is to end; nil to continue. Asked before each decision.
    func interruption() -> SyncFailure?
    /// The credentials of requests.
    func credentials() async throws -> Credentials
    /// Reads the views for a decision.
    func read<R>(_ journal: Journal, _ body: (ViewReader) throws -> R) throws -> R
    /// Writes one commit of the run.
    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R
    /// Sends a question, without waiting for its answer.
    func ask(
        _ question: SyncQuestion, _ proof: Credentials, _ limits: TransportLimits
    ) throws -> SyncReply
    /// Whether another write is sent beside those that are on their way, before one of them is
    /// answered.
    ///
    /// - Parameter isTimely: whether limits and the run's time allow it.
    func sendsMore(_ isTimely: Bool, beside open: [Position]) -> Bool
    /// Whether a request got no answer because the run's time was over, not its own.
    ///
    /// - Parameter isLate: whether the run's deadline limited it, and had come.
    func isCut(_ question: SyncQuestion, _ isLate: Bool) -> Bool
    /// Where a run was cut off, as its end tells it: in a replay what was recorded, as an end from
    /// outside may come there at another decision, and older engines told nothing.
    func cut(at place: CutPlace?) -> CutPlace?
    /// Whether the start of a run that goes on at such a place is logged by itself: in a replay
    /// where it was, as older engines logged it with what they brought.
    var logsStart: Bool { get }
    /// Waits between two questions for an answer that the server promised.
    func pause(seconds: Int64) async throws
    /// Waits for the first of several answers; nil where none is open.
    func next<Answered: Sendable>(
        of group: inout ThrowingTaskGroup<Answered, any Error>
    ) async throws -> Answered?
}

/// A question that was sent.
package struct SyncReply: Sendable {
    /// When it was sent, by the device's clock as if it had not been set since the run began.
    package var sentAt: Timestamp
    /// The same in microseconds since the device's boot.
    package var sentUptime: Int64
    /// Waits for its answer; to be called once.
    package var answer: @Sendable () async -> (ServerAnswer, AnswerRecord)

    /// A question that is sent at its planned time.
    package init(
        _ question: SyncQuestion,
        _ answer: @escaping @Sendable () async -> (ServerAnswer, AnswerRecord)
    ) {
        sentAt = question.sentAt
        sentUptime = question.sentUptime
        self.answer = answer
    }
}

/// One request that is to be answered, and why it is made.
package struct SyncQuestion: Sendable {
    package var step: SyncStep
    package var call: ServerCall
    package var request: ServerRequest
    /// The group of requests that it counts for.
    package var group: RequestGroup?
    /// When it is to be sent; see ``SyncReply``.
    package var sentAt: Timestamp
    package var sentUptime: Int64
    /// The log's last position when it was decided; for a write, the position of its
    /// `request.sent`.
    package var asOf: Position
    /// Whether other questions may be asked at the same time.
    package var isAhead = false
}

extension SyncQuestion {
    /// The checkpoint between the answer's arrival and its processing.
    var answered: Checkpoint? { isWrite ? .afterSend : nil }

    /// Whether it changes something on the server, so that it is logged before it is sent.
    package var isWrite: Bool {
        switch step {
        case .push, .remedy: true
        default: false
        }
    }
}

extension SyncHost {
    /// What an answer means, and what is logged of it.
    ///
    /// - Parameters:
    ///   - mask: the credentials to mask.
    ///   - uptime: microseconds since the device's boot, when it came.
    ///   - isRepeatable: whether it is the answer to a write that may have been sent twice.
    package func judged(
        _ response: TransportResponse, to question: SyncQuestion, by adapter: any ServerAdapter,
        _ mask: CredentialMask, uptime: Int64, isRepeatable: Bool
    ) -> (ServerAnswer, AnswerRecord) {
        let proof: ContentProof? =
            if case .compare(let proof) = question.step { proof } else { nil }
        let judged = JudgedAnswer(response, to: question.call, by: adapter, mask, proof)
        var record = AnswerRecord(
            judged.response, judged.answer, judged.effect, adapter.words, uptime: uptime,
            isRepeatable: isRepeatable)
        record.isExposing = judged.isExposing
        record.exhausted = judged.exhausted
        record.kept = judged.kept.map { KeptAnswer($0, uptime: uptime) }
        return (judged.answer, record)
    }

    /// What a missing answer means, and what is logged of it.
    package func judged(
        _ error: TransportError, to call: ServerCall, uptime: Int64
    ) -> (ServerAnswer, AnswerRecord) {
        var record = AnswerRecord(error, uptime: uptime)
        record.kept = KeptAnswer(error, uptime: uptime)
        return (ServerAnswer(error, to: call), record)
    }
}
