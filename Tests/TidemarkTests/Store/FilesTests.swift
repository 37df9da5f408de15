// FilesTests.swift — files beside entities: taken in, named, wanted, swept, lost and found.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A store with files of its own, and a clock.
private final class FilesStore {
    let folder: SyncFolder
    let clock = ManualClock()
    let rules: [ContentRule]
    private(set) var replica: Replica
    var path: String { folder / "store" }

    init(_ rules: ContentRule..., every: TimeSpan = .days(1)) throws {
        folder = try SyncFolder()
        self.rules = rules
        replica = try Self.open(folder / "store", rules, every, clock)
    }

    deinit { folder.delete() }

    private static func open(
        _ path: String, _ rules: [ContentRule], _ every: TimeSpan, _ clock: ManualClock
    ) throws -> Replica {
        var (tasks, lists) = (CollectionModel("tasks"), CollectionModel("lists"))
        tasks.contents = rules
        lists.contents = []
        var model = SyncModel(name: "m", collections: [lists, tasks])
        model.settings.sweepEvery = every
        return try Replica.open(
            at: path, model: model, dependencies: .seeded(0, clock: clock))
    }

    func reopen() throws {
        try replica.close()
        replica = try Replica.open(existing: path, dependencies: .seeded(0, clock: clock))
    }

    /// A file of the user's.
    func file(_ text: String, _ name: String = "file") throws -> String {
        try Data(text.utf8).write(to: URL(filePath: folder / name))
        return folder / name
    }

    /// Takes a file in, and has an entity name it.
    @discardableResult
    func attach(_ text: String, to id: String, _ field: String = "photo") throws -> ContentName {
        let name = try replica.importFile(at: try file(text))
        try replica.write { tx in
            _ = try tx.put(
                EntityKey("tasks", id), JSONValue.object([field: name.json]).encoded())
        }
        return name
    }

    func put(_ id: String, _ text: String) throws {
        try replica.write { tx in _ = try tx.put(EntityKey("tasks", id), Array(text.utf8)) }
    }

    func files(_ id: String) throws -> [EntityFile] {
        try replica.read { try $0.files(of: EntityKey("tasks", id)) }
    }

    /// The whole names of the files in the folder.
    var names: [String] {
        get throws { try ContentFiles(of: path).digests() }
    }

    /// The events about files, as `kind sha256` in few digits.
    var events: [String] {
        get throws {
            var filter = EventFilter()
            filter.kinds = [.assetWanted, .assetStored, .assetRemoved, .assetUsed, .timerFired]
            var lines: [String] = []
            _ = try replica.journal.dump(filter) { _, event in
                lines.append("\(event.kind) \(event.words ?? "")")
            }
            return lines
        }
    }

    func sweep() throws -> Int {
        try replica.journal.sweepContents(at: clock.now).removed
    }

    func verify(_ level: VerifyLevel = .deep) throws -> [String] {
        try Journal.verifyStore(at: path, level).problems.map(\.detail)
    }
}

private let photo = ContentRule("photo")

@Suite struct `a file of the user's` {
    @Test func `is in the store once an entity names it, and told of in the same commit`() throws {
        let store = try FilesStore(photo)
        let name = try store.attach("tea", to: "1")
        guard case .file(let digest, 3) = name else { return #expect(Bool(false)) }

        let file = try #require(try store.files("1").first)
        #expect(file.field == "photo" && file.name == name && !file.isWanted)
        let stored = try #require(file.stored)
        #expect(stored.sha256 == digest && stored.bytes == 3)
        #expect(try String(contentsOfFile: stored.path ?? "", encoding: .utf8) == "tea")
        #expect(
            try store.events == [
                "asset.stored a file of the user's was stored (\(digest.prefix(12)), 3 bytes)"
            ])
        let commits = try store.replica.journal.read { $0.last }
        #expect(commits == Position(4), "model, opened, the edit and its file")
    }

    @Test func `is stored once for all who name it, told of each time it is taken in`() throws {
        let store = try FilesStore(photo, ContentRule("/more/*"))
        let name = try store.attach("tea", to: "1")
        #expect(try store.attach("tea", to: "2") == name)
        let more = JSONValue.object(["more": [name.json, name.json]])
        try store.put("3", String(decoding: more.encoded(), as: UTF8.self))

        #expect(try store.names == [name.text])
        #expect(try store.events.count == 2)
        #expect(try store.files("3").count == 2)
    }

    @Test func `may be empty`() throws {
        let store = try FilesStore(photo)
        try store.attach("", to: "1")

        #expect(try store.files("1").first?.stored?.bytes == 0)
    }

    @Test(arguments: [
        (#"{"sha256":"../x","bytes":3}"#, "64 hexadecimal digits"),
        (#"{"sha256":"ab","bytes":3}"#, "64 hexadecimal digits"),
        (
            #"{"sha256":"\#(String(repeating: "a", count: 64))"}"#, "64 hexadecimal digits"
        ),
        (
            #"{"sha256":"\#(String(repeating: "a", count: 64))","bytes":3}"#,
            "there is no file aaaa"
        ),
    ])
    func `that is none can't be named`(_ value: String, _ words: String) throws {
        let store = try FilesStore(photo)
        let before = try store.replica.position
        for text in [#"{"photo":\#(value)}"#, #"{"title":"tea","photo":\#(value)}"#] {
            let error = #expect(throws: TidemarkError.self) { try store.put("1", text) }
            #expect(error?.code == .unfitFile)
            #expect(error?.message.contains(words) == true)
            #expect(error?.message.contains("tasks/1, photo: ") == true)
        }
        #expect(try store.replica.position == before)
        // What is not in the model's contents is any value.
        try store.put("1", #"{"other":\#(value)}"#)
    }

    @Test func `has the length that it has`() throws {
        let store = try FilesStore(photo)
        let name = try store.replica.importFile(at: try store.file("tea"))

        let wrong = ContentName.file(sha256: name.text, bytes: 4)
        for _ in 0..<2 {
            let error = #expect(throws: TidemarkError.self) {
                try store.put("1", #"{"photo":\#(wrong.json)}"#)
            }
            #expect(error?.message.contains("has 3 bytes, not 4") == true)
            try store.attach("tea", to: "2")
        }
    }

    @Test func `that can't be taken in leaves nothing`() throws {
        let store = try FilesStore(photo)
        for path in [store.folder / "none", store.path, ""] {
            expect(.unfitFile) { _ = try store.replica.importFile(at: path) }
        }
        #expect(try ContentFiles(of: store.path).partNames() == [])
    }

    @Test func `that no entity names is gone after the next opening`() throws {
        let store = try FilesStore(photo)
        _ = try store.replica.importFile(at: try store.file("tea"))
        let kept = try store.attach("milk", to: "1")
        #expect(try store.names.count == 2)

        // Another opening in this process leaves what may be named yet.
        let other = try Replica.open(
            existing: store.path, dependencies: .seeded(1, clock: store.clock))
        #expect(try store.names.count == 2)
        try other.close()
        try store.reopen()
        #expect(try store.names == [kept.text])
        #expect(try store.events.count == 1)
    }

    @Test func `is kept through discards, conflicts and deletions as the log has them`() throws {
        let store = try FilesStore(ContentRule("photo", grace: .zero))
        let name = try store.attach("tea", to: "1")
        store.clock.advance(by: .seconds(1))
        #expect(try store.sweep() == 0)

        try store.replica.write { tx in try tx.discard(EntityKey("tasks", "1")) }
        #expect(try store.sweep() == 1)
        #expect(try store.names == [])
        #expect(
            try store.events.suffix(2) == [
                "timer.fired ",
                "asset.removed the file \(name.text.prefix(12)) was removed: unused",
            ])
        // It may come back.
        try store.attach("tea", to: "2")
        #expect(try store.names == [name.text])
    }
}

@Suite struct `files beside entities` {
    @Test func `are wanted by name, of each field or of one`() throws {
        let store = try FilesStore(photo, ContentRule("cover", when: .all))
        let key = EntityKey("tasks", "1")
        try store.put("1", #"{"photo":"/p","cover":"/c"}"#)
        #expect(try store.files("1").map(\.isWanted) == [false, true])

        let said = try store.replica.write { tx in
            [
                try tx.wantFiles(of: key, "photo"), try tx.wantFiles(of: key, "photo"),
                try tx.wantFiles(of: key, by: "gallery"),
            ].map { $0 != nil }
        }
        #expect(said == [true, false, true])
        #expect(try store.files("1").map(\.isWanted) == [true, true])
        try store.replica.write { tx in
            try tx.wantFiles(of: key, "photo", isWanted: false)
            #expect(try tx.wantFiles(of: key, "photo", isWanted: false) == nil)
        }
        #expect(try store.files("1").map(\.isWanted) == [true, true])
        try store.replica.write { tx in
            try tx.wantFiles(of: key, by: "gallery", isWanted: false)
        }
        #expect(try store.files("1").map(\.isWanted) == [false, true])
    }

    @Test func `are not wanted where nothing could be had`() throws {
        let store = try FilesStore(photo)
        try store.put("1", "{}")

        try store.replica.write { tx in
            expect(.notFound) { _ = try tx.wantFiles(of: EntityKey("tasks", "9")) }
            expect(.unknownField) { _ = try tx.wantFiles(of: EntityKey("tasks", "1"), "cover") }
            expect(.unknownField) { _ = try tx.wantFiles(of: EntityKey("lists", "1")) }
        }
    }

    @Test func `are swept at most once an interval, in one commit or none`() throws {
        let store = try FilesStore(ContentRule("photo", grace: .hours(1)), every: .hours(10))
        try store.attach("tea", to: "1")
        try store.attach("milk", to: "1")
        try store.replica.write { tx in try tx.discard(EntityKey("tasks", "1")) }
        let before = try store.replica.position

        store.replica.journal.keepTidy(at: store.clock.now)
        #expect(try store.replica.position == before, "they are young")
        store.clock.advance(by: .seconds(5 * 3600))
        store.replica.journal.keepTidy(at: store.clock.now)
        #expect(try store.replica.position == before, "somebody looked five hours ago")
        store.clock.advance(by: .seconds(5 * 3600))
        store.replica.journal.keepTidy(at: store.clock.now)
        #expect(try store.replica.position == Position(before.rawValue + 3))
        #expect(try store.names == [])
        #expect(try store.replica.journal.read { try $0.sweptAt() } == store.clock.now)

        try store.attach("sugar", to: "2")
        try store.replica.write { tx in try tx.discard(EntityKey("tasks", "2")) }
        store.clock.advance(by: .seconds(9 * 3600))
        try store.reopen()
        store.replica.journal.keepTidy(at: store.clock.now)
        #expect(try store.names.count == 1)
        store.clock.advance(by: .seconds(3600))
        store.replica.journal.keepTidy(at: store.clock.now)
        #expect(try store.names == [])
    }

    @Test func `are kept while somebody fetches or sends them`() throws {
        let store = try FilesStore(ContentRule("photo", grace: .zero))
        let name = try store.attach("tea", to: "1")
        try store.replica.write { tx in try tx.discard(EntityKey("tasks", "1")) }
        store.clock.advance(by: .seconds(1))

        let use = store.replica.journal.shared.contents
        use.begin(name.text)
        use.begin(name.text)
        use.end(name.text)
        #expect(try store.sweep() == 0)
        use.end(name.text)
        #expect(try store.sweep() == 1)
    }

    @Test func `are used at most once a day, and only where that decides anything`() throws {
        let plain = try FilesStore(photo)
        try plain.attach("tea", to: "1")
        plain.clock.advance(by: .seconds(90_000))
        #expect(try plain.replica.useFiles(of: EntityKey("tasks", "1")).count == 1)
        #expect(try plain.events.count == 1)

        let store = try FilesStore(ContentRule("photo", quotaBytes: 100))
        try store.attach("tea", to: "1")
        let key = EntityKey("tasks", "1")
        _ = try store.replica.useFiles(of: key)
        #expect(try store.events.count == 1)
        store.clock.advance(by: .seconds(86_400))
        for _ in 0..<3 { _ = try store.replica.useFiles(of: key, ["photo"]) }
        #expect(try store.events.count == 2)
        expect(.unknownField) { _ = try store.replica.useFiles(of: key, ["photo", "cover"]) }
    }

    @Test func `that are missing at opening are told of, and the rest of the folder is left`()
        throws
    {
        let store = try FilesStore(photo)
        let tea = try store.attach("tea", to: "1")
        try store.attach("milk", to: "2")
        let files = ContentFiles(of: store.path)
        try FileManager.default.removeItem(atPath: try files.path(of: tea.text))
        try Data("x".utf8).write(to: URL(filePath: try files.path(ofPart: "import-9")))
        #expect(
            try store.verify(.full) == [
                "the file \(tea.text) is missing; the next opening of the store says so in its log"
            ])

        try store.reopen()
        #expect(try store.files("1").first?.stored == nil)
        #expect(try store.files("2").first?.stored != nil)
        #expect(try files.partNames() == [])
        #expect(
            try store.events.last
                == "asset.removed the file \(tea.text.prefix(12)) was removed: missing")
        let lost = try store.verify(.full)
        #expect(lost.count == 1 && lost[0].contains("the user's file \(tea.text) is not here"))
        // Taken in again, all is well.
        try store.attach("tea", to: "1")
        #expect(try store.verify() == [])
    }

    @Test func `that were away for one opening are there again`() throws {
        let store = try FilesStore(photo)
        let path = try ContentFiles(of: store.path).path(of: try store.attach("tea", to: "1").text)
        try FileManager.default.moveItem(atPath: path, toPath: store.folder / "away")
        try store.reopen()
        try FileManager.default.moveItem(atPath: store.folder / "away", toPath: path)
        try store.reopen()
        #expect(try store.files("1").first?.stored != nil)
        #expect(try store.verify() == [])
    }

    @Test func `that are cut or changed are found by their length, and by their hash`() throws {
        let store = try FilesStore(photo)
        let name = try store.attach("tea", to: "1")
        let path = try ContentFiles(of: store.path).path(of: name.text)
        func write(_ text: String) throws {
            try FileManager.default.removeItem(atPath: path)
            try Data(text.utf8).write(to: URL(filePath: path))
        }
        #expect(try store.verify() == [])

        try write("te")
        #expect(try store.verify(.full) == ["the file \(name.text) has 2 bytes, not 3"])
        try write("TEA")
        #expect(try store.verify(.full) == [])
        #expect(
            try store.verify() == ["the file \(name.text) is damaged: it has another hash"])
        try store.attach("tea", to: "2")
        #expect(try store.verify() == [])
    }

    @Test func `go with the store when its user signs out`() async throws {
        let store = try FilesStore(photo)
        try store.attach("tea", to: "1")
        await #expect(throws: TidemarkError.self) {
            try await store.replica.signOut(ifPending: .refuse)
        }
        #expect(try store.names.count == 1)

        try await store.replica.signOut(ifPending: .discard)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder / "") == ["file"])
    }

    @Test func `stay when the file of the store is made smaller`() throws {
        let store = try FilesStore(photo)
        let name = try store.attach("tea", to: "1")
        try store.replica.close()
        try Replica.shrink(at: store.path)

        let replica = try Replica.open(existing: store.path)
        #expect(try store.names == [name.text])
        try replica.close()
    }

    @Test func `go to the new store when a damaged one is salvaged`() throws {
        let store = try FilesStore(photo)
        let name = try store.attach("tea", to: "1")
        try store.attach("milk", to: "2")
        let damaged = try #require(try store.names.first { $0 != name.text })
        let path = try ContentFiles(of: store.path).path(of: damaged)
        try store.replica.close()
        try FileManager.default.removeItem(atPath: path)
        try Data("salt".utf8).write(to: URL(filePath: path))
        let made = Dependencies.seeded(3, clock: store.clock)
        let report = try SalvageReport.salvage(
            store.path, to: store.folder / "new", withUnproven: false, made)
        #expect(report.hasWholeLog && report.lostFiles.map { $0.contains(damaged) } == [true])
        #expect(report.lines.contains { $0.hasPrefix("lost       the file ") && $0.count <= 80 })
        #expect(try ContentFiles(of: store.folder / "new").digests() == [name.text])
    }

    @Test func `are not looked for by the rule of ten thousand that nothing has to be done for`()
        throws
    {
        let store = try FilesStore(ContentRule("photo", grace: .zero))
        let digests = (0..<10_000).map { number in
            String(repeating: "0", count: 59) + "\(10_000 + number)"
        }
        try store.replica.journal.write(at: store.clock.now) { draft in
            for (number, digest) in digests.enumerated() {
                let key = EntityKey("tasks", "\(number)")
                try draft.append(
                    Event(
                        .serverUpserted, recordedAt: draft.now, key: key,
                        json: Array(#"{"photo":"/\#(number)"}"#.utf8)))
                try draft.append(
                    Event(
                        .assetStored, recordedAt: draft.now, key: key,
                        json: AssetStored(
                            digest: digest, bytes: 1, .download, source: "/\(number)"
                        ).encoded))
            }
        }
        store.clock.advance(by: .seconds(90_000))
        let before = try store.replica.position
        // A sweep reads what nothing references, and no row of the others.
        let reads = CountedReads()
        let decision = try store.replica.journal.read { views in
            try CountingRows(views, reads).sweepDecision(at: store.clock.now)
        }
        #expect(decision.isEmpty)
        #expect(reads.rows <= 4, "\(reads.rows) rows were read")
        #expect(try store.sweep() == 0)
        #expect(try store.replica.position == before)
    }
}

/// How many rows were read.
private final class CountedReads {
    var rows = 0
}

/// Rows of which each that is read is counted.
private final class CountingRows: RowReading {
    private let views: ViewReader
    private let reads: CountedReads

    init(_ views: ViewReader, _ reads: CountedReads) {
        self.views = views
        self.reads = reads
    }

    func get(_ key: RowKey) throws -> [UInt8]? {
        reads.rows += 1
        return try views.get(key)
    }

    func walk(
        _ tree: Tree, _ prefix: [UInt8], from: [UInt8],
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws {
        try views.walk(tree, prefix, from: from) { key, value in
            reads.rows += 1
            return try body(key, value)
        }
    }

    func model() throws -> SyncModel { try views.model() }
    var hasBindings: Bool { get throws { try views.hasBindings } }
    func resolve(_ key: EntityKey) throws -> EntityKey { try views.resolve(key) }
    func entity(at place: RowKey) throws -> EntityRow { try views.entity(at: place) }
    func forEachEntity(
        in collection: CollectionName?, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws { try views.forEachEntity(in: collection, body) }
    func mutation(_ position: Position) throws -> MutationRow? { try views.mutation(position) }
    func failing(_ key: EntityKey) throws -> FailingRow? { try views.failing(key) }
    func serverClock() throws -> ServerClock? { try views.serverClock() }
    func hidesAny() throws -> Bool { try views.hidesAny() }
}
