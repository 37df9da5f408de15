// StagedRows.swift — what lists brought of collections of which all is listed or nothing, until all
// of it is there, as rows of the ledger:
//
//   'Sb' set                    the run that lists it
//   'Sd' set                    the run that brought all of it last
//   'Se' collection 0 id        the server's word on an entity
//   'Sl' collection 0           that a list came to its end

package import TidemarkEvents
import TidemarkRules

/// An event that waits: 'Se' collection 0 id, and 'Sl' collection 0.
package struct StagedRow: Sendable, Hashable {
    package var position: Position
    package var recordedAt: Timestamp
    package var sync: Position
    /// What a rule of the app answered to it.
    package var cause: Position?
    package var isDeletion = false
    package var asOf: Position?
    package var serverTime: Timestamp?
    package var revision: Revision?
    package var payload: [UInt8] = []

    package init(_ event: Event, _ sync: Position, _ position: Position) {
        self.init(position: position, recordedAt: event.recordedAt, sync: sync)
        isDeletion = event.kind == .serverDeleted
        (asOf, serverTime, revision) = (event.asOf, event.serverTime, event.revision)
        (cause, payload) = (event.cause, event.payload)
    }

    private init(position: Position, recordedAt: Timestamp, sync: Position) {
        self.position = position
        self.recordedAt = recordedAt
        self.sync = sync
    }

    /// The server's word on an entity.
    func word(on key: EntityKey) -> Event {
        Event(
            isDeletion ? .serverDeleted : .serverUpserted, recordedAt: recordedAt, key: key,
            cause: cause, sync: sync, asOf: asOf, serverTime: serverTime, revision: revision,
            json: payload.isEmpty ? nil : payload)
    }

    /// The end of a collection's list.
    func end(of collection: CollectionName) -> Event {
        Event(
            .pullCompleted, recordedAt: recordedAt, collection: collection, sync: sync, asOf: asOf,
            serverTime: serverTime, revision: revision, json: payload)
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter(capacity: payload.count + 64)
        writer.position(1, position)
        writer.signed(2, recordedAt.rawValue)
        writer.position(3, sync)
        writer.flag(4, isDeletion)
        writer.position(5, asOf)
        writer.signed(6, serverTime?.rawValue ?? 0)
        writer.bytes(7, revision?.rawValue ?? [])
        writer.bytes(8, payload)
        writer.position(9, cause)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, recordedAt: Timestamp(rawValue: 0), sync: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: recordedAt = Timestamp(rawValue: try field.signed())
            case 3: sync = try field.position()
            case 4: isDeletion = try field.flag()
            case 5: asOf = try field.position()
            case 6: serverTime = Timestamp(rawValue: try field.signed())
            case 7: revision = Revision(rawValue: try field.bytes())
            case 8: payload = try field.bytes()
            case 9: cause = try field.position()
            default: continue
            }
        }
    }
}

extension RowKey {
    package static func staging(_ set: String) -> RowKey {
        RowKey(.ledger, Ledger.staging + set.utf8)
    }
    package static func stagedLast(_ set: String) -> RowKey {
        RowKey(.ledger, Ledger.stagedLast + set.utf8)
    }
    package static func staged(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.staged))
    }
    package static func stagedEnd(_ collection: CollectionName) -> RowKey {
        RowKey(.ledger, Ledger.stagedEnds + EntityKey.prefix(of: collection))
    }
}

extension Ledger {
    package static let staging = LedgerSort.staged.prefix + "b".utf8
    package static let stagedLast = LedgerSort.staged.prefix + "d".utf8
    package static let staged = LedgerSort.staged.prefix + "e".utf8
    package static let stagedEnds = LedgerSort.staged.prefix + "l".utf8
}

extension SyncModel {
    /// The collections of a set of which all is listed or nothing.
    package func members(of set: String) -> [CollectionModel] {
        collections.filter { $0.allOrNone.map(ExactString.init) == ExactString(set) }
    }
}
