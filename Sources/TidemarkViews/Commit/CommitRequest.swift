// CommitRequest.swift — one caller's commit, while it waits for the writer thread.

import TidemarkEvents

/// A commit that was asked for, and what became of it.
class CommitRequest: @unchecked Sendable {
    // @unchecked because: until it is finished only the thread whose turn it is to write touches
    // it, afterwards only the caller, who waits for that turn or is woken after it.
    let now: Timestamp
    private(set) var isFinished = false
    /// What is to be told of it once it is on disk.
    var news: CommitNews?
    private var failure: (any Error)?

    init(at now: Timestamp) { self.now = now }

    /// Makes the draft; once more when the transaction is.
    func run(_ draft: Draft) throws { preconditionFailure("a request of no kind") }

    /// Lets go of what `run` needs; the caller may go on after it.
    func finish(_ failure: (any Error)?) {
        self.failure = failure
        isFinished = true
    }

    /// Whether it is on disk.
    var isStored: Bool { isFinished && failure == nil }

    /// Throws why nothing was stored.
    func check() throws {
        precondition(isFinished, "a commit was passed over")
        if let failure { throw failure }
    }
}

/// A commit whose body returns something.
final class TypedCommitRequest<R>: CommitRequest, @unchecked Sendable {
    // @unchecked because: see above.
    private var body: ((Draft) throws -> R)?
    private var value: R?

    init(at now: Timestamp, _ body: @escaping (Draft) throws -> R) {
        self.body = body
        super.init(at: now)
    }

    override func run(_ draft: Draft) throws { value = try body.map { try $0(draft) } }

    override func finish(_ failure: (any Error)?) {
        body = nil
        super.finish(failure)
    }

    /// What the body returned, when it is on disk.
    func result() throws -> R {
        try check()
        guard let value else { preconditionFailure("a commit was passed over") }
        return value
    }
}
