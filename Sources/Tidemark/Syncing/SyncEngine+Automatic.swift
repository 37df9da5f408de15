// SyncEngine+Automatic.swift — the loop that begins runs automatically: ask the schedule, carry out
// its decision, wait for the bell.

import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// Begins runs automatically until the engine is stopped, or the store fails.
    func follow() async {
        defer { (loop, startsAgain) = (nil, false) }
        do { try beginSyncing() } catch {
            isStarted = false
            rest = .stopped(error)
            return publish(rest)
        }
        defer { replica.journal.shared.endSyncing() }
        let bell = bell
        let feed = replica.journal.shared.feed
        let watch = feed.watchEdits { bell.ringForEdit() }
        defer { feed.unwatch(watch) }
        var rings = bell.rings.makeAsyncIterator()
        // What is already pending counts as an edit.
        bell.ringForEdit()
        do {
            try askAsNewApp()
            while isStarted {
                let alarm = try await step()
                // From before this returns on, every change rings.
                if isStarted { await rings.next(isolation: self) }
                alarm?.cancel()
            }
        } catch {
            let error = TidemarkError(ending: error)
            isStarted = false
            rest = .stopped(error)
            publish(rest)
        }
        let isPaused = schedule.isPaused
        schedule = SyncSchedule()
        schedule.isPaused = isPaused
        guard startsAgain else { return }
        let stops = stops
        // It waits for the end of this.
        Task { await start(since: stops) }
    }

    /// Asks for a run where the server refused an older app: the first loop of an engine does, as
    /// the app may have been updated before the process began.
    private func askAsNewApp() throws {
        guard !wasStarted else { return }
        wasStarted = true
        let frozen = try replica.journal.read { try $0.gates().frozen }
        let reason = frozen.flatMap { SyncPauseReason(rawValue: $0.reason) }
        guard reason == .apiDeprecated || reason == .clientDeprecated else { return }
        schedule.ask(.credentialsChanged, at: replica.dependencies.moment)
    }

    /// Carries out the schedule's decision.
    ///
    /// - Returns: the task that rings when the waiting time is over, if there is one.
    private func step() async throws -> Task<Void, Never>? {
        let now = replica.dependencies.moment
        let files = try transferAutomatically(at: now.now)
        // The end of the current run rings the bell.
        guard runs.isEmpty else { return files.map { alarm(now, $0) } }
        switch try decide(now) {
        case .run(let triggers): try await runAutomatically(triggers)
        case .list(let triggers, let folders):
            try await runAutomatically(triggers, .folders(folders))
        case .cleanUp: try await cleanUpAutomatically()
        case .wait(let until, let reason):
            publish(.waiting(until: until, reason))
            return alarm(now, min(until, files ?? until))
        case .idle: publish(.idle)
        case .paused(let reason):
            publish(.paused(reason))
            // A clean-up asks nobody for anything, but the app's pause holds it, too.
            let cleanUp = reason == .byApp ? nil : schedule.cleanUpAt
            return [cleanUp, files].compactMap(\.self).min().map { alarm(now, $0) }
        }
        return files.map { alarm(now, $0) }
    }

    private func decide(_ now: Moment) throws -> SyncSchedule.Decision {
        do {
            let isEdited = bell.takeEdit()
            let schedule = schedule
            self.schedule = try replica.journal.read { views in
                var schedule = schedule
                schedule.gates = try views.gates()
                schedule.planCleanUpAgain(at: now.now)
                schedule.lastRuns = []
                try views.forEachSyncRun { begun, run in
                    let last = SyncGates.LastRun(at: run.finishedAt ?? run.startedAt, begun: begun)
                    if run.scope == .all { schedule.lastRuns.append(last) }
                    // The timer counts from the last one, whatever runs came since.
                    return schedule.lastRuns.isEmpty
                        || schedule.lastRuns.count < SyncGates.runsMax
                            && schedule.gates.counts(runsBefore: last)
                }
                if isEdited, schedule.automatic?.localChanges == true,
                    try OutboxCounts(views).pending > 0
                {
                    schedule.ask(.localChange, at: now)
                }
                return schedule
            }
            return self.schedule.next(now)
        } catch { throw TidemarkError.wrapping(error) }
    }

    private func runAutomatically(
        _ triggers: [SyncTrigger], _ scope: SyncScope = .all
    ) async throws {
        schedule.begin(scope)
        var failure: FailureKind?
        do {
            let outcome = try await automatically(triggers, scope)
            // Paused in the middle, even if only for a moment: the reasons for the run still hold.
            if isRunPaused, outcome.failure == .cancelled { return askAgain(triggers, scope) }
            guard outcome.isUnsent else { return schedule.forgetUnlogged() }
            failure = outcome.failure?.kind
        } catch let error as TidemarkError where error.code.isFull {
            // Nothing could be stored, neither what the run did nor that it failed.
        }
        let backoff = try replica.journal.read { try $0.model().settings.backoff }
        schedule.noteUnlogged(failure, at: replica.dependencies.moment, backoff)
        // Who asked for it does not go ahead of the wait again.
        askAgain(triggers.map { $0.passes(failure) ? .retry : $0 }, scope)
    }

    /// Notes for how long limits let a run send nothing more, or not all that waits, and whether
    /// it is to be asked again for what the server promised.
    ///
    /// The next process learns it from its first run, which then sends nothing.
    func noteLimits(_ outcome: SyncOutcome, _ scope: SyncScope) throws {
        let now = replica.dependencies.moment
        switch outcome.failure {
        case .tooManyRequests(let seconds?): schedule.noteRest(of: seconds, at: now)
        case nil where outcome.counts.requests > 0: schedule.noteRest(of: 0, at: now)
        default: break
        }
        let wait = try outcome.heldBackFor ?? (isAwaitingAnswers(outcome, scope) ? 0 : nil)
        // What failed as a whole is made again anyway, and a part says nothing of the others.
        guard wait != nil || outcome.failure == nil && scope == .all else { return }
        let backoff = try replica.journal.read { try $0.model().settings.backoff }
        schedule.noteHeldBack(for: wait, at: now, backoff)
    }

    /// Whether the server still owes answers after a run that sent something, or asked for them.
    private func isAwaitingAnswers(_ outcome: SyncOutcome, _ scope: SyncScope) throws -> Bool {
        guard outcome.failure == nil, scope == .all || scope == .push else { return false }
        return try replica.journal.read { [adapter] views in
            try !views.openTickets(views.model(), adapter).isEmpty
        }
    }

    /// Asks for the same run once more.
    ///
    /// What the app named counted as an attempt already: under its name the gate of the model would
    /// hold the repetition, as an attempt of its own.
    private func askAgain(_ triggers: [SyncTrigger], _ scope: SyncScope) {
        let now = replica.dependencies.moment
        for asked in triggers {
            let trigger: SyncTrigger = if case .named = asked { .retry } else { asked }
            guard case .folders(let folders) = scope else {
                schedule.ask(trigger, at: now)
                continue
            }
            for folder in folders { schedule.ask(trigger, in: folder, at: now) }
        }
    }

    /// Begins a clean-up, which is left to the next midnight where there is no room for it.
    private func cleanUpAutomatically() async throws {
        schedule.planCleanUp(after: replica.dependencies.now())
        do { _ = try await automatically([.timer], .cleanUp) } catch let error as TidemarkError
            where error.code.isFull
        {}
    }

    private func automatically(
        _ triggers: [SyncTrigger], _ scope: SyncScope
    ) async throws -> SyncOutcome {
        let run = join(triggers, scope)
        (automaticRun, isRunPaused) = (run.number, false)
        defer { automaticRun = nil }
        return try await run.task.value
    }

    /// Rings after the time between two moments, even if the clock is set in between.
    private func alarm(_ now: Moment, _ until: Timestamp) -> Task<Void, Never> {
        let (bell, dependencies) = (bell, replica.dependencies)
        let (wait, overflow) = until.rawValue.subtractingReportingOverflow(now.now.rawValue)
        return Task {
            // Some of the time may have passed before the task begins.
            let passed = dependencies.moment.microseconds(since: now) ?? 0
            let left = overflow ? .max : max(0, wait - passed)
            // A cancelled alarm must not ring, because ringing would cancel the next one.
            do { try await dependencies.sleep(.microseconds(left)) } catch { return }
            bell.ring()
        }
    }
}

extension SyncOutcome {
    /// Whether the run failed for a passing reason before anything was sent, as where credentials
    /// can't be had: the log tells of no wait then.
    fileprivate var isUnsent: Bool {
        guard counts.requests == 0 else { return false }
        switch failure?.kind {
        case .offline, .timeout, .server, .foreign, .malformed: return true
        case .tooManyRequests, .client, .unauthorized, .forbidden, .apiDeprecated,
            .clientDeprecated, .backoff, .deadline, .ruleMissing, .ruleFailed, .missing,
            .cancelled, .noProgress, .gated, .diskFull, nil:
            return false
        }
    }
}

extension TidemarkError.Code {
    /// Whether there was no room, which there may be again without anybody opening the store anew.
    fileprivate var isFull: Bool { [.diskFull, .fileTooLarge, .storeFull].contains(self) }
}
