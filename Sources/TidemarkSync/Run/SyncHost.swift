// SyncHost.swift — what a sync run has of the outside: answers, credentials, and where its commits
// go. A replay has another one than the network.

package import TidemarkEvents
package import TidemarkViews

/// What a sync run has of the outside, but clock and randomness.
package protocol SyncHost: Sendable {
    /// Why the run is to end; nil to go on. Asked before each decision.
    func interruption() -> SyncFailure?
    /// Called before the views are read to decide what is next.
    func willDecide() throws
    /// Called when nothing is left to do, before the outbox is counted.
    func willEnd() throws
    /// Called before one of several answers is waited for.
    func willTake()
    /// How long it had to wait for the limits before a step, in microseconds.
    ///
    /// - Parameter waited: what is so if nobody says otherwise.
    func waited(_ waited: Int64, for step: SyncStep) -> Int64
    /// What proves to the server who asks.
    func credentials() async throws -> Credentials
    /// When and over what a read is asked.
    ///
    /// - Parameter now: what is so if nobody says otherwise.
    func asking(_ question: SyncQuestion, _ now: SyncAsking) throws -> SyncAsking
    /// Asks, and waits for the answer.
    func answer(
        _ question: SyncQuestion, _ asking: SyncAsking, _ proof: Credentials,
        _ limits: TransportLimits
    ) async -> (ServerAnswer, AnswerRecord)
    /// Writes one commit of the run.
    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R
}

/// One request that is to be answered, and why it is made.
package struct SyncQuestion: Sendable {
    package var step: SyncStep
    package var call: ServerCall
    package var request: ServerRequest
    /// The list that it is a page of.
    package var list: Listing?
    /// Of a write, its `request.sent`.
    package var sent: Position?
    /// Whether others may be asked at the same time.
    package var isAhead = false
}

/// When a request was sent.
package struct SyncAsking: Sendable {
    /// The device's clock, as if nobody had set it since the run began.
    package var sentAt: Timestamp
    /// Microseconds since the device's boot.
    package var sentUptime: Int64
    /// The log's last position.
    package var asOf: Position
    /// What the host knows it by.
    package var number = 0
    /// Which of those that were asked at the same time it is, from 1 on.
    package var turn = 0

    package init(sentAt: Timestamp, sentUptime: Int64, asOf: Position, number: Int = 0) {
        self.sentAt = sentAt
        self.sentUptime = sentUptime
        self.asOf = asOf
        self.number = number
    }
}

extension SyncQuestion {
    /// Where a process may die when the answer is there and nobody has seen it.
    var answered: Checkpoint? { if case .push = step { .afterSend } else { nil } }
}
