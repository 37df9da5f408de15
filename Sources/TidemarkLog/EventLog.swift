// EventLog.swift — the log's tables: appending events and reading them back.
//
//   table    key                                  value
//   log      position, 8 bytes big-endian         frame of the event (EventFrame.swift)
//   log      position of a commit's last event,   frame of the message tidemark.v1.Commit
//            then "C"                             (CommitRecord.swift)
//   sealed   last position and number of a record a part of a block of the events before those in
//                                                 "log" (SealedTable.swift)
//   bodies   SHA-256 and number of a record       a part of a body (EventLog+Bodies.swift)
//   answers  run, event and number                a part of answers as they came
//                                                 (AnswerTable.swift)
//
// Beside them, among LMDB's own list of tables, "edge": the message tidemark.v1.Edge; and, where
// the first events were dropped, "base": what is left of them (LogBase.swift). A store of format 1
// has its commits in the table "commits", by their last position; those made in it stay there.

package import TidemarkEvents
package import TidemarkStore

/// The log of one store.
package struct EventLog: Sendable {
    package static let tableNames = ["log", SealedTable.name, "bodies", AnswerTable.name]
    /// The tables that only a store has which was made in format 1.
    package static let formerTableNames = [Catalog.formerTableName, "commits"]

    package let catalog: Catalog
    package let log: Table
    package let sealed: SealedTable
    package let bodies: Table
    let answers: Table
    /// Where a store has the commits that were made in format 1.
    package let formerCommits: Table?

    package init(_ environment: Environment) {
        catalog = Catalog(environment)
        log = environment.table("log")
        sealed = SealedTable(environment)
        bodies = environment.table("bodies")
        answers = environment.table(AnswerTable.name)
        formerCommits =
            environment.formerTable("commits")
            ?? environment.tables.first { $0.name == "commits" }
    }

    /// Answers as they came, of the last sync runs.
    package var kept: AnswerTable { AnswerTable(self) }

    /// The right edge of the Merkle tree; its size is the last position.
    package func edge(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> MerkleEdge {
        guard let bytes = try catalog.value(.edge, transaction) else { return MerkleEdge() }
        do { return try MerkleEdge(parsing: bytes) } catch {
            throw LogError(.corruptEdge, at: .start, "\(error)")
        }
    }

    func setEdge(_ edge: MerkleEdge, _ transaction: borrowing WriteTransaction) throws {
        try catalog.set(.edge, edge.encoded, transaction)
    }

    /// The position of the last event; `@0` when there is none.
    package func lastPosition(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position {
        guard let last = try transaction.last(log) else { return try sealed.last(transaction) }
        return Position(bigEndianBytes: last.key.prefix(Position.byteCount)) ?? .start
    }

    /// The position of the first event; nil when there is none.
    package func firstPosition(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position? {
        if let base = try base(transaction) { return base.position.next }
        return try sealed.first(transaction)
            ?? transaction.first(log).flatMap { Position(bigEndianBytes: $0.key) }
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
        let events = PreparedEvents(events, after: edge)
        try begin(events, bodies: bodies, after: edge, transaction)
        return try end(events, views: views, edge: &edge, transaction)
    }

    /// Appends events that were prepared for just this place; their commit is to be ended.
    package func begin(
        _ events: PreparedEvents, bodies: [[UInt8]], after edge: MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws {
        precondition(!events.items.isEmpty, "a commit has at least one event")
        for body in bodies { try store(body, as: BodyReference(to: body), transaction) }
        var position = Position(edge.size + 1)
        for item in events.items {
            if let body = item.body { try store(body.bytes, as: body.reference, transaction) }
            try transaction.append(
                log, number: position.rawValue, events.frames.span.extracting(item.frame))
            position = position.next
        }
    }

    /// Ends the commit of events that were appended, and moves the edge; waits for their hashes.
    package func end(
        _ events: PreparedEvents, views: [ViewDigest], edge: inout MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws -> CommitRecord {
        var after = events.edge
        after.takeCounts(of: edge)
        precondition(
            after.size == edge.size + UInt64(events.items.count), "prepared for another place")
        let record = CommitRecord(
            first: Position(edge.size + 1), last: Position(after.size), root: after.root,
            views: views)
        try append(record, &after, transaction)
        edge = after
        return record
    }

    /// Appends the record of a commit behind its last event, and moves the edge.
    func append(
        _ record: CommitRecord, _ edge: inout MerkleEdge,
        _ transaction: borrowing WriteTransaction
    ) throws {
        try transaction.append(log, CommitRecord.key(record.last), record.framed)
        edge.commits += 1
        try setEdge(edge, transaction)
    }

    /// The event at a position, or nil when there is none.
    ///
    /// - Throws: ``LogError`` when its bytes are damaged.
    package func event(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Event? {
        func read(_ bytes: Span<UInt8>) throws -> Event {
            let frame: EventFrame
            do { frame = try EventFrame(parsing: bytes) } catch {
                throw LogError(damage: error, at: position)
            }
            return try event(frame, at: position, transaction)
        }
        if position <= (try sealed.last(transaction)) {
            return try sealed.block(holding: position, transaction)?.withFrame(at: position, read)
        }
        return try transaction.withValue(log, position.bigEndianBytes, read)
    }

    /// The payload of an event that lies in its frame; nil where there is no such event, and where
    /// the payload is a body of its own.
    ///
    /// - Throws: ``LogError`` when the frame is damaged.
    package func inlinePayload(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8]? {
        var payload: [UInt8]?
        do {
            try lendPayloadInTable(at: position, transaction) { payload = $0.copied() }
            if payload != nil { return payload }
        } catch {
            // Where it is sealed, that is what counts.
            guard position <= (try sealed.last(transaction)) else { throw error }
        }
        guard position <= (try sealed.last(transaction)) else { return nil }
        try sealed.block(holding: position, transaction)?.withFrame(at: position) { frame in
            try lendInlinePayload(of: frame, at: position) { payload = $0.copied() }
        }
        return payload
    }

    /// Lends the payload of an event in the table "log": one that is not sealed, or that a row
    /// names.
    package func lendPayloadInTable(
        at position: Position, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (Span<UInt8>) throws -> Void
    ) throws {
        _ = try transaction.lend(log, position.bigEndianBytes) {
            try lendInlinePayload(of: $0, at: position, body)
        }
    }

    private func lendInlinePayload(
        of frame: Span<UInt8>, at position: Position, _ body: (Span<UInt8>) throws -> Void
    ) throws {
        let layout: EventFrame.Layout
        do { layout = try EventFrame.Layout(of: frame) } catch {
            throw LogError(damage: error, at: position)
        }
        if !layout.isReference { try body(frame.extracting(layout.payload)) }
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
        func read(_ position: Position, _ value: Span<UInt8>) throws -> Bool {
            let frame: Result<EventFrame, EventFrame.Damage>
            do throws(EventFrame.Damage) {
                frame = .success(try EventFrame(parsing: value))
            } catch {
                frame = .failure(error)
            }
            return try body(position, frame)
        }
        func readSealed() throws -> Bool {
            try sealed.forEachRecord(
                from: first, reversed: reversed, transaction,
                damaged: { try body($0, .failure($1)) }
            ) { position, isCommit, value in try isCommit || read(position, value) }
        }
        let lastSealed = try sealed.last(transaction)
        let beginsSealed = first.map { $0 <= lastSealed } ?? (lastSealed > .start)
        if beginsSealed, !reversed { guard try readSealed() else { return } }
        if !(beginsSealed && reversed && first != nil) {
            let from = !beginsSealed ? first : reversed ? nil : lastSealed.next
            var goesOn = true
            try transaction.scan(
                log, from: from?.bigEndianBytes, prefix: [], reversed: reversed
            ) { key, value in
                if CommitRecord.isKey(key) { return true }
                guard let position = Position(key) else {
                    throw LogError(.corruptEvent, at: .start, "a key of \(key.count) bytes")
                }
                // What is there of sealed events is there for rows.
                guard position > lastSealed else { return false }
                goesOn = try read(position, value)
                return goesOn
            }
            guard goesOn else { return }
        }
        if reversed { _ = try readSealed() }
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
