// FailingRow.swift — calls that fail by themselves: about an entity, or about a collection's list,
// which has an empty id.

package import TidemarkEvents
package import TidemarkRules

/// Failing calls about one entity or list: 'z' collection 0 id.
package struct FailingRow: Sendable, Hashable {
    /// How long it waits before it is repeated, how often it failed in a row, and the event of the
    /// last failure.
    package var gate: SyncGate
    /// The event of the first failure.
    package var first: Position
    /// The HTTP status; 0 where there was none.
    package var status: UInt32 = 0
    /// Whether it was a write that failed.
    package var isWrite = false
    /// How often a read failed since the last write.
    package var reads = 0
    /// Whether a list of everything did not name the entity.
    package var isAbsent = false

    /// Whether the server said that what was asked for is not there, or not for this user.
    package var isRefusal: Bool { Self.isRefusal(Int(status)) }

    /// Whether a status says so.
    package static func isRefusal(_ status: Int) -> Bool { [403, 404, 409, 410].contains(status) }

    /// The number of failures from which on it is an issue for the user.
    package static let failuresTold = 3

    init(first: Position) {
        self.first = first
        gate = SyncGate(
            since: Moment(now: Timestamp(rawValue: 0), bootID: "", uptime: 0), microseconds: 0,
            position: first)
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.message(1, gate.encoded)
        writer.position(2, first)
        writer.varint(3, UInt64(status))
        writer.flag(4, isWrite)
        writer.varint(5, UInt64(reads))
        writer.flag(6, isAbsent)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(first: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: gate = try SyncGate(parsing: try field.bytes())
            case 2: first = try field.position()
            case 3: status = try field.small()
            case 4: isWrite = try field.flag()
            case 5: reads = Int(clamping: try field.unsigned())
            case 6: isAbsent = try field.flag()
            default: continue
            }
        }
    }
}

extension FailingRow {
    /// What fails, and how, for a person.
    package var sentence: String { sentence(nil) }

    fileprivate func sentence(_ name: String?) -> String {
        // Writes and the reads after them wait together, but each failed for itself.
        let isAsked = name == nil && (!isWrite || reads > 0)
        let written = isWrite ? "a write of it failed, and " : ""
        let what = name ?? (isAsked ? written + "asking how it stands" : "a write of it")
        let failures = isAsked && reads > 0 ? reads : gate.failures
        let how = status == 0 ? gate.reason : "\(gate.reason), \(status)"
        let count = failures == 1 ? "once" : "\(failures) times in a row"
        return "\(what) failed \(count) (\(how)), last at \(gate.position)"
    }
}

/// A call that fails, by what it is about.
package struct FailingCall: Sendable, Hashable {
    /// The entity; with an empty id the collection's list.
    package var key: EntityKey
    package var row: FailingRow

    package init(key: EntityKey, row: FailingRow) {
        self.key = key
        self.row = row
    }

    package var isList: Bool { key.id.isEmpty }

    /// What fails, and how, for a person.
    package var sentence: String { row.sentence(isList ? "its list" : nil) }
}

extension RowKey {
    package static func failing(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.failing))
    }
}

extension EntityKey {
    /// The key of a collection's list among the failing calls.
    package static func list(of collection: CollectionName) -> EntityKey {
        EntityKey(collection, "")
    }
}

extension RowReading {
    /// The calls that fail for reasons of their own, what failed last at the end.
    ///
    /// Those about collections that the model dropped are not made any more.
    package func failingCalls() throws -> [FailingCall] {
        let calls = try ledgerRows(Ledger.failing).compactMap { place, value in
            try EntityKey(bytes: place.bytes.dropFirst()).map {
                FailingCall(key: $0, row: try FailingRow(parsing: value))
            }
        }
        guard !calls.isEmpty else { return [] }
        let model = try model()
        return calls.filter { model[$0.key.collection] != nil }
            .sorted { $0.row.gate.position < $1.row.gate.position }
    }
}
