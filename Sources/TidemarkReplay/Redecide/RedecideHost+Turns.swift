// RedecideHost+Turns.swift — hands over the answers to parallel lists and writes in the order in
// which they were recorded to arrive.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// Releases the answer that was recorded as the next to arrive, and waits for it.
    ///
    /// Each answer overtakes as many others as recorded.
    func next<Answered: Sendable>(
        of group: inout ThrowingTaskGroup<Answered, any Error>
    ) async throws -> Answered? {
        if let write = try nextToLand() {
            try land(write)
            return try await group.next()
        }
        let isStuck = state.withLock { state in
            state.open.isEmpty && !state.parked.isEmpty && !state.isFree
        }
        if isStuck { throw stop(stuck()) }
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let place = state.open.indices.last { run.reads[state.open[$0]].answer.overtook == $0 }
            let number: Int
            if !state.open.isEmpty {
                number = state.open.remove(at: place ?? 0)
            } else if !state.parked.isEmpty {
                number = state.parked.removeFirst()
            } else {
                return nil
            }
            state.released.insert(number)
            if number >= 0, let came = run.reads[number].cameAt { state.pass(to: came) }
            return state.waiters.removeValue(forKey: number)
        }
        waiter?.resume()
        return try await group.next()
    }

    /// Sends a question ahead of which no answer is recorded: nothing comes of it before the
    /// recording ends.
    func park(_ question: SyncQuestion) -> SyncReply {
        let number = state.withLock { state in
            let number = (state.parked.last ?? 0) - 1
            state.parked.append(number)
            return number
        }
        return SyncReply(question) { [self] in
            await release(of: number)
            return nobody(question)
        }
    }

    /// Why the run does not go on where it waits for answers of which none is recorded.
    private func stuck() -> any Error {
        let (isDone, isAsked) = state.withLock { state in
            (isThrough(state), unasked(state).isEmpty)
        }
        if isDone { return RedecideStop.recordEnds }
        guard isAsked else { return unansweredAhead }
        return comparison.instead("waits for an answer that was not recorded", following)
    }

    /// Whether nothing is left of the run that could be compared: of a commit that was cut off amid
    /// the answers to what it asks only these came.
    func isThrough(_ state: State) -> Bool {
        guard let rest = commit(state) else { return true }
        return unasked(state).isEmpty && state.done + 1 == run.commits.count
            && rest.allSatisfy(\.event.isOfCall)
    }

    /// The run can't be decided on, as the log does not tell of answers that came ahead.
    var unansweredAhead: RedecideStop {
        let why = "what was asked and not answered when the process ended is not in the log"
        return .notDecided(following?.position ?? run.first.position, why)
    }

    /// Waits until an answer is released, or nobody waits for it any more.
    func release(of number: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.released.contains(number) || state.stop != nil { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.released.insert(number)
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
    }
}

extension RedecideHost {
    /// Whether another write is sent before one that is on its way is answered.
    ///
    /// Of a run that ended before its time was over the recording tells when nothing more was sent.
    func sendsMore(_ isTimely: Bool, beside open: [Position]) -> Bool {
        let isCut =
            run.finished == nil || run.failure?.kind == .deadline
            || run.failure?.kind == .cancelled
        return state.withLock { state in
            guard isCut, !state.isFree else { return isTimely }
            return commit(state) != nil && answered(open, state) == nil
        }
    }

    /// Whether a request that timed out did so because the run's time was over: the run ended by
    /// its deadline, sent nothing after it, and the log does not say that its call fails.
    ///
    /// The next commit is that of a write's answer. Answers to lists may wait for their turn.
    func isCut(_ question: SyncQuestion, _ isLate: Bool) -> Bool {
        state.withLock { state in
            guard !state.isFree else { return isLate }
            guard run.failure?.kind == .deadline else { return false }
            if let read = read(question, state) {
                return !read.isFailing && isNothingSent(after: read)
            }
            let entries = commit(state) ?? []
            let next = entries.first?.position ?? Position(.max)
            return unasked(state).isEmpty && run.write(in: next...Position(.max)) == nil
                && !entries.contains { $0.event.isFailing }
        }
    }

    /// The recorded read that was asked for last by a question; nil for a write.
    private func read(_ question: SyncQuestion, _ state: State) -> RecordedRead? {
        guard !question.isWrite else { return nil }
        let request = RecordedRequest(question.request)
        return state.asked.map { run.reads[$0] }.filter { $0.request == request }
            .max { $0.sentAt < $1.sentAt }
    }

    /// Whether the run sent nothing after the answer to a read came, or was given up.
    private func isNothingSent(after read: RecordedRead) -> Bool {
        let came = read.answer.uptime ?? uptime(at: read.sentAt)
        let sent = run.reads.map(\.sentAt) + run.writes.map(\.sentAt)
        return sent.allSatisfy { $0 <= read.sentAt || uptime(at: $0) < came }
    }

    /// Which of some writes the run's next commit answers.
    private func answered(_ open: [Position], _ state: State) -> Position? {
        commit(state)?.lazy.compactMap { entry in
            entry.event.isAnswer ? entry.event.call : nil
        }.first(where: open.contains)
    }

    /// The write that is answered next; nil where none is on its way.
    private func nextToLand() throws -> Position? {
        let (open, next, isFree) = state.withLock { state in
            let open = state.flying.keys.sorted()
            return (open, answered(open, state), state.isFree)
        }
        guard let first = open.first else { return nil }
        if isFree { return first }
        if let next { return next }
        let isOver = state.withLock { commit($0) == nil }
        throw stop(
            isOver && run.finished == nil
                ? RedecideStop.recordEnds
                : comparison.instead("waits for the answer to \(first)", following) as any Error)
    }

    /// Hands over the recorded answer of a write.
    private func land(_ sent: Position) throws {
        guard let question = state.withLock({ $0.flying.removeValue(forKey: sent) }) else { return }
        let answer = try write(question)
        let waiter = state.withLock { state in
            state.landed[sent] = answer
            return state.landing.removeValue(forKey: sent)
        }
        waiter?.resume()
    }

    /// Waits for the answer of a write.
    func landed(_ question: SyncQuestion) async -> (ServerAnswer, AnswerRecord) {
        let sent = question.asOf
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    let isOver = state.stop != nil || Task.isCancelled
                    if state.landed[sent] != nil || isOver { return true }
                    state.landing[sent] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.landing.removeValue(forKey: sent) }?.resume()
        }
        return state.withLock { $0.landed.removeValue(forKey: sent) } ?? nobody(question)
    }
}
