// Replay.swift — replaying a recorded bug in a test.

import TidemarkCapsule
public import TidemarkEvents
import TidemarkInspect
public import TidemarkSync
import TidemarkViews

/// The replay of a recorded log by the code of today, for tests.
///
/// ```swift
/// try await Replay(.fixture("bug-1234.capsule")).run()
/// ```
///
/// Nothing is sent anywhere, and only a temporary folder is written to.
public struct Replay: Sendable {
    /// What is replayed.
    @nonexhaustive public enum Mode: String, Sendable, CaseIterable {
        /// The recorded events are folded again; the digests of every commit are compared.
        case fold
        /// The recorded inputs drive the engine again; its events are compared, too.
        case redecide
        /// Both, the fold first.
        case both
    }

    let source: ReplaySource
    let model: SyncModel?
    let adapter: (any ServerAdapter)?
    let mode: Mode
    let through: Position?
    let inject: [Injection]
    let rules: [ConflictRule]

    /// A replay, not yet run.
    ///
    /// - Parameters:
    ///   - source: where the log is.
    ///   - model: a model that replaces those in the log, for example the app's current one; nil
    ///     for the log's own.
    ///   - adapter: the app's own adapter, where the log's remote names one that only the app has,
    ///     or another one than that; nil for the adapter that the remote names.
    ///   - mode: what is replayed.
    ///   - through: the last event; a commit is replayed whole or not at all.
    ///   - inject: what happens otherwise than recorded.
    ///   - rules: the app's own conflict rules.
    public init(
        _ source: ReplaySource, _ model: SyncModel? = nil,
        adapter: (any ServerAdapter)? = nil, mode: Mode = .both, through: Position? = nil,
        inject: [Injection] = [], rules: [ConflictRule] = []
    ) {
        self.source = source
        self.model = model
        self.adapter = adapter
        self.mode = mode
        self.through = through
        self.inject = inject
        self.rules = rules
    }

    /// Replays, and compares with what was recorded.
    ///
    /// - Returns: for each way of replaying, what was compared and what could not be.
    /// - Throws: `Divergence` at the first difference; `ReplayMistake` where there is no such file
    ///   or event, and where none of the sync runs could be decided again, as of a redacted or a
    ///   shrunk capsule, unless only the fold was asked for; `TidemarkError` where the file or the
    ///   store can't be read: `damaged`, `newerFormat`, or `invalidPath` for what is no capsule.
    @discardableResult
    public func run() async throws -> [ReplayReport] {
        let reports = try await reports()
        for report in reports { if let divergence = report.divergence { throw divergence } }
        try reports.checkDecided()
        return reports
    }

    /// Replays as ``run()`` does, with a divergence in the report instead of thrown.
    ///
    /// - Throws: as ``run()``, but no `Divergence`, and nothing where runs could not be decided
    ///   again beside a fold.
    public func reports() async throws -> [ReplayReport] {
        try await reports(of: try source.capsule())
    }

    /// The same, with progress: the number of commits that were folded.
    package func reports(progress: (Int) throws -> Void) async throws -> [ReplayReport] {
        try await reports(of: try source.capsule(), progress: progress)
    }

    private func reports(
        of capsule: Capsule, progress: (Int) throws -> Void = { _ in }
    ) async throws -> [ReplayReport] {
        var reports: [ReplayReport] = []
        if mode != .redecide {
            let report = try fold(capsule, progress)
            reports.append(report)
            if !report.isSame { return reports }
        }
        guard mode != .fold else { return reports }
        func leave(_ reason: String) {
            reports[0].notes.append("not decided again: \(reason)")
            if capsule.hasRuns { reports[0].undecided = reason }
        }
        if mode == .both, capsule.provenance.isShrunk {
            leave("events of its runs were left out")
            return reports
        }
        let decided = try await Redeciding(
            model: model, adapter: adapter, through: through, inject: inject, rules: rules
        ).report(of: capsule)
        switch decided {
        case .report(let report): reports.append(report)
        case .impossible(let reason):
            guard mode == .both else {
                throw ReplayMistake("it can't be decided again: \(reason)")
            }
            leave(reason)
        }
        return reports
    }

    private func fold(
        _ capsule: Capsule, _ progress: (Int) throws -> Void
    ) throws -> ReplayReport {
        var capsule = capsule
        var ignored: Set<View> = []
        if let model, try !capsule.holds(model) {
            (capsule, _) = try WhatIf(model: model).changed(capsule)
            ignored = [.store]
        }
        var report = try FoldReplay(
            capsule, through: through, ignoring: ignored, progress: progress
        ).report
        if !ignored.isEmpty {
            report.notes.append("folded by another model than the log's: view store not compared")
        }
        guard !inject.isEmpty, report.isSame else { return report }
        let outcome = try capsule.outcome(injecting: inject, through: through)
        report.note(outcome, of: inject)
        return report
    }

    /// Folds the log with a change, and compares the outcome with that of the unchanged log.
    ///
    /// Requests and answers stay as recorded: another policy changes what the views make of them,
    /// not what the engine would have sent.
    ///
    /// - Throws: `ReplayMistake` for a collection or an event that is not in the log;
    ///   `TidemarkError` where that can't be read.
    public func whatIf(_ change: WhatIf) throws -> WhatIfResult {
        let outcome = try change.outcome(of: try source.capsule(), through: through)
        return WhatIfResult(
            difference: ReplayDifference(outcome.difference), leftOut: outcome.leftOut)
    }

    /// Folds the log with another conflict policy for one collection, as ``whatIf(_:)`` does.
    public func whatIf(
        policy: ConflictPolicy, of collection: CollectionName
    ) throws -> WhatIfResult {
        try whatIf(WhatIf(policies: [collection: policy]))
    }
}

extension [ReplayReport] {
    /// Throws where sync runs were to be decided again, and none could be.
    func checkDecided() throws(ReplayMistake) {
        guard let reason = compactMap(\.undecided).first else { return }
        throw ReplayMistake(
            "it could not be decided again: \(reason); where its fold is all that is meant, ask "
                + "for that alone: mode: .fold, or \"Mode: fold\" in a story")
    }
}

extension ReplayReport {
    /// Adds the effect of mishaps on the views: a restart must make no difference, and no mutation
    /// may ever be lost.
    mutating func note(_ outcome: InjectionOutcome, of inject: [Injection]) {
        let names = inject.map(\.description).joined(separator: ",")
        guard !outcome.isSame else {
            notes.append("\(names): no difference")
            return
        }
        let seen = outcome.difference.entities.count + outcome.difference.mutations.count
        let summary =
            "\(names): \(seen) entities and mutations differ in the end, and "
            + "\(outcome.difference.rows.count) rows that are not seen"
        if outcome.faults.isEmpty, inject.contains(where: { $0.kind != .restart }) {
            notes.append(summary)
            notes += outcome.difference.lines().map { "  " + $0 }
        } else {
            divergence = Divergence(
                .digest, at: inject.map(\.position).min() ?? .start,
                recorded: "without \(names) all is well",
                replayed: ([summary] + outcome.faults.prefix(3).map(\.description))
                    .joined(separator: "; "),
                field: outcome.difference.lines(all: true).first)
        }
    }
}
