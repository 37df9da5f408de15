// VerifyLog.swift — proving that the log is what was written, in steps of bounded time and memory.
//
// Events and commits are only ever appended. So one moment is taken as the end, with the right edge
// as it was then, and all before it is looked at in as many transactions as one likes: a writer may
// go on meanwhile, and no old page of the store is held for long.

package import TidemarkEvents
package import TidemarkStore

/// What a verification of the log looked at.
package struct LogVerification: Sendable, Hashable {
    package var events: UInt64 = 0
    package var commits: UInt64 = 0
    /// The last event that was dropped: what it looked at begins behind it; `@0` for none.
    package var base = Position.start
    package var bytes: UInt64 = 0
    /// The Merkle root over all events: recomputed, or, when only frames are looked at, as stored.
    package var root: Hash = []
    /// What is wrong, in the order of the log; at most as many as were asked for.
    package var findings: [LogError] = []
    /// The first payloads that are not what this version writes, so that no view reads them.
    package var foreign: [Foreign] = []
    /// How many of those there are.
    package var foreignCount = 0

    /// How many of those are told one by one.
    static let foreignMax = 10

    /// A payload that is not what this version writes.
    package struct Foreign: Sendable, Hashable, CustomStringConvertible {
        package var position: Position
        package var kind: EventKind
        package var problem: PayloadProblem

        init(_ position: Position, _ kind: EventKind, _ problem: PayloadProblem) {
            self.position = position
            self.kind = kind
            self.problem = problem
        }

        package var description: String {
            "\(position) \(kind): \(problem); no view reads the event"
        }
    }

    package init() {}
}

extension EventLog {
    /// Recomputes everything that can be recomputed from the log alone, in one transaction.
    ///
    /// Goes on after a finding, up to `findingsMax` of them.
    package func verify(
        findingsMax: Int = 100, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogVerification {
        var check = try LogCheck(self, findingsMax: findingsMax, transaction)
        while try check.step(transaction) {}
        return check.finished()
    }
}

/// A walk over the log up to where it ended when the walk began.
package struct LogCheck {
    /// What is looked at.
    package enum Depth: Sendable {
        /// The checksum of every frame, the density of the positions, how the commits join.
        case frames
        /// Besides that every header, the Merkle root of every commit, the right edge, and that
        /// every event is found by its position.
        case events
    }

    /// The last event that is looked at.
    package let last: Position
    /// The last event that was looked at so far.
    package private(set) var position = Position.start

    private let log: EventLog
    private let depth: Depth
    private let findingsMax: Int
    /// The right edge as it is stored; nil when it is damaged, or not that of `last`.
    private let stored: MerkleEdge?
    /// How many records of events and commits the tables hold, and how many commits there are, as
    /// is counted with each; nil when that is not known.
    private let counts: (records: UInt64, commits: UInt64)?
    private var checkpoints: ArraySlice<LogCheckpoint>
    /// Why some can't be proven any more.
    private var unproven: [LogError] = []
    private var result = LogVerification()
    private var edge = MerkleEdge()
    private var commits: CommitQueue
    /// Until the first damage; after it no root can be told right from wrong.
    private var rootsHold = true
    private var bodies = BodyCheck()
    /// The first sync run of which answers are kept.
    private let firstKept: Position?
    /// Where to go on; nil when there is nothing more to look at.
    private var next: Position? = Position(1)
    /// The range behind the next one, which another thread looks at already.
    private var ahead: Background<Result<LogRange, any Error>>?

    /// Takes the log's end as it is now.
    ///
    /// - Parameters:
    ///   - end: where to end instead, in the middle of the log.
    ///   - checkpoints: older ones, which must be of the same log; they need the depth `events`.
    package init(
        _ log: EventLog, _ depth: Depth = .events, upTo end: Position? = nil,
        checkpoints: [LogCheckpoint] = [], findingsMax: Int = 100,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        self.log = log
        self.depth = depth
        self.findingsMax = findingsMax
        self.checkpoints = checkpoints.sorted { $0.size < $1.size }[...]
        let last = try log.lastPosition(transaction)
        self.last = min(end ?? last, last)
        commits = CommitQueue(hasFormer: log.formerCommits != nil)
        firstKept = depth == .events ? try log.kept.runs(transaction).first : nil
        let base = try log.base(transaction)
        guard self.last == last else {
            (stored, counts) = (nil, nil)
            if let base { begin(after: base) }
            return
        }
        var findings: [LogError] = []
        stored = try log.storedEdge(last, &findings, transaction)
        let former = try log.formerCommitCount(transaction)
        let records =
            try UInt64(transaction.count(log.log)) + log.sealed.last(transaction).rawValue
        let gone = base?.position.rawValue ?? 0
        counts = stored.map { edge in
            let others = former + edge.sealedCommits
            return (records - min(records, edge.keptEvents + gone) + others, others + edge.commits)
        }
        result.findings = findings
        if let stored { result.root = stored.root }
        if let base { begin(after: base) }
        meetCheckpoints()
    }

    /// Begins with what is left of events that were dropped.
    private mutating func begin(after base: LogBase) {
        result.base = base.position
        position = base.position
        edge = base.edge
        edge.commits = 0
        commits = CommitQueue(after: base.position, hasFormer: commits.hasMoreFormer)
        next = base.position.next
        while let checkpoint = checkpoints.first, checkpoint.size < base.position.rawValue {
            checkpoints.removeFirst()
            unproven.append(
                LogError(
                    .droppedCheckpoint, at: Position(checkpoint.size),
                    "the checkpoint of \(checkpoint.size) events can't be proven: the events up to "
                        + "\(base.position) were dropped; one of \(base.position.rawValue) or more "
                        + "can be"))
        }
    }

    /// The tree up to the last event that was looked at.
    package var reached: MerkleEdge { edge }

    /// Looks at some further megabytes in one transaction; false when there is nothing more to look
    /// at.
    ///
    /// - Parameter commit: gets every commit, in order, when it was looked at.
    package mutating func step(
        bytesMax: UInt64 = 4 << 20, _ transaction: borrowing some TableReading & ~Copyable,
        commit: (CommitRecord) throws -> Void = { _ in }
    ) throws -> Bool {
        guard let first = next else { return false }
        let range = try LogRange(
            log, depth, from: first, through: last, bytesMax: bytesMax, transaction)
        try join(range, transaction, commit)
        return next != nil
    }

    /// Looks at some thousand further events on two threads, in transactions of their own.
    ///
    /// Finds what ``step(bytesMax:_:commit:)`` finds, whichever thread is faster.
    package mutating func step(
        in environment: Environment, commit: (CommitRecord) throws -> Void = { _ in }
    ) throws -> Bool {
        guard let first = next else { return false }
        let middle = first.later(by: Self.ownEvents)
        if ahead == nil { lookAhead(from: middle, environment) }
        try environment.read { transaction in
            let end = Position(middle.rawValue - 1)
            let range = try LogRange(log, depth, from: first, through: min(end, last), transaction)
            try join(range, transaction, commit)
        }
        guard let range = try ahead?.value.get(), next != nil else { return next != nil }
        ahead = nil
        if let following = range.next {
            lookAhead(from: following.later(by: Self.ownEvents), environment)
        }
        try environment.read { transaction in try join(range, transaction, commit) }
        return next != nil
    }

    /// How many events one thread joins to those before and looks at some of them, and how many the
    /// other one only looks at: so both have as much to do.
    private static let (ownEvents, otherEvents) = (UInt64(3_584), UInt64(4_608))

    private mutating func lookAhead(from first: Position, _ environment: Environment) {
        guard first <= last else { return }
        let end = min(first.later(by: Self.otherEvents - 1), last)
        let (log, depth) = (log, depth)
        ahead = Background {
            Result {
                try environment.read { transaction in
                    try LogRange(log, depth, from: first, through: end, transaction)
                }
            }
        }
    }

    /// What was found; to be asked when there is nothing more to look at.
    package consuming func finished() -> LogVerification {
        let isWhole = position == last && result.findings.isEmpty
        result.commits = commits.count
        if depth == .events { result.root = edge.root }
        if isWhole {
            if commits.next != last.next {
                result.findings.append(
                    LogError(.corruptCommit, at: last, "commits end before \(commits.next)"))
            } else if let counts, counts.commits != commits.count {
                result.findings.append(
                    LogError(
                        .corruptCommit, at: last,
                        "\(counts.commits) commits are counted, not \(commits.count)"))
            } else if let counts,
                counts.records != result.events + commits.count
            {
                result.findings.append(
                    LogError(
                        .missingEvent, at: last,
                        "\(counts.records) records are counted, and a walk finds "
                            + "\(result.events) events and \(commits.count) commits"))
            }
            if depth == .events, let stored, !stored.isSameTree(as: edge) {
                result.findings.append(
                    LogError(.corruptEdge, at: last, "the right edge differs"))
            }
        } else if position < last, result.findings.isEmpty {
            result.findings.append(
                LogError(.missingEvent, at: position.next, "none follows, though \(last) is there"))
        }
        result.findings += unproven
        for checkpoint in checkpoints where result.findings.count < findingsMax {
            result.findings.append(
                LogError(
                    .otherCheckpoint, at: last,
                    "the checkpoint covers \(checkpoint.size) events, the log holds "
                        + "\(last.rawValue): its end is gone, or it is another log"))
        }
        return result
    }

    // MARK: Joining what was looked at

    private mutating func join(
        _ range: LogRange, _ transaction: borrowing some TableReading & ~Copyable,
        _ commit: (CommitRecord) throws -> Void
    ) throws {
        result.bytes += range.bytes
        var remarks = range.remarks[...]
        var records = range.commits[...]
        try fillFormer(transaction)
        if range.hasLostCommits { commits.loseSome() }
        var subtrees = range.subtrees[...]
        var index = -1
        while index + 1 < range.positions.count, !isFull {
            index += 1
            if let subtree = subtrees.first, subtree.index == index {
                subtrees.removeFirst()
                if takes(subtree.root, of: range, at: index) {
                    index += LogRange.subtreeEvents - 1
                    try meetCommits(&records, upTo: index, transaction, commit)
                    continue
                }
            }
            meetPosition(range.positions[index])
            var leaf = depth == .events
            while let (owner, remark) = remarks.first, owner == index {
                remarks.removeFirst()
                if case .damaged = remark { leaf = false }
                try meet(remark, transaction)
            }
            if leaf { range.appendLeaf(index, to: &edge) }
            if depth == .events { meetCheckpoints() }
            try meetCommits(&records, upTo: index, transaction, commit)
        }
        // A range may have lost its events.
        for record in records where !isFull { take(record) }
        if let failure = range.failure, !isFull { result.findings.append(failure) }
        let mayGoOn = range.failure == nil && !isFull
        next = mayGoOn ? range.next.flatMap { $0 <= last ? $0 : nil } : nil
    }

    /// Takes the events of a subtree at once, where nothing within it is to be looked at.
    private mutating func takes(_ root: Hash, of range: LogRange, at index: Int) -> Bool {
        let end = range.positions[index + LogRange.subtreeEvents - 1]
        guard range.positions[index] == position.next, edge.size == position.rawValue,
            !commits.awaitsFormer,
            (commits.first?.last ?? end) >= end, (checkpoints.first?.size ?? .max) >= end.rawValue
        else { return false }
        position = end
        result.events += UInt64(LogRange.subtreeEvents)
        edge.append(nodes: root.span, ofHeight: LogRange.subtreeHeight)
        meetCheckpoints()
        return true
    }

    /// Meets the records of the commits that end with the events so far.
    private mutating func meetCommits(
        _ records: inout ArraySlice<LogRange.FoundCommit>, upTo index: Int,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ commit: (CommitRecord) throws -> Void
    ) throws {
        while let next = records.first, next.index <= index { take(records.removeFirst()) }
        try fillFormer(transaction)
        while let record = commits.first, record.last <= position {
            meetRoot(record)
            try commit(record)
            commits.removeFirst()
            try fillFormer(transaction)
        }
    }

    /// Reads commits of format 1 that are not sealed, which stand behind all that are.
    private mutating func fillFormer(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard commits.awaitsFormer, try position >= log.sealed.last(transaction) else { return }
        result.findings += try commits.fillFormer(upTo: last, log, transaction)
    }

    private mutating func take(_ record: LogRange.FoundCommit) {
        guard let finding = commits.take(record.found, record.last) else { return }
        result.findings.append(finding)
    }

    private var isFull: Bool { result.findings.count >= findingsMax }

    private mutating func meetPosition(_ found: Position) {
        if found != position.next {
            result.findings.append(
                LogError(.missingEvent, at: position.next, "the next event is \(found)"))
            rootsHold = false
        }
        position = found
        result.events += 1
    }

    private mutating func meet(
        _ remark: LogRange.Remark, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        do {
            switch remark {
            case .damaged(let error):
                rootsHold = false
                result.findings.append(error)
            case .unreadable(let error):
                result.findings.append(error)
            case .refers(let body, let event):
                guard
                    let (event, problem) = try bodies.check(
                        body, of: event, at: position, log, transaction)
                else { break }
                if let problem { note(event.kind, problem) }
                if let (name, run) = event.keptName { try check(name, of: run, transaction) }
            case .names(let body): try bodies.check(body, at: position, log, transaction)
            case .keeps(let name, let run): try check(name, of: run, transaction)
            case .foreign(let kind, let problem): note(kind, problem)
            case .otherInTable:
                result.findings.append(
                    LogError(
                        .corruptEvent, at: position,
                        "what rows read of it is not what is sealed of it"))
            case .notFound:
                result.findings.append(
                    LogError(.missingEvent, at: position, "it is not found by its position"))
            }
        } catch let error as LogError { result.findings.append(error) }
    }

    /// Looks at the answers that the event names and that are still kept.
    private func check(
        _ name: KeptName, of run: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard let firstKept, run >= firstKept else { return }
        do {
            _ = try log.kept.answers(named: name, of: run, at: position, transaction)
        } catch let error as LogError where error.position != position {
            // An event that it refers to is damaged, and told of by itself.
        }
    }

    private mutating func note(_ kind: EventKind, _ problem: PayloadProblem) {
        result.foreignCount += 1
        guard result.foreign.count < LogVerification.foreignMax else { return }
        result.foreign.append(LogVerification.Foreign(position, kind, problem))
    }

    private mutating func meetRoot(_ record: CommitRecord) {
        guard depth == .events, rootsHold else { return }
        if record.last != position || record.root != edge.root {
            result.findings.append(
                LogError(.rootMismatch, at: record.last, "the commit's root differs"))
            rootsHold = false
        }
    }

    private mutating func meetCheckpoints() {
        while let checkpoint = checkpoints.first, checkpoint.size <= position.rawValue {
            checkpoints.removeFirst()
            guard rootsHold, checkpoint.root != edge.root else { continue }
            result.findings.append(
                LogError(
                    .otherCheckpoint, at: position,
                    "the checkpoint of \(checkpoint.size) events has another root: what it covers "
                        + "was changed since, or it is of another log"))
        }
    }
}

extension EventLog {
    /// The stored right edge, if it fits a log that ends at `last`; else what is wrong.
    fileprivate func storedEdge(
        _ last: Position, _ findings: inout [LogError],
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> MerkleEdge? {
        if let formerCommits, let bytes = try transaction.last(formerCommits)?.key,
            let end = Position(bigEndianBytes: bytes), end > last
        {
            findings.append(LogError(.missingEvent, at: last.next, "a commit ends at \(end)"))
        }
        do {
            let edge = try edge(transaction)
            guard edge.size == last.rawValue else {
                findings.append(
                    LogError(
                        .missingEvent, at: Position(min(edge.size, last.rawValue) + 1),
                        "the log holds \(last.rawValue) events, \(edge.size) were appended"))
                return nil
            }
            let count = try eventCount(edge, transaction)
            if edge.commits == 0, count != last.rawValue {
                findings.append(
                    LogError(
                        .missingEvent, at: last,
                        "it is the last one, but the log holds \(count) events"))
            }
            return edge
        } catch let error as LogError { findings.append(error) }
        return nil
    }
}

extension Position {
    /// The place so many events later, or the last that there can be.
    fileprivate func later(by events: UInt64) -> Position {
        Position(min(rawValue, .max - events) + events)
    }
}
