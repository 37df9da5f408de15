// ShrinkHistory.swift — a part of a log that can have happened, folded as far as it goes; a value,
// so that what many trials begin with is folded once.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkViews

/// The log that is being shrunk: what all trials have in common.
struct ShrinkSource {
    var base: Capsule.Base
    /// All events; their payloads may have become smaller.
    var entries: [Capsule.Entry]
    /// The commit of each event.
    let commits: [Int]
    var rules: HistoryRules
    /// Whether it is told, for each commit, what today's fold makes of it.
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

    /// Some events by commit.
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

/// Some events of a log that can have happened without the others, and the views that they make.
struct ShrinkHistory {
    private static let eventsPerStep = 4000

    private(set) var fold: CapsuleFold
    /// The events that are in it, in order.
    private(set) var indexes: [Int] = []
    /// Pages that name fewer entities than they did.
    private(set) var rewritten: [Int: Event] = [:]
    /// What today's fold makes of each commit, where that is asked for.
    private(set) var digests: [Int: [ViewDigest]] = [:]
    private var isIn: [Bool]

    init(_ source: ShrinkSource) {
        fold = CapsuleFold(source.base)
        isIn = Array(repeating: false, count: source.entries.count)
    }

    /// Adds later events, but those that can't happen after what is there.
    ///
    /// - Parameters:
    ///   - exempt: notes the events that can't, and adds them all the same.
    ///   - goesOn: asked now and then; throws to stop.
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
        // Taken out, so that they are not copied with each step.
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

    /// The rules' answers in it whose server's change is missing.
    func unfollowed(_ source: ShrinkSource) -> Set<Int> {
        Set(source.rules.followers.filter { isIn[$0.key] && !isIn[$0.value] }.map(\.key))
    }
}
