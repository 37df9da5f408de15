// TransferProof.swift — the credentials of one pass over the files, which several requests share.

import TidemarkViews

/// The credentials of one pass: asked for once, and once more each time that they are no longer
/// accepted.
actor TransferProof {
    /// Credentials, and how many there were before them.
    struct Given: Sendable {
        var credentials: Credentials
        var number: Int
    }

    private var proof: SyncProof
    private var number = 0
    private var renewal: Task<Void, Never>?
    /// The file that others were last asked for, to fetch or to send it, until it is answered
    /// otherwise: one that is refused whatever they are shows nothing of them.
    private var renewedFor: ContentSource?
    /// How many answers to requests for others came since: that file may not be asked for again.
    private var othersAnswered = 0
    private static let othersAnsweredMax = 16
    /// Why the remote is asked for nothing more; nil while it may be.
    private(set) var failure: SyncFailure?

    init(ask: @escaping @Sendable () async throws -> Credentials) {
        proof = SyncProof(ask: ask)
    }

    var given: Given { Given(credentials: proof.credentials, number: number) }

    /// Asks for the first time.
    func begin() async {
        var next = proof
        let failure = await next.begin()
        take(next, failure)
    }

    /// Notes that the remote answered a request with credentials of that number otherwise.
    ///
    /// Answers to others do not show that the file for which these were asked for would be
    /// answered, until they are many.
    func accepted(_ given: Int, for source: ContentSource) {
        guard given == number else { return }
        if renewedFor != nil, renewedFor != source {
            othersAnswered += 1
            guard othersAnswered >= Self.othersAnsweredMax else { return }
        }
        renewedFor = nil
        proof.accepted()
    }

    /// Notes that a request for a file ended without an answer: it may not be asked for again.
    func left(_ source: ContentSource) { if renewedFor == source { renewedFor = nil } }

    /// Asks once more, unless that was done since the refused ones were given.
    ///
    /// - Returns: whether there are other credentials.
    func renew(_ refused: Int, for source: ContentSource) async -> Bool {
        if failure == nil, refused == number {
            if renewal == nil { (renewedFor, othersAnswered) = (source, 0) }
            let task = renewal ?? Task { await askAgain() }
            renewal = task
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
        return failure == nil
    }

    private func askAgain() async {
        var next = proof
        let failure = await next.renew()
        take(next, failure)
        number += 1
        renewal = nil
    }

    private func take(_ next: SyncProof, _ failure: SyncFailure?) {
        proof = next
        self.failure = failure == .cancelled && !Task.isCancelled ? .unauthorized : failure
    }
}
