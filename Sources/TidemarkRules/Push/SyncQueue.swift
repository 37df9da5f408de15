// SyncQueue.swift — what waits to be synced while a run is going on: flags, each once, and which of
// them is next.
//
//   some collections   before everything else, even between a pull and its push
//   push               where it is owed after a pull
//   pull               of everything; owes a push
//   push               that was asked for
//   clean-up           last

package import TidemarkEvents

/// What waits to be synced.
package struct SyncQueue: Sendable, Hashable {
    /// One thing to do.
    package enum Work: Sendable, Hashable {
        /// Pull some collections: a light pull.
        case pullSome
        case pull
        case push
        case cleanUp
    }

    private var asked: Set<Work> = []
    private var isPushOwed = false

    package init() {}

    package var isEmpty: Bool { asked.isEmpty && !isPushOwed }

    /// Queues a task; one that waits already is not queued twice.
    package mutating func ask(_ work: Work) { asked.insert(work) }

    /// Removes and returns the next task; nil when there is none.
    package mutating func next() -> Work? {
        if asked.remove(.pullSome) != nil { return .pullSome }
        if isPushOwed {
            isPushOwed = false
            asked.remove(.push)
            return .push
        }
        if asked.remove(.pull) != nil {
            isPushOwed = true
            return .pull
        }
        return asked.remove(.push) ?? asked.remove(.cleanUp)
    }

    /// Empties the queue, an owed push included.
    package mutating func clear() { self = SyncQueue() }

    /// The place of a new run in the queue: behind all that are at least as urgent, in the order of
    /// ``next()``.
    package static func place(of scope: SyncScope, among waiting: [SyncScope]) -> Int {
        let rank = rank(scope)
        return waiting.firstIndex { self.rank($0) > rank } ?? waiting.count
    }

    private static func rank(_ scope: SyncScope) -> Int {
        switch scope {
        case .pull, .fetch, .select, .folders, .reserve: 0
        // A pull with the push that it owes.
        case .all: 1
        case .push: 2
        case .cleanUp: 3
        }
    }
}
