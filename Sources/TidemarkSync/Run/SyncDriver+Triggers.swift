// SyncDriver+Triggers.swift — the attempts that the gates of a model count: logged before the run
// that they begin, so that one whose process dies has counted as well.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncDriver {
    /// Which of the triggers may begin a run, by the gates of the model; their attempts are on disk
    /// when this returns.
    ///
    /// What waits for the server or after failures begins no run, and is no attempt.
    func admit(
        _ triggers: [SyncTrigger], _ scope: SyncScope, _ waiting: SyncGates, at now: Moment
    ) async throws -> TriggerAdmission {
        let gates = host.countsAttempts ? model.settings.gates : []
        let hold = waiting.hold(triggers, at: now)
        let isHeld = scope != .cleanUp && hold != nil
        guard !isHeld, triggers.contains(where: { $0.counts(for: gates) }) else {
            return TriggerAdmission(triggers, [], at: now.now) { _ in [] }
        }
        return try await host.commit(journal, at: now.now) { draft in
            let admission = try draft.fold.admission(of: triggers, gates, at: now)
            for trigger in admission.attempts {
                try draft.append(
                    Event(
                        .triggerReceived, recordedAt: draft.now, uptime: now.uptime,
                        bootID: try draft.fold.unnamed(now.bootID),
                        json: TriggerReceived(trigger).encoded))
            }
            return admission
        }
    }

    /// The outcome of a run that a gate of the model holds for so many microseconds: nothing is
    /// done, so there is nothing to log.
    func gated(for wait: Int64, at now: Moment) throws -> SyncOutcome {
        var machine = SyncMachine(
            model: model, traits: adapter.traits, begun: now)
        _ = machine.end(.gated(until: now.now.adding(from: 0, to: wait)))
        machine.takeStock(try host.read(journal) { views in try RunStock(views) })
        return machine.outcome
    }
}

extension SyncTrigger {
    /// Whether it is an attempt for one of the gates.
    fileprivate func counts(for gates: [TriggerGate]) -> Bool {
        switch self {
        case .userRequested: !gates.isEmpty
        case .named(let name): gates.contains { $0.name == name }
        default: false
        }
    }
}
