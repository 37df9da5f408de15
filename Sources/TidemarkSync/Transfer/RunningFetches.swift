// RunningFetches.swift — the requests for files that are on their way, and those of them that are
// stopped: what names the file was deleted here, or lies in what was.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// The requests for files of one driver that have no answer yet.
final class RunningFetches: Sendable {
    private struct Fetch: Sendable {
        var source: ContentSource
        var stop: @Sendable () -> Void
        var isStopped = false
    }
    private let fetches = Lock<[Position: Fetch]>([:])

    func begin(_ call: Position, of source: ContentSource, stop: @escaping @Sendable () -> Void) {
        fetches.withLock { $0[call] = Fetch(source: source, stop: stop) }
    }

    /// Ends one.
    ///
    /// - Returns: whether it was stopped.
    func end(_ call: Position) -> Bool {
        fetches.withLock { $0.removeValue(forKey: call)?.isStopped ?? false }
    }

    /// Stops those of files that somebody says are not to be fetched.
    func stop(where isMeant: (ContentSource) throws -> Bool) rethrows {
        let open = fetches.withLock { fetches in
            fetches.filter { !$0.value.isStopped }.sorted { $0.key < $1.key }
        }
        for (call, fetch) in open where try isMeant(fetch.source) {
            fetches.withLock { $0[call]?.isStopped = true }
            fetch.stop()
        }
    }
}
