// LogRange.swift — events that were looked at on their own: all that can be told of them without
// knowing what came before. LogCheck joins ranges in order, wherever they were looked at.

import TidemarkEvents
import TidemarkStore

/// What was found in a range of positions.
struct LogRange: Sendable {
    /// What has to be said, or looked at, about one event.
    enum Remark: Sendable {
        /// The frame can't be read, so there is no leaf.
        case damaged(LogError)
        /// The header can't be read.
        case unreadable(LogError)
        /// The payload of an event with this header is in the table "bodies"; where it is an
        /// answer's, it may name another body.
        case refers(to: BodyReference, Event)
        /// The payload is an answer that names a body.
        case names(BodyReference)
        /// The payload names answers that are kept of a run.
        case keeps(KeptName, of: Position)
        /// The event is not found by its position.
        case notFound
        /// What the table "log" has of the event, which is sealed, is not what is sealed.
        case otherInTable
        /// The payload is not what this version writes.
        case foreign(EventKind, PayloadProblem)
    }

    /// The record of a commit.
    struct FoundCommit: Sendable {
        /// Where the event before it is in ``positions``; -1 for none.
        var index: Int
        var last: Position
        var found: Result<CommitRecord, LogError>
    }

    /// What there is, in the order of the log.
    private(set) var positions: [Position] = []
    /// By index in ``positions``, in their order; few events have any.
    private(set) var remarks: [(index: Int, remark: Remark)] = []
    /// The records of commits, each with the index of the event before it.
    private(set) var commits: [FoundCommit] = []
    /// Whether records of commits are lost with a block that can't be read.
    private(set) var hasLostCommits = false
    /// A key that is no later position, which ends the walk.
    private(set) var failure: LogError?
    /// The bytes of the frames.
    private(set) var bytes: UInt64 = 0
    /// Where to go on; nil when nothing more follows.
    private(set) var next: Position?

    /// The roots of whole subtrees of the log's tree, each with the index of its first event: of
    /// those in which nothing is remarked on, and no commit ends but with the last event.
    private(set) var subtrees: [(index: Int, root: Hash)] = []

    /// How many events a subtree is over, as a power of two.
    static let subtreeHeight = 6
    static let subtreeEvents = 1 << subtreeHeight

    private var leaves = MerkleLeaves()
    private var last = (
        page: UInt(0), position: Position.start, isCommit: false, bytes: 0, isLookedUp: true
    )

    /// Looks at the events from `first` to `end`, or until there were as many bytes.
    init(
        _ log: EventLog, _ depth: LogCheck.Depth, from first: Position, through end: Position,
        bytesMax: UInt64 = .max, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        do {
            if try takeSealed(log, depth, from: first, through: end, bytesMax, transaction) {
                try takeTable(log, depth, from: first, through: end, bytesMax, transaction)
            }
        } catch let error as LogError { failure = error }
        leaves.finish()
        guard depth == .events else { return }
        try lookUpLast(log, transaction)
        foldSubtrees()
    }

    /// Looks at the events of the table "log" that are not sealed.
    private mutating func takeTable(
        _ log: EventLog, _ depth: LogCheck.Depth, from first: Position, through end: Position,
        _ bytesMax: UInt64, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let start = try max(positions.last?.next ?? first, log.sealed.last(transaction).next)
        try transaction.scan(
            log.log, from: start.bigEndianBytes, prefix: [], reversed: false
        ) { key, value in
            let ended = CommitRecord.isKey(key) ? CommitRecord.position(key) : nil
            let found = try ended ?? Self.position(key, first, after: positions.last)
            // A commit's record goes with its last event.
            guard found <= end, ended != nil || bytes < bytesMax else {
                next = found
                return false
            }
            let beginsPage = depth == .events && key.page != last.page
            if beginsPage { try lookUpLast(log, transaction) }
            if ended == nil {
                bytes += UInt64(value.count)
                if depth == .frames { checkFrame(found, value) } else { check(found, value) }
            } else {
                take(commit: value, found)
            }
            guard depth == .events else { return true }
            last = (key.page, found, ended != nil, value.count, false)
            if beginsPage { try lookUpLast(log, transaction) }
            return true
        }
    }

    private mutating func foldSubtrees() {
        let count = Self.subtreeEvents
        var remarks = remarks[...]
        var commits = commits[...]
        guard let first = positions.first else { return }
        var index = (count - Int((first.rawValue - 1) % UInt64(count))) % count
        while index + count <= positions.count {
            let (start, end) = (positions[index], positions[index + count - 1])
            while let remark = remarks.first, remark.index < index { remarks.removeFirst() }
            while let commit = commits.first, commit.index < index { commits.removeFirst() }
            let isPlain =
                end.rawValue - start.rawValue == UInt64(count - 1)
                && (start.rawValue - 1) % UInt64(count) == 0
                && (remarks.first?.index ?? .max) >= index + count
                && (commits.first?.index ?? .max) >= index + count - 1
            if isPlain { subtrees.append((index, subtreeRoot(index))) }
            index += count
        }
    }

    /// The root of the subtree that begins with the event at an index.
    private func subtreeRoot(_ index: Int) -> Hash {
        let bytes = SHA256Digest.byteCount
        let range = bytes * index..<bytes * (index + Self.subtreeEvents)
        return MerkleEdge.root(of: leaves.hashes.span.extracting(range))
    }

    /// Adds the leaf of the event at an index to a tree.
    func appendLeaf(_ index: Int, to edge: inout MerkleEdge) {
        let count = SHA256Digest.byteCount
        edge.append(leaf: leaves.hashes.span.extracting(count * index..<count * (index + 1)))
    }

    private static func position(
        _ key: Span<UInt8>, _ first: Position, after before: Position?
    ) throws(LogError) -> Position {
        guard let found = Position(key) else {
            throw LogError(
                .corruptEvent, at: before?.next ?? first,
                "a key of \(key.count) bytes is no position")
        }
        if let before, found <= before {
            throw LogError(.corruptEvent, at: found, "it comes after \(before)")
        }
        return found
    }

    private mutating func remark(_ remark: Remark) {
        remarks.append((max(0, positions.count - 1), remark))
    }

    private mutating func take(commit value: Span<UInt8>, _ last: Position) {
        let found = Result { () throws(LogError) in try CommitRecord(framed: value, last: last) }
        commits.append(FoundCommit(index: positions.count - 1, last: last, found: found))
    }

    /// Looks at the events that are sealed; false where the range ends with one.
    private mutating func takeSealed(
        _ log: EventLog, _ depth: LogCheck.Depth, from first: Position, through end: Position,
        _ bytesMax: UInt64, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Bool {
        guard try first <= log.sealed.last(transaction) else { return true }
        return try log.sealed.forEachBlock(from: first, transaction) { found in
            let start = max(first, found.first)
            if let before = positions.last, start != before.next {
                throw LogError(.missingEvent, at: before.next, "the next block begins at \(start)")
            }
            guard case .success(let block) = found.block else {
                guard case .failure(let damage) = found.block else { return true }
                guard start <= end else {
                    next = start
                    return false
                }
                skip(start, through: min(end, found.last), damage)
                return true
            }
            let inTable = try depth == .events ? kept(of: block, log, transaction) : [:]
            return block.forEachRecord(from: start) { position, isCommit, value in
                guard position <= end, isCommit || bytes < bytesMax else {
                    next = position
                    return false
                }
                if isCommit {
                    take(commit: value, position)
                } else {
                    bytes += UInt64(value.count)
                    if depth == .frames {
                        checkFrame(position, value)
                    } else {
                        check(position, value)
                        if let kept = inTable[position], !ByteOrder.areEqual(value, kept[...]) {
                            remark(.otherInTable)
                        }
                    }
                }
                return true
            }
        }
    }

    /// What the table "log" has of the events of a block, for rows that name them.
    private func kept(
        of block: SealedBlock, _ log: EventLog,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [Position: [UInt8]] {
        var kept: [Position: [UInt8]] = [:]
        let first = block.first.bigEndianBytes
        try transaction.scan(log.log, from: first, prefix: [], reversed: false) { key, value in
            guard let position = Position(key), position <= block.last else { return false }
            kept[position] = value.copied()
            return true
        }
        return kept
    }

    /// Takes events whose block can't be read.
    private mutating func skip(
        _ first: Position, through last: Position, _ damage: EventFrame.Damage
    ) {
        remarks.append((positions.count, .damaged(LogError(damage: damage, at: first))))
        hasLostCommits = true
        for number in first.rawValue...last.rawValue {
            positions.append(Position(number))
            leaves.appendUnknown()
        }
    }

    // MARK: One event

    private mutating func checkFrame(_ position: Position, _ value: Span<UInt8>) {
        positions.append(position)
        do throws(EventFrame.Damage) { _ = try EventFrame.Layout(of: value) } catch {
            remark(.damaged(LogError(damage: error, at: position)))
        }
    }

    private mutating func check(_ position: Position, _ value: Span<UInt8>) {
        positions.append(position)
        let layout: EventFrame.Layout
        do throws(EventFrame.Damage) { layout = try EventFrame.Layout(of: value) } catch {
            leaves.appendUnknown()
            return remark(.damaged(LogError(damage: error, at: position)))
        }
        let header = value.extracting(layout.header)
        let payload = value.extracting(layout.payload)
        leaves.append(position, header, payload, isReference: layout.isReference)
        var event: Event
        do throws(ProtoError) {
            event = try Event(header: header.copied(), payload: [])
        } catch {
            return remark(.unreadable(LogError(damage: error, at: position)))
        }
        if layout.isReference {
            return remark(.refers(to: BodyReference(parsing: payload), event))
        }
        guard event.holdsMembers else { return }
        event.payload = payload.copied()
        let (body, problem) = event.checkedPayload
        if let body { remark(.names(body)) }
        if let (name, run) = event.keptName { remark(.keeps(name, of: run)) }
        if let problem { remark(.foreign(event.kind, problem)) }
    }

    /// Looks up the last record so far, unless that was done.
    ///
    /// It is done for the first and the last record of each page of the table: when a key of a
    /// branch page is damaged, the records that it leads astray are those that a page begins with,
    /// or those that one ends with.
    private mutating func lookUpLast(
        _ log: EventLog, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard !last.isLookedUp else { return }
        last.isLookedUp = true
        let key =
            last.isCommit ? CommitRecord.key(last.position) : last.position.bigEndianBytes
        let found = try transaction.withValue(log.log, key) { $0.count }
        if found != last.bytes { remark(.notFound) }
    }
}
