// WriterThread.swift — the one thread that writes: jobs wait in a queue and run in their order.
//
// LMDB ties a writing transaction to the thread that began it: committing on another one succeeds
// and then blocks every later writer for ever. Swift's concurrency moves tasks between threads,
// so writes never run on its threads.

/// A dedicated thread with a queue of jobs, first in, first out.
final class WriterThread: Sendable {
    typealias Job = @Sendable (borrowing Writer) -> Void

    private struct Queue {
        var jobs: [Job] = []
        var threadID: UInt64?
        var isStopping = false
        var hasEnded = false
    }

    private let queue: Monitor<Queue>
    private let threadID: UInt64

    /// Starts the thread, which keeps `handle` until it ends.
    init(_ handle: Handle) throws(StoreError) {
        let queue = Monitor(Queue())
        do throws(SystemNumber) {
            try Platform.startThread(named: "tidemark.writer") {
                Self.run(queue, handle)
            }
        } catch {
            throw .system(error.number, during: "open", "the writer thread")
        }
        self.queue = queue
        threadID = queue.waitUntil { $0.threadID }
    }

    deinit { stop() }

    /// Takes no more jobs; the thread ends after those it has.
    func stop() {
        queue.withLock { $0.isStopping = true }
        queue.wakeAll()
    }

    /// Blocks until the thread has ended.
    func waitUntilEnded() {
        queue.waitUntil { $0.hasEnded ? () : nil }
    }

    /// Stops the process when this is the writer thread, where `action` would wait for itself.
    func checkNotHere(_ action: String) {
        Platform.require(
            Platform.threadID != threadID,
            "\(action) was called on the writer thread, inside a write; it would wait for itself.")
    }

    /// Puts a job at the end of the queue.
    func submit(_ job: @escaping Job) throws(StoreError) {
        try queue.withLock { queue throws(StoreError) in
            guard !queue.isStopping else {
                throw StoreError(.closed, during: "begin", detail: "the store was closed")
            }
            queue.jobs.append(job)
        }
        queue.wakeAll()
    }

    private static func run(_ queue: Monitor<Queue>, _ handle: Handle) {
        let id = Platform.threadID
        queue.withLock { $0.threadID = id }
        queue.wakeAll()
        let writer = Writer(handle)
        while true {
            let batch = queue.waitUntil { queue -> [Job]? in
                if queue.jobs.isEmpty { return queue.isStopping ? [] : nil }
                defer { queue.jobs.removeAll(keepingCapacity: false) }
                return queue.jobs
            }
            if batch.isEmpty { break }
            for job in batch { job(writer) }
        }
        queue.withLock { $0.hasEnded = true }
        queue.wakeAll()
    }
}
