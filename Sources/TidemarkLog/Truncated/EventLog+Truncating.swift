// EventLog+Truncating.swift — dropping the first events of a log, all or none in one transaction.
//
//   1. what is to go is walked over: its roots are proven once more, and the bodies are noted that
//      only it refers to (TruncationPlan); a writer may go on meanwhile
//   2. in one transaction: blocks are removed, the one that goes on behind the last event is made
//      anew of what is left of it, bodies are removed, and the base is written
//
// What rows name of the events stays in the table "log", as after sealing.

package import TidemarkEvents
package import TidemarkStore

/// What was dropped.
package struct Truncation: Sendable, Hashable {
    /// The first and the last event that went.
    package var first: Position
    package var last: Position
    package var commits: UInt64
    /// How many bytes their blocks had.
    package var blockBytes = 0
    /// How many bodies went with them, and how many bytes those had.
    package var bodies = 0
    package var bodyBytes = 0

    package var events: UInt64 { last.rawValue - first.rawValue + 1 }
}

/// What is known of events that are to be dropped.
package struct TruncationPlan: Sendable {
    /// The tree at the last one of them, and as `commits` how many commits will be gone.
    package fileprivate(set) var edge: MerkleEdge
    /// The event that was the last dropped one before.
    package let before: Position
    /// The SHA-256 of each body that no other event refers to, as far as was looked.
    fileprivate var bodies: Set<Hash>
    /// How far was looked for others.
    fileprivate var looked: Position

    /// The last event that is to be dropped.
    package var last: Position { Position(edge.size) }
}

/// What is still to be found of a log, from its end on, until there is as much as is to be kept.
private struct KeptBytes {
    /// So many bytes; 0 where there are enough.
    var left: Int
    /// The first eight bytes of the SHA-256 of each body that was found.
    private var bodies: Set<UInt64> = []

    init(left: Int) { self.left = left }

    mutating func take(_ bytes: Int) { left -= min(left, bytes) }

    /// Whether a body was not found before.
    mutating func isNew(_ hash: Hash) -> Bool {
        bodies.insert(hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }).inserted
    }
}

extension EventLog {
    /// Looks at the events up to a position, in order to drop them: what they are is proven.
    ///
    /// - Parameter progress: told how far it is, and of how far; what it throws ends it.
    /// - Throws: ``LogError``: `needed` where the events can't be dropped there, `dropped`
    ///   where they were before, or what is damaged: nothing is dropped then.
    package func planTruncation(
        at last: Position, in environment: Environment,
        progress: (_ done: Position, _ of: Position) throws -> Void = { _, _ in }
    ) throws -> TruncationPlan {
        var check = try environment.read { transaction in
            try checkCanEnd(at: last, transaction)
            return try LogCheck(self, upTo: last, transaction)
        }
        let before = check.position
        while try check.step(in: environment) { try progress(check.position, last) }
        var edge = check.reached
        let verified = check.finished()
        if let finding = verified.findings.first { throw finding }
        return try environment.read { transaction in
            let known = try base(transaction)
            guard known?.position ?? .start == before, edge.size == last.rawValue else {
                throw LogError(.dropped, at: last, "the log was truncated meanwhile")
            }
            edge.commits = verified.commits + (known?.edge.commits ?? 0)
            var plan = TruncationPlan(edge: edge, before: before, bodies: [], looked: last)
            try forEachBody(from: before.next, through: last, transaction) {
                plan.bodies.insert($0)
                return true
            }
            try keepBodies(&plan, transaction)
            return plan
        }
    }

    /// The last event behind which there are at least so many bytes of the log, as they lie in the
    /// store, the bodies among them that events refer to; nil for none.
    ///
    /// Of sealed events it is the last one of a block.
    package func lastBeyond(
        bytes: Int, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? {
        let last = try sealed.last(transaction)
        let bodyBytes = try transaction.pageBytes(bodies)
        var kept = KeptBytes(left: max(bytes, 0))
        var found: Position?
        try transaction.scan(log, from: nil, prefix: [], reversed: true) { key, value in
            let position = CommitRecord.position(key) ?? .start
            guard position > last else { return false }
            if !CommitRecord.isKey(key) {
                if kept.left == 0 { found = position }
                if bodyBytes > 0, kept.left > 0 { try takeBodies(of: value, &kept, transaction) }
            }
            kept.take(value.count)
            return found == nil
        }
        guard found == nil else { return found }
        let rest = try transaction.pageBytes(sealed.table) + bodyBytes
        guard kept.left < rest else { return nil }
        // A block may have several records, and is kept or dropped as a whole.
        var counted: Position?
        try transaction.scan(sealed.table, from: nil, prefix: [], reversed: true) { key, part in
            let end = Position(bigEndianBytes: key.copied().prefix(8))
            if end != counted {
                if kept.left == 0 { found = end }
                if let end, found == nil, bodyBytes > 0, kept.left > 0 {
                    try takeBodies(ofBlockEndingAt: end, &kept, transaction)
                }
            }
            kept.take(part.count)
            counted = end
            return found == nil
        }
        return found
    }

    /// Takes the bodies that the events of a block refer to; none of one that can't be read.
    private func takeBodies(
        ofBlockEndingAt last: Position, _ kept: inout KeptBytes,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard case .success(let block) = try sealed.block(endingAt: last, transaction) else {
            return
        }
        _ = try block.forEachRecord(from: block.first) { _, isCommit, record in
            if !isCommit { try takeBodies(of: record, &kept, transaction) }
            return true
        }
    }

    /// Takes the bodies that an event refers to; none of one that can't be read.
    private func takeBodies(
        of bytes: Span<UInt8>, _ kept: inout KeptBytes,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard let frame = try? EventFrame(parsing: bytes) else { return }
        if case .body(let reference) = frame.payload, kept.isNew(reference.hash) {
            kept.take(try storedBytes(of: reference, transaction))
        }
        guard var event = try? Event(header: frame.header, payload: []),
            event.kind == .requestAnswered
        else { return }
        event.payload = (try? payload(frame, at: .start, transaction)) ?? []
        if let named = event.namedBody, kept.isNew(named.hash) {
            kept.take(try storedBytes(of: named, transaction))
        }
    }

    /// Refuses a position where a log can't begin.
    private func checkCanEnd(
        at last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        if let base = try base(transaction), last <= base.position {
            throw base.dropped(last)
        }
        let sealed = try sealed.last(transaction)
        guard last < sealed else {
            throw LogError(
                .needed, at: last,
                "only sealed events are dropped, and the last of them, \(sealed), stays")
        }
        guard try commit(endingAt: last, transaction) != nil else {
            throw LogError(.needed, at: last, "it is in the middle of a commit, which stays whole")
        }
    }

    /// Leaves out of a plan the bodies that events behind those looked at refer to.
    private func keepBodies(
        _ plan: inout TruncationPlan, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let end = try lastPosition(transaction)
        if !plan.bodies.isEmpty, plan.looked < end {
            try forEachBody(from: plan.looked.next, through: end, transaction) {
                plan.bodies.remove($0)
                return !plan.bodies.isEmpty
            }
        }
        plan.looked = end
    }

    /// Walks over the hashes of the bodies that events refer to; `body` says whether to go on.
    private func forEachBody(
        from first: Position, through last: Position,
        _ transaction: borrowing some TableReading & ~Copyable, _ body: (Hash) throws -> Bool
    ) throws {
        try forEachFrame(from: first, transaction) { position, frame in
            guard position <= last else { return false }
            let whole: EventFrame
            var event: Event
            do {
                whole = try frame.get()
                event = try Event(header: whole.header, payload: [])
            } catch { throw LogError(damage: error, at: position) }
            if case .body(let reference) = whole.payload, try !body(reference.hash) {
                return false
            }
            guard event.kind == .requestAnswered else { return true }
            event.payload = try payload(whole, at: position, transaction)
            return try event.namedBody.map { try body($0.hash) } ?? true
        }
    }

    /// Drops the events of a plan.
    ///
    /// - Parameters:
    ///   - views: the message `tidemark.v1.Snapshot` of the rows at the last one of them.
    ///   - named: the events up to the last one of them that rows name.
    ///   - others: events that are kept, too, if the log still has them.
    ///   - edge: the log's right edge, which counts less then.
    package func truncate(
        _ plan: TruncationPlan, views: [UInt8], named: Set<Position>, others: Set<Position> = [],
        edge: inout MerkleEdge, _ transaction: borrowing WriteTransaction
    ) throws -> Truncation {
        var plan = plan
        try checkCanEnd(at: plan.last, transaction)
        let known = try base(transaction)
        guard known?.position ?? .start == plan.before else {
            throw LogError(.dropped, at: plan.last, "the log was truncated meanwhile")
        }
        try keepBodies(&plan, transaction)
        try keepAtHand(named, others, through: plan.last, edge: &edge, transaction)
        var result = Truncation(
            first: plan.before.next, last: plan.last,
            commits: plan.edge.commits - (known?.edge.commits ?? 0))
        result.blockBytes = try sealed.drop(through: plan.last, transaction)
        edge.sealedCommits -= min(edge.sealedCommits, result.commits)
        for hash in plan.bodies {
            let bytes = try removeBody(hash, transaction)
            if bytes > 0 { result.bodies += 1 }
            result.bodyBytes += bytes
        }
        let base = LogBase(edge: plan.edge, views: views)
        try catalog.set(.base, base.encoded, transaction)
        try setEdge(edge, transaction)
        return result
    }

    /// Has in the table "log", of the events up to one, only those that rows name, and `others` as
    /// far as they are there.
    private func keepAtHand(
        _ named: Set<Position>, _ others: Set<Position>, through last: Position,
        edge: inout MerkleEdge, _ transaction: borrowing WriteTransaction
    ) throws {
        let wanted = named.union(others)
        var (atHand, needless): (Set<Position>, [Position]) = ([], [])
        try transaction.scan(log, from: nil, prefix: [], reversed: false) { key, _ in
            guard let position = Position(key), position <= last else { return false }
            if wanted.contains(position) {
                atHand.insert(position)
            } else {
                needless.append(position)
            }
            return true
        }
        try release(needless, edge: &edge, transaction)
        for position in wanted.subtracting(atHand).sorted() {
            let frame = try sealed.block(holding: position, transaction)?
                .withFrame(at: position) { $0.copied() }
            guard let frame else {
                guard named.contains(position) else { continue }
                throw LogError(.missingEvent, at: position, "a row names it, the log lacks it")
            }
            try transaction.put(log, position.bigEndianBytes, frame)
            edge.keptEvents += 1
        }
    }
}
