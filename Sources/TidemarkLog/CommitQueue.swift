// CommitQueue.swift — the records of commits in order, read ahead some at a time.

import TidemarkEvents
import TidemarkStore

/// Commits that were read and not looked at yet; holds about a megabyte of them.
struct CommitQueue {
    /// How many were read.
    private(set) var count: UInt64 = 0
    /// The event that the next commit has to begin with.
    private(set) var next = Position(1)
    /// Whether one did not join the one before it.
    private(set) var isBroken = false
    private var records: ArraySlice<CommitRecord> = []
    private var hasMore = true

    var first: CommitRecord? { records.first }
    var mustBeFilled: Bool { records.isEmpty && hasMore }

    mutating func removeFirst() { records.removeFirst() }

    /// Reads further records when none are left.
    ///
    /// - Returns: what is wrong with them.
    mutating func fill(
        upTo last: Position, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [LogError] {
        guard mustBeFilled else { return [] }
        hasMore = false
        var findings: [LogError] = []
        var bytes = 0
        try transaction.scan(
            log.commits, from: next.bigEndianBytes, prefix: [], reversed: false
        ) { key, value in
            guard let end = Position(key), end >= next else {
                findings.append(
                    LogError(.corruptCommit, at: next, "a commit's key is no later position"))
                isBroken = true
                return false
            }
            guard end <= last else { return false }
            if let finding = take(value, end) { findings.append(finding) }
            bytes += value.count
            hasMore = bytes >= 1 << 20
            return !hasMore
        }
        return findings
    }

    private mutating func take(_ value: Span<UInt8>, _ end: Position) -> LogError? {
        defer { next = end.next }
        count += 1
        do throws(ProtoError) {
            let record = try CommitRecord(parsing: value.copied(), last: end)
            records.append(record)
            guard record.first != next || record.last < record.first, !isBroken else { return nil }
            isBroken = true
            return LogError(.corruptCommit, at: end, "it begins at \(record.first), not at \(next)")
        } catch {
            isBroken = true
            return LogError(.corruptCommit, at: end, "\(error)")
        }
    }
}
