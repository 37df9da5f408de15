// Shrink.swift — makes a log as short as possible while it still shows the same failure: delta
// debugging over commits, then events, then the fields of documents, then the rows that it begins
// with.
//
// Only possible histories are tried: HistoryRules.swift. The common beginning of many trials is
// folded once, and the first guess, the entities that the failure is about, is mostly right.

package import TidemarkCapsule
package import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// The progress of shrinking a log.
package struct ShrinkProgress: Sendable, Hashable {
    package enum Phase: String, Sendable, CaseIterable {
        case commits, events, fields, rows
    }

    package var phase: Phase
    /// How many there were at the beginning, and how many there are now.
    package var before: Int
    package var now: Int
    /// How many logs were tried so far.
    package var tries: Int
}

/// The result of shrinking a log.
package struct ShrinkResult: Sendable {
    package var capsule: Capsule
    package var signature: FailureSignature
    package var tries: Int
    /// The numbers before and after each phase.
    package var phases: [ShrinkProgress]
    /// Whether nothing more can be left out; false where the search was cut short.
    package var isMinimal: Bool
}

/// Why a log can't be shrunk.
package enum ShrinkError: Error, Sendable, Hashable {
    /// The log does not show the failure.
    case passes(last: Position)
    /// The views that it begins with already show the failure, so none of its events causes it.
    case begins(Position)
    /// The search was stopped before anything was found.
    case stopped
}

extension Capsule {
    /// Makes the capsule as short as possible while it still shows the same failure.
    ///
    /// The same capsule and failure give the same result.
    ///
    /// - Parameters:
    ///   - failure: what it must show.
    ///   - triesMax: how many logs are tried at most.
    ///   - goesOn: called often; once it returns false, the best result so far is returned.
    ///   - progress: called whenever something was left out, and at the end of each phase.
    /// - Throws: ``ShrinkError`` where the log can't be shrunk, and what `failure` throws.
    package func shrunk(
        to failure: ShrinkFailure, triesMax: Int = .max,
        goesOn: @escaping () -> Bool = { true },
        progress: @escaping (ShrinkProgress) -> Void = { _ in }
    ) throws -> ShrinkResult {
        var shrinker = Shrinker(
            self, failure, triesMax: triesMax, goesOn: goesOn, progress: progress)
        return try shrinker.run()
    }
}

/// The search for a shorter log.
struct Shrinker {
    /// Ends the search with the best result so far.
    struct Stop: Error {}

    let capsule: Capsule
    let failure: ShrinkFailure
    let triesMax: Int
    let goesOn: () -> Bool
    let progress: (ShrinkProgress) -> Void

    var source: ShrinkSource
    /// The shortest log so far that shows the failure.
    var current: ShrinkHistory
    /// For each commit, the digests of today's fold of the whole log.
    var wholeDigests: [Int: [ViewDigest]] = [:]
    /// For each commit, the views whose recorded digests were removed together with names.
    private let takenOut: [Int: Set<View>]
    var signature: FailureSignature?
    var tries = 0
    var phases: [ShrinkProgress.Phase: ShrinkProgress] = [:]
    /// Logs that don't show the failure; only those with few enough events are remembered.
    var passed: Set<[Int]> = []
    static let rememberedEventsMax = 2000

    init(
        _ capsule: Capsule, _ failure: ShrinkFailure, triesMax: Int,
        goesOn: @escaping () -> Bool, progress: @escaping (ShrinkProgress) -> Void
    ) {
        self.capsule = capsule
        self.failure = failure
        self.triesMax = triesMax
        self.goesOn = goesOn
        self.progress = progress
        source = ShrinkSource(capsule, tellsDigests: failure.needsDigests)
        current = ShrinkHistory(source)
        var takenOut: [Int: Set<View>] = [:]
        if !capsule.provenance.namesRemote, failure.needsDigests {
            for (index, commit) in capsule.commits.enumerated() {
                let views = View.allCases.filter { CapsuleDigests.isTakenOut($0, of: commit) }
                if !views.isEmpty { takenOut[index] = Set(views) }
            }
        }
        self.takenOut = takenOut
    }

    mutating func run() throws -> ShrinkResult {
        let isMinimal: Bool
        do {
            try cutTail()
            try guess()
            try minimize()
            isMinimal = true
        } catch is Stop {
            isMinimal = false
        }
        guard let signature else { throw ShrinkError.stopped }
        return ShrinkResult(
            capsule: try made(current, isLast: true), signature: signature, tries: tries,
            phases: ShrinkProgress.Phase.allCases.compactMap { phases[$0] }, isMinimal: isMinimal)
    }

    private mutating func minimize() throws {
        try pass(.commits, halving: true)
        try pass(.events, halving: true)
        try settle()
        // Without a field or a row, an event may not be needed any more, and the other way round.
        repeat {
            let before = current.indexes.count
            try shrinkFields()
            try shrinkRows()
            try settle()
            if current.indexes.count == before { break }
        } while true
    }

    /// Tries to leave out one event or commit at a time, until none can be left out.
    private mutating func settle() throws {
        repeat {
            let before = current.indexes.count
            try pass(.events, halving: false)
            try pass(.commits, halving: false)
            if current.indexes.count == before { break }
        } while true
    }

    // MARK: Trials

    func checkGoingOn() throws {
        guard tries < triesMax, goesOn() else { throw Stop() }
    }

    /// Whether a log shows the same failure.
    mutating func shows(_ history: ShrinkHistory) throws -> Bool {
        try checkGoingOn()
        let isSmall = history.indexes.count <= Self.rememberedEventsMax
        if isSmall, passed.contains(history.indexes) { return false }
        tries += 1
        let isSame = try judge(history).map { $0 == signature } ?? false
        if isSmall, !isSame { passed.insert(history.indexes) }
        return isSame
    }

    /// The failure that a log shows, if any.
    func judge(_ history: ShrinkHistory) throws -> FailureSignature? {
        switch failure {
        case .holds(let predicate):
            let isTrue = try history.fold.read { try predicate.holds(in: $0) }
            return isTrue ? FailureSignature("true", at: history.fold.position) : nil
        case .diverges(nil):
            return difference(history, recorded: recorded(history), takenOut: takenOut)
        case .diverges(let fold?):
            let anew = try made(history, isLast: false).refolded(apply: fold)
            let recorded = anew.commits.map(\.views)
            return difference(history, recorded: recorded, takenOut: [:])
        case .found(let check): return try check(try made(history, isLast: false))
        }
    }

    private func difference(
        _ history: ShrinkHistory, recorded: [[ViewDigest]], takenOut: [Int: Set<View>]
    ) -> FailureSignature? {
        let commits = zip(source.byCommit(history.indexes), recorded).map { unit, recorded in
            let commit = unit.first.map { source.commits[$0] }
            return RecordedDifference.Digests(
                last: unit.last.map { source.entries[$0].position } ?? .start, recorded: recorded,
                made: commit.flatMap { history.digests[$0] } ?? [],
                takenOut: commit.flatMap { takenOut[$0] } ?? [])
        }
        return RecordedDifference(commits, history.fold.rows, base: source.base)?.signature
    }

    /// The recorded digests for each commit of a log.
    ///
    /// They stay where today's fold of the commit is the same as in the whole log, since everything
    /// that they depend on is then still there. Otherwise new digests take their place.
    private func recorded(_ history: ShrinkHistory) -> [[ViewDigest]] {
        source.byCommit(history.indexes).map { unit in
            guard let commit = unit.first.map({ source.commits[$0] }) else { return [] }
            let recorded = capsule.commits[commit].views
            let (whole, now) = (wholeDigests[commit] ?? [], history.digests[commit] ?? [])
            return View.allCases.compactMap { view in
                let today = now.first { $0.view == view.rawValue }
                let isAsEver = whole.first { $0.view == view.rawValue } == today
                return isAsEver ? recorded.first { $0.view == view.rawValue } : today
            }
        }
    }

    /// The capsule of a log.
    func made(_ history: ShrinkHistory, isLast: Bool) throws -> Capsule {
        var made = capsule
        made.base = source.base
        let digests = source.tellsDigests ? recorded(history) : nil
        made.commits = source.byCommit(history.indexes).enumerated().map { number, unit in
            let entries = unit.map { index in
                var entry = source.entries[index]
                if let event = history.rewritten[index] { entry.event = event }
                return entry
            }
            return Capsule.Commit(entries: entries, views: digests?[number] ?? [])
        }
        if made.commits.map(\.entries) != capsule.commits.map(\.entries)
            || made.base != capsule.base
        {
            made.provenance.isShrunk = true
        }
        // Kept answers would contradict a rewritten page, and are left out then.
        let left = Set(made.commits.flatMap(\.entries).map(\.position))
        made.answers =
            history.rewritten.isEmpty
            ? capsule.answers.filter { left.contains($0.position) } : []
        let named = Set(made.commits.flatMap(\.entries).compactMap(\.event.namedBody))
        made.bodies = capsule.bodies.filter { named.contains(BodyReference(to: $0)) }
        if !capsule.contents.isEmpty {
            let named = Set(made.namedContents)
            made.contents = capsule.contents.filter { named.contains($0.digest) }
        }
        guard isLast else { return made }
        switch failure {
        case .diverges(let fold?): return try made.refolded(apply: fold)
        case .holds: return try made.refolded()
        case .diverges(nil), .found: return made
        }
    }

    mutating func report(_ phase: ShrinkProgress.Phase, before: Int, now: Int) {
        let first = phases[phase]?.before ?? before
        let step = ShrinkProgress(phase: phase, before: first, now: now, tries: tries)
        phases[phase] = step
        progress(step)
    }
}
