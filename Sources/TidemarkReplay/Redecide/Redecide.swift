// Redecide.swift — a replay in which today's engine decides again: it is given the recorded inputs,
// and its events are compared with the recorded ones.

package import TidemarkCapsule
package import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore
package import TidemarkSync
import TidemarkViews

/// The result of a replay in which today's engine decided.
package struct RedecideReport: Sendable {
    /// The first difference; nil where there is none.
    package var divergence: Divergence?
    /// How many sync runs were decided again.
    package var runs = 0
    /// How many of their events were compared.
    package var acts = 0
    /// How many answers they were given.
    package var answers = 0
    /// How many sync runs had no news, so that nothing is kept of them.
    package var idle = 0
    /// Runs that were not decided again but taken as recorded, each with its position and the
    /// reason.
    package var notDecided: [(position: Position, why: String)] = []
    /// The result of a mishap; nil where there was none.
    package var aftermath: RedecideAftermath?
}

/// Has today's engine decide the recorded sync runs again.
///
/// - Parameters:
///   - adapter: the adapter of the server that the recorded engine spoke to.
///   - making: makes the adapter of the remote that was registered when a run began; nil for the
///     same one always.
///   - rules: the app's conflict rules; recorded answers of rules are reused, not asked for again.
///   - last: the last event to replay; nil for all.
///   - mishaps: what happens otherwise than recorded; the first that is met ends the comparison.
///   - scratch: a new directory for the store that it writes; the caller removes it.
package func redecide(
    _ capsule: Capsule, adapter: any ServerAdapter,
    making makeAdapter: (@Sendable (Remote) throws -> any ServerAdapter)? = nil,
    rules: [ConflictRule] = [], through last: Position? = nil, mishaps: [RedecideMishap] = [],
    scratch: String
) async throws -> RedecideReport {
    var capsule = capsule
    if let last { capsule.commits.removeAll { $0.last > last } }
    if let at = capsule.disorder {
        throw Divergence(.threw, at: at, replayed: "its events are not in the order of positions")
    }
    let journal = try capsule.begun(in: scratch)
    var replay = Redecision(capsule, adapter, rules, mishaps, journal, making: makeAdapter)
    do {
        try await replay.run()
    } catch let divergence as Divergence {
        replay.report.divergence = divergence
    } catch {
        try? journal.close()
        throw error
    }
    try journal.close()
    return replay.report
}

/// A replay in progress.
private struct Redecision {
    let capsule: Capsule
    var adapter: any ServerAdapter
    let makeAdapter: (@Sendable (Remote) throws -> any ServerAdapter)?
    /// The remote of the adapter, where that was made.
    var remote: Remote?
    /// Why there is no adapter of that remote.
    var obstacle: String?
    let rules: [ConflictRule]
    let mishaps: [RedecideMishap]
    let journal: Journal
    let recorded: RecordedRuns
    let comparison: CommitComparison
    let bodies: [BodyReference: [UInt8]]
    var report = RedecideReport()
    /// The next commit that is not in the store yet.
    private var next = 0

    init(
        _ capsule: Capsule, _ adapter: any ServerAdapter, _ rules: [ConflictRule],
        _ mishaps: [RedecideMishap], _ journal: Journal,
        making makeAdapter: (@Sendable (Remote) throws -> any ServerAdapter)?
    ) {
        self.capsule = capsule
        self.adapter = adapter
        self.makeAdapter = makeAdapter
        self.rules = rules
        self.mishaps = mishaps
        self.journal = journal
        recorded = RecordedRuns(capsule)
        comparison = CommitComparison(capsule)
        var bodies: [BodyReference: [UInt8]] = [:]
        for body in capsule.bodies { bodies[BodyReference(to: body)] = body }
        self.bodies = bodies
    }

    mutating func run() async throws {
        report.idle = recorded.idle
        try takeAdapter()
        for start in recorded.cutOff {
            report.notDecided.append((start, "the run began before the capsule does"))
        }
        for run in recorded.runs {
            let begin = run.begins(in: capsule)
            while next < capsule.commits.count, capsule.commits[next].last <= begin {
                try appendNext()
            }
            try await decide(run)
            if report.aftermath != nil { return try await recover(from: run) }
        }
        while next < capsule.commits.count { try appendNext() }
    }

    /// Appends the next commit as recorded.
    private mutating func appendNext() throws {
        let commit = capsule.commits[next]
        next += 1
        let transfers = try TransferComparison(comparison, adapter).compare(
            commit, in: journal)
        if let divergence = transfers.divergence { throw divergence }
        report.acts += transfers.acts
        try journal.append(commit, bodies: bodies)
        if let divergence = try comparison.difference(commit, in: journal) { throw divergence }
        if commit.entries.contains(where: { $0.event.kind == .modelRegistered }) {
            try takeAdapter()
        }
    }

    /// Makes the adapter of the remote that is registered in the store by now.
    private mutating func takeAdapter() throws {
        guard let makeAdapter, let own = try journal.read({ try $0.registration()?.remote }),
            own != remote
        else { return }
        (remote, obstacle) = (own, nil)
        do { adapter = try makeAdapter(own) } catch { obstacle = "\(error)" }
    }

    private func driver(of run: RecordedRun, _ host: RedecideHost) throws -> SyncDriver {
        let model = try journal.read { try $0.model() }
        return SyncDriver(
            journal: journal, model: model, adapter: adapter, host: host,
            dependencies: host.dependencies, rules: run.rules(or: rules, model))
    }

    /// Simulates one more run an hour later; requests get the recorded answers to the same
    /// requests.
    private mutating func recover(from run: RecordedRun) async throws {
        var later = run
        later.reads = recorded.runs.flatMap(\.reads).filter {
            $0.events.lowerBound > run.first.position
        }
        later.commits = []
        later.finished = nil
        later.begun = run.begun.after(seconds: 3600)
        let host = RedecideHost(
            capsule, later, from: next, journal, adapter, comparison, bodies, isFree: true)
        let outcome = try await driver(of: later, host).run(
            triggers: run.triggers, time: SyncTime(from: later.begun, deadline: nil))
        report.aftermath?.acts += host.progress.aftermath
        if host.progress.missesEvents { report.aftermath?.missesEvents = true }
        report.aftermath?.outcomes.append("\(outcome)")
        report.aftermath?.pending = outcome.pending
        report.aftermath?.refused = outcome.refused
    }

    private mutating func decide(_ run: RecordedRun) async throws {
        try takeAdapter()
        if let obstacle = run.obstacle(isRedacted: comparison.isRedacted) ?? obstacle {
            report.notDecided.append((run.first.position, obstacle))
            return
        }
        let host = RedecideHost(
            capsule, run, from: next, journal, adapter, comparison, bodies, mishaps: mishaps)
        let driver = try driver(of: run, host)
        var failure: (any Error)?
        var outcome: SyncOutcome?
        do {
            outcome = try await driver.run(
                triggers: run.triggers, scope: run.scope, mode: run.mode,
                time: SyncTime(from: run.begun, deadline: nil))
        } catch { failure = error }
        let progress = host.progress
        next = progress.next
        report.runs += 1
        report.acts += progress.acts
        report.answers += progress.answers
        if progress.isFree, progress.stop ?? failure == nil {
            report.aftermath = RedecideAftermath(
                acts: progress.aftermath, outcomes: outcome.map { ["\($0)"] } ?? [],
                missesEvents: progress.missesEvents)
            return
        }
        switch progress.stop ?? failure {
        case nil:
            guard progress.done < run.commits.count else { return }
            let left = capsule.commits[run.commits[progress.done]]
            guard run.finished != nil, let entry = left.entries.first else { return }
            let ended = outcome.map { "ends: \($0)" }
            try take(comparison.missing(entry, replayed: ended), after: progress, of: run)
        case RedecideStop.recordEnds?: return
        case RedecideStop.restarted?:
            report.aftermath = RedecideAftermath(missesEvents: progress.missesEvents)
        case RedecideStop.notDecided(let position, let why)?:
            report.notDecided.append((position, why))
        case let divergence as Divergence: try take(divergence, after: progress, of: run)
        case let error?:
            let at = run.first
            let divergence = Divergence(
                .threw, at: at.position, recorded: at.event.line, replayed: "\(error)",
                causes: comparison.causes(of: at.position))
            try take(divergence, after: progress, of: run)
        }
    }

    /// Takes in that a run differs, unless that is for want of what the capsule does not have.
    private mutating func take(
        _ divergence: Divergence, after progress: RedecideHost.State, of run: RecordedRun
    ) throws {
        let why: String
        if progress.missesEvents, divergence.kind != .digest {
            // What views are made of is all there.
            why = "it depends on events before the capsule's first one"
        } else if comparison.isRedacted, divergence.field == "payload.message" {
            // Even words of ours are other ones.
            why = "why a write was refused is another text, as in every redacted capsule"
        } else {
            throw divergence
        }
        report.notDecided.append((max(divergence.position, run.first.position), why))
    }
}

extension Capsule {
    /// The position of the first event that does not follow all earlier ones; nil where all are in
    /// order.
    fileprivate var disorder: Position? {
        var last = base.position
        for entry in commits.lazy.flatMap(\.entries) {
            guard entry.position > last else { return entry.position }
            last = entry.position
        }
        return nil
    }
}

extension Moment {
    fileprivate func after(seconds: Int64) -> Moment {
        Moment(
            now: now.adding(seconds: seconds), bootID: bootID, uptime: uptime &+ seconds * 1_000_000
        )
    }
}

extension RecordedRun {
    /// The conflict rules with their recorded answers in this run; other rules unchanged.
    ///
    /// One that was not known then is not known now, and one that failed fails unless it is among
    /// the others.
    fileprivate func rules(or others: [ConflictRule], _ model: SyncModel) -> [ConflictRule] {
        func rules(endedBy kind: FailureKind) -> Set<String> {
            let paused = (ending?.paused ?? []).filter { $0.value.kind == kind }
            return Set(
                paused.compactMap { collection in
                    let policy = model[CollectionName(collection.name)]?.conflict
                    return if case .custom(let name)? = policy { name } else { nil }
                })
        }
        let missing = rules(endedBy: .ruleMissing)
        let others = others.filter { !missing.contains($0.name) }
        var known: [String: [RecordedRuleAnswer]] = [:]
        for entry in ruleAnswers {
            guard let answer = RecordedRuleAnswer(entry) else { continue }
            known[answer.rule, default: []].append(answer)
        }
        let recorded = known.sorted { $0.key < $1.key }.map { name, answers in
            ConflictRule(name, answers[0].version) { question, collection in
                let inputs = BodyReference(to: question.canonical).digits
                let own = answers.filter { $0.key == question.key }
                if let answer = own.first(where: { $0.inputs == inputs }) ?? own.first {
                    return answer.answer
                }
                guard let other = others.first(where: { $0.name == name }) else {
                    throw SyncFailure.ruleMissing(name)
                }
                return try other.decide(question, in: collection)
            }
        }
        let failing = rules(endedBy: .ruleFailed).sorted().filter { name in
            known[name] == nil && !others.contains { $0.name == name }
        }.map { name in
            ConflictRule(name, 1) { _, _ in throw SyncFailure.ruleFailed(name, "as recorded") }
        }
        return recorded + others.filter { known[$0.name] == nil } + failing
    }
}

/// The recorded answer of a conflict rule of the app.
private struct RecordedRuleAnswer {
    var rule: String
    var version: Int
    var inputs: String
    var key: EntityKey?
    var answer: ConflictAnswer

    init?(_ entry: Capsule.Entry) {
        guard let answered = entry.event.read(RuleAnswered.self), let answer = answered.answer
        else { return nil }
        rule = answered.rule
        self.answer = answer
        version = Int(clamping: answered.version)
        inputs = answered.inputs
        key = entry.event.key
    }
}
