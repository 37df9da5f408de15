// CommitQueue.swift — the records of commits in order, each looked at for whether it joins the one
// before it: as they come with the events, and those of format 1, in their own table, read ahead
// some at a time.

import TidemarkEvents
import TidemarkStore

/// Commits that were read and not met yet.
struct CommitQueue {
    /// How many were read.
    private(set) var count: UInt64 = 0
    /// The event that the next commit has to begin with.
    private(set) var next: Position
    /// Whether one did not join the one before it.
    private(set) var isBroken = false
    private var records: ArraySlice<CommitRecord> = []
    private(set) var hasMoreFormer: Bool

    /// - Parameters:
    ///   - base: the last event whose commit's record is not there any more.
    ///   - hasFormer: whether there may be records of format 1 in their own table.
    init(after base: Position = .start, hasFormer: Bool) {
        next = base.next
        hasMoreFormer = hasFormer
    }

    /// Whether the next record may be one of format 1 that was not read yet.
    var awaitsFormer: Bool { records.isEmpty && hasMoreFormer }

    var first: CommitRecord? { records.first }

    mutating func removeFirst() { records.removeFirst() }

    /// Goes on where records can't be read: whether those behind them join is not to be told.
    mutating func loseSome() { isBroken = true }

    /// Takes the next record.
    ///
    /// - Returns: what is wrong with it.
    mutating func take(_ found: Result<CommitRecord, LogError>, _ end: Position) -> LogError? {
        guard end >= next else {
            isBroken = true
            return LogError(.corruptCommit, at: next, "a commit's key is no later position")
        }
        defer { next = end.next }
        count += 1
        switch found {
        case .failure(let error):
            isBroken = true
            return error
        case .success(let record):
            records.append(record)
            guard record.first != next || record.last < record.first, !isBroken else { return nil }
            isBroken = true
            return LogError(.corruptCommit, at: end, "it begins at \(record.first), not at \(next)")
        }
    }

    /// Reads further records of format 1 when none are left, about a megabyte of them.
    ///
    /// - Returns: what is wrong with them.
    mutating func fillFormer(
        upTo last: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [LogError] {
        guard awaitsFormer else { return [] }
        hasMoreFormer = false
        var findings: [LogError] = []
        var bytes = 0
        try log.forEachFormerCommit(from: next, transaction) { end, value in
            guard let end, end >= next else {
                findings.append(
                    LogError(.corruptCommit, at: next, "a commit's key is no later position"))
                isBroken = true
                return false
            }
            guard end <= last else { return false }
            let found = Result { () throws(LogError) in
                do { return try CommitRecord(parsing: value.copied(), last: end) } catch {
                    throw LogError(.corruptCommit, at: end, "\(error)")
                }
            }
            if let finding = take(found, end) { findings.append(finding) }
            bytes += value.count
            hasMoreFormer = bytes >= 1 << 20
            return !hasMoreFormer
        }
        return findings
    }
}
