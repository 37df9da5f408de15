// FoldDropped.swift — rows that go, as the log begins later: those of dropped events, and those of
// where entities were that no anchor needs any more (PlaceRows.swift).

import TidemarkEvents
import TidemarkRules

/// Rows of dropped events that were read and are there yet.
final class DueRows: FoldMemory {
    /// The last one first.
    var keys: [RowKey] = []
    /// Where the others begin: of which sort, and behind which key of it.
    var sort = 0
    var rest: [UInt8] = []
}

extension Fold {
    /// How many rows go with `log.truncated`, besides the others of the last one's event.
    private static let rowsWithTruncation = 10_000
    /// Of how many events of a run the end counts, with which two rows go for each of them.
    private static let eventsOfRunMax: UInt64 = 50_000
    private static let rowsReadAtOnce = 4_096

    /// `log.truncated`: the rows of settled mutations, of decisions and of runs up to there go with
    /// their events.
    ///
    /// They do so with this event and, where they are many, with the ends of later runs: so no
    /// commit pays for all of them, and more go than come.
    func beginDropping(through last: Position, _ position: Position) throws {
        let before = try droppedRows()
        var last = min(last, Position(max(position.rawValue, 1) - 1))
        // What waits, and what an issue is about, was never dropped; nothing behind it goes.
        for prefix in [Ledger.open, Ledger.openDerived, Ledger.lost] {
            guard let first = try firstRow(prefix)?.bytes.dropFirst(prefix.count).prefix(8),
                let position = Position(bigEndianBytes: first)
            else { continue }
            last = min(last, Position(max(position.rawValue, 1) - 1))
        }
        last = max(last, before?.last ?? .start)
        let row = DroppedRow(
            last: last, runs: try runsNeeded(through: last, behind: before), isLeft: true)
        let isAny = try Ledger.ofEvents.contains {
            try !dueRows(row, $0, from: $0, atMost: 1).isEmpty
        }
        guard isAny || before != nil else { return }
        put(.dropped, row.encoded)
        let due = memory(DueRows.self)
        (due.keys, due.sort, due.rest) = ([], 0, [])
    }

    /// The first row whose key begins so.
    private func firstRow(_ prefix: [UInt8]) throws -> RowKey? {
        var first: RowKey?
        try walk(.ledger, prefix) { bytes, _ in
            first = RowKey(.ledger, bytes)
            return false
        }
        return first
    }

    /// The runs that are looked for behind the beginning of the log: the last one, the last ones of
    /// everything, the last one of these that asked for something and ended, and the last one of
    /// which the server's time is known.
    ///
    /// - Parameter before: what was dropped before: of the runs up to there those that it kept are
    ///   all that may be needed.
    private func runsNeeded(
        through last: Position, behind before: DroppedRow?
    ) throws -> [Position] {
        var newest: Position?
        var timed: Position?
        var ended: Position?
        var whole: [Position] = []
        func note(_ position: Position, _ value: [UInt8]) throws {
            let run = try SyncRunRow(parsing: value)
            newest = position
            if run.serverTime != nil { timed = position }
            guard run.scope == .all else { return }
            whole.append(position)
            if whole.count > SyncGates.runsMax { whole.removeFirst() }
            if run.finished != nil, SyncFinished(stored: run.summary).requests > 0 {
                ended = position
            }
        }
        for run in before?.runs ?? [] {
            if let value = try get(.syncRun(run)) { try note(run, value) }
        }
        let start = before.map { RowKey.syncRun($0.last.next).bytes } ?? Ledger.syncRuns
        try walk(.ledger, Ledger.syncRuns, from: start) { bytes, value in
            guard let position = Position(bigEndianBytes: bytes.dropFirst()), position <= last
            else { return false }
            try note(position, value)
            return true
        }
        return Set(whole + [newest, timed, ended].compactMap(\.self)).sorted()
    }

    /// Drops rows whose events were dropped, with `log.truncated` and the end of a run.
    func dropDueRows(with event: Event, _ position: Position) throws {
        guard var dropped = try droppedRows(), dropped.isLeft else { return }
        var left = Self.rowsWithTruncation
        if event.kind == .syncFinished {
            // Twice as many as the run has events, so that they become fewer.
            let run = event.sync.map { position.rawValue - min($0.rawValue, position.rawValue) }
            left = Int(2 * min(run ?? 0, Self.eventsOfRunMax) + 2)
        }
        let due = memory(DueRows.self)
        var last: ArraySlice<UInt8> = []
        while true {
            if due.keys.isEmpty {
                try readRows(dropped, into: due, atMost: min(Self.rowsReadAtOnce, max(left, 1)))
            }
            guard let key = due.keys.last else {
                dropped.isLeft = false
                return put(.dropped, dropped.encoded)
            }
            // Those of one event go together: in which order they lie depends on their entities.
            let place = key.bytes.prefix(9)
            guard left > 0 || place == last else { return }
            due.keys.removeLast()
            (last, left) = (place, left - 1)
            put(key, nil)
            // One that was settled since the rows were stored may lie among the open ones.
            if let mutation = key.mutation?.position, writtenMutation(mutation) != nil {
                put(.open(mutation), nil)
            }
        }
    }

    /// Reads some more of the rows of dropped events, in the order of their keys.
    private func readRows(
        _ dropped: DroppedRow, into due: DueRows, atMost count: Int
    ) throws {
        while due.keys.isEmpty, due.sort < Ledger.ofEvents.count {
            let prefix = Ledger.ofEvents[due.sort]
            let found = try dueRows(
                dropped, prefix, from: due.rest.isEmpty ? prefix : due.rest,
                atMost: count)
            if let end = found.last {
                due.rest = end.bytes + [0]
            } else {
                (due.sort, due.rest) = (due.sort + 1, [])
            }
            due.keys = found.reversed()
        }
    }

    private func dueRows(
        _ dropped: DroppedRow, _ prefix: [UInt8], from: [UInt8], atMost count: Int
    ) throws -> [RowKey] {
        var found: [RowKey] = []
        try walk(.ledger, prefix, from: from) { bytes, _ in
            let position = Position(bigEndianBytes: bytes.dropFirst(prefix.count).prefix(8))
            guard let position, position <= dropped.last else { return false }
            let key = RowKey(.ledger, bytes)
            if dropped.takes(key) { found.append(key) }
            return found.count < count
        }
        return found
    }
}

extension Fold {
    private static let droppedAtOnce = 1_000
    static let droppedWithOne = 2
    private static let readAtOnce = 256

    /// `log.truncated`: no anchor is before the last event that was dropped, so that the rows up to
    /// there are not needed.
    ///
    /// Some go at once, the others two by two with each that comes: so they become fewer, and no
    /// commit pays for many.
    func dropPlaces(through last: Position) throws {
        guard try hasLedgerRow(Ledger.places) else { return }
        let known = memory(NotedPlaces.self)
        (known.dropped, known.isRead, known.due, known.rest) = (last, true, [], Ledger.places)
        put(.placesDropped, last.bigEndianBytes)
        try dropPlaces(atMost: Self.droppedAtOnce)
    }

    /// Drops so many of them.
    func dropPlaces(atMost count: Int) throws {
        let known = memory(NotedPlaces.self)
        if !known.isRead {
            known.dropped = try get(.placesDropped).flatMap { Position(bigEndianBytes: $0[...]) }
            known.isRead = true
        }
        guard let last = known.dropped else { return }
        for _ in 0..<count {
            guard let place = try nextPlace(through: last, of: known) else {
                known.dropped = nil
                return put(.placesDropped, nil)
            }
            put(place, nil)
        }
    }

    /// The next of them that is still there: others went with their collection.
    private func nextPlace(through last: Position, of known: NotedPlaces) throws -> RowKey? {
        while true {
            if known.due.isEmpty { try readPlaces(through: last, into: known) }
            guard let place = known.due.popLast() else { return nil }
            if try get(place) != nil { return place }
        }
    }

    /// Reads some more of the rows up to an event, in the order of the events.
    private func readPlaces(through last: Position, into known: NotedPlaces) throws {
        var due: [RowKey] = []
        try walk(.ledger, Ledger.places, from: known.rest) { bytes, _ in
            let position = bytes.dropFirst(Ledger.places.count).prefix(8)
            guard let position = Position(bigEndianBytes: position), position <= last else {
                return false
            }
            due.append(RowKey(.ledger, bytes))
            return due.count < Self.readAtOnce
        }
        if let end = due.last { known.rest = end.bytes + [0] }
        known.due = due.reversed()
    }
}
