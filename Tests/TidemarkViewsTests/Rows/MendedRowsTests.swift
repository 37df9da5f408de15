// MendedRowsTests.swift — a record of the tables that is not what was written: it is never read,
// decided on or sent; what the log makes is.

import Foundation
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a row that is not what was written` {
    private static let byTitle: IndexModel = ["title"]
    let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        try store.write(.tasks([Self.byTitle]))
        for number in 1...40 {
            let title = "marker-\(1000 + number * 7 % 41)"
            try store.write(
                .about(.localCreated, "tasks/t\(100 + number)", #"{"title":"\#(title)"}"#))
        }
        try store.write(.about(.localUpdated, "tasks/t120", #"{"set":{"n":1},"unset":[]}"#))
    }

    /// What is read of the store, in every way.
    private struct Reading: Equatable {
        var gets: [EntityRow?] = []
        var walked: [String] = []
        var indexed: [String] = []
        var indexedBack: [String] = []
        var open: [Position] = []
        var pushed: [PushCandidate] = []

        init(_ store: ScratchStore) throws {
            try store.journal.read { views in
                gets = try (101...140).map { try views.entity(EntityKey("tasks", "t\($0)")) }
                try views.forEachEntity { key, row in
                    walked.append("\(key) \(String(decoding: row.document ?? [], as: UTF8.self))")
                    return true
                }
                try views.forEachMutation(openOnly: true) { position, _ in
                    open.append(position)
                    return true
                }
                var queue = try PushQueue(views, views.model())
                while !queue.isOver { pushed += try queue.next(upTo: 7, views) }
            }
            let index = `a row that is not what was written`.byTitle
            guard try store.hasIndex(index) else { return }
            indexed = try store.ids(index)
            indexedBack = try store.ids(index, reversed: true)
        }
    }

    /// Where the bytes are in the data file, the newest and the older pages alike.
    private func places(of text: String) throws -> [Int] {
        let data = try Data(contentsOf: URL(filePath: store.path + "/data.mdb"))
        var places: [Int] = []
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: Data(text.utf8), in: rest) {
            places.append(found.lowerBound)
            rest = found.upperBound..<data.endIndex
        }
        return places
    }

    private func flip(_ place: Int, _ bit: UInt8 = 1) throws {
        let file = try FileHandle(forUpdating: URL(filePath: store.path + "/data.mdb"))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(place))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(place))
        try file.write(contentsOf: [byte ^ bit])
    }

    @Test func `is read from the log instead, wherever it lies`() throws {
        let before = try Reading(store)
        try store.reopen(readOnly: true)
        var noticed = 0
        for title in [1001, 1014, 1040] {
            for place in try places(of: "marker-\(title)") {
                try flip(place + 4)
                defer { try? flip(place + 4) }
                try store.reopen(readOnly: true)
                #expect(try Reading(store) == before)
                if store.journal.foundDamage != nil { noticed += 1 }
            }
        }
        // Of each entity its row and the record of its index.
        #expect(noticed >= 6)
    }

    @Test func `is not what is pushed next, nor is anything passed over for it`() throws {
        let before = try Reading(store)
        #expect(before.pushed.count == 40)
        var noticed = 0
        for id in ["t101", "t117", "t140"] {
            for place in try placesInTables(of: "tasks\0\(id)") {
                try flip(place + 9)
                defer { try? flip(place + 9) }
                try store.reopen(readOnly: true)
                #expect(try Reading(store).pushed == before.pushed)
                if store.journal.foundDamage != nil { noticed += 1 }
            }
            try store.reopen()
        }
        #expect(noticed >= 3)
    }

    @Test func `is made anew before the next commit, and that is counted`() throws {
        let rows = try store.rows()
        let before = try Reading(store)
        let places = try placesInTables(of: "marker-1014")
        #expect(places.count == 2)
        for place in places { try flip(place) }

        try store.write(.about(.localUpdated, "tasks/t102", #"{"set":{"n":2},"unset":[]}"#))

        #expect(try Reading(store).indexed == before.indexed)
        let document = try store.entity(EntityKey("tasks", "t102"))?.document
        #expect(document == Array(#"{"title":"marker-1014","n":2}"#.utf8))
        #expect(try store.rows().count >= rows.count)
        try store.journal.read { views in
            #expect(views.mendings == 1 && views.damage == nil)
            #expect(views.lastFound.contains("is not what was written"))
        }
        #expect(store.journal.foundDamage == nil)
        #expect(try store.differences().isEmpty)
        try store.reopen()
        #expect(try store.journal.read { $0.mendings } == 1)
    }

    @Test func `that is read first, is not read by the next reads and mended by the next commit`()
        throws
    {
        let before = try Reading(store)
        for place in try placesInTables(of: "marker-1014") { try flip(place) }

        #expect(try Reading(store) == before)
        #expect(try store.journal.read { $0.damage }?.contains("not what was written") == true)
        // Nothing of it is needed for this.
        try store.write(.about(.localCreated, "tasks/new", "{}"))

        #expect(try store.journal.read { $0.mendings } == 1)
        #expect(try store.differences().isEmpty)
    }

    @Test func `is no reason that what a reader throws is taken for damage`() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.journal.read { try $0.forEachEntity { _, _ in throw Stop() } }
        }
        #expect(store.journal.foundDamage == nil)
    }

    /// Turns the bit that says that the page with a text in the rows is a leaf.
    private func turnLeaf(with title: String) throws {
        let table = store.journal.views.table(.rows, try store.generation)
        let place = try places(of: title).first { place in
            try flip(place)
            defer { try? flip(place) }
            do {
                try store.journal.environment.read {
                    try $0.scan(table, from: nil, prefix: [], reversed: false) { _, _ in true }
                }
                return false
            } catch { return (error as? StoreError)?.code == .damagedTable }
        }
        try flip(try #require(place) & ~4095 | 10, 2)
    }

    @Test func `on a page that is no leaf any more is read from the log, and mended`() throws {
        let row = try store.entity(EntityKey("tasks", "t102"))
        try turnLeaf(with: "marker-1014")

        #expect(try store.entity(EntityKey("tasks", "t102")) == row)
        #expect(store.journal.foundDamage != nil)
        try store.write(.about(.localUpdated, "tasks/t102", #"{"set":{"n":2},"unset":[]}"#))

        #expect(try store.journal.read { $0.mendings } == 1)
        #expect(try store.differences().isEmpty)
        try store.journal.rebuild()
        #expect(try store.differences().isEmpty)
        #expect(try PageAudit.run(at: store.path).findings == [])
    }

    @Test func `on a page that is no leaf any more is made anew after a start of the device`()
        throws
    {
        let before = try Reading(store)
        try turnLeaf(with: "marker-1014")
        try store.journal.close()

        try store.reopen(isClosed: true, bootID: "another start")

        #expect(try Reading(store) == before)
        #expect(try store.journal.read { $0.mendings } == 1)
        #expect(try store.differences().isEmpty)
        try store.reopen(bootID: "yet another start")
        #expect(try store.journal.read { $0.mendings } == 1)
    }

    @Test func `on a page that is no leaf any more is no reason to salvage, nor found for ever`()
        throws
    {
        try turnLeaf(with: "marker-1014")
        try store.journal.close()

        for level in [VerifyLevel.full, nil] {
            let found = try Journal.verifyStore(at: store.path, level)
            #expect(found.problems.map(\.code) == [.corruptRow])
            #expect(found.findings.first?.hasSuffix("; `tidemark rebuild` mends it") == true)
            #expect(!found.isSalvageable && (found.events > 0) == (level != nil))
        }
        try store.reopen(isClosed: true)
        try store.write(.about(.localUpdated, "tasks/t102", #"{"set":{"n":2},"unset":[]}"#))
        try store.journal.close()

        for level in [VerifyLevel.deep, nil] {
            let mended = try Journal.verifyStore(at: store.path, level)
            #expect(mended.findings == [])
            let notes = mended.notes.filter { $0.contains("which is not in use, is damaged") }
            #expect(notes.count == 1, "\(mended.notes)")
        }
        try store.reopen(isClosed: true)
        try store.journal.rebuild()
        try store.journal.close()
        let whole = try Journal.verifyStore(at: store.path, .deep)
        #expect(whole.findings == [] && whole.pages?.findings == [])
        try store.reopen(isClosed: true)
    }

    @Test func `that is long is no reason to free what it says are its pages`() throws {
        let text = String(repeating: "long ", count: 700)
        for number in 1...20 {
            try store.write(
                .about(
                    .localCreated, "tasks/long\(100 + number)",
                    #"{"title":"\#(text)\#(number)"}"#))
            // What an event says alone is not in the row.
            try store.write(
                .about(
                    .localUpdated, "tasks/long\(100 + number)", #"{"set":{"n":1},"unset":[]}"#))
        }
        let before = try Reading(store)
        let table = store.journal.views.table(.rows, try store.generation)
        let file = try Data(contentsOf: URL(filePath: store.path + "/data.mdb"))
        var turned = 0
        for start in stride(from: 8192, to: file.count - 4095, by: 4096) {
            let page = PageImage(Array(file[start..<start + 4096]))
            guard page.kind == .leaf, let nodes = page.nodes(of: .leaf) else { continue }
            for node in nodes where node.page != nil {
                guard page.bytes[node.key].suffix(7).elementsEqual("long110".utf8) else { continue }
                try flip(start + node.key.upperBound)
                turned += 1
            }
        }
        #expect(turned > 0)
        #expect(throws: StoreError.self) {
            try store.journal.environment.read {
                try $0.scan(table, from: nil, prefix: [], reversed: false) { _, _ in true }
            }
        }

        #expect(try Reading(store) == before)
        try store.write(.about(.localUpdated, "tasks/long110", #"{"set":{"n":2},"unset":[]}"#))
        for _ in 0..<3 { try store.journal.rebuild() }

        #expect(try store.differences().isEmpty)
        #expect(try store.journal.verify(.deep).findings == [])
        #expect(try PageAudit.run(at: store.path).findings == [])
    }

    /// Those of the places that lie in rows or in records of indexes.
    private func placesInTables(of text: String) throws -> [Int] {
        let (views, generation) = (store.journal.views, try store.generation)
        let tables = [
            views.table(.rows, generation), views.table(.ledger, generation),
            views.indexTable(generation),
        ]
        return try places(of: text).filter { place in
            try flip(place)
            defer { try? flip(place) }
            return tables.contains { table in
                do {
                    try store.journal.environment.read { transaction in
                        try transaction.scan(table, from: nil, prefix: [], reversed: false) {
                            _, _ in true
                        }
                    }
                    return false
                } catch { return (error as? StoreError)?.code == .damagedTable }
            }
        }
    }

    // MARK: What says which tables there are

    @Test(arguments: [false, true])
    func `also where the tables themselves are not known any more`(isWriter: Bool) throws {
        try store.journal.rebuild()
        let before = try Reading(store)
        let name = "views"
        let places = try places(of: name)
        try #require(!places.isEmpty)
        for place in places { try flip(place + name.utf8.count) }

        try store.reopen(readOnly: !isWriter)

        var after = try Reading(store)
        // Which indexes there are is known no more, and asked first.
        if !isWriter { (after.indexed, after.indexedBack) = (before.indexed, before.indexedBack) }
        #expect(after == before)
        try store.journal.read { views in
            #expect(views.mendings == (isWriter ? 1 : 0))
            #expect((views.damage == nil) == isWriter)
        }
    }

    /// Has the tables made by another version.
    private func noteOtherRules() throws {
        try store.journal.environment.write { transaction in
            var state = try #require(try store.journal.views.state(transaction))
            state.fingerprints = [9, 9, 9, 9]
            try store.journal.views.setState(state, transaction)
        }
    }

    @Test func `tables of other rules are not read either, and are no damage`() throws {
        let before = try Reading(store)
        try noteOtherRules()
        try store.damage(.entity(EntityKey("tasks", "t101")), nil)

        try store.reopen(readOnly: true)

        #expect(try Reading(store) == before)
        try store.journal.read { views in
            #expect(views.isOutdated && views.damage == nil)
        }
        #expect(store.journal.foundDamage == nil)
    }

    @Test func `tables of other rules are told as these where the log is too long to be folded`()
        throws
    {
        try noteOtherRules()
        try store.reopen(readOnly: true)
        store.journal.shared.eventsInMemoryMax.withLock { $0 = 10 }

        let error = #expect(throws: StoreError.self) {
            try store.entity(EntityKey("tasks", "t101"))
        }

        #expect(error?.code == .otherVersion)
        #expect(error?.description.contains("Open the store for writing once") == true)
        try store.reopen()
        #expect(try store.entity(EntityKey("tasks", "t101")) != nil)
    }
}
