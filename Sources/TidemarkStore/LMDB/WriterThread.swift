// WriterThread.swift — one thread writes at a time: jobs wait in a queue and run in their order.
//
// LMDB ties a writing transaction to the thread that began it: committing on another one succeeds
// and then blocks every later writer for ever. Swift's concurrency moves tasks between threads,
// so a task's write runs here. A caller that blocks anyway takes the turn itself when nobody else
// has it: that spares two changes of threads, and its write ends on the thread it began on.

/// A dedicated thread with a queue of jobs, first in, first out.
final class WriterThread: Sendable {
    typealias Job = @Sendable (borrowing Writer) -> Void

    private struct Queue {
        var jobs: [Job] = []
        /// The thread whose turn it is to write, if any.
        var runner: UInt64?
        var isStopping = false
        var hasEnded = false
    }

    private let queue: Monitor<Queue>
    private let handle: Handle

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
        self.handle = handle
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

    /// Whether the caller's thread is the one whose turn it is to write.
    var isHere: Bool {
        let me = Platform.threadID
        return queue.withLock { $0.runner } == me
    }

    /// Runs a job on the caller's thread when nobody writes or waits to; false when somebody does.
    func runNow(_ job: (borrowing Writer) -> Void) throws(StoreError) -> Bool {
        let me = Platform.threadID
        let isFree = try queue.withLock { queue throws(StoreError) in
            try Self.checkOpen(queue)
            guard queue.jobs.isEmpty, queue.runner == nil else { return false }
            queue.runner = me
            return true
        }
        guard isFree else { return false }
        job(Writer(handle))
        let isAwaited = queue.withLock { queue in
            queue.runner = nil
            return !queue.jobs.isEmpty || queue.isStopping
        }
        if isAwaited { queue.wakeAll() }
        return true
    }

    /// Puts a job at the end of the queue.
    func submit(_ job: @escaping Job) throws(StoreError) {
        try queue.withLock { queue throws(StoreError) in
            try Self.checkOpen(queue)
            queue.jobs.append(job)
        }
        queue.wakeAll()
    }

    private static func checkOpen(_ queue: Queue) throws(StoreError) {
        guard !queue.isStopping else {
            throw StoreError(.closed, during: "begin", detail: "the store was closed")
        }
    }

    private static func run(_ queue: Monitor<Queue>, _ handle: Handle) {
        let me = Platform.threadID
        let writer = Writer(handle)
        while true {
            let batch = queue.waitUntil { queue -> [Job]? in
                guard queue.runner == nil else { return nil }
                if queue.jobs.isEmpty { return queue.isStopping ? [] : nil }
                defer { queue.jobs.removeAll(keepingCapacity: false) }
                queue.runner = me
                return queue.jobs
            }
            if batch.isEmpty { break }
            for job in batch { Platform.draining { job(writer) } }
            queue.withLock { $0.runner = nil }
        }
        queue.withLock { $0.hasEnded = true }
        queue.wakeAll()
    }
}
