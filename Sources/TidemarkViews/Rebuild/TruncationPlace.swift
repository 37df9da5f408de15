// TruncationPlace.swift — where a log is to begin: by what is to be kept of it, what is needed, and
// where commits end.

package import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore

extension Journal {
    /// The last event that may be dropped by what is to be kept, or a later one; nil for none.
    ///
    /// By the time of the last event, not by now: nothing is dropped because a device was off.
    package func lastBeyond(_ keep: KeptLog) throws -> Position? {
        switch keep {
        case .all: return nil
        case .span(let span):
            let ages = try LogAges(read { try $0.runTimes() })
            let last = try environment.read { transaction in
                try log.event(at: try log.lastPosition(transaction), transaction)
            }
            return try ages.end(last).flatMap {
                try position(asOf: $0.subtracting(span), by: ages.time)
            }
        case .bytes(let bytes):
            return try environment.read { try log.lastBeyond(bytes: bytes, $0) }
        }
    }

    /// The last end of a commit up to an event where the log can be cut, of which nothing is
    /// needed; nil where there is none.
    ///
    /// - Parameter kept: how many events at the end are not to be sealed.
    package func truncationEnd(
        upTo wanted: Position, _ limit: TruncationLimit, keeping kept: UInt64
    ) throws -> Position? {
        try environment.read { transaction in
            let last = try log.lastPosition(transaction).rawValue
            let sealed = try max(
                log.sealed.last(transaction).rawValue, last - min(last, max(kept, 1)))
            let most = min(wanted.rawValue, limit.last.rawValue, sealed - min(sealed, 1))
            let base = try log.base(transaction)?.position ?? .start
            guard most > base.rawValue else { return nil }
            let end = try log.commitEnd(from: Position(most), reversed: true, transaction)
            return end.flatMap { $0 > base ? $0 : nil }
        }
    }

    // MARK: By itself

    /// The fewest events that a store drops by itself.
    private static let truncationEventsMin: UInt64 = 4_096

    /// Where the log is to be cut by the model's `settings.keep`: at a snapshot that is there
    /// already, behind which at least as much stays as is to be kept; nil for nowhere.
    func truncationDue() throws -> Position? {
        guard let (keep, all) = try truncationPlaces() else { return nil }
        let limit = try truncationLimit(withRuns: true)
        let places = all.filter { $0 < limit.first }
        guard !places.isEmpty else { return nil }
        let last = try environment.read { try log.lastPosition($0) }
        let beyond = try lastBeyond(keep, among: places)
        let place = places.first { $0 <= beyond }
        if case .bytes(let bytes) = keep, place == nil {
            shared.keptWhole.withLock { $0 = (bytes, last) }
        }
        return place
    }

    /// Whether it has to be looked where the log is to be cut; costs a look at the model and at the
    /// snapshots.
    func mayTruncate() throws -> Bool { try truncationPlaces() != nil }

    /// What is to be kept, and the snapshots at which the log can be cut, the newest first; nil
    /// where nothing is to be dropped.
    private func truncationPlaces() throws -> (keep: KeptLog, places: [Position])? {
        guard guardian != nil else { return nil }
        let keep = try read { views in
            // Where the time is in doubt, nothing is taken for old.
            let isInDoubt = try views.serverClock()?.isInDoubt == true
            let keep = try views.model().settings.keep
            if case .span = keep, isInDoubt { return KeptLog.all }
            return keep
        }
        guard keep != .all, try !isKeptWhole(keep) else { return nil }
        let places = try environment.read { transaction in
            let base = try log.base(transaction)?.position ?? .start
            let sealed = try log.sealed.last(transaction)
            return try snapshots.manifests(transaction).filter {
                $0.isCurrent && $0.position < sealed
                    && $0.position.rawValue >= base.rawValue + Self.truncationEventsMin
            }
            .map(\.position)
        }
        guard !places.isEmpty else { return nil }
        return (keep, places)
    }

    /// Whether the log was found to have no more than the bytes that are to be kept, a few events
    /// before: to count them, blocks are opened.
    private func isKeptWhole(_ keep: KeptLog) throws -> Bool {
        guard case .bytes(let bytes) = keep, let known = shared.keptWhole.withLock({ $0 }),
            known.bytes == bytes
        else { return false }
        let last = try environment.read { try log.lastPosition($0) }
        return last >= known.last
            && last.rawValue < known.last.rawValue + Self.truncationEventsMin
    }

    /// As ``lastBeyond(_:)``, where only some places count; `@0` for none.
    private func lastBeyond(_ keep: KeptLog, among places: [Position]) throws -> Position {
        guard case .span(let span) = keep else { return try lastBeyond(keep) ?? .start }
        let ages = try LogAges(read { try $0.runTimes() })
        return try environment.read { transaction in
            let last = try log.event(at: try log.lastPosition(transaction), transaction)
            guard let end = ages.end(last)?.subtracting(span) else { return .start }
            return try places.first { place in
                try log.event(at: place, transaction).map { ages.time(of: $0, at: place) <= end }
                    ?? false
            } ?? .start
        }
    }

    /// Drops old events where the model asks for it; fails silently, as it can be done later.
    func truncateByModel(at now: Timestamp) {
        guard let place = try? truncationDue() else { return }
        _ = try? truncate(
            through: place, at: now,
            in: {
                throw StoreError(
                    .missing, during: "truncate", detail: "the snapshot at \(place) is not whole")
            })
    }
}

/// How old events are.
///
/// A device's clock that is wrong once makes none older than the server's times say.
private struct LogAges {
    /// The runs of which the server's time is known, the last one first.
    let runs: [(begun: Position, time: Timestamp)]

    init(_ runs: [(begun: Position, time: Timestamp)]) { self.runs = runs }

    /// The time of the last event, or of the last run by the server, whichever is earlier.
    func end(_ last: Event?) -> Timestamp? {
        last.map { min($0.recordedAt, runs.first?.time ?? $0.recordedAt) }
    }

    /// The time of an event, or of the last run before it by the server, whichever is later.
    func time(of event: Event, at position: Position) -> Timestamp {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].begun <= position { high = middle } else { low = middle + 1 }
        }
        return low < runs.count ? max(event.recordedAt, runs[low].time) : event.recordedAt
    }
}

extension ViewReader {
    /// When runs began by the server's clock, of those where that is known; the last one first, and
    /// of those before the log's first event only their last one.
    fileprivate func runTimes() throws -> [(begun: Position, time: Timestamp)] {
        let first = try beginning()?.first ?? Position(1)
        var times: [(begun: Position, time: Timestamp)] = []
        try forEachSyncRun { begun, run in
            if let time = run.serverTime { times.append((begun, time)) }
            return times.last.map { $0.begun >= first } ?? true
        }
        return times
    }
}
