// BlockingWork.swift — work that reads or flushes a whole file, or waits, done while its task is
// suspended.
//
// Swift's pool has about a thread a core. A task that hashes a gigabyte on one of them, or waits
// for the disk, keeps it from every other task of the process.

/// Threads for work that blocks.
package enum BlockingWork {
    private typealias Job = @Sendable () -> Void

    private struct Queue {
        var running = 0
        var waiting: [Job] = []
    }

    /// How many threads there are at most: more would only share disk and cores.
    private static let threadsMax = 4
    private static let queue = Lock(Queue())

    /// Does some work on a thread that is not of Swift's pool; where all are busy, once one is
    /// free.
    ///
    /// Cancelling the task changes nothing.
    ///
    /// - Parameter waits: whether it may wait for somebody whose work waits for a thread here: it
    ///   gets one beside those.
    package static func run<R: Sendable>(
        waits: Bool = false, _ work: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let job: Job = { continuation.resume(with: Result { try work() }) }
            if waits { _ = Background<Void>(job) } else { Self.begin(job) }
        }
    }

    private static func begin(_ job: @escaping Job) {
        let isFree = queue.withLock { queue -> Bool in
            guard queue.running < threadsMax else {
                queue.waiting.append(job)
                return false
            }
            queue.running += 1
            return true
        }
        if isFree { _ = Background<Void> { Self.carryOut(job) } }
    }

    /// Does one job, and those that wait.
    private static func carryOut(_ first: @escaping Job) {
        var next: Job? = first
        while let job = next {
            Platform.draining { job() }
            next = queue.withLock { queue -> Job? in
                guard queue.waiting.isEmpty else { return queue.waiting.removeFirst() }
                queue.running -= 1
                return nil
            }
        }
    }
}
