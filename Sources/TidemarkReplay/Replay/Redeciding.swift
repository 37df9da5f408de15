// Redeciding.swift — the only place where a replay drives the engine.

import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// A replay that drives the engine with recorded inputs.
struct Redeciding {
    /// The result of the replay.
    enum Result {
        case report(ReplayReport)
        /// It can't be done, for this reason.
        case impossible(String)
    }

    let model: SyncModel?
    /// The adapter; nil for that of the recorded remote.
    let adapter: (any ServerAdapter)?
    let through: Position?
    let inject: [Injection]
    let rules: [ConflictRule]

    func report(of capsule: Capsule) async throws -> Result {
        let registration = try capsule.lastRegistration()
        if let model, try !capsule.holds(model) {
            return .impossible("another model was given than the log's")
        }
        let adapter: any ServerAdapter
        if let own = self.adapter {
            adapter = own
        } else if let remote = registration?.remote {
            do { adapter = try remote.makeAdapter() } catch {
                let why = capsule.provenance.isRedacted ? "it is redacted: " : ""
                return .impossible("\(why)\(error); hand over the app's own: Replay(…, adapter:)")
            }
        } else {
            return .impossible("it names no server that was synced with")
        }
        // An earlier run may have spoken to the server by other parameters of the remote.
        var making: (@Sendable (Remote) throws -> any ServerAdapter)?
        if self.adapter == nil { making = { remote in try remote.makeAdapter() } }
        let decided = try await ScratchDirectory.with { [making] scratch in
            try await redecide(
                capsule, adapter: adapter, making: making, rules: rules, through: through,
                mishaps: inject.map(RedecideMishap.init), scratch: scratch)
        }
        var report = ReplayReport(.redecide)
        let commits = capsule.commits.filter { commit in through.map { commit.last <= $0 } ?? true }
        report.commits = commits.count
        report.events = commits.reduce(0) { $0 + $1.entries.count }
        if let first = commits.first, let last = commits.last {
            report.range = first.first...last.last
        }
        report.runs = decided.runs
        report.acts = decided.acts
        report.answers = decided.answers
        report.notes = decided.notDecided.map { "not decided again from \($0.position): \($0.why)" }
        if decided.idle > 0 {
            report.notes.append(
                "\(decided.idle) runs brought nothing new, and are not decided again")
        }
        if decided.runs == 0 { report.undecided = decided.notDecided.first?.why }
        report.divergence = decided.divergence
        if !inject.isEmpty { report.notes += notes(on: decided.aftermath) }
        return .report(report)
    }

    /// The effects of the mishaps; nothing is compared from the first one on.
    private func notes(on aftermath: RedecideAftermath?) -> [String] {
        let names = inject.map(\.description).joined(separator: ",")
        guard let aftermath else { return ["\(names): no sync run does anything there"] }
        var lines = ["\(names): what today's engine does from there on:"]
        lines += aftermath.acts.map { "  " + $0 }
        let ends = aftermath.outcomes.joined(separator: ", then ")
        lines.append(
            "  its runs end: \(ends.isEmpty ? "not at all" : ends); "
                + "\(aftermath.pending) pending, \(aftermath.refused) refused")
        if aftermath.missesEvents {
            lines.append("  decided without events before the capsule's first one")
        }
        return lines
    }
}

extension RedecideMishap {
    fileprivate init(_ injection: Injection) {
        switch injection.kind {
        case .restart: self = .restart(injection.position)
        case .duplicate: self = .duplicate(injection.position)
        case .drop: self = .drop(injection.position)
        }
    }
}
