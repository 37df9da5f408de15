// RowReadingTests.swift — a fold answers of what it has folded as a reader does once it is written.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

/// What the rows answer, of everything that they know.
private struct Answers: Equatable {
    var rows: [Row] = []
    var entities: [EntityKey: EntityRow] = [:]
    var names: [EntityKey: [String]] = [:]
    var mutations: [Position: [MutationRow]] = [:]
    var open: [Position] = []
    var decisions: [DecisionRow] = []
    var lists: [CollectionName: [String]] = [:]
    var issues: [IssueRow] = []

    init(_ reader: some RowReading) throws {
        for tree in Tree.allCases {
            try reader.walk(tree, []) { key, value in
                rows.append(Row(key: RowKey(tree, key), value: value))
                return true
            }
        }
        for row in rows { #expect(try reader.get(row.key) == row.value, "\(row.key)") }
        var named: [EntityKey] = []
        try reader.forEachEntity { key, row in
            named.append(key)
            entities[key] = row
            return true
        }
        let aliases = rows.filter { $0.key.bytes.starts(with: Ledger.bindings) }
            .compactMap { EntityKey(bytes: $0.key.bytes.dropFirst()) }
        for name in named + aliases {
            let key = try reader.resolve(name)
            #expect(try reader.found(name).map { $0.key == key && $0.row == entities[key] } ?? true)
            names[name] = try [key.id, reader.serverID(of: name)] + reader.ids(of: name)
        }
        try reader.forEachMutation { position, row in
            mutations[position, default: []].append(row)
            return true
        }
        try reader.forEachMutation(openOnly: true) { position, _ in
            open.append(position)
            return true
        }
        try reader.forEachDecision { _, row in
            decisions.append(row)
            return true
        }
        for collection in try reader.model().collections {
            let name = collection.name
            let target = PullTarget(name)
            lists[name] = [
                "\(String(describing: try reader.watermark(target)))",
                "\(String(describing: try reader.listing(target)))", "\(try reader.isOwed(target))",
                "\(String(describing: try reader.held(target)))",
                "\(try reader.countInReach(name, upTo: 100))",
            ]
        }
        issues = try reader.issues()
        for issue in issues { #expect(try reader.isOpen(issue)) }
    }
}

@Suite struct `rows are read alike` {
    @Test(arguments: 0x5EED_0901..<0x5EED_0911 as Range<UInt64>)
    func `from a fold and from what it writes`(_ seed: UInt64) throws {
        let store = try ScratchStore()
        var maker = LogMaker(seed: seed, isHostile: false)
        try maker.write(about: 120, to: store.journal)
        var events: [(position: Position, event: Event)] = []
        try store.journal.environment.read { transaction in
            try store.journal.log.forEach(transaction) { position, event in
                events.append((position, event))
                return true
            }
        }
        let models = ModelCache()
        var rows = MemoryRows()

        for start in stride(from: 0, to: events.count, by: 17) {
            let commit = events[start...].prefix(17)
            let (answers, changes) = try rows.withFold(models) { fold in
                for (position, event) in commit { try fold.apply(event, at: position) }
                return (try Answers(fold), fold.sortedChanges)
            }
            rows.write(changes)
            let last = commit.last?.position ?? .start
            let written = try rows.read(models, last: last, event: { _ in nil }) {
                try Answers($0)
            }
            #expect(written == answers, "at \(last)")
        }
    }

    @Test func `and what differs is named from both sides`() {
        let pairs = paired(["a1", "b1", "c1"], by: \.first, with: ["c2", "d2", "a2"], by: \.first)

        #expect(pairs.map(\.one) == ["a1", "b1", "c1", nil])
        #expect(pairs.map(\.other) == ["a2", nil, "c2", "d2"])
    }
}
