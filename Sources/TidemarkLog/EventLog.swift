// EventLog.swift — the log's tables: appending events and reading them back.
//
//   table    key                             value
//   log      position, 8 bytes big-endian    frame (EventFrame.swift)
//   bodies   SHA-256 and number of a record  a part of a body (EventLog+Bodies.swift)
//   commits  last position, 8 bytes b. e.    message tidemark.v1.Commit
//   answers  run, event and number           a part of answers as they came (AnswerTable.swift)
//   meta     "edge"                          message tidemark.v1.Edge

package import TidemarkEvents
package import TidemarkStore

/// The log of one store.
package struct EventLog: Sendable {
    package static let tableNames = ["meta", "log", "commits", "bodies", AnswerTable.name]

    package let meta: Table
    package let log: Table
    package let commits: Table
    package let bodies: Table
    let answers: Table

    package init(_ environment: Environment) {
        meta = environment.table("meta")
        log = environment.table("log")
        commits = environment.table("commits")
        bodies = environment.table("bodies")
        answers = environment.table(AnswerTable.name)
    }

    /// Answers as they came, of the last sync runs.
    package var kept: AnswerTable { AnswerTable(self) }

    private static let edgeKey = Array("edge".utf8)

    /// The right edge of the Merkle tree; its size is the last position.
    package func edge(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> MerkleEdge {
        guard let bytes = try transaction.get(meta, Self.edgeKey) else { return MerkleEdge() }
        do { return try MerkleEdge(parsing: bytes) } catch {
            throw LogError(.corruptEdge, at: .start, "\(error)")
        }
    }

    func setEdge(_ edge: MerkleEdge, _ transaction: borrowing WriteTransaction) throws {
        try transaction.put(meta, Self.edgeKey, edge.encoded)
    }

    /// The position of the last event; `@0` when there is none.
    package func lastPosition(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position {
        guard let last = try transaction.last(log) else { return .start }
        return Position(bigEndianBytes: last.key) ?? .start
    }

    /// The position of the first event; nil when there is none.
    package func firstPosition(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? {
        try transaction.first(log).flatMap { Position(bigEndianBytes: $0.key) }
    }

    /// Appends events as one commit and moves the edge.
    ///
    /// - Parameters:
    ///   - bodies: what the payloads of these events name by hash.
    ///   - views: what the views made of these events.
    /// - Returns: the record of the commit.
    package func append(
        _ events: [Event], bodies: [[UInt8]] = [], views: [ViewDigest], edge: inout MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws -> CommitRecord {
        try append(
            PreparedEvents(events, after: edge), bodies: bodies, views: views, edge: &edge,
            transaction)
    }

    /// Appends events that were prepared for just this place.
    package func append(
        _ events: PreparedEvents, bodies: [[UInt8]], views: [ViewDigest], edge: inout MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws -> CommitRecord {
        precondition(!events.items.isEmpty, "a commit has at least one event")
        for body in bodies { try store(body, as: BodyReference(to: body), transaction) }
        let first = Position(edge.size + 1)
        var position = first
        for item in events.items {
            if let body = item.body { try store(body.bytes, as: body.reference, transaction) }
            try transaction.append(log, position.bigEndianBytes, item.frame.encoded)
            position = position.next
        }
        edge = events.edge
        precondition(edge.size == position.rawValue - 1, "events prepared for another place")
        let record = CommitRecord(
            first: first, last: Position(edge.size), root: edge.root, views: views)
        try transaction.append(commits, record.last.bigEndianBytes, record.encoded)
        try setEdge(edge, transaction)
        return record
    }

    /// The event at a position, or nil when there is none.
    ///
    /// - Throws: ``LogError`` when its bytes are damaged.
    package func event(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Event? {
        try transaction.withValue(log, position.bigEndianBytes) { bytes in
            let frame: EventFrame
            do { frame = try EventFrame(parsing: bytes) } catch {
                throw LogError(damage: error, at: position)
            }
            return try event(frame, at: position, transaction)
        }
    }

    /// Walks over events in order, or backwards; `body` says whether to go on.
    package func forEach(
        from first: Position = Position(1), reversed: Bool = false,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (Position, Event) throws -> Bool
    ) throws {
        try forEachFrame(from: first, reversed: reversed, transaction) { position, frame in
            let whole: EventFrame
            do { whole = try frame.get() } catch { throw LogError(damage: error, at: position) }
            return try body(position, try event(whole, at: position, transaction))
        }
    }

    /// Walks over frames in order, or backwards; a damaged one is handed on as a failure.
    ///
    /// No body is read for it; see ``event(_:at:_:)``.
    package func forEachFrame(
        from first: Position? = nil, reversed: Bool = false,
        _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (Position, Result<EventFrame, EventFrame.Damage>) throws -> Bool
    ) throws {
        try transaction.scan(log, from: first?.bigEndianBytes, prefix: [], reversed: reversed) {
            key, value in
            guard let position = Position(key) else {
                throw LogError(.corruptEvent, at: .start, "a key of \(key.count) bytes")
            }
            let frame: Result<EventFrame, EventFrame.Damage>
            do throws(EventFrame.Damage) {
                frame = .success(try EventFrame(parsing: value))
            } catch {
                frame = .failure(error)
            }
            return try body(position, frame)
        }
    }

    /// Walks over the records of the commits in order.
    package func forEachCommit(
        from first: Position? = nil, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (CommitRecord) throws -> Bool
    ) throws {
        try transaction.scan(
            commits, from: first?.bigEndianBytes, prefix: [], reversed: false
        ) { key, value in
            guard let last = Position(key) else {
                throw LogError(.corruptCommit, at: .start, "a key of \(key.count) bytes")
            }
            let record: CommitRecord
            do { record = try CommitRecord(parsing: value.copied(), last: last) } catch {
                throw LogError(.corruptCommit, at: last, "\(error)")
            }
            return try body(record)
        }
    }

    /// What a frame says, its payload read from the bodies where it is there.
    ///
    /// - Throws: ``LogError`` when the header, or the body, is damaged.
    package func event(
        _ frame: EventFrame, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Event {
        var event: Event
        do { event = try Event(header: frame.header, payload: []) } catch {
            throw LogError(damage: error, at: position)
        }
        event.payload = try payload(frame, at: position, transaction)
        return event
    }

    /// The payload of a frame, read from the bodies where it is there.
    package func payload(
        _ frame: EventFrame, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8] {
        switch frame.payload {
        case .inline(let payload): payload
        case .body(let reference): try body(reference, at: position, transaction)
        }
    }
}
