// Shrink+Guess.swift — guesses what a failure is about: the last commit, the entities that it and
// the predicate name, and those that these refer to.

import TidemarkCapsule
import TidemarkEvents

extension Shrinker {
    /// Tries a few likely parts of the log, the smallest first.
    mutating func guess() throws {
        guard current.indexes.count > 16 else { return }
        let slice = LogSlice(source, current.indexes)
        var subjects = StatePredicate.Subjects()
        if case .holds(let predicate) = failure { subjects = predicate.subjects }
        for events in slice.guesses(subjects) {
            guard events.count < current.indexes.count else { return }
            if try tryOnly(events) { return }
        }
    }
}

/// The events of a log, indexed by entity, commit and position.
private struct LogSlice {
    private let source: ShrinkSource
    private let indexes: [Int]
    private var byKey: [EntityKey: [Int]] = [:]
    private var byID: [ExactString: [EntityKey]] = [:]
    private var byCommit: [Int: [Int]] = [:]
    private var byPosition: [Position: Int] = [:]

    init(_ source: ShrinkSource, _ indexes: [Int]) {
        self.source = source
        self.indexes = indexes
        for index in indexes {
            let event = source.entries[index].event
            byPosition[source.entries[index].position] = index
            byCommit[source.commits[index], default: []].append(index)
            guard let key = event.key else { continue }
            note(key, index)
            if let id = event.read(PushAccepted.self)?.serverID {
                note(EntityKey(key.collection, id), index)
            }
        }
    }

    private mutating func note(_ key: EntityKey, _ index: Int) {
        if byKey[key] == nil { byID[ExactString(key.id), default: []].append(key) }
        byKey[key, default: []].append(index)
    }

    func guesses(_ subjects: StatePredicate.Subjects) -> [[Int]] {
        var events = Set(source.rules.pinned)
        if let last = indexes.last { events.formUnion(byCommit[source.commits[last]] ?? []) }
        events.formUnion(subjects.positions.compactMap { byPosition[$0] })
        var keys = Set(subjects.keys)
        var guesses: [[Int]] = []
        for _ in 0..<4 {
            events = closed(events)
            guesses.append(events.sorted())
            for index in events { keys.formUnion(self.keys(of: index)) }
            for key in keys { events.formUnion(byKey[key] ?? []) }
            // The events of these commits that are about no entity: pages, ends of lists, runs.
            for commit in Set(events.map { source.commits[$0] }) {
                events.formUnion(
                    (byCommit[commit] ?? []).filter { source.entries[$0].event.entity == nil })
            }
            events = closed(events)
            guesses.append(events.sorted())
            for index in events { keys.formUnion(named(by: index)) }
        }
        let collections = Set(
            keys.map(\.collection) + subjects.collections)
        for index in indexes {
            let name = source.entries[index].event.collection
            if name.map({ collections.contains($0) }) ?? true { events.insert(index) }
        }
        guesses.append(closed(events).sorted())
        var seen: Set<[Int]> = []
        return guesses.filter { seen.insert($0).inserted }
    }

    /// The events, and all others that they require.
    private func closed(_ events: Set<Int>) -> Set<Int> {
        var closed = events
        var waiting = Array(events)
        while let index = waiting.popLast() {
            let later = source.rules.followers[index].map { [$0] } ?? []
            for need in source.rules.needs[index] + later where closed.insert(need).inserted {
                waiting.append(need)
            }
        }
        return closed
    }

    private func keys(of index: Int) -> [EntityKey] {
        let event = source.entries[index].event
        guard let key = event.key else { return [] }
        let id = event.read(PushAccepted.self)?.serverID
        return [key] + (id.map { [EntityKey(key.collection, $0)] } ?? [])
    }

    /// The entities of the log whose id occurs in a payload.
    private func named(by index: Int) -> [EntityKey] {
        let event = source.entries[index].event
        guard event.entity != nil, let value = try? JSONValue(parsing: event.payload) else {
            return []
        }
        var keys: [EntityKey] = []
        func visit(_ value: JSONValue) {
            switch value {
            case .string(let text): keys += byID[ExactString(text)] ?? []
            case .number(let number): keys += byID[ExactString(number.text)] ?? []
            case .array(let values): values.forEach(visit)
            case .object(let object): for (_, value) in object { visit(value) }
            case .null, .bool: break
            }
        }
        visit(value)
        return keys
    }
}
