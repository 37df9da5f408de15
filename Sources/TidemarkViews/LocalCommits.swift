// LocalCommits.swift — tells whoever wants to know that something was edited here.

import TidemarkEvents
import TidemarkStore

/// Those who are told of commits with edits.
package final class LocalCommits: Sendable {
    private struct Watchers {
        var next = 0
        var all: [(number: Int, tell: @Sendable () -> Void)] = []
    }
    private let watchers = Lock(Watchers())

    /// Has `tell` called after each commit with an edit, once it is on disk and before its writer
    /// goes on: it must return at once.
    ///
    /// - Returns: a number to end it by.
    package func watch(_ tell: @escaping @Sendable () -> Void) -> Int {
        watchers.withLock { watchers in
            watchers.next += 1
            watchers.all.append((watchers.next, tell))
            return watchers.next
        }
    }

    /// Ends it.
    package func unwatch(_ number: Int) {
        watchers.withLock { watchers in watchers.all.removeAll { $0.number == number } }
    }

    /// Whether anybody wants to know.
    var areWatched: Bool { watchers.withLock { watchers in !watchers.all.isEmpty } }

    func tell() {
        let all = watchers.withLock { watchers in watchers.all.map(\.tell) }
        for tell in all { tell() }
    }
}

extension Event {
    /// Whether the user did it here.
    var isLocal: Bool {
        switch kind {
        case .localCreated, .localUpdated, .localDeleted, .localDiscarded, .localRetried:
            true
        default: false
        }
    }
}
