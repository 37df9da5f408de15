// IndexTests.swift — what is in an index, when it is there, and that damage to it is found.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

private func key(_ values: JSONValue...) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values { OrderKey.append(value, kind: .value, dates: .iso8601, to: &bytes) }
    return bytes
}

@Suite struct `an index` {
    let store: ScratchStore
    let byList: IndexModel = ["list"]
    let byListAndTitle: IndexModel = ["list", "title"]

    init() throws {
        store = try ScratchStore()
        try store.write(.tasks([byList, byListAndTitle]))
        try store.write(
            .about(.localCreated, "tasks/1", #"{"list":"b","title":"x"}"#),
            .about(.serverUpserted, "tasks/2", #"{"list":"a","title":"y"}"#),
            .about(.localCreated, "tasks/3", #"{"list":"b","title":"a"}"#),
            .about(.localCreated, "tasks/4", "{}"),
            .about(.localCreated, "lists/1", #"{"list":"b"}"#))
    }

    @Test func `follows what is seen of the entities`() throws {
        #expect(try store.ids(byList) == ["4", "2", "1", "3"])
        #expect(try store.ids(byListAndTitle) == ["4", "2", "3", "1"])

        try store.write(
            .about(.localUpdated, "tasks/2", #"{"set":{"list":"c"},"unset":[]}"#),
            .about(.localDeleted, "tasks/1"))
        #expect(try store.ids(byListAndTitle) == ["4", "3", "2"])

        try store.write(.about(.localDiscarded, "tasks/2"))
        #expect(try store.ids(byListAndTitle) == ["4", "2", "3"])
        #expect(try store.indexCount() == 6)
    }

    @Test func `is read in ranges, both ways, and no further than asked`() throws {
        func range(
            _ lower: (JSONValue, Bool)?, _ upper: (JSONValue, Bool)?, reversed: Bool = false
        ) throws -> [String] {
            try store.ids(
                byListAndTitle,
                from: lower.map { IndexBound(key($0.0), isInclusive: $0.1) },
                to: upper.map { IndexBound(key($0.0), isInclusive: $0.1) }, reversed: reversed)
        }
        #expect(try range(("b", true), ("b", true)) == ["3", "1"])
        #expect(try range(("b", true), ("b", true), reversed: true) == ["1", "3"])
        #expect(try range(("a", false), nil) == ["3", "1"])
        #expect(try range(nil, ("b", false)) == ["4", "2"])
        #expect(try range((nil, false), nil, reversed: true) == ["1", "3", "2"])
        #expect(try range(("c", true), nil) == [])
        #expect(try range(("b", true), ("a", true)) == [])
        #expect(try store.ids(byListAndTitle, reversed: true, most: 2) == ["1", "3"])
        let both = IndexBound(key("b", "a"), isInclusive: true)
        #expect(try store.ids(byListAndTitle, from: both, to: both) == ["3"])
        let beginning = IndexBound(Array(key("bx").prefix(2)), isInclusive: true)
        #expect(try store.ids(byListAndTitle, from: beginning, to: beginning) == ["3", "1"])
    }

    @Test func `is there for every reference`() throws {
        #expect(try !store.hasIndex(["owner"]))
        try store.write(.tasks([byList], references: [Reference("owner", to: "people")]))
        #expect(try store.hasIndex(["owner"]))
        #expect(try store.ids(["owner"]) == ["1", "2", "3", "4"])
    }

    @Test func `comes and goes with the model, before the write returns`() throws {
        try store.write(
            .tasks([byList, ["title"]]),
            .about(.localUpdated, "tasks/4", #"{"set":{"list":"z","title":"z"},"unset":[]}"#))

        #expect(try !store.hasIndex(byListAndTitle))
        #expect(try store.ids(["title"]) == ["3", "1", "2", "4"])
        #expect(try store.ids(byList) == ["2", "1", "3", "4"])
        #expect(try store.indexCount() == 8)
        #expect(try store.indexDifferences() == [])

        try store.write(.tasks([]))
        #expect(try !store.hasIndex(byList))
        #expect(try store.indexCount() == 0)
    }

    @Test func `is another one when times are written otherwise or a field is renamed`() throws {
        let index: IndexModel = [.date("due")]
        try store.write(
            .tasks([index]), .about(.localCreated, "tasks/5", #"{"old":5,"due":9}"#),
            .about(.localCreated, "tasks/6", #"{"due":"1970-01-01T00:00:08Z"}"#))
        #expect(try store.ids(index).suffix(2) == ["5", "6"])
        try store.write(.tasks([index], dates: .seconds))
        #expect(try store.ids(index).suffix(2) == ["5", "6"])
        #expect(try store.indexDifferences() == [])

        try store.write(.tasks([["new"]], migrations: [.rename("old", to: "new")]))
        #expect(try store.ids(["new"]).last == "5")
        try store.write(
            .about(.localCreated, "tasks/7", #"{"new":3}"#),
            .about(.localUpdated, "tasks/7", #"{"set":{"new":null},"unset":[]}"#),
            .about(.localCreated, "tasks/8", #"{"new":8}"#))
        try store.write(
            .tasks(
                [["new"]],
                migrations: [.rename("old", to: "new"), .require("new", default: 7)]),
            .about(.localUpdated, "tasks/5", #"{"set":{"new":9},"unset":[]}"#))
        #expect(try store.ids(["new"]) == ["1", "2", "3", "4", "6", "7", "8", "5"])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `is another one when times are written otherwise that a form reads`() throws {
        let index: IndexModel = ["start"]
        func tasks(_ dates: DateFormat) -> Event {
            .collections([
                CollectionModel(
                    "tasks", indexes: [index], dates: dates, forms: [.wholeSeconds("start")])
            ])
        }
        try store.write(
            tasks(.milliseconds), .about(.serverUpserted, "tasks/5", #"{"start":1500}"#),
            .about(.serverUpserted, "tasks/6", #"{"start":1200}"#))
        #expect(try store.ids(index).suffix(2) == ["5", "6"])

        try store.write(tasks(.seconds))

        #expect(try store.hasIndex(index))
        #expect(try store.ids(index).suffix(2) == ["6", "5"])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `is of a field by its bytes, not of one that looks the same`() throws {
        let (composed, decomposed): (IndexModel, IndexModel) = (["\u{E9}"], ["e\u{301}"])
        #expect(composed != decomposed)
        try store.write(
            .tasks([decomposed]),
            .about(.serverUpserted, "tasks/5", "{\"\u{E9}\":1}"),
            .about(.serverUpserted, "tasks/6", "{\"e\u{301}\":1}"))
        #expect(try store.hasIndex(decomposed) && !store.hasIndex(composed))
        #expect(try store.ids(decomposed).last == "6")

        try store.write(.tasks([composed, decomposed]))
        #expect(try store.ids(composed).last == "5")
        #expect(try store.indexDifferences() == [])
    }

    @Test func `is read by a reader that may not write`() throws {
        try store.reopen(readOnly: true)
        #expect(try store.ids(byList) == ["4", "2", "1", "3"])
    }

    @Test func `is not there in a store of before, until it is opened for writing`() throws {
        try store.forgetIndexes()
        try store.reopen(readOnly: true)
        #expect(try !store.hasIndex(byList))
        #expect(try store.journal.verify(.full).findings == [])

        try store.reopen()
        #expect(try store.hasIndex(byList))
        #expect(try store.ids(byListAndTitle) == ["4", "2", "3", "1"])
    }

    @Test func `that another version left behind is not read, and made anew for writing`() throws {
        try store.writeWithoutIndexes(
            .about(.localUpdated, "tasks/4", #"{"set":{"list":"z"},"unset":[]}"#),
            .about(.localCreated, "tasks/5", #"{"list":"0"}"#))
        try store.reopen(readOnly: true)
        #expect(try !store.hasIndex(byList))
        #expect(try store.journal.verify(.full).findings == [])

        try store.reopen()
        #expect(try store.ids(byList) == ["5", "2", "1", "3", "4"])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `that another version left behind is not taken up by a commit`() throws {
        try store.writeWithoutIndexes(.about(.localCreated, "tasks/5", #"{"list":"0"}"#))

        try store.write(.about(.localCreated, "tasks/6", #"{"list":"1"}"#))

        #expect(try !store.hasIndex(byList))
        #expect(try store.indexCount() == 0)
        try store.reopen()
        #expect(try store.ids(byList) == ["4", "5", "6", "2", "1", "3"])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `knows of every commit, also of those that change none of its entities`() throws {
        try store.write(.about(.localCreated, "lists/2", #"{"list":"b"}"#))
        try store.write(Event(.storeOpened, recordedAt: Timestamp(rawValue: 2)))
        #expect(try store.hasIndex(byList))
        #expect(try store.ids(byList) == ["4", "2", "1", "3"])
    }

    @Test func `holds ids and texts of any length`() throws {
        let long = String(repeating: "x", count: 2000)
        let ids = ["a", "b"].map { String(repeating: "i", count: 399) + $0 }
        try store.write(
            .about(.localCreated, "tasks/\(ids[1])", #"{"list":"c"}"#),
            .about(.localCreated, "tasks/\(ids[0])", #"{"list":"c"}"#),
            .about(.localCreated, "tasks/8", #"{"list":"\#(long)b"}"#),
            .about(.localCreated, "tasks/9", #"{"list":"\#(long)a"}"#))

        #expect(try store.ids(byList).suffix(4) == [ids[0], ids[1], "8", "9"])
        #expect(try store.ids(byList, reversed: true).dropFirst(2).prefix(2) == [ids[1], ids[0]])
        let bound = IndexBound(key(.string(long + "a")), isInclusive: false)
        #expect(try store.ids(byList, from: bound) == ["8", "9"])
        try store.journal.read { views in
            var cut: [String] = []
            try views.forEachIndexed(byList, in: "tasks") { _, isCut, id in
                if isCut { cut.append(id) }
                return true
            }
            #expect(cut == ["8", "9"])
        }
        try store.write(.about(.localDeleted, "tasks/\(ids[0])"), .about(.localDeleted, "tasks/9"))
        #expect(try store.ids(byList).suffix(2) == [ids[1], "8"])
        #expect(try store.indexDifferences() == [])
    }

    @Test func `costs nothing to commit where a collection has none`() throws {
        let before = try store.indexCount()
        try store.write(.about(.localCreated, "lists/2", #"{"list":"b"}"#))
        #expect(try store.indexCount() == before)
    }

    @Test func `that is damaged is found, named, and mended by a rebuild`() throws {
        let table = store.journal.views.indexTable(try store.generation)
        var keys: [[UInt8]] = []
        try store.journal.environment.read { transaction in
            try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, _ in
                if key.copied().suffix(1) == Array("1".utf8)[...] { keys.append(key.copied()) }
                return true
            }
        }
        try store.journal.environment.write { transaction in
            for key in keys {
                try transaction.delete(table, key)
                try transaction.put(table, key.dropLast() + Array("7".utf8), [])
            }
            try transaction.put(table, Array(repeating: 0xFF, count: 12), [])
        }

        let findings = try store.journal.verify(.full).findings
        let record = "the record of tasks/"
        for fields in ["list", "list, title"] {
            let place = "in the index of tasks on \(fields) is"
            #expect(findings.contains { $0.contains("\(record)1 \(place) missing") })
            #expect(findings.contains { $0.contains("\(record)7 \(place) left over") })
        }
        #expect(findings.count == 5, "\(findings)")
        #expect(try store.compare().indexes.count == 5)

        try store.journal.rebuild()
        #expect(try store.journal.verify(.deep).findings == [])
        #expect(try store.ids(byList) == ["4", "2", "1", "3"])
    }

    @Test(arguments: [1, 2, 5, 1000])
    func `is kept by a rebuild in steps of any size`(_ eventsPerStep: Int) throws {
        try store.write(.about(.serverUpserted, "tasks/2", #"{"list":"a","title":"other"}"#))
        try store.write(
            .about(.localUpdated, "tasks/3", #"{"set":{"list":"0"},"unset":[]}"#),
            .about(.localDeleted, "tasks/1"))
        let long = String(repeating: "i", count: 300)
        try store.write(.about(.localCreated, "tasks/\(long)", #"{"list":"d"}"#))
        let records = try store.indexRecords()
        #expect(records.count == 8)

        try store.journal.rebuild(eventsPerStep: eventsPerStep)
        #expect(try store.indexRecords() == records)
        #expect(try store.indexDifferences() == [])

        try store.write(.tasks([["title"]]))
        try store.write(.about(.localUpdated, "tasks/4", #"{"set":{"title":"z"},"unset":[]}"#))
        try store.journal.rebuild(eventsPerStep: eventsPerStep)
        #expect(try store.ids(["title"]).last == "4")
        #expect(try store.indexDifferences() == [])
    }

    @Test func `stays sound when a rebuild is cut short`() throws {
        struct CutShort: Error {}
        #expect(throws: CutShort.self) {
            try store.journal.rebuild(eventsPerStep: 2) { _ in throw CutShort() }
        }
        #expect(try store.ids(byList) == ["4", "2", "1", "3"])
        try store.journal.rebuild(eventsPerStep: 1) { progress in
            guard progress.done == Position(2) else { return }
            try store.write(.about(.localCreated, "tasks/0", #"{"list":"0"}"#))
            #expect(try store.ids(byList) == ["4", "0", "2", "1", "3"])
        }
        #expect(try store.ids(byList) == ["4", "0", "2", "1", "3"])
        #expect(try store.indexDifferences() == [])
    }
}

extension ScratchStore {
    /// Makes the store one that knows of no indexes.
    fileprivate func forgetIndexes() throws {
        let views = journal.views
        try journal.environment.write { transaction in
            guard var state = try views.state(transaction) else { return }
            try transaction.clear(views.indexTable(state.generation))
            state.indexes = []
            try views.setState(state, transaction)
        }
    }

    /// Writes events as a version of Tidemark does that keeps no indexes.
    fileprivate func writeWithoutIndexes(_ events: Event...) throws {
        let views = journal.views
        let table = views.indexTable(try generation)
        typealias Kept = (state: ViewTables.State?, records: [(key: [UInt8], value: [UInt8])])
        let before: Kept = try journal.environment.read { transaction in
            var records: [(key: [UInt8], value: [UInt8])] = []
            try transaction.scan(table, from: nil, prefix: [], reversed: false) {
                records.append(($0.copied(), $1.copied()))
                return true
            }
            return (try views.state(transaction), records)
        }
        for event in events { try write(event) }
        try journal.environment.write { transaction in
            try transaction.clear(table)
            for (key, value) in before.records { try transaction.put(table, key, value) }
            if let state = before.state { try views.setState(state, transaction) }
        }
    }
}
