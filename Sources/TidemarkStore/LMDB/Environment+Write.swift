// Environment+Write.swift — writes: run by a blocked thread whose turn it is, else handed to the
// writer thread, which tasks always do.

extension Environment {
    /// Runs `body` in one transaction while the caller waits; durable when this returns.
    ///
    /// Commits when `body` returns and aborts when it throws. On a full map `body` runs again, so
    /// it must be fit for that; see ``Writer/transaction(_:)``.
    ///
    /// - Parameter freeing: whether the transaction makes pages free, so that it is let through
    ///   when the store has reached its quota.
    /// - Throws: what `body` throws; `readOnly`, `closed`, `poisoned`, `storeFull`; `nested` inside
    ///   a read or a write of the environment on the same thread; or why LMDB could not.
    package func write<R: Sendable>(
        freeing: Bool = false, _ body: (borrowing WriteTransaction) throws -> R
    ) throws -> R {
        try perform { writer in try writer.transaction(freeing: freeing, body) }
    }

    /// The same without blocking the calling task's thread; cancelling the task changes nothing.
    package func write<R: Sendable>(
        freeing: Bool = false,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> R
    ) async throws -> R {
        try await perform { writer in try writer.transaction(freeing: freeing, body) }
    }

    /// Runs `work` when it is its turn, after all that was handed over before, and waits for it.
    ///
    /// This is what group commit is made from: queue a request of your own, then perform a job
    /// that stores all queued requests in one transaction; a later one finds none left.
    package func perform<R: Sendable>(_ work: (borrowing Writer) throws -> R) throws -> R {
        let thread = try writerThread()
        try checkNotInside("write")
        var done: Result<R, any Error>?
        let isDone = try thread.runNow { writer in done = Result { try work(writer) } }
        if isDone, let done { return try done.get() }
        return try withoutActuallyEscaping(work) { work in
            let job = BlockingJob(work)
            try thread.submit { writer in job.run(writer) }
            return try job.wait().get()
        }
    }

    /// The same without blocking the calling task's thread; cancelling the task changes nothing.
    package func perform<R: Sendable>(
        _ work: @escaping @Sendable (borrowing Writer) throws -> R
    ) async throws -> R {
        let thread = try writerThread()
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try thread.submit { writer in
                    continuation.resume(with: Result { try work(writer) })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}

/// Work that borrows from a blocked thread's stack, and its result.
private final class BlockingJob<R: Sendable>: @unchecked Sendable {
    // @unchecked because: `work` is taken out once, by the writer thread, while the thread it
    // borrows from waits in `wait`.
    private var work: ((borrowing Writer) throws -> R)?
    private let result = Monitor<Result<R, any Error>?>(nil)

    init(_ work: @escaping (borrowing Writer) throws -> R) { self.work = work }

    func run(_ writer: borrowing Writer) {
        guard let outcome = runOnce(writer) else { return }
        result.withLock { $0 = outcome }
        result.wakeAll()
    }

    func wait() -> Result<R, any Error> { result.waitUntil { $0 } }

    /// Not inlined: `work` must be gone before the waiting thread learns of the result.
    @inline(never)
    private func runOnce(_ writer: borrowing Writer) -> Result<R, any Error>? {
        guard let work = work.take() else { return nil }
        return Result { try work(writer) }
    }
}
