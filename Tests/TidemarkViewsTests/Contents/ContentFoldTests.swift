// ContentFoldTests.swift — which files entities name, who wants them and which are stored, as rows;
// and what a sweep makes of that.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

private func hour(_ hours: Int64) -> Timestamp {
    Timestamp(milliseconds: 1_795_000_000_000).adding(seconds: hours * 3600)
}

extension Event {
    fileprivate static func contents(_ tasks: ContentRule..., lists: [ContentRule] = []) -> Event {
        contents(tasks, lists: lists)
    }

    fileprivate static func contents(
        _ tasks: [ContentRule], lists: [ContentRule] = []
    ) -> Event {
        var (collection, other) = (CollectionModel("tasks"), CollectionModel("lists"))
        collection.contents = tasks
        other.contents = lists
        return Event(
            .modelRegistered, recordedAt: hour(0),
            json: ModelRegistration(model: SyncModel(name: "m", collections: [other, collection]))
                .encoded)
    }

    fileprivate static func says(_ key: String, _ text: String) -> Event {
        .about(.serverUpserted, key, text)
    }

    fileprivate static func stored(
        _ key: String, _ digest: String, _ source: String = "", at: Timestamp = hour(0)
    ) -> Event {
        Event(
            .assetStored, recordedAt: at, key: EntityKey(key),
            json: AssetStored(
                digest: digest, bytes: 5, source.isEmpty ? .imported : .download, source: source
            ).encoded)
    }

    fileprivate static func removed(_ digest: String) -> Event {
        Event(
            .assetRemoved, recordedAt: hour(0),
            json: AssetRemoved(digest: digest, .user).encoded)
    }

    fileprivate static func wanted(
        _ key: String, _ field: String = "", by: String = "user", _ isWanted: Bool = true
    ) -> Event {
        Event(
            .assetWanted, recordedAt: hour(0), key: EntityKey(key),
            json: AssetWanted(field, by: by, isWanted: isWanted).encoded)
    }
}

extension MemoryFold {
    /// What a sweep removes.
    fileprivate func swept(at now: Timestamp = hour(48)) throws -> [String] {
        try fold.sweepDecision(at: now).items.map { "\($0.digest) \($0.reason.rawValue)" }
    }

    /// How often a file is referenced, and how often it is wanted.
    fileprivate func counts(_ digest: String) throws -> [Int]? {
        guard let row = try fold.content(digest) else { return nil }
        let holds = row.own + row.holds
        return [holds.reduce(0) { $0 + $1.references }, holds.reduce(0) { $0 + $1.wanted }]
    }
}

@Suite struct `files that entities name` {
    private let fold = MemoryFold()

    @Test func `es-delete-1: go when the last of their records is gone, and not before`() throws {
        try fold.apply([
            .contents(ContentRule("asset")), .says("tasks/1", #"{"asset":"A"}"#),
            .says("tasks/2", #"{"asset":"A"}"#), .says("tasks/3", #"{"asset":"B"}"#),
            .stored("tasks/1", "aa", "A"), .stored("tasks/3", "bb", "B"),
        ])
        #expect(try fold.counts("aa") == [2, 0])
        #expect(try fold.swept() == [])

        try fold.apply([.about(.serverDeleted, "tasks/3")])
        #expect(try fold.swept(at: hour(24)) == [])
        #expect(try fold.swept() == ["bb unused"])

        try fold.apply([.about(.serverDeleted, "tasks/1")])
        #expect(try fold.counts("aa") == [1, 0])
        #expect(try fold.swept() == ["bb unused"])
        try fold.apply([.about(.serverDeleted, "tasks/2")])
        #expect(try fold.swept() == ["aa unused", "bb unused"])
    }

    @Test func `are found by what a record calls them, whoever fetched them`() throws {
        try fold.apply([
            .contents(ContentRule("asset"), lists: [ContentRule("cover")]),
            .says("tasks/1", #"{"asset":"A"}"#), .stored("tasks/1", "aa", "A"),
            .says("tasks/2", #"{"asset":"A"}"#), .says("lists/1", #"{"cover":"A"}"#),
        ])

        #expect(try fold.counts("aa") == [2, 0])
        #expect(try fold.fold.digest(of: ContentSource("tasks", "A")) == "aa")
        // An id may mean something else in another collection.
        #expect(try fold.fold.digest(of: ContentSource("lists", "A")) == nil)
        #expect(try fold.fold.digest(of: ContentSource("tasks", "B")) == nil)
    }

    @Test func `are those of the newest download of a name`() throws {
        try fold.apply([
            .contents(ContentRule("asset")), .says("tasks/1", #"{"asset":"A"}"#),
            .stored("tasks/1", "aa", "A"), .stored("tasks/1", "bb", "A"),
        ])

        #expect(try fold.fold.digest(of: ContentSource("tasks", "A")) == "bb")
        #expect(try fold.counts("aa") == [0, 0] && fold.counts("bb") == [1, 0])
        #expect(try fold.swept() == ["aa unused"])

        try fold.apply([.removed("bb")])
        #expect(try fold.counts("bb") == nil)
        #expect(try fold.fold.digest(of: ContentSource("tasks", "A")) == nil)
        try fold.apply([.stored("tasks/1", "aa", "A")])
        #expect(try fold.counts("aa") == [1, 0])
        #expect(try fold.swept() == [])
    }

    @Test func `are kept as the user's, until the server has a name and another one's`() throws {
        try fold.apply([
            .contents(ContentRule("asset")),
            .about(.localCreated, "tasks/1", #"{"asset":{"sha256":"aa","bytes":5}}"#),
            .stored("tasks/1", "aa"),
        ])
        let own = try #require(try fold.fold.content("aa")?.standing("aa", at: hour(0)))
        #expect(own.isOwn && own.fields == [ContentField("tasks", "asset")])

        try fold.apply([
            .stored("tasks/1", "aa", "/files/9"),
            .about(.localUpdated, "tasks/1", #"{"set":{"asset":"/files/9"},"unset":[]}"#),
        ])
        let both = try fold.fold.content("aa")?.standing("aa", at: hour(0))
        #expect(both?.isOwn == true, "it may be discarded")

        try fold.apply([
            .about(.requestSent, "tasks/1", #"{"method":"PUT","covers":[2,5]}"#, mutation: 5),
            .about(.serverUpserted, "tasks/1", #"{"asset":"/files/9"}"#, mutation: 5, call: 6),
            .about(.pushAccepted, "tasks/1", mutation: 5, call: 6),
        ])
        let known = try #require(try fold.fold.content("aa")?.standing("aa", at: hour(0)))
        #expect(!known.isOwn && known.fields == [ContentField("tasks", "asset")])
        #expect(try fold.counts("aa") == [1, 0])
    }

    @Test func `that the user edits away or deletes are kept until the server knows`() throws {
        try fold.apply([
            .contents(ContentRule("asset")), .says("tasks/1", #"{"asset":"A"}"#),
            .stored("tasks/1", "aa", "A"),
            .about(.localUpdated, "tasks/1", #"{"set":{"asset":"B"},"unset":[]}"#),
        ])
        #expect(try fold.counts("aa") == [1, 0])

        try fold.apply([.about(.localDeleted, "tasks/1")])
        #expect(try fold.counts("aa") == [1, 0])
        try fold.apply([.about(.localDiscarded, "tasks/1")])
        #expect(try fold.counts("aa") == [1, 0])
        #expect(try fold.fold.contents(of: EntityKey("tasks", "1")).names.map(\.text) == ["A"])
    }

    @Test func `of the user are held without a rule as long as anything names them`() throws {
        try fold.apply([
            .contents(ContentRule("asset"), lists: [ContentRule("cover")]),
            .about(.localCreated, "tasks/1", #"{"asset":{"sha256":"aa","bytes":5}}"#),
            .stored("tasks/1", "aa"), .says("tasks/2", #"{"asset":"B"}"#),
            .stored("tasks/2", "bb", "B"),
        ])
        try fold.apply([.contents(lists: [ContentRule("cover")])])
        #expect(try fold.counts("aa") == [1, 0] && fold.counts("bb") == [0, 0])
        #expect(try fold.swept() == ["bb unused"])

        try fold.apply([.contents(ContentRule("asset"), lists: [ContentRule("cover")])])
        #expect(try fold.counts("aa") == [1, 0] && fold.counts("bb") == [1, 0])
        #expect(try fold.swept() == [])

        // Without any rule, and without the collection.
        try fold.apply([.contents()])
        #expect(try fold.swept() == ["bb unused"])
        try fold.apply([.collections([CollectionModel("others")])])
        #expect(try fold.swept() == ["bb unused"])
        try fold.apply([.contents(), .about(.localDiscarded, "tasks/1")])
        #expect(try fold.swept() == ["bb unused", "aa unused"])
        try fold.apply([.contents(lists: [ContentRule("cover")])])
        #expect(try fold.counts("aa") == [0, 0])
    }

    @Test(arguments: [false, true])
    func `of the user are held without a rule where two keys turned out to be one entity`(
        _ isModelBetween: Bool
    ) throws {
        let edit = #"{"set":{"asset":{"sha256":"aa","bytes":5}},"unset":[]}"#
        try fold.apply([
            .contents(ContentRule("asset")), .about(.localCreated, "tasks/k", "{}"),
            .about(.requestSent, "tasks/k", "{}", mutation: 2), .says("tasks/x", "{}"),
            .about(.localUpdated, "tasks/x", edit), .stored("tasks/x", "aa"),
        ])
        try fold.apply([.contents()])
        try fold.apply([
            .about(.pushAccepted, "tasks/k", #"{"serverID":"x"}"#, mutation: 2, call: 3)
        ])
        #expect(try fold.fold.resolve(EntityKey("tasks", "x")) == EntityKey("tasks", "k"))
        #expect(try fold.swept() == [])

        if isModelBetween {
            try fold.apply([.contents(lists: [ContentRule("cover")])])
            #expect(try fold.counts("aa") == [1, 0] && fold.swept() == [])
        }
        try fold.apply([.contents(ContentRule("asset"))])
        #expect(try fold.counts("aa") == [1, 0] && fold.swept() == [])
        try fold.apply([.about(.localDiscarded, "tasks/k")])
        #expect(try fold.counts("aa") == [0, 0] && fold.swept() == ["aa unused"])
    }

    @Test func `stay wanted where two keys turned out to be one entity`() throws {
        try fold.apply([
            .contents(ContentRule("asset")), .about(.localCreated, "tasks/k", "{}"),
            .about(.requestSent, "tasks/k", "{}", mutation: 2),
            .says("tasks/x", #"{"asset":"A"}"#), .wanted("tasks/x", "asset"),
            .stored("tasks/x", "aa", "A"),
        ])
        #expect(try fold.counts("aa") == [1, 1])

        try fold.apply([
            .about(.pushAccepted, "tasks/k", #"{"serverID":"x"}"#, mutation: 2, call: 3)
        ])
        #expect(try fold.fold.resolve(EntityKey("tasks", "x")) == EntityKey("tasks", "k"))
        #expect(try fold.counts("aa") == [1, 1])
        #expect(try fold.fold.contents(of: EntityKey("tasks", "k")).wants.count == 1)

        try fold.apply([.wanted("tasks/x", "asset", false)])
        #expect(try fold.counts("aa") == [1, 0])
    }

    @Test func `of the user are held where another field of theirs has a rule`() throws {
        try fold.apply([
            .contents(ContentRule("asset"), ContentRule("cover")),
            .about(.localCreated, "tasks/1", #"{"asset":{"sha256":"aa","bytes":5}}"#),
            .stored("tasks/1", "aa"),
        ])
        try fold.apply([.contents(ContentRule("cover"))])
        #expect(try fold.counts("aa") == [1, 0] && fold.swept() == [])

        try fold.apply([
            .about(.localUpdated, "tasks/1", #"{"set":{"title":"x"},"unset":[]}"#)
        ])
        #expect(try fold.counts("aa") == [1, 0] && fold.swept() == [])
        try fold.apply([.about(.localDiscarded, "tasks/1")])
        #expect(try fold.swept() == ["aa unused"])
    }

    @Test func `are named at several places of a document, each counted once`() throws {
        try fold.apply([
            .contents(ContentRule("/files/*/url"), ContentRule("cover")),
            .says("tasks/1", #"{"files":[{"url":"A"},{"url":"B"},{"url":"A"}],"cover":"A"}"#),
            .stored("tasks/1", "aa", "A"), .stored("tasks/1", "bb", "B"),
        ])

        #expect(try fold.counts("aa") == [2, 0] && fold.counts("bb") == [1, 0])
        try fold.apply([.says("tasks/1", #"{"files":[{"url":"B"}]}"#)])
        #expect(try fold.counts("aa") == [0, 0] && fold.counts("bb") == [1, 0])
    }

    @Test func `are wanted as long as anybody wants them, by one field or by each`() throws {
        try fold.apply([
            .contents(ContentRule("asset"), ContentRule("cover")),
            .wanted("tasks/1", "asset"), .says("tasks/1", #"{"asset":"A","cover":"B"}"#),
            .stored("tasks/1", "aa", "A"), .stored("tasks/1", "bb", "B"),
        ])
        #expect(try fold.counts("aa") == [1, 1] && fold.counts("bb") == [1, 0])

        try fold.apply([.wanted("tasks/1", by: "gallery")])
        #expect(try fold.counts("aa") == [1, 1] && fold.counts("bb") == [1, 1])
        try fold.apply([.wanted("tasks/1", "asset", false)])
        #expect(try fold.counts("aa") == [1, 1])
        try fold.apply([.wanted("tasks/1", by: "gallery", false)])
        #expect(try fold.counts("aa") == [1, 0] && fold.counts("bb") == [1, 0])
        // Twice the same, and what nobody wanted, change nothing.
        #expect(try fold.apply([.wanted("tasks/1", "asset", false)]).isEmpty)
    }

    @Test func `that nobody wants go by what the log says of their use`() throws {
        try fold.apply([
            .contents(ContentRule("asset", unwanted: .hours(30))),
            .says("tasks/1", #"{"asset":"A"}"#), .says("tasks/2", #"{"asset":"B"}"#),
            .stored("tasks/1", "aa", "A"), .stored("tasks/2", "bb", "B"),
            Event(
                .assetUsed, recordedAt: hour(20), key: EntityKey("tasks", "2"),
                json: AssetUsed(digest: "bb").encoded),
        ])

        #expect(try fold.swept() == ["aa unused"])
        #expect(try fold.swept(at: hour(51)) == ["aa unused", "bb unused"])
        try fold.apply([.wanted("tasks/1")])
        #expect(try fold.swept() == [])
    }

    @Test func `are kept while a conflict waits in which one was lost`() throws {
        try fold.apply([
            .contents(ContentRule("asset")), .says("tasks/1", #"{"asset":"A"}"#),
            .about(
                .localUpdated, "tasks/1", #"{"set":{"asset":{"sha256":"aa","bytes":5}}}"#),
            .stored("tasks/1", "aa"), .says("tasks/1", #"{"asset":"B"}"#),
        ])
        let key = RowKey.sides(Position(5))
        #expect(fold.rows[key] != nil, "the server has won")
        #expect(try fold.counts("aa") == [0, 0])
        #expect(try fold.swept() == [])

        try fold.apply([
            Event(
                .issueAnswered, recordedAt: hour(0), key: EntityKey("tasks", "1"),
                cause: Position(5), json: IssueAnswered(.conflict, answer: "keepTheirs").encoded)
        ])
        #expect(fold.rows[key] == nil)
        #expect(try fold.swept() == ["aa unused"])
    }

    @Test func `are counted anew by another model, and cost nothing without one`() throws {
        try fold.apply([
            .contents(), .says("tasks/1", #"{"asset":"A","cover":"B"}"#),
            .stored("tasks/1", "aa", "A"),
        ])
        #expect(try fold.counts("aa") == [0, 0])
        #expect(fold.rows[.contents(of: EntityKey("tasks", "1"))] == nil)

        try fold.apply([.contents(ContentRule("asset"))])
        #expect(try fold.counts("aa") == [1, 0])
        try fold.apply([.contents(ContentRule("cover"))])
        #expect(try fold.counts("aa") == [0, 0])
        try fold.apply([.contents()])
        #expect(fold.rows[.contents(of: EntityKey("tasks", "1"))] == nil)
        #expect(try fold.swept() == ["aa unused"])
    }

    @Test func `have names that begin alike, and no digest that is no key`() throws {
        let long = String(repeating: "/x", count: 150)
        try fold.apply([
            .contents(ContentRule("asset")), .says("tasks/1", #"{"asset":"\#(long)1"}"#),
            .says("tasks/2", #"{"asset":"\#(long)2"}"#), .stored("tasks/1", "aa", long + "1"),
            .stored("tasks/2", "bb", long + "2"),
            .stored("tasks/2", String(repeating: "c", count: 600)), .stored("tasks/2", ""),
            .says("tasks/3", #"{"asset":{"sha256":"\#(String(repeating: "d", count: 600))"}}"#),
        ])

        #expect(try fold.fold.digest(of: ContentSource("tasks", long + "1")) == "aa")
        #expect(try fold.fold.digest(of: ContentSource("tasks", long + "2")) == "bb")
        var count = 0
        try fold.fold.forEachContent { _, _ in count += 1 }
        #expect(count == 2)
        #expect(fold.rows.keys.allSatisfy { $0.bytes.count <= 511 })
    }

    @Test func `are swept at a time that the log tells`() throws {
        #expect(try fold.fold.sweptAt() == nil)
        try fold.apply([
            Event(
                .timerFired, recordedAt: hour(1), json: TimerFired(.sweep, now: hour(1)).encoded)
        ])
        #expect(try fold.fold.sweptAt() == hour(1))
    }

    @Test func `of a list that each edit sets again are those of the last edit`() throws {
        func sets(_ files: ClosedRange<Int>) -> Event {
            let list = files.map { #"{"sha256":"d\#($0)","bytes":5}"# }.joined(separator: ",")
            return .about(.localUpdated, "tasks/1", #"{"set":{"b":[\#(list)]},"unset":[]}"#)
        }
        try fold.apply([.contents(ContentRule("/b/*")), .says("tasks/1", #"{"b":[]}"#)])
        for count in 1...8 { try fold.apply([sets(1...count)]) }
        #expect(fold.overtakenPlaces.count == 4)
        #expect(try fold.counts("d1") == [1, 0])
        #expect(try fold.counts("d8") == [1, 0])

        try fold.apply([sets(9...9)])
        #expect(try fold.counts("d8") == nil)
        #expect(try fold.counts("d9") == [1, 0])
        // What is sent stays named until the answer.
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 10)])
        #expect(try fold.counts("d8") == [1, 0])
        #expect(try fold.counts("d9") == [1, 0])
    }

    @Test func `that are not there leave nothing of what is said of them`() throws {
        try fold.apply([.removed("aa"), .wanted("tasks/9"), .wanted("tasks/9", "", false)])

        #expect(try fold.fold.hasContents() == false)
        #expect(fold.rows.keys.allSatisfy { $0.view != .contents })
    }

    @Test(arguments: 1...(TestRun.isWhole ? 60 : 12))
    func `are counted as a look at all entities counts them, after any events`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let store = try ScratchStore()
        let rules = [
            [ContentRule("a"), ContentRule("/b/*")], [ContentRule("a")], [ContentRule("/b/*/c")],
            [],
        ]
        try store.write(.contents(rules[0]))
        for _ in 0..<60 {
            let key = "tasks/\(random.below(4))"
            let digest = "d\(random.below(5))"
            func name() -> String {
                random.once(in: 3)
                    ? #"{"sha256":"d\#(random.below(5))","bytes":5}"#
                    : "\"s\(random.below(6))\""
            }
            let document = #"{"a":\#(name()),"b":[\#(name()),{"c":\#(name())}]}"#
            let event: Event? =
                switch random.below(15) {
                case 0...2: .says(key, document)
                case 3: .about(.localCreated, key, document)
                case 4, 5:
                    .about(.localUpdated, key, #"{"set":{"a":\#(name())},"unset":["b"]}"#)
                case 6: .about(.localDeleted, key)
                case 7: .about(.localDiscarded, key)
                case 8: .about(.serverDeleted, key)
                case 9: .stored(key, digest, random.once(in: 4) ? "" : "s\(random.below(6))")
                case 10: .removed(digest)
                case 11, 12:
                    .wanted(
                        key, random.pick(["", "a", "/b/*"]), by: random.pick(["user", "x"]),
                        random.once(in: 2))
                case 13: .wiped(keeping: random.pick([[], ["tasks"]]))
                default: nil
                }
            try store.write(event ?? .contents(random.pick(rules)))
        }

        try store.journal.read { views in
            try expectCounts(views, "seed \(seed)")
        }
        try LogChecks(store: store, place: "seed \(seed)").all()
    }

    /// Counts all references by looking at every entity.
    private func expectCounts(_ views: ViewReader, _ place: Comment) throws {
        let collection = try #require(try views.model()["tasks"])
        let fields = collection.contents.map(\.field)
        var own: [String: Int] = [:]
        var named: [String: Int] = [:]
        var wanted: [String: Int] = [:]
        try views.forEachEntity(in: "tasks") { key, row in
            let names = try views.contents(of: key).names
            let ruled = names.filter { fields.contains($0.field) }
            #expect(ruled == row.contentNames(in: collection), place)
            let areFiles = names.allSatisfy { fields.contains($0.field) || $0.isFile }
            #expect(areFiles, place)
            return true
        }
        try views.walk(.ledger, Ledger.contentsOfEntities) { _, value in
            let contents = try EntityContentsRow(parsing: value)
            for name in contents.names {
                let isWanted = contents.wants(name.field)
                if name.isFile {
                    own[name.text, default: 0] += 1
                    if isWanted { wanted[name.text, default: 0] += 1 }
                } else if let digest = try views.digest(of: ContentSource("tasks", name.text)) {
                    named[digest, default: 0] += 1
                    if isWanted { wanted[digest, default: 0] += 1 }
                }
            }
            return true
        }
        for digest in (0..<5).map({ "d\($0)" }) {
            let row = try views.content(digest) ?? ContentRow()
            #expect(row.own.reduce(0) { $0 + $1.references } == own[digest] ?? 0, place)
            #expect(row.holds.reduce(0) { $0 + $1.references } == named[digest] ?? 0, place)
            #expect(
                (row.own + row.holds).reduce(0) { $0 + $1.wanted } == wanted[digest] ?? 0, place)
            let isFree = row.stored != nil && own[digest] == nil && named[digest] == nil
            #expect(try (views.get(.unreferencedContent(digest)) != nil) == isFree, place)
        }
    }
}
