// VerifyRowsTests.swift — rows that are not what the commits recorded, found without folding; what
// only a new fold finds; and what must not be mistaken for damage.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite struct `verifying rows` {
    private let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_0A01, isHostile: false)
        try maker.write(about: 60, to: store.journal)
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `every row that is changed, gone or exchanged is named`() throws {
        let rows = try store.rows()
        for (index, row) in rows.enumerated() {
            var changed = row.value
            changed[index % changed.count] ^= 1 << UInt8(index % 8)
            let other = rows[(index + 1) % rows.count].value
            for value in [changed, nil, other] where value != row.value {
                try store.damage(row.key, value)
                let findings = try store.journal.verify().findings
                #expect(findings.count == 1, "\(findings)")
                let isNamed = findings.first?.contains("the row \(row.key) of view ") == true
                let hasName = value != nil || !Self.isNamedByOthers(row.key, row.value)
                let view = "row of view \(row.key.view) is missing"
                #expect(
                    isNamed || !hasName && findings.first?.contains(view) == true,
                    "\(row.key): \(findings)")
                #expect(try store.journal.verify(.quick).findings == [])
            }
            try store.damage(row.key, row.value)
        }
        #expect(try store.journal.verify().findings == [])
    }

    /// Whether a row is known by its short hash alone once it is gone, because an event about
    /// another entity wrote it: an alias, the mark of a derived change, a placeholder, and that
    /// an entity changed by it.
    private static func isNamedByOthers(_ key: RowKey, _ value: [UInt8]) -> Bool {
        if [.bindings, .placeholders, .places].contains(key.view) { return true }
        if key.view == .entities { return (try? EntityRow(parsing: value))?.isPlaceholder == true }
        let derived = [UInt8(ascii: "n"), UInt8(ascii: "p")]
        return key.tree == .ledger && key.bytes.first.map(derived.contains) == true
    }

    @Test func `a row that no commit wrote is named`() throws {
        for key in [
            RowKey.entity(EntityKey("tasks", "ghost")), .store("ghost"), .open(Position(9)),
        ]
        where try store.journal.read({ try $0.get(key) }) == nil {
            try store.damage(key, [1, 2])
            #expect(
                try store.journal.verify().findings == [
                    "@0: corruptRow: the row \(key) of view \(key.view) was never recorded"
                ])
            try store.damage(key, nil)
        }
    }

    @Test func `an id may outlast the entity that it is an alias of, which was wiped`() throws {
        let store = try ScratchStore()
        let people = CollectionModel("people", ids: .serverNumber)
        try store.write(
            .registered(SyncModel(name: "m", collections: [people])),
            .about(.localCreated, "people/a", "{}"),
            .about(.requestSent, "people/a", #"{"method":"POST"}"#, mutation: 2),
            .about(.pushAccepted, "people/a", #"{"serverID":"17"}"#, mutation: 2, call: 3))
        try store.write(.wiped())

        #expect(try store.entity(EntityKey("people", "a")) == nil)
        let key = try store.journal.read { try $0.resolve(EntityKey("people", "17")) }
        #expect(key == EntityKey("people", "a"))
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test func `a row as an older commit wrote it is not as its last commit did`() throws {
        try store.write(.about(.serverUpserted, "tasks/x", #"{"a":1}"#, asOf: 90, revision: "1"))
        let older = try store.rows().first { $0.key == .entity(EntityKey("tasks", "x")) }
        try store.write(.about(.serverUpserted, "tasks/x", #"{"a":2}"#, asOf: 91, revision: "2"))
        let last = try store.journal.read { $0.last }

        try store.damage(.entity(EntityKey("tasks", "x")), try #require(older).value)

        #expect(
            try store.journal.verify().findings == [
                "\(last): corruptRow: the row tasks/x of view entities is not as its commit "
                    + "recorded it"
            ])
    }

    @Test func `two keys that share a short hash are not mistaken for damage`() throws {
        let (one, two) = try Self.collision()
        for (index, name) in [one, two].enumerated() {
            let position = UInt64(100 + index)
            try store.write(
                .about(.serverUpserted, name, #"{"a":\#(index)}"#, asOf: position, revision: "1"))
        }
        #expect(try store.journal.verify(.deep).findings == [])
        let key = try #require(EntityKey(one))
        var row = try #require(try store.entity(key))
        row.base = Array(#"{"a":7}"#.utf8)
        try store.damage(.entity(key), row.encoded)
        #expect(
            try store.journal.verify().findings.map { $0.drop { $0 != " " } } == [
                " corruptRow: the row \(one) of view entities is not as any commit recorded it"
            ])
    }

    @Test func `a forgotten key is not mistaken for one that shares its short hash`() throws {
        let (old, young) = try Self.keyCollision()
        let day: Int64 = 86_400_000_000
        func write(_ key: IdempotencyKey, at day: Int64, _ name: String) throws {
            try store.journal.write(at: Timestamp(rawValue: day)) { draft in
                draft.idempotencyKey = key
                var event = Event.about(.localCreated, name, "{}")
                event.recordedAt = draft.now
                try draft.append(event)
            }
        }
        try write(old, at: day, "lists/old")
        try write(young, at: 3 * day, "lists/young")
        let last = IdempotencyKey(at: Timestamp(rawValue: 32 * day), (1, 2))
        try write(last, at: 32 * day, "lists/last")

        // The old one is gone, and what was recorded last under that hash is that it went.
        #expect(try store.journal.read { try $0.idempotencyKeys() } == [young, last])
        #expect(try store.journal.verify(.deep).findings == [])
    }

    @Test(arguments: [VerifyLevel.full, .deep])
    func `rows that other rules made are not looked at, which is said`(
        _ level: VerifyLevel
    ) throws {
        try store.damage(.entity(EntityKey("tasks", "ghost")), [1, 2])
        var state = ViewTables.State()
        state.generation = try store.generation
        state.fingerprints[0] ^= 1
        let other = state
        try store.journal.environment.write { transaction in
            try store.journal.views.setState(other, transaction)
        }

        let result = try store.journal.verify(level)

        #expect(result.findings == [])
        #expect(result.notes.count == 1)
        #expect(result.notes.first?.hasPrefix("the rows were made by other rules") == true)
        let check = try Journal.checkRebuild(at: store.path)
        #expect(check.problems == [] && check.note == result.notes.first)
    }

    @Test func `a digest that no fold makes is found by a new fold only`() throws {
        let commits = try store.commits()
        for commit in commits {
            var record = commit
            record.views[0].digest[3] ^= 1
            try store.replace(record)
            #expect(try store.journal.verify().findings == [])
            let findings = try store.journal.verify(.deep).problems
            #expect(findings.map(\.code) == [.corruptDigest])
            #expect(findings.map(\.position) == [commit.last])
            try store.replace(commit)
        }
    }

    @Test func `a digest of no shape, or of rules that no version has, is damage`() throws {
        let commit = try #require(try store.commits().last)
        for change in [
            { $0.digest.removeLast() }, { $0.rows.removeLast() }, { $0.rows = [] },
            { $0.fingerprint[0] ^= 1 }, { $0.fingerprint = [] },
        ] as [(inout ViewDigest) -> Void] {
            var record = commit
            change(&record.views[0])
            try store.replace(record)
            let findings = try store.journal.verify().problems
            #expect(findings.map(\.code) == [.corruptDigest])
            #expect(findings.map(\.position) == [commit.last])
        }
    }

    @Test func `the fold in steps of any size is the same`() throws {
        for eventsPerStep in [1, 2, 7, 1000] {
            #expect(try store.compare(eventsPerStep: eventsPerStep).isEqual)
        }
    }

    /// Two entities of which the rows' keys have the same CRC32C.
    private static func collision() throws -> (String, String) {
        var names: [UInt32: String] = [:]
        for number in 0..<2_000_000 {
            let name = "tasks/c\(number &* 2_654_435_761 % 1_000_003_000)"
            let key = RowKey.entity(try #require(EntityKey(name)))
            let hash = CRC32C.checksum(of: key.bytes)
            if let other = names.updateValue(name, forKey: hash), other != name {
                return (other, name)
            }
        }
        throw NoCollision()
    }

    /// Two keys, one of day 1 and one of day 3, of which the rows' keys have the same CRC32C.
    private static func keyCollision() throws -> (old: IdempotencyKey, young: IdempotencyKey) {
        let day: Int64 = 86_400_000_000
        var keys: [UInt32: IdempotencyKey] = [:]
        for number in UInt64(0)..<2_000_000 {
            let isOld = number % 2 == 0
            let time = Timestamp(rawValue: isOld ? day : 3 * day)
            let key = IdempotencyKey(at: time, (number &* 0x9E37_79B9_7F4A_7C15, number))
            let hash = CRC32C.checksum(of: RowKey.writeKey(Array(key.bytes)).bytes)
            if let other = keys.updateValue(key, forKey: hash), other.madeAt != key.madeAt {
                return isOld ? (key, other) : (other, key)
            }
        }
        throw NoCollision()
    }

    private struct NoCollision: Error {}
}

extension ScratchStore {
    fileprivate func replace(_ record: CommitRecord) throws {
        let log = journal.log.log
        try journal.environment.write { transaction in
            try transaction.put(log, CommitRecord.key(record.last), record.framed)
        }
    }
}
