// Gate.swift — every transaction of this process on one environment passes here.
//
// LMDB may move its map only while the process has no transaction, and does not check that. So
// transactions go through the shared side, moving the map through the exclusive one. The gate
// also keeps the pool of reading transactions, those that are held between reads, and knows whether
// writes are still allowed.

/// Who is inside, who waits, and what is kept for the next reader.
final class Gate: Sendable {
    /// What a reader gets to work with.
    enum Admission {
        /// The thread reads already: the same transaction again.
        case nested(Snapshot)
        /// One from the pool, to be renewed.
        case pooled(Snapshot)
        /// None: begin a new one, then call ``admitted(_:_:)``.
        case fresh
        case refused(StoreError)
    }

    /// LMDB's handle of a reading transaction.
    @safe struct Snapshot: @unchecked Sendable {
        // @unchecked because: MDB_NOTLS lets reading transactions move between threads, and the
        // gate hands each to one thread at a time.
        let raw: OpaquePointer
    }

    private struct Reader {
        let thread: UInt64
        var snapshot: Snapshot?
        var depth = 1
        /// How many reads began within it, those that ended among them.
        var nested = 0
    }

    private struct State {
        var readers: [Reader] = []
        var idle: [Snapshot] = []
        /// Those that are kept between reads, by who keeps them.
        var held: [ObjectIdentifier: Snapshot] = [:]
        var writer: UInt64?
        var isExclusive = false
        var exclusiveWaiting = 0
        var sleeping = 0
        var isClosed = false
        var writesRefused: StoreError?
        var allRefused: StoreError?

        /// Ends what a snapshot sees, and keeps it for the next reader where few are kept.
        mutating func pool(_ snapshot: Snapshot, _ end: (Snapshot, _ isKept: Bool) -> Void) {
            let isKept = idle.count < Gate.idleMax
            end(snapshot, isKept)
            if isKept { idle.append(snapshot) }
        }
    }

    /// How many snapshots are kept for the next readers: each has a slot of those that all
    /// processes share.
    private static let idleMax = 4

    private enum Entry {
        case admitted
        case refused(StoreError)

        func get() throws(StoreError) {
            if case .refused(let error) = self { throw error }
        }
    }

    private let state = Monitor(State())
    private let readersMax: Int

    init(readersMax: Int) { self.readersMax = readersMax }

    // MARK: Readers

    /// Waits for a place among the readers; `me` is the running thread, here and below.
    func enterReader(_ me: UInt64) -> Admission {
        wait { state in
            if let index = state.readers.firstIndex(where: { $0.thread == me }),
                let snapshot = state.readers[index].snapshot
            {
                state.readers[index].depth += 1
                state.readers[index].nested += 1
                return .nested(snapshot)
            }
            if let refusal = Self.refusal(state) { return .refused(refusal) }
            // A write may wait for a read, on its own thread or another, which must not wait for
            // those who wait for that write.
            let mayPass = state.exclusiveWaiting == 0 || state.writer != nil
            let places = max(1, self.readersMax - state.held.count)
            guard !state.isExclusive, mayPass, state.readers.count < places else { return nil }
            let snapshot = state.idle.popLast()
            state.readers.append(Reader(thread: me, snapshot: snapshot))
            return snapshot.map { .pooled($0) } ?? .fresh
        }
    }

    /// Notes what a reader began after ``Admission/fresh``.
    func admitted(_ snapshot: Snapshot, _ me: UInt64) {
        state.withLock { state in
            guard let index = state.readers.firstIndex(where: { $0.thread == me }) else { return }
            state.readers[index].snapshot = snapshot
        }
    }

    /// Ends one level of reading; at the outermost, `end` ends what the snapshot sees, for good
    /// where it isn't kept.
    func leaveReader(_ me: UInt64, end: (Snapshot, _ isKept: Bool) -> Void) {
        state.withLock { state in
            guard let index = state.readers.firstIndex(where: { $0.thread == me }) else { return }
            state.readers[index].depth -= 1
            guard state.readers[index].depth == 0 else { return }
            if let snapshot = state.readers[index].snapshot { state.pool(snapshot, end) }
            state.readers.swapAt(index, state.readers.count - 1)
            state.readers.removeLast()
            wake(&state)
        }
    }

    /// Takes this thread's reader out without keeping its snapshot, which the caller ended.
    func dropReader(_ me: UInt64) {
        state.withLock { state in
            state.readers.removeAll { $0.thread == me }
            wake(&state)
        }
    }

    /// Stops the process when this thread is inside a read, where `action` would wait for itself.
    func checkNotReading(_ action: String) {
        Platform.require(
            !isReadingHere,
            "\(action) was called inside a read of the same environment; end the read first.")
    }

    /// Whether the caller's thread is inside a read.
    var isReadingHere: Bool {
        let me = Platform.threadID
        return state.withLock { state in state.readers.contains { $0.thread == me } }
    }

    /// How many reads the caller's thread has begun within its outermost one; 0 outside of any.
    var nestedReads: Int {
        let me = Platform.threadID
        return state.withLock { state in
            state.readers.first { $0.thread == me }?.nested ?? 0
        }
    }

    // MARK: Held

    /// Keeps the snapshot of this thread's reader, which leaves.
    func hold(_ holder: ObjectIdentifier, _ me: UInt64) {
        state.withLock { state in
            guard let index = state.readers.firstIndex(where: { $0.thread == me }) else { return }
            state.held[holder] = state.readers[index].snapshot
            state.readers.remove(at: index)
            wake(&state)
        }
    }

    /// Makes this thread a reader of what is kept.
    ///
    /// - Throws: `busy` where it was let go of; why nothing can be read.
    func enterHeld(_ holder: ObjectIdentifier, _ me: UInt64) throws(StoreError) -> Snapshot {
        try state.withLock { state throws(StoreError) in
            if let refusal = Self.refusal(state) { throw refusal }
            guard let snapshot = state.held.removeValue(forKey: holder) else {
                throw StoreError(
                    .busy, during: "read", detail: "the map was moved, and what was held let go of")
            }
            state.readers.append(Reader(thread: me, snapshot: snapshot))
            return snapshot
        }
    }

    /// Lets go of what is kept, if it still is; `end` is as in ``leaveReader(_:end:)``.
    func release(_ holder: ObjectIdentifier, end: (Snapshot, _ isKept: Bool) -> Void) {
        state.withLock { state in
            guard let snapshot = state.held.removeValue(forKey: holder) else { return }
            state.pool(snapshot, end)
            wake(&state)
        }
    }

    // MARK: The writer

    func enterWriter() throws(StoreError) {
        let me = Platform.threadID
        let entry: Entry = wait { state in
            if let refusal = Self.refusal(state) ?? state.writesRefused {
                return .refused(refusal)
            }
            guard !state.isExclusive else { return nil }
            Platform.require(
                state.writer == nil,
                "A write was begun inside a write; do both in one transaction.")
            state.writer = me
            return .admitted
        }
        try entry.get()
    }

    func leaveWriter() {
        state.withLock { state in
            state.writer = nil
            wake(&state)
        }
    }

    // MARK: Alone

    /// Runs `body` while this process has no transaction on the environment.
    ///
    /// What is held is let go of; `end` is as in ``leaveReader(_:end:)``.
    func withExclusive<R>(
        end: (Snapshot, _ isKept: Bool) -> Void, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        state.withLock { $0.exclusiveWaiting += 1 }
        let entry: Entry = wait { state in
            if let refusal = Self.refusal(state) {
                state.exclusiveWaiting -= 1
                return .refused(refusal)
            }
            guard !state.isExclusive, state.readers.isEmpty, state.writer == nil else { return nil }
            state.exclusiveWaiting -= 1
            state.isExclusive = true
            let held = state.held.values
            state.held = [:]
            for snapshot in held { state.pool(snapshot, end) }
            return .admitted
        }
        try entry.get()
        defer {
            state.withLock { state in
                state.isExclusive = false
                wake(&state)
            }
        }
        return try body()
    }

    /// Lets nobody in any more, waits until everybody is out, and hands over the pool and what is
    /// held.
    func close() -> [Snapshot] {
        state.withLock { state in
            state.isClosed = true
            wake(&state)
        }
        return wait { state in
            guard !state.isExclusive, state.readers.isEmpty, state.writer == nil else { return nil }
            defer { (state.idle, state.held) = ([], [:]) }
            return state.idle + state.held.values
        }
    }

    // MARK: Health

    /// Refuses every later write with `error`; the first one stays.
    func refuseWrites(_ error: StoreError) {
        state.withLock { state in state.writesRefused = state.writesRefused ?? error }
    }

    /// Refuses everything from now on: the map is gone, or LMDB begins nothing any more.
    func refuseAll(_ error: StoreError) {
        state.withLock { state in
            state.allRefused = state.allRefused ?? error
            wake(&state)
        }
    }

    /// Why reads, or writes, are refused as long as it is open; nil where they are not.
    func refusal(ofWrites: Bool) -> StoreError? {
        state.withLock { state in
            state.allRefused ?? (ofWrites ? state.writesRefused : nil)
        }
    }

    private static func refusal(_ state: State) -> StoreError? {
        state.isClosed
            ? StoreError(.closed, during: "begin", detail: "the store was closed")
            : state.allRefused
    }

    private func wait<R>(_ body: (inout State) -> R?) -> R {
        state.waitUntil { state in
            let answer = body(&state)
            if answer == nil { state.sleeping += 1 }
            return answer
        }
    }

    /// Waking is a system call; it is spared when nobody sleeps.
    private func wake(_ state: inout State) {
        guard state.sleeping > 0 else { return }
        state.sleeping = 0
        self.state.wakeAll()
    }
}
