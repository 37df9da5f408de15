// Shrink+Passes.swift — leaves out commits and events: the tail, all but a guess, then smaller and
// smaller parts.

import TidemarkCapsule
import TidemarkEvents

extension Shrinker {
    /// How often a predicate is tested on the way to the end.
    private static let stopsMax = 32

    /// Finds a first part of the log that shows the failure, and leaves out the rest.
    mutating func cutTail() throws {
        let units = source.byCommit(source.entries.indices)
        report(.commits, before: units.count, now: units.count)
        report(.events, before: source.entries.count, now: source.entries.count)
        if case .holds = failure { try cutWhileFolding(units) } else { try cutWhole(units) }
        passed = []
        reportSize()
    }

    /// For a predicate, each trial continues the fold of the one before.
    private mutating func cutWhileFolding(_ units: [[Int]]) throws {
        let size = max(1, (units.count + Self.stopsMax - 1) / Self.stopsMax)
        var low = ShrinkHistory(source)
        guard try judge(low) == nil else { throw ShrinkError.begins(capsule.base.position) }
        var exempt: Set<Int> = []
        var rest = units[...]
        while signature == nil {
            guard !rest.isEmpty else {
                throw ShrinkError.passes(last: capsule.last)
            }
            var high = low
            try high.add(
                rest.prefix(size).flatMap(\.self), source, exempt: { exempt.insert($0) },
                goesOn: checkGoingOn)
            source.rules.exempt = exempt
            signature = try judge(high)
            if signature == nil {
                low = high
                rest = rest.dropFirst(size)
            } else {
                current = high
                tries += 1
            }
        }
        // Narrows the span to the first commit that shows the failure.
        var span = rest.prefix(size)
        while span.count > 1 {
            let half = span.prefix(span.count / 2)
            var middle = low
            try middle.add(half.flatMap(\.self), source, goesOn: checkGoingOn)
            if try shows(middle) {
                current = middle
                span = half
            } else {
                low = middle
                span = span.dropFirst(half.count)
            }
        }
    }

    private mutating func cutWhole(_ units: [[Int]]) throws {
        var whole = ShrinkHistory(source)
        var exempt: Set<Int> = []
        try whole.add(
            Array(source.entries.indices), source, exempt: { exempt.insert($0) },
            goesOn: checkGoingOn)
        source.rules.exempt = exempt
        wholeDigests = whole.digests
        tries += 1
        signature = try judge(whole)
        guard let signature else { throw ShrinkError.passes(last: capsule.last) }
        current = whole
        if let position = signature.position {
            let known = units.prefix { unit in
                unit.first.map { source.entries[$0].position <= position } ?? false
            }
            if try tryOnly(known.flatMap(\.self)) { return }
        }
        var (low, high) = (0, units.count)
        while low + 1 < high {
            let middle = (low + high) / 2
            if try tryOnly(units.prefix(middle).flatMap(\.self)) {
                high = middle
            } else {
                low = middle
            }
        }
    }

    /// Tries a log of only some events, together with the pinned ones; keeps it if it shows the
    /// failure.
    mutating func tryOnly(_ indexes: [Int]) throws -> Bool {
        var history = ShrinkHistory(source)
        try history.add(indexes, source, goesOn: checkGoingOn)
        guard let history = try followed(history), history.indexes.count < current.indexes.count,
            try shows(history)
        else { return false }
        current = history
        reportSize()
        return true
    }

    /// The log without answers of conflict rules whose server record was left out.
    private func followed(_ history: ShrinkHistory) throws -> ShrinkHistory? {
        var history = history
        var indexes = history.indexes
        while true {
            let gone = history.unfollowed(source)
            guard !gone.isEmpty else { return history }
            indexes.removeAll { gone.contains($0) }
            history = ShrinkHistory(source)
            try history.add(indexes, source, goesOn: checkGoingOn)
        }
    }

    /// Leaves out as many commits or events at a time as possible, then one at a time.
    mutating func pass(_ phase: ShrinkProgress.Phase, halving: Bool) throws {
        var size = max(1, units(phase, current.indexes).count / 2)
        if !halving { size = 1 }
        while true {
            let before = current.indexes.count
            try pass(phase, size: size)
            if size > 1 {
                size = max(1, min(size, units(phase, current.indexes).count) / 2)
            } else if current.indexes.count == before {
                break
            }
        }
        reportSize()
    }

    private func units(_ phase: ShrinkProgress.Phase, _ indexes: some Sequence<Int>) -> [[Int]] {
        phase == .commits ? source.byCommit(indexes) : indexes.map { [$0] }
    }

    /// Tries the log without each part of a size, from the first on.
    private mutating func pass(_ phase: ShrinkProgress.Phase, size: Int) throws {
        var prefix = ShrinkHistory(source)
        var rest = units(phase, current.indexes)[...]
        while !rest.isEmpty {
            let part = rest.prefix(size).flatMap(\.self)
            let later = rest.dropFirst(size)
            let kept = part.filter { source.rules.pinned.contains($0) }
            if kept.count < part.count {
                var trial = prefix
                try trial.add(
                    kept + later.flatMap(\.self), source, goesOn: checkGoingOn)
                if let trial = try followed(trial), try shows(trial) {
                    current = trial
                    let done = prefix.indexes.count
                    try prefix.add(kept, source, goesOn: checkGoingOn)
                    let added = prefix.indexes.count - done
                    if trial.indexes.starts(with: prefix.indexes) {
                        rest = units(phase, trial.indexes.dropFirst(done + added))[...]
                        reportSize()
                        continue
                    }
                    // An earlier event may not be needed any more either.
                    return try pass(phase, size: size)
                }
            }
            try prefix.add(part, source, goesOn: checkGoingOn)
            rest = later
        }
    }

    mutating func reportSize() {
        report(
            .commits, before: source.byCommit(source.entries.indices).count,
            now: source.byCommit(current.indexes).count)
        report(.events, before: source.entries.count, now: current.indexes.count)
    }
}
