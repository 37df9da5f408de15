// SyncEmbeddedTests.swift — records of a list that hold others: each becomes an entity of its own.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `records that stand in others` {
    private static let model = SyncModel(
        name: "tree",
        collections: [
            CollectionModel("patients", embeds: [EmbedRule("visits", "visits")]),
            CollectionModel(
                "visits", references: [Reference("patient", to: "patients")], lists: [],
                embeds: [EmbedRule("tests", "tests")]),
            CollectionModel("tests", references: [Reference("visit", to: "visits")], lists: []),
        ], settings: SyncSettings(fullPullEvery: .zero))

    private func visit(_ id: String, of patient: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","patient":"\#(patient)"\#(more)}"#
    }

    private func test(_ id: String, of visit: String, _ more: String = "") -> String {
        #"{"id":"\#(id)","visit":"\#(visit)"\#(more)}"#
    }

    private func patient(_ id: String, _ visits: [String]?, _ more: String = "") -> String {
        let held = visits.map { #","visits":[\#($0.joined(separator: ","))]"# } ?? ""
        return #"{"id":"\#(id)"\#(held)\#(more)}"#
    }

    private func live(_ device: TreeDevice) throws -> [String] {
        try ["patients", "visits", "tests"].flatMap { name in
            try device.rows(CollectionName(name)).filter { $0.1.baseState == .live }
                .map(\.0.description).sorted()
        }
    }

    private func text(_ device: TreeDevice, _ key: String) throws -> String? {
        let row = try device.replica.journal.read { try $0.entity(try device.key(key)) }
        return row.map { String(decoding: $0.base, as: UTF8.self) }
    }

    /// What was logged since a position, as its dump says it.
    private func dump(_ device: TreeDevice, _ kind: String, after position: Position = .start)
        throws
        -> [String]
    {
        try device.dump().dropFirst(Int(position.rawValue)).filter {
            $0.contains(#""kind":"\#(kind)""#)
        }
    }

    private func with(
        _ server: TreeServer, _ model: SyncModel = model,
        _ body: (TreeDevice, TreeServer) async throws -> Void
    ) async throws {
        try await TreeDevice.with(model, server) { try await body($0, server) }
    }

    @Test func `become entities, and their bytes and those around them stay as they came`()
        async throws
    {
        let server = TreeServer()
        let tests = #","tests": [ {"id":"t1","visit":"v1", "n": 1.0} ] ,"at":"Ward 7""#
        server.list(
            "patients",
            [#"{"id":"p1", "visits": [\#(visit("v1", of: "p1", tests))],"name" : "Ada"}"#])
        try await with(server) { device, _ async throws in
            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.pulled == 3)
            #expect(
                server.takeRequests() == ["patients"], "nothing is listed of what stands in others")
            #expect(try text(device, "patients/p1") == #"{"id":"p1","name":"Ada"}"#)
            #expect(try text(device, "visits/v1") == #"{"id":"v1","patient":"p1","at":"Ward 7"}"#)
            #expect(try text(device, "tests/t1") == #"{"id":"t1","visit":"v1", "n": 1.0}"#)
            let page = try #require(try dump(device, "pull.page").first)
            #expect(page.contains(#""within":[{"of":"patients/p1","collection":"visits","#))
            #expect(page.contains(#"{"of":"visits/v1","collection":"tests","ids":["t1"],"#))
        }
    }

    @Test(arguments: [0, 1])
    func `become entities by a new model, though nothing changed since`(
        _ index: Int
    ) async throws {
        var before = Self.model
        before.collections[index].embeds = []
        let server = TreeServer()
        let tests = #","tests":[\#(test("t1", of: "v1"))]"#
        server.list("patients", [patient("p1", [visit("v1", of: "p1", tests)])])
        try await with(server, before) { device, server async throws in
            _ = try await device.sync()
            #expect(try !live(device).contains("tests/t1"))
            let known = try #require(try device.replica.registration)
            try device.replica.register(
                ModelRegistration(model: Self.model, remote: known.remote))
            _ = server.takeRequests()

            #expect(try await device.sync().isSynced)

            #expect(server.takeRequests() == ["patients"])
            #expect(try live(device) == ["patients/p1", "visits/v1", "tests/t1"])
            #expect(try text(device, "patients/p1") == #"{"id":"p1"}"#)
            _ = try await device.sync()
            #expect(server.takeRequests() == ["patients?after=c1"], "once")
        }
    }

    @Test func `are logged only where they are new`() async throws {
        let server = TreeServer()
        func page(_ count: Int) -> [String] {
            let tests = test("t1", of: "v1") + "," + test("t2", of: "v1", #","n":\#(count)"#)
            return [patient("p1", [visit("v1", of: "p1", #","tests":[\#(tests)]"#)])]
        }
        server.list("patients", page(1))
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            let before = try device.position()
            server.list("patients?after=c1", page(2), cursor: "c2")

            #expect(try await device.sync().counts.pulled == 1)

            let upserted = try dump(device, "server.upserted", after: before)
            #expect(upserted.count == 1 && upserted[0].contains(#""entity":"t2""#))
            let named = try #require(try dump(device, "pull.page", after: before).first)
            #expect(named.contains(#""ids":["p1"],"at":["="]"#))
            let count = try device.position()
            server.list("patients?after=c2", page(2), cursor: "c2")
            #expect(try await device.sync().isSynced)
            #expect(try dump(device, "server.upserted", after: count).isEmpty)
        }
    }

    @Test func `are deleted where theirs leaves them out, with all below, but not with an edit`()
        async throws
    {
        let server = TreeServer()
        server.list(
            "patients",
            [
                patient(
                    "p1",
                    [
                        visit("v1", of: "p1", #","tests":[\#(test("t1", of: "v1"))]"#),
                        visit("v2", of: "p1"),
                        visit(
                            "v3", of: "p1",
                            #","tests":[\#(test("t2", of: "v3")),\#(test("t3", of: "v3"))]"#),
                    ]),
                patient("p2", [visit("v4", of: "p2")]),
                patient("p3", [visit("v5", of: "p3")]),
            ])
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            let before = try device.position()
            try device.patch("visits/v2", #"{"note":"mine"}"#)
            try device.patch("tests/t3", #"{"note":"mine"}"#)
            server.list(
                "patients?after=c1",
                [
                    patient("p1", [visit("v1", of: "p1", #","tests":[]"#)]), patient("p2", nil),
                    patient("p3", []),
                ], cursor: "c2")

            _ = try await device.sync(.pull(["patients"]))

            #expect(
                try live(device) == [
                    "patients/p1", "patients/p2", "patients/p3", "visits/v1", "visits/v2",
                    "visits/v4", "tests/t3",
                ])
            let gone = try dump(device, "server.deleted", after: before)
            #expect(gone.count == 4 && gone.allSatisfy { $0.contains(#""cause":"#) }, "\(gone)")
        }
    }

    @Test func `are deleted only where the list of a part would have shown them`() async throws {
        var model = Self.model
        model.collections[0].lists = [ListRule(["program": "P1"])]
        let server = TreeServer()
        func visits(_ ids: [(String, String)]) -> [String] {
            ids.map { visit($0, of: "p1", #","program":"\#($1)""#) }
        }
        server.answer(
            "patients/p1", 200,
            patient("p1", visits([("v1", "P1"), ("v2", "P2"), ("v3", "P1"), ("hidden", "P1")])))
        try await with(server, model) { device, server async throws in
            _ = try await device.sync(.fetch([device.key("patients/p1")]))
            #expect(try live(device).count == 5)
            server.list("patients?program=P1", [patient("p1", visits([("v1", "P1")]))])

            _ = try await device.sync()

            #expect(
                try live(device) == ["patients/p1", "visits/hidden", "visits/v1", "visits/v2"])
        }
    }

    @Test func `are put aside where they do not belong, and the rest goes on`() async throws {
        let server = TreeServer()
        server.list(
            "patients",
            [
                patient(
                    "p1",
                    [
                        visit("v1", of: "p1"), visit("v2", of: "p2"), #"{"id":"v3"}"#,
                        visit("v1", of: "p1", #","again":true"#), #"{"patient":"p1"}"#,
                    ]), patient("p2", [visit("v4", of: "p2")]),
            ])
        try await with(server) { device, server async throws in
            #expect(try await device.sync().failure == nil)

            #expect(try live(device) == ["patients/p1", "patients/p2", "visits/v1", "visits/v4"])
            let problems = try dump(device, "server.unreadable")
            for text in [
                #"visits/v2 stands in patients/p1, but names p2 in \"patient\""#,
                #"visits/v3 stands in patients/p1, but does not name it in \"patient\""#,
                "visits/v1 is there twice in one answer", "a record without an id",
            ] {
                #expect(problems.count { $0.contains(text) } == 1, "\(text)\n\(problems)")
            }
            #expect(try device.replica.issues().filter { $0.kind == .unreadable }.count == 4)
            // Of a member with a record without an id nothing follows.
            server.list("patients?after=c1", [patient("p1", [#"{"patient":"p1"}"#])], cursor: "c2")
            _ = try await device.sync()
            #expect(try live(device).contains("visits/v1"))
        }
    }

    @Test func `count as the last record of a page has them that is of the same entity`()
        async throws
    {
        let server = TreeServer()
        func held(_ count: Int) -> String {
            patient("p1", [visit("v1", of: "p1", #","n":\#(count)"#)])
        }
        server.list("patients", [held(1), held(2)])
        try await with(server) { device, server async throws in
            #expect(try await device.sync().isSynced)
            #expect(try text(device, "visits/v1") == #"{"id":"v1","patient":"p1","n":2}"#)
            let gone = #"{"id":"p1","deleted":true}"#
            server.list("patients?after=c1", [gone, held(3)], cursor: "c2")

            #expect(try await device.sync().isSynced)

            #expect(try live(device) == ["patients/p1", "visits/v1"])
            #expect(try text(device, "visits/v1") == #"{"id":"v1","patient":"p1","n":3}"#)
            #expect(try device.replica.issues() == [])
            server.list("patients?after=c2", [held(4), gone], cursor: "c3")
            _ = try await device.sync()
            #expect(try live(device) == [])
        }
    }

    @Test func `are listed with those that hold them where one is to be read again`() async throws {
        let server = TreeServer()
        func list(_ inner: String) {
            let outer = visit("v1", of: "p1", #","tests":[\#(inner)]"#)
            server.list("patients", [patient("p1", [outer])])
        }
        list(#"{"visit":"v1"}"#)
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            let issues = try device.replica.issues()
            let issue = try #require(issues.first)
            #expect(issue.kind == .unreadable && issue.collection == "tests")
            list(test("t1", of: "v1"))
            _ = server.takeRequests()

            try await device.replica.answer(issue.id, .retry)
            #expect(try await device.sync().isSynced)

            #expect(server.takeRequests() == ["patients"])
            #expect(try live(device) == ["patients/p1", "visits/v1", "tests/t1"])
        }
    }

    @Test(arguments: ["a tombstone", "a whole list", "a read"])
    func `go with the one that holds them`(_ way: String) async throws {
        let server = TreeServer()
        let tests = #","tests":[\#(test("t1", of: "v1"))]"#
        let kept = (2...4).map { patient("p\($0)", [visit("v\($0)", of: "p\($0)")]) }
        server.list("patients", [patient("p1", [visit("v1", of: "p1", tests)])] + kept)
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            switch way {
            case "a tombstone":
                server.list("patients?after=c1", [#"{"id":"p1","deleted":true}"#], cursor: "c2")
                _ = try await device.sync()
            case "a whole list":
                server.list("patients", kept)
                _ = try await device.engine.sync(full: true)
            default: _ = try await device.sync(.fetch([device.key("patients/p1")]))
            }

            let left = try live(device)
            #expect(
                left == ["p2", "p3", "p4"].map { "patients/\($0)" }
                    + ["v2", "v3", "v4"].map { "visits/\($0)" })
        }
    }

    @Test func `are not embedded by a model that does not say to what they belong`() throws {
        func problem(_ change: (inout SyncModel) -> Void) -> String? {
            var model = Self.model
            change(&model)
            do {
                _ = try ModelRegistration(parsing: ModelRegistration(model: model).encoded)
            } catch {
                return "\(error)"
            }
            return nil
        }
        #expect(problem { _ in } == nil)
        let none = problem { $0.collections[1].references = [] }
        #expect(
            none?.contains("visits has 0 references to it; it needs one") == true, "\(none ?? "")")
        let unknown = problem { $0.collections[1].embeds = [EmbedRule("tests", "blood")] }
        #expect(unknown?.contains("there is no collection blood") == true)
        let itself = problem { $0.collections[1].embeds = [EmbedRule("visits", "visits")] }
        #expect(itself?.contains("it can't be embedded in itself") == true)
        let drops = problem { $0.collections[1].drops = ["secret"] }
        #expect(drops?.contains("\"secret\" would stay in what was answered") == true)
    }
}
