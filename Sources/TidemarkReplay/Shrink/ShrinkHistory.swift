// ShrinkHistory.swift — a part of a log that is a possible history, and its fold; a value, so that
// the common beginning of many trials is folded once.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkViews

/// The log that is being shrunk, common to all trials.
struct ShrinkSource {
    var base: Capsule.Base
    /// All events; their payloads may have been shortened.
    var entries: [Capsule.Entry]
    /// The commit of each event.
    let commits: [Int]
    var rules: HistoryRules
    /// Whether the digests of today's fold are collected for each commit.
    let tellsDigests: Bool

    init(_ capsule: Capsule, tellsDigests: Bool) {
        base = capsule.base
        self.tellsDigests = tellsDigests
        var entries: [Capsule.Entry] = []
        var commits: [Int] = []
        for (index, commit) in capsule.commits.enumerated() {
            for entry in commit.entries {
                entries.append(entry)
                commits.append(index)
            }
        }
        let hasModel = base.rows.contains { $0.key == .store("model") }
        rules = HistoryRules(entries, hasModel: hasModel)
        self.entries = entries
        self.commits = commits
    }

    /// The events, grouped by commit.
    func byCommit(_ indexes: some Sequence<Int>) -> [[Int]] {
        var units: [[Int]] = []
        var last: Int?
        for index in indexes {
            if commits[index] == last {
                units[units.count - 1].append(index)
            } else {
                units.append([index])
            }
            last = commits[index]
        }
        return units
    }
}

/// A part of a log that is possible without the rest, and its views.
struct ShrinkHistory {
    private static let eventsPerStep = 4000

    private(set) var fold: CapsuleFold
    /// The events in it, in order.
    private(set) var indexes: [Int] = []
    /// Pages that name fewer entities than recorded.
    private(set) var rewritten: [Int: Event] = [:]
    /// The digests of today's fold for each commit, where they are collected.
    private(set) var digests: [Int: [ViewDigest]] = [:]
    private var isIn: [Bool]

    init(_ source: ShrinkSource) {
        fold = CapsuleFold(source.base)
        isIn = Array(repeating: false, count: source.entries.count)
    }

    /// Adds later events, except those that are impossible after the ones before.
    ///
    /// - Parameters:
    ///   - exempt: called for each impossible event, which is added all the same.
    ///   - goesOn: called now and then; throws to stop.
    mutating func add(
        _ added: [Int], _ source: ShrinkSource, exempt: ((Int) -> Void)? = nil,
        goesOn: () throws -> Void
    ) throws {
        var rest = added[...]
        while let first = rest.first {
            try goesOn()
            var step = rest.prefix(Self.eventsPerStep)
            if source.tellsDigests {
                let commit = source.commits[first]
                step = rest.prefix { source.commits[$0] == commit }
            }
            rest = rest.dropFirst(step.count)
            try addStep(Array(step), source, exempt)
        }
    }

    private mutating func addStep(
        _ step: [Int], _ source: ShrinkSource, _ exempt: ((Int) -> Void)?
    ) throws {
        var next = 0
        let count = indexes.count
        // Moved out, so that they are not copied at each step.
        var (isIn, indexes, rewritten) = (self.isIn, self.indexes, self.rewritten)
        (self.isIn, self.indexes, self.rewritten) = ([], [], [:])
        let changes = try fold.fold(step.map { source.entries[$0] }) { fold, event, position in
            let index = step[next]
            next += 1
            var event = event
            if !source.rules.pinned.contains(index) {
                guard source.rules.needs[index].allSatisfy({ isIn[$0] }) else { return }
                if let places = source.rules.pages[index] {
                    let gone = places.filter { !isIn[$0.value] }.map(\.key)
                    if !gone.isEmpty {
                        guard let page = HistoryRules.page(event, without: Set(gone)) else {
                            return
                        }
                        rewritten[index] = page
                        event = page
                    }
                }
                if !source.rules.exempt.contains(index),
                    try !HistoryRules.allows(event, fold)
                {
                    guard let exempt else { return }
                    exempt(index)
                }
            }
            isIn[index] = true
            indexes.append(index)
            try fold.apply(event, at: position)
        }
        let isAny = indexes.count > count
        (self.isIn, self.indexes, self.rewritten) = (isIn, indexes, rewritten)
        if source.tellsDigests, isAny, let first = step.first {
            digests[source.commits[first]] = ViewDigest.of(changes)
        }
    }

    /// The answers of conflict rules in it whose server record is not in it.
    func unfollowed(_ source: ShrinkSource) -> Set<Int> {
        Set(source.rules.followers.filter { isIn[$0.key] && !isIn[$0.value] }.map(\.key))
    }
}
