// LedgerRows.swift — the small rows of the ledger: watermarks, sync runs, decisions, facts.

package import TidemarkEvents

/// How far a pull target has been listed.
package struct WatermarkRow: Sendable, Hashable {
    /// The server's cursor for the next list; nil where it has none.
    package var cursor: Revision?
    /// The `pull.completed` that moved it.
    package var position: Position
    package var recordedAt: Timestamp
    /// The identity of the collection on the server.
    package var epoch: Revision?
    /// When everything was listed last, by the server's clock.
    package var fullAt: Timestamp?
    /// The last change of the lists so far, where the collection is listed by date.
    package var since: Timestamp?
    /// A time by the server's clock shortly before the last list was requested.
    package var checkedAt: Timestamp?
    /// How many entities the last list of everything asked for; nil for all.
    package var limit: Int?
    /// Of a tree by paths whose folders can be left out: when all were listed last, by the device's
    /// clock.
    package var walkedAt: Timestamp?
    /// Whether something changed there in a folder whose version stayed, so that none is left out.
    package var isUnmoved = false

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.bytes(1, cursor?.rawValue ?? [])
        writer.position(2, position)
        writer.signed(3, recordedAt.rawValue)
        writer.bytes(4, epoch?.rawValue ?? [])
        writer.signed(5, fullAt?.rawValue ?? 0)
        writer.signed(6, since?.rawValue ?? 0)
        writer.signed(7, checkedAt?.rawValue ?? 0)
        writer.varint(8, UInt64(max(0, limit ?? 0)))
        writer.signed(9, walkedAt?.rawValue ?? 0)
        writer.flag(10, isUnmoved)
        return writer.bytes
    }

    package init(cursor: Revision?, position: Position, recordedAt: Timestamp) {
        self.cursor = cursor
        self.position = position
        self.recordedAt = recordedAt
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(cursor: nil, position: .start, recordedAt: Timestamp(rawValue: 0))
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: cursor = Revision(rawValue: try field.bytes())
            case 2: position = try field.position()
            case 3: recordedAt = Timestamp(rawValue: try field.signed())
            case 4: epoch = Revision(rawValue: try field.bytes())
            case 5: fullAt = Timestamp(rawValue: try field.signed())
            case 6: since = Timestamp(rawValue: try field.signed())
            case 7: checkedAt = Timestamp(rawValue: try field.signed())
            case 8: limit = Int(clamping: try field.unsigned())
            case 9: walkedAt = Timestamp(rawValue: try field.signed())
            case 10: isUnmoved = try field.flag()
            default: continue
            }
        }
    }
}

package struct SyncRunRow: Sendable, Hashable {
    package var startedAt: Timestamp
    /// The payload of `sync.started`.
    package var started: [UInt8]
    /// The `sync.finished`, or nil while the run goes on or was cut off.
    package var finished: Position?
    package var finishedAt: Timestamp?
    /// The payload of `sync.finished`.
    package var summary: [UInt8] = []
    /// What the server's clock showed when it began, as far as the log knew then: "now" of
    /// whatever is decided in it.
    package var serverTime: Timestamp?

    package init(startedAt: Timestamp, started: [UInt8]) {
        self.startedAt = startedAt
        self.started = started
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, startedAt.rawValue)
        writer.bytes(2, started)
        writer.position(3, finished)
        writer.signed(4, finishedAt?.rawValue ?? 0)
        writer.bytes(5, summary)
        writer.signed(6, serverTime?.rawValue ?? 0)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(startedAt: Timestamp(rawValue: 0), started: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: startedAt = Timestamp(rawValue: try field.signed())
            case 2: started = try field.bytes()
            case 3: finished = try field.position()
            case 4: finishedAt = Timestamp(rawValue: try field.signed())
            case 5: summary = try field.bytes()
            case 6: serverTime = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

/// One decision: which rule, on what, with which result.
package struct DecisionRow: Sendable, Hashable {
    package var key: EntityKey
    /// The policy's name, or that of the app's rule.
    package var rule: String
    package var ruleVersion: UInt64
    /// What was decided, in one word: `serverWins`, `localWins`, `merged`.
    package var result: String
    /// The events that it was decided on: the mutation, the server's word, and the app's rule's
    /// answer where one was asked; so both sides' values are found in the log.
    package var inputs: [Position]
    /// The fields that it was about; empty for the whole entity.
    package var fields: [String]
    /// The event with what the server had said before, if it had said anything.
    package var base: Position?
    /// The fields of the mutation that were given up, where the server or a rule's document won;
    /// empty for a deletion.
    package var superseded: [String] = []
    /// Its other fields, which go on or are there; empty where it stays whole.
    package var kept: [String] = []

    package init(
        key: EntityKey, rule: String, ruleVersion: UInt64, result: String, inputs: [Position],
        fields: [String], base: Position? = nil
    ) {
        self.base = base
        self.key = key
        self.rule = rule
        self.ruleVersion = ruleVersion
        self.result = result
        self.inputs = inputs
        self.fields = fields
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.bytes(1, key.bytes)
        writer.string(2, rule)
        writer.varint(3, ruleVersion)
        writer.string(4, result)
        for input in inputs { writer.position(5, input) }
        for field in fields { writer.message(6, field) }
        writer.position(7, base)
        for field in superseded { writer.message(8, field) }
        for field in kept { writer.message(9, field) }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(
            key: EntityKey("", ""), rule: "", ruleVersion: 0, result: "", inputs: [], fields: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                guard let key = EntityKey(bytes: try field.bytes()) else { throw .invalidUTF8(1) }
                self.key = key
            case 2: rule = try field.string()
            case 3: ruleVersion = try field.unsigned()
            case 4: result = try field.string()
            case 5: inputs.append(try field.position())
            case 6: fields.append(try field.string())
            case 7: base = try field.position()
            case 8: superseded.append(try field.string())
            case 9: kept.append(try field.string())
            default: continue
            }
        }
    }
}

/// Both sides of conflicts that the server won; kept until the last of them is answered.
package struct ConflictRow: Sendable, Hashable {
    /// The entity with everything pending, as it was seen here; empty where it was deleted.
    package var mine: [UInt8]
    /// The base before; empty where the server had none.
    package var base: [UInt8]

    package init(mine: [UInt8], base: [UInt8]) {
        self.mine = mine
        self.base = base
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter(capacity: mine.count + base.count + 16)
        writer.bytes(1, mine)
        writer.bytes(2, base)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(mine: [], base: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: mine = try field.bytes()
            case 2: base = try field.bytes()
            default: continue
            }
        }
    }
}

/// A named fact about the store: the event that said it last, and its payload.
package struct StoreFactRow: Sendable, Hashable {
    package var position: Position
    package var payload: [UInt8]

    package init(position: Position, payload: [UInt8]) {
        self.position = position
        self.payload = payload
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.bytes(2, payload)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, payload: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: payload = try field.bytes()
            default: continue
            }
        }
    }
}

/// Up to which event rows go with their events, as the log begins later: 'M'.
package struct DroppedRow: Sendable, Hashable {
    /// The last event of which the rows go.
    package var last: Position
    /// The runs up to there of which the rows stay.
    package var runs: [Position]
    /// Whether some are there yet.
    package var isLeft: Bool

    init(last: Position, runs: [Position] = [], isLeft: Bool = false) {
        (self.last, self.runs, self.isLeft) = (last, runs, isLeft)
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, last)
        for run in runs { writer.position(2, run) }
        writer.flag(3, isLeft)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(last: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: last = try field.position()
            case 2: runs.append(try field.position())
            case 3: isLeft = try field.flag()
            default: continue
            }
        }
    }

    /// Whether a row goes, or went, with its event.
    package func takes(_ key: RowKey) -> Bool {
        guard key.tree == .ledger, let sort = key.bytes.first, Ledger.ofEvents.contains([sort]),
            let position = Position(bigEndianBytes: key.bytes.dropFirst().prefix(8))
        else { return false }
        return position <= last && ([sort] != Ledger.syncRuns || !runs.contains(position))
    }
}

extension RowReading {
    /// Up to which event rows went with their events; nil where none was dropped.
    package func droppedRows() throws -> DroppedRow? {
        try get(.dropped).map { try DroppedRow(parsing: $0) }
    }
}
