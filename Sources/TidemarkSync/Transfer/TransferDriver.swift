// TransferDriver.swift — fetches and sends the files that are due, several at once: asks the rows,
// logs each request before it is sent, and what came of it after the bytes are on disk.
//
//   1. one commit: what is asked for next (TransferReading.swift) as `request.sent`
//   2. the transport writes what comes into the part file
//   3. the part file is synced; a whole one is hashed and gets its name (BlockingWork.swift)
//   4. one commit: `request.answered`, and `asset.stored` where it is whole
//
// A process that dies before 4 leaves a request without an answer. The next pass says so, and goes
// on with what the log knows to be in the part file.

import HTTPTypes
import TidemarkEvents
import TidemarkRules
import TidemarkStore
package import TidemarkViews

/// Fetches and sends the files of one replica.
package struct TransferDriver: Sendable {
    let journal: Journal
    let adapter: any ServerAdapter
    let transport: any Transport
    let limits: TransportLimits
    let dependencies: Dependencies
    private let ask: @Sendable () async throws -> Credentials
    /// Is told that the server has a file, which writes may have waited for.
    let hasSent: @Sendable () -> Void
    /// Those that are on their way, for whoever shows them.
    let sending: SendingFiles
    /// Whether files are fetched, too, and not only sent.
    private let isFetching: Bool
    /// The servers that are not asked, as they could not be had before.
    private let away: Set<FileServer>
    /// Has it look for more to do, also by who waits for it.
    let signal: TransferSignal
    let running = RunningFetches()

    package init(
        journal: Journal, adapter: any ServerAdapter, transport: any Transport,
        limits: TransportLimits,
        dependencies: Dependencies,
        credentials: @escaping @Sendable () async throws -> Credentials,
        isFetching: Bool = true, away: Set<FileServer> = [],
        signal: TransferSignal = TransferSignal(isAwaited: true),
        sending: SendingFiles = SendingFiles(),
        hasSent: @escaping @Sendable () -> Void = {}
    ) {
        self.journal = journal
        self.adapter = adapter
        self.transport = transport
        self.limits = limits
        self.dependencies = dependencies
        ask = credentials
        (self.isFetching, self.away) = (isFetching, away)
        (self.signal, self.sending) = (signal, sending)
        self.hasSent = hasSent
    }

    /// What is done by one request.
    private enum Work: Sendable {
        case fetch(TransferRequest)
        case send(SendRequest)
    }

    /// What came of a request for a file.
    private struct Reply: Sendable {
        var answer: FetchAnswer
        /// Whether the request was stopped.
        var isStopped = false
        /// What the answer tells of the file's bytes.
        var checksums: [FileChecksums.Algorithm: String] = [:]
    }

    /// What one request brought.
    struct Step: Sendable {
        var result: ReceivedFile.Result?
        var bytes = 0
        /// Why the pass does not get to its end.
        var failure: SyncFailure?
        /// What was fetched; nil of a file that was sent.
        var source: ContentSource?
        /// The server that was asked; nil where none was.
        var server: FileServer?
        /// Whether its server can't be had, and so is not asked for other files.
        var isAway = false
        /// What may be wrong with the server, where several files tell it.
        var doubt: SyncFailure?
        /// Whether no other file is fetched, as there is no room; those that are sent are here.
        var isFull = false
        /// Whether it does not count: the request is made again at once, with other credentials,
        /// or was stopped.
        var isUncounted = false
        var pausedUntil: Timestamp?
    }

    /// Fetches and sends until nothing is due any more of servers that can be had, or the task is
    /// cancelled.
    ///
    /// - Throws: `readOnly` for a store that is open for reading only; errors of the storage.
    package func run() async throws -> TransferOutcome {
        var outcome = TransferOutcome()
        guard let files = journal.contentFiles else {
            throw StoreError(.readOnly, during: "contents", detail: "the store is read-only")
        }
        let (feed, signal) = (journal.shared.feed, signal)
        let watch = feed.watchEdits { signal.look() }
        defer { feed.unwatch(watch) }
        try await endOpen()
        if try isAnyDue(fetching: isFetching, away) {
            let proof = TransferProof(ask: ask)
            await proof.begin()
            outcome = try await carryOut(files, proof)
            if try isAnyDue(fetching: isFetching, away.union(outcome.away.keys)) {
                let failure = await proof.failure
                outcome.failure = outcome.failure ?? (Task.isCancelled ? .cancelled : failure)
                if let failure { outcome.away[.remote] = .init(failure) }
            }
        }
        return outcome
    }

    private func carryOut(
        _ files: ContentFiles, _ proof: TransferProof
    ) async throws -> TransferOutcome {
        let signal = signal
        let budgets = try journal.read { try $0.model().settings.budgets }
        // What has ended is looked at before more begins than may be on its way.
        let openMax = budgets.downloads + budgets.uploads
        // Nothing is the step of who listens for a call to look.
        return try await withThrowingTaskGroup(of: Step?.self) { group in
            func listen() {
                group.addTask {
                    await signal.called()
                    return nil
                }
            }
            var outcome = TransferOutcome()
            var (open, isReached, mayFetch, away) = (0, false, isFetching, away)
            var mayBeDue = true
            // Of how many files in a row a server's answers left it in doubt.
            var doubts: [FileServer: Int] = [:]
            // What is being fetched, until its step is over.
            var busy: Set<ContentSource> = []
            listen()
            while true {
                // Alone until something came: without a network the first one is the only one.
                while mayBeDue, open < openMax, isReached || open == 0, !Task.isCancelled {
                    if await proof.failure != nil { away.insert(.remote) }
                    guard !outcome.isOffline,
                        let work = try await nextWork(files, away, mayFetch, busy)
                    else { break }
                    open += 1
                    switch work {
                    case .fetch(let request):
                        // One longer than a part may take long; the others don't wait for it.
                        if request.plan.count == nil { isReached = true }
                        busy.insert(request.plan.source)
                        group.addTask { try await carryOut(request, files, proof) }
                    case .send(let request):
                        if request.plan.bytes > UInt64(clamping: budgets.partBytes) {
                            isReached = true
                        }
                        group.addTask { try await carryOut(request, files, proof) }
                    }
                }
                guard open > 0, let next = try await group.next() else {
                    group.cancelAll()
                    return outcome
                }
                guard var step = next else {
                    try stopUnneeded()
                    mayBeDue = try isAnyDue(fetching: mayFetch, away)
                    if !Task.isCancelled { listen() }
                    continue
                }
                mayBeDue = true
                open -= 1
                if let source = step.source { busy.remove(source) }
                isReached = isReached || step.result != .failed
                step.count(&doubts)
                if step.isAway, let server = step.server { away.insert(server) }
                mayFetch = mayFetch && !step.isFull
                Self.add(step, to: &outcome)
                signal.note(outcome)
            }
        }
    }

    /// Stops what is on its way of files that were deleted, or that lie in what was, and of those
    /// that need not be sent any more.
    private func stopUnneeded() throws {
        try journal.read { views in try running.stopUnneeded(views) }
    }

    private static func add(_ step: Step, to outcome: inout TransferOutcome) {
        if !step.isUncounted { outcome.add(step.result, bytes: step.bytes) }
        if let server = step.server, let result = step.result, result != .failed {
            outcome.reached.insert(server)
        }
        guard let failure = step.failure else { return }
        outcome.failure = outcome.failure ?? failure
        outcome.isFull = outcome.isFull || step.isFull
        guard !step.isFull, let server = step.server else { return }
        // Of several requests to one server the first says why, and the longest wait counts.
        let known = outcome.away[server]
        outcome.away[server] = .init(
            known?.failure ?? failure,
            until: [known?.until, step.pausedUntil].compactMap(\.self).max())
    }

    private func isAnyDue(fetching: Bool, _ away: Set<FileServer>) throws -> Bool {
        let now = dependencies.now()
        return try journal.read { views in
            if !away.contains(.remote), try views.nextSend(at: now) != nil { return true }
            guard fetching else { return false }
            return try views.nextTransfer(
                at: now, isAwaited: signal.isAwaited, isAway: try views.isAt(away, by: adapter)
            ) { _, _ in false } != nil
        }
    }

    /// Says of requests without an answer that none will come: their process is gone.
    private func endOpen() async throws {
        let open = try journal.read { try $0.openTransfers() }
        guard !open.isEmpty else { return }
        let now = dependencies.now()
        try await journal.write(at: now) { draft in
            for (call, source, _) in open {
                try draft.append(
                    FetchAnswer(TransportError(.cancelled)).event(
                        of: call, nil, source.collection, now))
            }
        }
    }

    /// Logs the next request; what others wait for comes first.
    private func nextWork(
        _ files: ContentFiles, _ away: Set<FileServer>, _ mayFetch: Bool,
        _ busy: Set<ContentSource>
    ) async throws -> Work? {
        if !away.contains(.remote), let request = try await nextSend() { return .send(request) }
        guard mayFetch else { return nil }
        return try await next(files, away, busy).map { .fetch($0) }
    }

    /// Logs the next request; nil where none is due of a server that may be asked.
    ///
    /// - Parameter busy: what has a step that is not over: nothing is asked for before the next of
    ///   it, so that its part file is one step's alone.
    private func next(
        _ files: ContentFiles, _ away: Set<FileServer>, _ busy: Set<ContentSource>
    ) async throws -> TransferRequest? {
        let now = dependencies.now()
        // A file with a name that is none is refused, and the next one is looked for.
        while true {
            let use = RequestUse(journal.shared.contents)
            let request = try await use.noting(journal, at: now) { draft -> TransferRequest? in
                let last = draft.last
                let fold = draft.fold
                let found = try fold.nextTransferEvent(
                    at: now, after: last, adapter, isAwaited: signal.isAwaited,
                    isAway: try fold.isAt(away, by: adapter)
                ) { part, bytes in
                    try files.bytes(ofPart: part) ?? 0 < bytes
                }
                guard let found, !busy.contains(found.plan.source) else { return nil }
                let call = try draft.append(found.event)
                let request = TransferRequest(
                    plan: found.plan, address: found.address, call: call,
                    part: found.plan.part ?? FetchStanding.part(of: call))
                guard found.address != nil else {
                    let error = TransportError(
                        .invalidRequest, detail: "the name is no address of a file")
                    try draft.append(
                        FetchAnswer(error).event(
                            of: call, found.plan.key, found.plan.source.collection, now))
                    return request
                }
                use.begin(request)
                return request
            }
            guard let request else { return nil }
            if request.address != nil { return request }
        }
    }

    // MARK: One request

    private func carryOut(
        _ request: TransferRequest, _ files: ContentFiles, _ proof: TransferProof
    ) async throws -> Step {
        let use = journal.shared.contents
        defer {
            use.end(request.plan.source)
            use.end(part: request.part)
        }
        dependencies.reach(.beforeSend)
        let given = await proof.given
        let reply = await self.answer(to: request, files, given.credentials)
        dependencies.reach(.afterSend)
        var answer = reply.answer
        var step = Step(source: request.plan.source, server: request.address?.server)
        step.isUncounted = reply.isStopped
        await step.take(&answer, for: request.plan.source, given, proof)
        var stored: ContentFiles.Content?
        switch answer.result {
        case .part:
            do {
                try await BlockingWork.run {
                    try files.sync(part: request.part, isNew: request.plan.from == 0)
                }
            } catch { answer = Self.failed(error) }
        case .whole:
            do {
                let came = answer
                (stored, answer) = try await BlockingWork.run {
                    try admit(request, came, reply.checksums, files)
                }
            } catch { answer = Self.failed(error) }
        case .anew, .partless, .refused, .failed, .sent, nil: break
        }
        dependencies.reach(.beforeAnswer)
        // The log may need the room as well, also that of bytes which the next request would cut
        // off.
        if answer.result == .failed {
            try? files.cut(part: request.part, at: request.plan.from)
        }
        if answer.unavailable?.kind == .diskFull { try await makeRoom(files) }
        try await log(answer, stored, request)
        dependencies.reach(.afterAnswer)
        let (part, source) = (request.part, request.plan.source)
        if try !journal.read({ try $0.goesOn(with: part, of: source) }) {
            try? files.remove(part: part)
        }
        step.end(with: answer, after: request.plan.progress.failures)
        if step.failure != nil || step.doubt != nil {
            step.pausedUntil = try journal.read { views in
                try views.contentName(request.plan.source)?.fetch.pause?.until
            }
        }
        return step
    }

    static func failed(_ error: any Error) -> FetchAnswer {
        FetchAnswer(TransportError(file: error))
    }

    /// What came of a request.
    private func answer(
        to request: TransferRequest, _ files: ContentFiles, _ proof: Credentials
    ) async -> Reply {
        let path: String
        do {
            if request.plan.part == nil { try files.make(part: request.part) }
            path = try files.path(ofPart: request.part)
        } catch { return Reply(answer: Self.failed(error)) }
        guard let head = request.head(proof) else {
            return Reply(answer: FetchAnswer(TransportError(.invalidRequest)))
        }
        var file = TransportFile(path, offset: Int(clamping: request.plan.from))
        file.bytesMax = request.plan.rule.bytesMax
        let limits = request.limits(limits)
        let work = Task { [transport] in
            do throws(TransportError) {
                return Result<_, TransportError>.success(
                    try await transport.transfer(head, body: nil, into: file, limits: limits))
            } catch { return .failure(error) }
        }
        running.begin(request.call, of: request.plan.source) { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        let isStopped = running.end(request.call)
        switch result {
        case .success(let answer):
            return Reply(
                answer: FetchAnswer(
                    answer.response, written: answer.written ?? 0, to: request.plan, proof.mask),
                checksums: FileChecksums.told(by: answer.response.headerFields))
        case .failure(let error) where isStopped && error.code == .cancelled:
            return Reply(
                answer: FetchAnswer(TransportError(.cancelled, detail: "the file was deleted")),
                isStopped: true)
        case .failure(let error):
            // It may be the file's own, once it came again.
            let isForeign = request.plan.progress.doubts < TransferRule.doubtsMax
            return Reply(answer: Self.failed(error, proof, isForeign: isForeign))
        }
    }

    static func failed(
        _ error: TransportError, _ proof: Credentials, isForeign: Bool
    ) -> FetchAnswer {
        // A transport may have been cancelled by others; then the file has failed.
        let isStray = error.code == .cancelled && !Task.isCancelled
        let code = isStray ? TransportError.Code.connectionLost : error.code
        return FetchAnswer(
            TransportError(code, detail: proof.mask.masked(error.detail)), isForeign: isForeign)
    }

    private func log(
        _ answer: FetchAnswer, _ stored: ContentFiles.Content?, _ request: TransferRequest
    ) async throws {
        let (plan, now) = (request.plan, dependencies.now())
        try await journal.write(at: now) { draft in
            try draft.append(
                answer.event(of: request.call, plan.key, plan.source.collection, now))
            guard let stored else { return }
            let asset = AssetStored(
                digest: stored.digest, bytes: stored.bytes, .download, source: plan.source.text)
            try draft.append(
                Event(
                    .assetStored, recordedAt: now, key: plan.key,
                    collection: plan.source.collection, call: request.call, json: asset.encoded))
        }
    }
}

extension TransferDriver.Step {
    /// Has the request made again with other credentials, where the remote did not accept these.
    ///
    /// - Parameter source: the file that it is about.
    mutating func take(
        _ answer: inout FetchAnswer, for source: ContentSource, _ given: TransferProof.Given,
        _ proof: TransferProof
    ) async {
        guard server == .remote else { return }
        guard case .answered = answer else { return await proof.left(source) }
        guard answer.isUnauthorized else { return await proof.accepted(given.number, for: source) }
        isUncounted = await proof.renew(given.number, for: source)
        if isUncounted { answer = .madeAgain }
        failure = await proof.failure
    }

    /// Notes what the answer is, as it was logged.
    ///
    /// - Parameter failures: how often the file had failed in a row before.
    mutating func end(with answer: FetchAnswer, after failures: Int) {
        // One that fails again and again tells of itself.
        let isOfItself = failures >= TransferRule.failuresTold
        if let failure = answer.unavailable, !isOfItself || !answer.mayBeOfFile {
            isFull = failure.kind == .diskFull
            (self.failure, isAway) = (failure, !isFull)
        }
        if !isOfItself { doubt = answer.doubt }
        (result, bytes) = (answer.result, answer.bytes)
    }

    /// Counts how many files in a row left their server in doubt: after several it can't be had.
    fileprivate mutating func count(_ doubts: inout [FileServer: Int]) {
        guard let server, !isUncounted else { return }
        if let doubt {
            doubts[server, default: 0] += 1
            guard doubts[server, default: 0] >= Self.doubtsMax else { return }
            (failure, isAway) = (failure ?? doubt, true)
        } else if result != .failed {
            doubts[server] = nil
        }
    }

    private static let doubtsMax = 3
}

extension FetchAnswer {
    /// How many bytes of the file came with it.
    fileprivate var bytes: Int {
        if case .answered(let answered) = self { Int(clamping: answered.file.bytes) } else { 0 }
    }
}

extension TransferOutcome {
    /// Adds what one request brought.
    fileprivate mutating func add(_ result: ReceivedFile.Result?, bytes: Int) {
        switch result {
        case .whole:
            stored += 1
            self.bytes += bytes
        case .part: self.bytes += bytes
        case .sent: sent += 1
        case .refused: refused += 1
        case .failed, nil: failed += 1
        case .anew, .partless: break
        }
    }
}
