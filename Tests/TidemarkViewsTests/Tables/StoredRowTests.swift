// StoredRowTests.swift — rows that name the events whose payloads they would hold.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an entity's row in its table` {
    private let store: ScratchStore
    private let key = EntityKey("tasks", "t1")

    init() throws { store = try ScratchStore() }

    private static func document(_ title: String, bytes: Int = 300) -> [UInt8] {
        let notes = String(repeating: "n", count: bytes)
        return Array(#"{"id":"t1","title":"\#(title)","notes":"\#(notes)"}"#.utf8)
    }

    @discardableResult
    private func write(_ events: Event...) throws -> Position {
        try store.journal.write(at: Timestamp(microseconds: 1)) { draft in
            for event in events { try draft.append(event) }
            return Position(draft.nextPosition.rawValue - 1)
        }
    }

    private func pulled(_ document: [UInt8]) -> Event {
        Event(.serverUpserted, recordedAt: Timestamp(microseconds: 1), key: key, json: document)
    }

    private func edited(_ kind: EventKind, _ payload: [UInt8]) -> Event {
        Event(kind, recordedAt: Timestamp(microseconds: 1), key: key, json: payload)
    }

    /// The bytes that the table holds for the row, and the row.
    private func row() throws -> (stored: [UInt8], row: EntityRow) {
        let (journal, place) = (store.journal, RowKey.entity(key))
        return try journal.environment.read { transaction in
            let table = journal.views.table(.rows, .a)
            let stored = try #require(try transaction.get(table, place.bytes))
            let row = try #require(try journal.views.row(place, .a, transaction))
            return (stored, try EntityRow(parsing: row))
        }
    }

    @Test func `names the event of what the server said instead of holding it`() throws {
        let document = Self.document("tea")
        let position = try write(pulled(document))

        let (stored, row) = try row()
        #expect(stored.count < 40)
        #expect(row.base == document && row.basePosition == position)
    }

    @Test func `names an edit's event, and the server's beside it`() throws {
        let (base, patch) = (
            Self.document("tea"),
            Array(#"{"set":{"title":"\#(String(repeating: "a", count: 90))"},"unset":[]}"#.utf8)
        )
        try write(pulled(base))
        try write(edited(.localUpdated, patch))

        let (stored, row) = try row()
        #expect(row.base == base && row.pending.map(\.payload) == [patch])
        // What both come to is in no event.
        #expect(stored.count < row.current.count + 60)
    }

    @Test func `names the last edits' events, however many they overtake`() throws {
        let base = Self.document("tea")
        try write(pulled(base))
        var last: [UInt8] = []
        for number in 100..<170 {
            let notes = String(repeating: "a", count: 300)
            last = Array(#"{"set":{"notes":"\#(notes)\#(number)"},"unset":[]}"#.utf8)
            try write(edited(.localUpdated, last))
        }

        let (stored, row) = try row()
        #expect(row.base == base && row.pending.last?.payload == last)
        #expect(row.pending.filter(\.isOvertaken).count == 66)
        #expect(stored.count < row.current.count + 70 * 12 + 60)
    }

    @Test func `names the event by which it was made here`() throws {
        let document = Self.document("tea")
        try write(edited(.localCreated, document))

        let (stored, row) = try row()
        #expect(stored.count < 40)
        #expect(row.document == document)
    }

    @Test func `holds what is short, and what is a body of its own`() throws {
        let short = Array(#"{"id":"t1"}"#.utf8)
        try write(pulled(short))
        #expect(try row().row.base == short)

        let long = Self.document("tea", bytes: 5000)
        try write(pulled(long))
        let (stored, row) = try row()
        #expect(row.base == long)
        #expect(stored.count > long.count)
    }

    @Test func `is read whole by whoever walks over it, and rebuilt to the same`() throws {
        let documents = (0..<50).map { Self.document("number \($0)", bytes: 40 * $0) }
        for (number, document) in documents.enumerated() {
            let key = EntityKey("tasks", "e\(number)")
            try write(
                Event(
                    .serverUpserted, recordedAt: Timestamp(microseconds: 1), key: key,
                    json: document))
        }
        func walked() throws -> Set<[UInt8]> {
            try store.journal.read { views in
                var found: Set<[UInt8]> = []
                try views.forEachEntity { _, row in
                    found.insert(row.base)
                    return true
                }
                return found
            }
        }
        #expect(try walked() == Set(documents))
        try store.journal.rebuild()
        #expect(try walked() == Set(documents))
    }

    @Test func `that names a damaged event says which one`() throws {
        let position = try write(pulled(Self.document("tea")))
        let log = store.journal.log.log
        try store.journal.environment.write { transaction in
            var frame = try transaction.get(log, position.bigEndianBytes) ?? []
            frame[frame.count - 20] ^= 1
            try transaction.put(log, position.bigEndianBytes, frame)
        }

        let error = #expect(throws: LogError.self) { try row() }
        #expect(error?.position == position && error?.code == .corruptEvent)
    }
}
