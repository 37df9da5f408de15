// Capsule+Journal.swift — makes a capsule of a store, and a readable store of a capsule.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Capsule {
    /// Takes the last commits of a store, and the views before them.
    ///
    /// - Parameters:
    ///   - events: the least number of last events to take, if there are as many; nil for all.
    ///   - end: the last event to take, where a commit ends; nil for the log's last one.
    ///   - build: the version of Tidemark.
    ///   - scratch: a new directory for the views before them; the caller removes it.
    ///   - progress: called repeatedly while the views before them are folded.
    package init(
        of journal: Journal, last events: UInt64? = nil, through end: Position? = nil,
        build: String, scratch: String,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        var commits: [Commit] = []
        var named: [BodyReference: [UInt8]] = [:]
        var answers: [Answers] = []
        var provenance = Provenance(build: build, last: .start, root: [])
        try journal.environment.read { transaction in
            provenance.last = try journal.log.lastPosition(transaction)
            provenance.root = try journal.log.edge(transaction).root
            let from = events.map { wanted in
                let last = provenance.last.rawValue
                return Position(last > wanted ? last - wanted + 1 : 1)
            }
            // A commit record has its last position as key, so the first record found holds the
            // event asked for.
            try journal.log.forEachCommit(from: from, transaction) { record in
                if let end {
                    guard record.last <= end else { return false }
                    (provenance.last, provenance.root) = (record.last, record.root)
                }
                var entries: [Entry] = []
                try journal.log.forEach(from: record.first, transaction) { position, event in
                    guard position <= record.last else { return false }
                    entries.append(Entry(position: position, event: event))
                    if let body = event.namedBody {
                        named[body] = try journal.log.body(body, at: position, transaction)
                    }
                    let kept = try journal.log.answers(namedBy: event, at: position, transaction)
                    if let kept { answers.append(Answers(position: position, answers: kept)) }
                    return position < record.last
                }
                commits.append(Commit(entries: entries, views: record.views))
                return true
            }
        }
        var base = Base()
        if let first = commits.first?.first, first > Position(1) {
            let before = Position(first.rawValue - 1)
            let past = try PastViews(
                of: journal, at: before, in: scratch, progress: progress)
            defer { try? past.close() }
            base.position = before
            // What other rules made is told as what it is.
            let begun = try journal.environment.read { try journal.snapshots.base($0) }
            if let begun, !begun.isCurrent { base.fingerprints = begun.fingerprints }
            for tree in Tree.allCases {
                try past.walk(tree) { key, value in
                    base.rows.append(SnapshotRow(key: RowKey(tree, key), value: value))
                    return true
                }
            }
        }
        let bodies = named.sorted { $0.key.digits < $1.key.digits }.map(\.value)
        self.init(
            provenance: provenance, base: base, commits: commits, bodies: bodies, answers: answers)
    }

    /// Makes a store of it in a new directory: its events at their positions, and the views as
    /// today's rules make them.
    ///
    /// For reading only; events before its base are not in it.
    package func unpacked(in directory: String) throws -> Journal {
        let journal = Journal(
            try Environment.open(at: directory, Journal.options()))
        do {
            try journal.environment.write { transaction in
                try fill(journal, transaction)
            }
            try journal.rebuild(after: base.position) { write in
                for row in base.rows { try write(row.key, row.value) }
            }
        } catch {
            try? journal.close()
            throw Self.told(error)
        }
        return journal
    }

    /// Says by which rules the rows were made that it begins with, where it was cut out of another
    /// capsule: those that the whole begins with are still in it, and unpacking forgets of them.
    package mutating func takeRules(of whole: Capsule) {
        guard base.position > .start, whole.base.position > .start else { return }
        base.fingerprints = whole.base.fingerprints
    }

    /// The meaning of an error while unpacking; the advice in a store's error does not fit a
    /// capsule.
    private static func told(_ error: any Error) -> any Error {
        switch error {
        case let error as ProtoError:
            CapsuleError(.invalid, "a row of its base can't be read: \(error)")
        case let error as StoreError where error.code == .badKey:
            CapsuleError(.invalid, "its events make a row of no key: \(error)")
        default: error
        }
    }

    private func fill(
        _ journal: Journal, _ transaction: borrowing WriteTransaction
    ) throws {
        if base.position > .start {
            try journal.snapshots.write(
                at: base.position, fingerprints: View.allFingerprints, transaction
            ) { write in
                for row in base.rows { try write(row.key, row.value) }
            }
        }
        let kept = Dictionary(
            answers.map { ($0.position, $0.answers) }, uniquingKeysWith: { first, _ in first })
        for commit in commits {
            try journal.log.place(
                commit.entries.map { ($0.position, $0.event) }, views: commit.views, transaction)
            for entry in commit.entries {
                guard let run = entry.event.sync, let own = kept[entry.position] else { continue }
                try journal.log.kept.keep(
                    try AnswerTable.stored(own, sharing: []), of: run, at: entry.position,
                    bytesMax: .max, transaction)
            }
        }
        for body in bodies { try journal.log.place(body, transaction) }
    }
}

extension EventLog {
    /// The answers that an event names; nil where there are none, or they no longer match their
    /// hash, which only a verification reports.
    fileprivate func answers(
        namedBy event: Event, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [KeptAnswer]? {
        guard let (name, run) = event.keptName else { return nil }
        do {
            return try kept.answers(named: name, of: run, at: position, transaction)
        } catch let error as LogError
            where error.code == .corruptAnswer || error.code == .newerFormat
        {
            return nil
        } catch let error as StoreError where error.code == .damaged { return nil }
    }
}
