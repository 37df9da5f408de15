// RedactionTests.swift — what redaction keeps, and when it is refused.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `redaction` {
    private func capsule(
        _ model: String, _ events: [(EventKind, String, String?)], last: UInt64 = 0
    ) -> Capsule {
        let start = Timestamp(rawValue: 1_795_262_744_000_000)
        let all = [(EventKind.modelRegistered, model, nil)] + events
        let commits = all.enumerated().map { index, event in
            let made = Event(
                event.0, recordedAt: start.adding(seconds: Int64(index)),
                key: event.2.flatMap { EntityKey($0) }, json: Array(event.1.utf8))
            return Capsule.Commit(
                entries: [Capsule.Entry(position: Position(UInt64(index + 1)), event: made)],
                views: [])
        }
        return Capsule(
            provenance: Capsule.Provenance(
                build: "test", last: Position(UInt64(all.count)), root: []),
            base: Capsule.Base(), commits: commits)
    }

    private let tasks = #"{"name":"m","collections":[{"name":"tasks"}]}"#

    private func documents(_ capsule: Capsule) throws -> [JSONValue] {
        try capsule.events.filter { $0.kind == .serverUpserted }.map {
            try JSONValue(parsing: $0.payload)
        }
    }

    // MARK: What stays

    @Test func `the order of texts and numbers stays, and what is equal stays equal`() throws {
        let titles = ["apple", "Apple", "apples", "zoo", "10", "9", "äpple", "apple"]
        let ranks = ["3", "-3", "10", "0", "2.5", "2.50", "1000000", "3"]
        let events = zip(titles, ranks).enumerated().map { index, pair in
            (
                EventKind.serverUpserted,
                #"{"title":"\#(pair.0)","rank":\#(pair.1),"done":true,"due":null}"#,
                Optional("tasks/t\(index)")
            )
        }
        let old = capsule(tasks, events)
        let policy = Redaction(names: ["title", "rank", "done", "due"])
        let new = try documents(try old.redactedByTool(policy))

        for one in new.indices {
            #expect(new[one]["done"] == true && new[one]["due"] == .null)
            for other in new.indices {
                let (a, b) = (new[one]["title"]?.stringValue, new[other]["title"]?.stringValue)
                #expect(
                    try #require(a).utf8.lexicographicallyPrecedes(try #require(b).utf8)
                        == titles[one].utf8.lexicographicallyPrecedes(titles[other].utf8))
                guard case .number(let x)? = new[one]["rank"],
                    case .number(let y)? = new[other]["rank"]
                else { return #expect(Bool(false)) }
                let before = try (#require(Double(ranks[one])), #require(Double(ranks[other])))
                #expect((try #require(x.double) < #require(y.double)) == (before.0 < before.1))
                #expect((x == y) == (before.0 == before.1))
            }
        }
    }

    @Test func `edits that a later one overtakes stay what they are`() throws {
        let texts = ["a", "a long text of many words", "", "ab", "a long", "z", "a", "b"]
        let edits = texts.map { text in
            (
                EventKind.localUpdated, #"{"set":{"body":"\#(text)"},"unset":[]}"#,
                Optional("tasks/t")
            )
        }
        let made = (EventKind.localCreated, #"{"body":"?"}"#, Optional("tasks/t"))
        let old = capsule(tasks, [made] + edits)
        let new = try old.redactedByTool(Redaction(names: ["body"]))

        #expect(new.events.count == old.events.count)
        #expect(new.commits.last?.views.isEmpty == false)
    }

    @Test func `a negative number that stands for null tells no time`() throws {
        let model = #"""
            {"name":"m","collections":[{"name":"tasks","nullable":["n"],
            "forms":[{"negativeIsNull":"n","sentMinus":"t"}],
            "rivals":{"whileNull":"n","start":"t"}}]}
            """#
        let time = #""t":"2026-11-18T11:06:40Z""#
        let old = capsule(
            model,
            [
                (.serverUpserted, #"{"n":-1795000000,\#(time)}"#, "tasks/a"),
                (.serverUpserted, #"{"n":60,\#(time)}"#, "tasks/b"),
            ])

        let new = try documents(try old.redactedByTool(Redaction(names: ["n", "t"])))

        #expect(new.map { $0["n"] } == [-1, 60])
    }

    @Test func `what is missing on a server is not named, also where it is a number`() throws {
        let detail = "the server has not what has to be there: 110032; nothing else is wrong"
        let old = capsule(
            tasks, [(.syncFinished, #"{"outcome":"missing","detail":"\#(detail)"}"#, nil)])

        let event = try #require(try old.redactedByTool(Redaction()).events.last)
        let told = try #require(try JSONValue(parsing: event.payload)["detail"]?.stringValue)

        #expect(told.hasPrefix("the server has not what has to be there: "))
        #expect(told.hasSuffix("; nothing else is wrong"))
        #expect(!told.contains("110032") && told.utf8.count == detail.utf8.count)
    }

    @Test func `the part at which a run was cut off is named as its documents are`() throws {
        let old = capsule(
            tasks,
            [
                (.serverUpserted, #"{"list":"zeppelin"}"#, "tasks/a"),
                (
                    .syncFinished,
                    #"{"outcome":"offline","cutAt":["tasks","{\"list\":\"zeppelin\"}"]}"#, nil
                ),
            ])

        let new = try old.redactedByTool(Redaction(names: ["list"]))

        let document = try #require(try documents(new).first)
        let end = try #require(new.events.last?.read(SyncFinished.self))
        let part = try #require(end.cutAt?.last.flatMap { ListParameters(scope: $0) })
        #expect(part["list"] == document["list"]?.stringValue && part["list"] != "zeppelin")
        let own = new.events.first { $0.kind == .serverUpserted }?.collection
        #expect(end.cutAt?.first == own?.rawValue)
    }

    @Test func `fields that are to be kept are, by collection`() throws {
        let model = #"{"name":"m","collections":[{"name":"tasks"},{"name":"lists"}]}"#
        let old = capsule(
            model,
            [
                (.serverUpserted, #"{"state":"open","size":3,"title":"secret"}"#, "tasks/one"),
                (.serverUpserted, #"{"state":"closed","size":42}"#, "lists/two"),
            ])
        let policy = Redaction(keep: ["tasks.state", "tasks.size"])
        let new = try documents(try old.redactedByTool(policy))

        #expect(new[0]["state"] == "open" && new[0]["size"] == 3)
        #expect(new[0]["title"] == nil)
        #expect(new[1]["state"] != "closed" && new[1]["state"] != nil)
        #expect(new[1]["size"] != 42)
    }

    @Test func `what is kept of one collection is not kept where others may be, too`() throws {
        let model = #"{"name":"m","collections":[{"name":"tasks"},{"name":"lists"}]}"#
        let write = #"{"method":"PUT","path":"/x"}"#
        let answers = #"{"responses":[{"body":{"state":"closed","size":4242424}}]}"#
        var old = capsule(
            model,
            [
                (.requestSent, #"{"method":"POST","path":"/batch"}"#, nil),
                (.requestSent, write, "tasks/one"), (.requestSent, write, "lists/two"),
                (.requestAnswered, #"{"status":200,"body":\#(answers)}"#, nil),
                (.requestSent, #"{"method":"GET","path":"/y"}"#, nil),
                (.requestAnswered, #"{"status":400,"body":{"state":"open"}}"#, nil),
                // Sent before the capsule begins: it may have been a batch.
                (.requestAnswered, #"{"status":200,"body":{"state":"halted"}}"#, nil),
            ])
        let places: [(index: Int, cause: UInt64, call: UInt64)] = [
            (1, 0, 0), (2, 2, 0), (3, 2, 0), (4, 0, 2), (5, 0, 0), (6, 0, 6), (7, 0, 1),
        ]
        for place in places {
            var event = old.commits[place.index].entries[0].event
            if event.collection == nil { event.collection = "tasks" }
            event.cause = place.cause > 0 ? Position(place.cause) : nil
            event.call = place.call > 0 ? Position(place.call) : nil
            old.commits[place.index].entries[0].event = event
        }
        old.bodies = [Array(#"{"data":{"state":"hidden","size":4343434}}"#.utf8)]
        let policy = Redaction(keep: ["tasks.state", "tasks.size"])

        let new = String(decoding: try old.redactedByTool(policy).everything, as: UTF8.self)

        #expect(new.contains("open"))
        for text in ["closed", "4242424", "halted", "hidden", "4343434"] {
            #expect(!new.contains(text), "\(text)")
        }
    }

    @Test(arguments: ["tasks", ".x", "tasks.", ""])
    func `a field to keep has a collection and a name`(text: String) {
        let error = #expect(throws: RedactionError.self) {
            try capsule(tasks, []).redactedByTool(Redaction(keep: [text]))
        }
        #expect(error?.code == .policy)
        #expect(error?.description.contains("COLLECTION.FIELD") == true)
    }

    @Test func `a field to keep is of a collection that there is`() {
        let error = #expect(throws: RedactionError.self) {
            try capsule(tasks, []).redactedByTool(Redaction(keep: ["task.done"]))
        }
        #expect(error?.description == "task.done: there is no such collection, but tasks")
    }

    @Test func `an id is another one in every address, whatever it looks like`() throws {
        let records = "/v1/buckets/default/collections/tasks/records"
        let old = capsule(
            tasks,
            [
                (
                    .requestSent,
                    #"{"method":"GET","path":"\#(records)?in_id=%221795262744805%22,%22a%22"}"#, nil
                ),
                (.requestSent, #"{"method":"GET","path":"\#(records)/default"}"#, "tasks/default"),
            ])

        let words = Remote.kinto(origin: "https://kinto.test", bucket: "default").words
        let new = try old.redactedByTool(Redaction(words: words))

        let sent = new.events.filter { $0.kind == .requestSent }
        let paths = try sent.map { try JSONValue(parsing: $0.payload)["path"]?.stringValue ?? "" }
        #expect(paths.allSatisfy { $0.hasPrefix("/v1/buckets/default/collections/") })
        #expect(paths[0].contains("?in_id=%22") && !paths[0].contains("1795262744805"))
        let id = try #require(sent[1].key?.id)
        #expect(id != "default" && paths[1].hasSuffix("/records/\(id)"))
    }

    @Test func `each of several fields in an address has its own name`() throws {
        let records = "/v1/buckets/default/collections/tasks/records"
        let old = capsule(
            tasks,
            [
                (.requestSent, #"{"method":"GET","path":"\#(records)?_fields=id,secret"}"#, nil),
                (.requestSent, #"{"method":"GET","path":"\#(records)?_sort=-secret,id"}"#, nil),
            ])

        let words = Remote.kinto(origin: "https://kinto.test", bucket: "default").words
        let new = try old.redactedByTool(Redaction(words: words))

        let sent = new.events.filter { $0.kind == .requestSent }
        let paths = try sent.map { try JSONValue(parsing: $0.payload)["path"]?.stringValue ?? "" }
        let name = try #require(paths[0].split(separator: ",").last)
        #expect(name != "secret" && paths[0].hasSuffix("?_fields=id,\(name)"))
        #expect(paths[1].hasSuffix("?_sort=-\(name),id"))
    }

    @Test func `what a rule of the app was asked is hashed anew`() throws {
        let model = #"{"name":"m","collections":[{"name":"tasks","conflict":{"custom":"mine"}}]}"#
        var old = capsule(
            model,
            [
                (.serverUpserted, #"{"title":"before"}"#, "tasks/t"),
                (.localUpdated, #"{"set":{"title":"here"},"unset":[]}"#, "tasks/t"),
                (
                    .ruleAnswered, #"{"rule":"mine","version":1,"inputs":"00","answer":"local"}"#,
                    "tasks/t"
                ),
                (.serverUpserted, #"{"title":"there"}"#, "tasks/t"),
            ])
        old.commits[4].entries[0].event.cause = Position(4)
        old.commits[3].entries += old.commits.remove(at: 4).entries
        let new = try old.redactedByTool()
        var fold = CapsuleFold(new.base)
        for commit in new.commits.prefix(3) { try fold.fold(commit.entries) }
        var asked: String?
        let last = try #require(new.commits.last)
        try fold.fold(last.entries) { fold, event, position in
            if event.kind == .ruleAnswered {
                let question = try fold.conflict(last.entries[1].event, at: Position(5))?.question
                asked = question.map { BodyReference(to: $0.canonical).digits }
            }
            try fold.apply(event, at: position)
        }

        let answer = try JSONValue(parsing: last.entries[0].event.payload)
        #expect(asked != nil)
        #expect(answer["inputs"]?.stringValue == asked)
        #expect(answer["rule"] == "mine" && answer["answer"] == "local")
    }

    @Test func `a redacted capsule is a store that can be read`() async throws {
        var world = RedactionWorld(seed: 77)
        try await RedactionSupport.capsules(of: world.scenario(40), "world") { _, old in
            let new = try old.redactedByTool()
            let counts = try [old, new].map { capsule in
                let journal = try capsule.unpacked(in: RedactionSupport.scratch())
                var statuses: [EntityStatus] = []
                try journal.read { views in
                    try views.forEachEntity { _, row in
                        statuses.append(row.status)
                        return true
                    }
                }
                try journal.close()
                return statuses
            }
            #expect(counts[0] == counts[1])
        }
    }

    @Test func `with another key nothing is the same`() throws {
        let old = capsule(
            tasks, (0..<30).map { (.serverUpserted, #"{"a":"word\#($0)"}"#, "tasks/entity-\($0)") })
        let one = try old.redactedByTool()
        let other = try old.redacted(Redaction(), key: [UInt8](repeating: 8, count: 32))
        let ids = [old, one, other].map { Set($0.events.compactMap(\.entity)) }

        #expect(ids.allSatisfy { $0.count == 30 })
        #expect(ids[0].isDisjoint(with: ids[1]))
        #expect(ids[1].isDisjoint(with: ids[2]))
        #expect(try old.redactedByTool() == one)
    }

    @Test func `chance is asked for a key of 32 bytes, and times move by whole days`() throws {
        var asked = 0
        let old = capsule(tasks, [(.serverUpserted, #"{"a":"b"}"#, "tasks/t")])
        let new = try old.redacted(Redaction(times: .shifted(days: -3))) {
            asked += 1
            return UInt64(asked)
        }

        #expect(asked == 4)
        for (before, after) in zip(old.events, new.events) {
            #expect(before.recordedAt.rawValue - after.recordedAt.rawValue == 3 * 86_400_000_000)
        }
    }

    // MARK: What it refuses

    private let newer = """
        {"name":"m","collections":[{"name":"tasks","dates":"seconds",\
        "retention":{"field":"start","months":1}}]}
        """

    /// An entity of the last of January: how many days a month has decides whether it is kept.
    private var monthly: Capsule {
        let start = 1_769_850_000  // 2026-01-31T09:00:00Z
        let now = Timestamp(rawValue: 1_772_269_200_000_000 + 3_600_000_000)  // 2026-02-28T10:00
        return capsule(
            newer,
            [
                (.serverUpserted, #"{"id":"t","start":\#(start)}"#, "tasks/t"),
                (.timerFired, #"{"timer":"cleanUp","now":\#(now.rawValue)}"#, nil),
            ])
    }

    @Test func `a decision that would be another one is refused by its position`() throws {
        _ = try monthly.redactedByTool()
        let error = #expect(throws: RedactionError.self) {
            try monthly.redactedByTool(Redaction(times: .shifted(days: 2)))
        }

        #expect(error?.code == .decision)
        #expect(error?.position == Position(3))
        #expect(error?.description.contains("tasks/t") == true)
        #expect(error?.description.contains("keep the times") == true)
    }

    @Test func `an event of a newer version is refused by its position`() throws {
        var old = capsule(tasks, [(.serverUpserted, "{}", "tasks/t")])
        old.commits[1].entries[0].event = Event(
            EventKind(rawValue: 200), recordedAt: Timestamp(rawValue: 5))
        let error = #expect(throws: RedactionError.self) {
            try old.redactedByTool()
        }
        #expect(error?.code == .unknown)
        #expect(error?.description.contains("@2: ") == true)
        #expect(error?.description.contains("kind-200") == true)

        old.commits[1].entries[0].event = Event(
            .serverUpserted, recordedAt: Timestamp(rawValue: 5), json: Array("{}".utf8))
        old.commits[1].entries[0].event.schemaVersion = 1
        #expect(throws: RedactionError.self) {
            try old.redactedByTool()
        }
    }

    @Test func `a row of a newer version is refused`() throws {
        var old = capsule(tasks, [])
        old.base = Capsule.Base(
            position: Position(9),
            rows: [SnapshotRow(key: RowKey(.ledger, Array("Zebra".utf8)), value: [1])])
        let error = #expect(throws: RedactionError.self) {
            try old.redactedByTool()
        }
        #expect(error?.code == .unknown)
        #expect(error?.description.contains("Zebra") == true)

        old.base.fingerprints = [1, 2, 3]
        let other = #expect(throws: RedactionError.self) {
            try old.redactedByTool()
        }
        #expect(other?.code == .otherRules)
    }

    @Test func `how far a list is, and of what, stays`() async throws {
        let clock = ManualClock()
        var state = ListState(page: 2, asOf: Position(1), knownCount: 0)
        (state.next, state.total, state.pageSize) = ("3", 120, 50)
        state.isOfChanges = true
        var page = PullPage()
        page.list = ListProgress(state)
        let events = [
            Event(.pullPage, recordedAt: clock.now, collection: "tasks", json: page.encoded),
            Event(
                .localCreated, recordedAt: clock.now, key: EntityKey("tasks", "t"),
                json: Array("{}".utf8)),
        ]
        let model = SyncModel(name: "m", collections: [CollectionModel("tasks")])
        try await Replica.withTemporary(
            model: model, dependencies: .seeded(1, clock: clock)
        ) { replica in
            for event in events {
                _ = try replica.journal.write(at: clock.now) { draft in try draft.append(event) }
            }
            let capsule = try Capsule(
                of: replica.journal, last: 1, build: "test", scratch: RedactionSupport.scratch())

            let redacted = try capsule.redactedByTool()

            let place = RowKey.listed(PullTarget("tasks"))
            let row = try #require(redacted.base.rows.first { $0.key == place })
            let kept = try #require(try ListedRow(parsing: row.value).state)
            #expect(kept.total == 120 && kept.pageSize == 50 && kept.isOfChanges)
        }
    }

    @Test func `rows that were recorded otherwise are not papered over`() throws {
        var old = try capsule(tasks, [(.serverUpserted, "{}", "tasks/t")]).refolded()
        _ = try old.redactedByTool()
        old.commits[1].views[0].digest[0] ^= 1
        let error = #expect(throws: RedactionError.self) {
            try old.redactedByTool()
        }

        #expect(error?.code == .otherRules)
        #expect(error?.position == Position(2))
    }

    // MARK: Worlds

    @Test(.enabled(if: TestRun.isWhole), arguments: 1...25 as ClosedRange<UInt64>)
    func `random worlds are decided as before`(seed: UInt64) async throws {
        var world = RedactionWorld(seed: seed)
        try await RedactionSupport.capsules(of: world.scenario(60), "world \(seed)") { name, old in
            do {
                let new = try old.redactedByTool()
                let bytes = new.everything
                for id in Set(old.events.compactMap(\.entity)) where id.utf8.count > 5 {
                    #expect(RedactionSecret(id).found(in: bytes) == nil, "\(id) of \(name)")
                }
                let moved = Redaction(times: .shifted(days: 14))
                #expect(throws: Never.self) {
                    try old.redactedByTool(moved)
                }
            } catch { Issue.record("\(name): \(error)") }
        }
    }
}
