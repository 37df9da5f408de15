// CommitFeed.swift — tells subscribers what a commit changed, once it is on disk.
//
// Watchers are kept by collection, and there by what they watch: one entity, the entities with a
// value or in a range of one field, or any (CollectionWatchers.swift). Who watches all of several
// collections is kept in each. So a commit asks few of many, and one that nobody cares for costs a
// look into a table. Those of every commit stand apart and are asked nothing. Conditions are
// evaluated by whoever asked for the commit, after it was stored and while others write already.

import TidemarkEvents
import TidemarkStore

/// The subscribers to a store's commits, whichever handle in this process makes them.
package final class CommitFeed: Sendable {
    /// More changed rows than this are told by their collections.
    static let changesMax = 256

    private struct State {
        /// The number that was given last.
        var last = 0
        var edits: [(number: Int, tell: @Sendable () -> Void)] = []
        var watches: [Int: Watch] = [:]
        /// The same watches, as a change finds them.
        var watchers: [CollectionName: CollectionWatchers] = [:]
        /// Those of every commit.
        var general: [Int: Watch] = [:]
        /// The numbers of those that name an entity.
        var naming: [EntityKey: Set<Int>] = [:]

        mutating func add(_ watch: Watch) {
            watches[watch.number] = watch
            for key in watch.interest.names { naming[key, default: []].insert(watch.number) }
            guard let collections = watch.interest.collections else {
                general[watch.number] = watch
                return
            }
            for collection in collections {
                watchers[collection, default: CollectionWatchers()].add(watch)
            }
        }

        mutating func remove(_ watch: Watch) {
            general[watch.number] = nil
            for collection in watch.interest.collections ?? [] {
                watchers[collection]?.remove(watch)
                if watchers[collection]?.isEmpty == true { watchers[collection] = nil }
            }
            for key in watch.interest.names {
                naming[key]?.remove(watch.number)
                if naming[key]?.isEmpty == true { naming[key] = nil }
            }
        }

        /// The watches of every commit, those that came after a number, and those that name an
        /// entity of some.
        func watches(after number: Int, naming keys: [EntityKey]) -> [Watch] {
            let late = number < last ? (number + 1...last).compactMap { watches[$0] } : []
            let named = keys.flatMap { naming[$0] ?? [] }.compactMap { watches[$0] }
            return late + named + Array(general.values)
        }
    }
    private let state = Lock(State())

    /// Has `tell` called after each commit with an edit, once it is on disk and before its writer
    /// goes on: it must return at once.
    ///
    /// - Returns: a number to end it by.
    package func watchEdits(_ tell: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.edits.append((state.last, tell))
            return state.last
        }
    }

    /// Has `tell` called after each commit that changed what `interest` says, as above; from now
    /// on, so that who reads afterwards misses nothing.
    ///
    /// A call too many does no harm: subscribers read again and compare.
    ///
    /// - Parameter journal: by which it reads; `tell` is also called when that is closed.
    /// - Returns: a number to end it by.
    package func watch(
        _ interest: Interest, for journal: Journal, _ tell: @escaping @Sendable () -> Void
    ) -> Int {
        let owner = ObjectIdentifier(journal)
        return state.withLock { state in
            state.last += 1
            state.add(
                Watch(number: state.last, owner: owner, interest: interest, tell: tell))
            return state.last
        }
    }

    /// Ends either.
    package func unwatch(_ number: Int) {
        state.withLock { state in
            if let watch = state.watches.removeValue(forKey: number) {
                state.remove(watch)
            } else {
                state.edits.removeAll { $0.number == number }
            }
        }
    }

    /// How many watch rows.
    package var watchCount: Int { state.withLock(\.watches.count) }

    /// Wakes those who read by a journal that was closed.
    func end(_ owner: ObjectIdentifier) {
        let watches = state.withLock { state in
            state.watches.values.filter { $0.owner == owner }
        }
        for watch in watches { watch.tell() }
    }

    /// What is watched now.
    var wanted: Wanted {
        state.withLock { state in
            Wanted(last: state.last, edits: !state.edits.isEmpty, watchers: state.watchers)
        }
    }

    struct Wanted: Sendable {
        /// The number of the last subscriber.
        let last: Int
        let edits: Bool
        let watchers: [CollectionName: CollectionWatchers]
    }

    /// Tells of a commit that is on disk.
    func tell(_ news: CommitNews) {
        let (edits, watchers, others) = state.withLock { state in
            // Who came while the commit was stored may have read what was there before it.
            let hasLate = state.last > news.asOf
            return (
                news.mayBeSent || hasLate ? state.edits.map(\.tell) : [],
                news.changesNothing ? [:] : state.watchers,
                state.watches(after: news.asOf, naming: news.named)
            )
        }
        for tell in edits { tell() }
        var woken: [Int: Watch] = [:]
        func wake(_ watch: Watch) { woken[watch.number] = watch }
        others.forEach(wake)
        if news.isModelChanged { for watchers in watchers.values { watchers.forEach(wake) } }
        for collection in news.collections { watchers[collection]?.forEach(wake) }
        for key in news.named { watchers[key.collection]?.forEachOfWhole(wake) }
        for change in news.changes {
            guard let watchers = watchers[change.key.collection] else { continue }
            watchers.forEachOfWhole(wake)
            guard watchers.asksForVersions else { continue }
            do {
                try watchers.forEach(of: EntityVersions(change, news.model), wake)
            } catch {
                // A row that can't be read: its reader gets the error.
                watchers.forEach(wake)
            }
        }
        for (_, watch) in woken.sorted(by: { $0.key < $1.key }) { watch.tell() }
    }
}
