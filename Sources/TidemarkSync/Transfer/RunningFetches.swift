// RunningFetches.swift — the requests about files that are on their way, and those of them that are
// stopped: what names the file was deleted here, or lies in what was, or it need not be sent.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// The requests about files of one driver that have no answer yet.
final class RunningFetches: Sendable {
    private struct Fetch: Sendable {
        var source: ContentSource
        var isSend: Bool
        var stop: @Sendable () -> Void
        var isStopped = false
    }
    private let fetches = Lock<[Position: Fetch]>([:])

    /// - Parameter isSend: whether it sends the file, the digest of which stands as the source.
    func begin(
        _ call: Position, of source: ContentSource, isSend: Bool = false,
        stop: @escaping @Sendable () -> Void
    ) {
        fetches.withLock { $0[call] = Fetch(source: source, isSend: isSend, stop: stop) }
    }

    /// Ends one.
    ///
    /// - Returns: whether it was stopped.
    func end(_ call: Position) -> Bool {
        fetches.withLock { $0.removeValue(forKey: call)?.isStopped ?? false }
    }

    /// Stops those that nobody needs any more.
    func stopUnneeded(_ views: some RowReading) throws {
        let open = fetches.withLock { fetches in
            fetches.filter { !$0.value.isStopped }.sorted { $0.key < $1.key }
        }
        for (call, fetch) in open {
            let isNeeded =
                try fetch.isSend
                ? views.send(fetch.source)?.call == call : !views.isDeleted(fetch.source)
            guard !isNeeded else { continue }
            fetches.withLock { $0[call]?.isStopped = true }
            fetch.stop()
        }
    }
}

/// What a request for a file uses from its commit on: nothing where the commit fails.
final class RequestUse: Sendable {
    private let use: ContentUse
    private let begun = Lock<TransferRequest?>(nil)

    init(_ use: ContentUse) { self.use = use }

    /// Notes what a request uses, within the commit that logs it: nobody removes it in between.
    func begin(_ request: TransferRequest) {
        use.begin(part: request.part)
        use.begin(request.plan.source)
        begun.withLock { $0 = request }
    }

    private func end() {
        let request = begun.withLock { request in
            defer { request = nil }
            return request
        }
        guard let request else { return }
        use.end(request.plan.source)
        use.end(part: request.part)
    }

    /// Makes the commit; `body` may be run again, and may then begin another request.
    func noting<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        do {
            return try await journal.write(at: now) { draft in
                self.end()
                return try body(draft)
            }
        } catch {
            end()
            throw error
        }
    }
}
