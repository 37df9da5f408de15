// SyncPartTests.swift — a collection that is listed in parts, each with parameters and a watermark
// of its own.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a collection that is listed in parts` {
    private static let p1 = "visits?program=P1"
    private static let p2 = "visits?program=P2"

    private static func model(_ lists: [ListRule]) -> SyncModel {
        SyncModel(
            name: "parts", collections: [CollectionModel("visits", lists: lists)],
            settings: SyncSettings(fullPullEvery: .zero))
    }

    private static let both = model([ListRule(["program": "P1"]), ListRule(["program": "P2"])])

    private func visit(_ id: String, _ program: String?) -> String {
        let field = program.map { #","program":"\#($0)""# } ?? ""
        return #"{"id":"\#(id)"\#(field)}"#
    }

    private func cursor(_ device: TreeDevice, _ parameters: ListParameters) throws -> String? {
        let target = PullTarget("visits", parameters)
        return try device.replica.journal.read { try $0.watermark(target)?.cursor?.description }
    }

    private func ids(_ device: TreeDevice) throws -> [String] {
        try device.rows("visits").filter { $0.1.baseState == .live }.map(\.0.id).sorted()
    }

    @Test func `is asked for part by part, and each goes on by its own cursor`() async throws {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1")], cursor: "7")
        server.list(Self.p2, [visit("b", "P2")], cursor: "9")
        try await TreeDevice.with(Self.both, server) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == [Self.p1, Self.p2])
            #expect(try ids(device) == ["a", "b"])
            #expect(try cursor(device, ["program": "P1"]) == "7")
            #expect(try cursor(device, ["program": "P2"]) == "9")
            #expect(try cursor(device, [:]) == nil)

            server.list(Self.p1 + "&after=7", [visit("c", "P1")], cursor: "8")
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == [Self.p1 + "&after=7", Self.p2 + "&after=9"])
            #expect(try ids(device) == ["a", "b", "c"])
            #expect(try cursor(device, ["program": "P1"]) == "8")

            try device.restart()
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == [Self.p1 + "&after=8", Self.p2 + "&after=9"])
        }
    }

    @Test func `goes on with the others where one fails`() async throws {
        let server = TreeServer()
        server.answer(Self.p1, 403)
        server.list(Self.p2, [visit("b", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.failed["visits"] != nil)
            #expect(server.takeRequests() == [Self.p1, Self.p2])
            #expect(try ids(device) == ["b"])
            #expect(try cursor(device, ["program": "P1"]) == nil)

            server.list(Self.p1, [visit("a", "P1")])
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == [Self.p1, Self.p2 + "&after=c1"])
        }
    }

    @Test(arguments: [403, 500])
    func `waits longer each time for one that fails, whatever comes of the others`(_ status: Int)
        async throws
    {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1")])
        server.answer(Self.p2, status)
        try await TreeDevice.with(Self.both, server) { device async throws in
            for failures in 1...3 {
                #expect(try await device.sync(.all, .retry).failure == nil)
                #expect(try failing(device) == [failures])
                server.clock.advance(by: .seconds(3600))
            }

            _ = try await device.sync(.select([.init("visits", ["program": "P1"])]))
            #expect(try failing(device) == [3], "of the other part it says nothing")

            server.list(Self.p2, [visit("b", "P2")])
            #expect(try await device.sync(.all, .retry).isSynced)
            #expect(try failing(device) == [])
        }
    }

    @Test func `is made again where the first one failed, and counts once where all do`()
        async throws
    {
        let server = TreeServer()
        server.answer(Self.p1, 403)
        server.list(Self.p2, [visit("b", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            _ = try await device.sync(.all, .timer)
            #expect(try failing(device) == [1])

            server.answer(Self.p2 + "&after=c1", 403)
            server.clock.advance(by: .seconds(3600))
            _ = try await device.sync(.all, .retry)
            #expect(try failing(device) == [2])
        }
    }

    @Test func `waits longer for a page that fails behind one that does not`() async throws {
        let model = SyncModel(
            name: "pages", collections: [CollectionModel("visits")],
            settings: SyncSettings(fullPullEvery: .zero))
        let server = TreeServer()
        server.list("visits", [visit("a", nil)])
        try await TreeDevice.with(model, server) { device async throws in
            #expect(try await device.sync().isSynced)
            server.list("visits?after=c1", [visit("b", nil)], cursor: "c2", next: "2")
            server.answer("visits?after=c1&page=2", 500)
            for failures in 1...3 {
                _ = try await device.sync(.all, .retry)
                #expect(try failing(device) == [failures])
                server.clock.advance(by: .seconds(3600))
            }
        }
    }

    /// How often calls failed that are to be made again.
    private func failing(_ device: TreeDevice) throws -> [Int] {
        try device.replica.journal.read { try $0.gates().failing.map(\.failures) }
    }

    @Test func `loses only what is of a part that does not name it, and has no edit`() async throws
    {
        let server = TreeServer()
        let gone = (1...12).map { "g\($0)" }
        let kept = (1...20).map { "k\($0)" }
        let first = (gone + kept + ["edited"]).map { visit($0, "P1") }
        server.list(Self.p1, first + [visit("moved", "P2"), visit("untold", nil)])
        server.list(Self.p2, [visit("other", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            #expect(try await device.sync().isSynced)
            try device.patch("visits/edited", #"{"note":"mine"}"#)
            server.list(Self.p1, kept.map { visit($0, "P1") })
            server.list(Self.p2, [visit("other", "P2"), visit("moved", "P2")])

            _ = try await device.engine.sync(scope: .pull(["visits"]), full: true)

            let left = try Set(ids(device))
            #expect(left == Set(kept + ["edited", "moved", "other", "untold"]), "\(left)")
        }
    }

    @Test func `asks about many that a part does not name, and follows the answer`() async throws {
        let server = TreeServer()
        let all = (1...12).map { visit("v\($0)", "P1") }
        server.list(Self.p1, all)
        server.list(Self.p2, [visit("other", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            #expect(try await device.sync().isSynced)
            server.list(Self.p1, Array(all.prefix(5)))
            #expect(try await device.engine.sync(full: true).held == ["visits": 7])
            let issues = try device.replica.issues()
            let issue = try #require(issues.first)

            try await device.replica.answer(issue.id, .keepTheirs)

            #expect(try device.replica.issues().isEmpty)
            #expect(try ids(device) == ["other", "v1", "v2", "v3", "v4", "v5"])
            #expect(try await device.sync().isSynced)
        }
    }

    @Test func `has few missing ones read back, one by one`() async throws {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1"), visit("b", "P1"), visit("c", "P1")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            _ = try await device.sync()
            server.list(Self.p1, [visit("a", "P1"), visit("b", "P1")])
            server.list(Self.p2, [])
            _ = server.takeRequests()

            _ = try await device.engine.sync(full: true)

            #expect(server.takeRequests() == [Self.p1, Self.p1 + "&after=c1", "visits/c", Self.p2])
            #expect(try ids(device) == ["a", "b"])
        }
    }

    @Test func `is listed whole where a record of it is to be read again`() async throws {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1"), #"{"program":"P1"}"#])
        server.list(Self.p2, [visit("other", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            _ = try await device.sync()
            let issues = try device.replica.issues()
            let issue = try #require(issues.first)
            #expect(issue.kind == .unreadable)
            server.list(Self.p1, [visit("a", "P1"), visit("b", "P1")])
            _ = server.takeRequests()

            try await device.replica.answer(issue.id, .retry)
            #expect(try await device.sync().isSynced)

            #expect(server.takeRequests() == [Self.p1, Self.p2])
            #expect(try ids(device) == ["a", "b", "other"])
            #expect(try device.replica.issues().isEmpty)
        }
    }

    @Test func `ends a list at its limit, of which nothing follows`() async throws {
        let model = Self.model([ListRule(["program": "P1"], limit: 3)])
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1"), visit("b", "P1")], next: "2")
        server.list(Self.p1 + "&page=2", [visit("c", "P1"), visit("d", "P1")], next: "3")
        try await TreeDevice.with(model, server) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == [Self.p1, Self.p1 + "&page=2"])
            #expect(try ids(device) == ["a", "b", "c", "d"], "a page is not cut")

            server.list(Self.p1, [visit("d", "P1")])
            _ = try await device.engine.sync(full: true)
            #expect(try ids(device) == ["a", "b", "c", "d"])
            #expect(try device.dump().contains { $0.contains(#""limit":3"#) })
        }
    }

    @Test func `is listed anew for a greater limit, and not for a smaller one`() async throws {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1")])
        func part(_ limit: Int?) -> SyncScope {
            .select([.init("visits", ["program": "P1"], limit: limit)])
        }
        try await TreeDevice.with(Self.model([]), server) { device async throws in
            for (limit, asked) in [
                (5, Self.p1), (5, Self.p1 + "&after=c1"), (2, Self.p1 + "&after=c1"),
                (6, Self.p1), (nil, Self.p1), (7, Self.p1 + "&after=c1"),
            ] as [(Int?, String)] {
                #expect(try await device.sync(part(limit)).failure == nil)
                #expect(server.takeRequests() == [asked], "limit \(limit ?? 0)")
            }
        }
    }

    @Test func `is listed in the parts that a run selects, and sends nothing`() async throws {
        let server = TreeServer()
        server.list("visits?orgUnit=O1&program=P3", [visit("x", "P3")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            try device.create("visits/new", #"{"id":"new","program":"P1"}"#)

            let outcome = try await device.sync(
                .select([.init("visits", ["program": "P3", "orgUnit": "O1"])]))

            #expect(outcome.failure == nil && outcome.pending == 1)
            #expect(server.takeRequests() == ["visits?orgUnit=O1&program=P3"])
            #expect(try cursor(device, ["orgUnit": "O1", "program": "P3"]) == "c1")
            let started = try device.dump().filter { $0.contains(#""select""#) }
            #expect(started.count == 1 && started[0].contains(#""schemaVersion":2"#))
        }
    }

    @Test func `owes each part the whole list that was asked for`() async throws {
        let server = TreeServer()
        server.list(Self.p1, [visit("a", "P1")])
        server.list(Self.p2, [visit("b", "P2")])
        try await TreeDevice.with(Self.both, server) { device async throws in
            _ = try await device.sync()
            server.answer(Self.p2, 403)
            _ = try await device.engine.sync(full: true)
            _ = server.takeRequests()

            server.list(Self.p2, [visit("b", "P2")])
            #expect(try await device.sync().isSynced)

            #expect(server.takeRequests() == [Self.p1 + "&after=c1", Self.p2])
        }
    }

    @Test func `is refused for a server that lists no parts, or by no such parameter`() throws {
        let registration = ModelRegistration(
            model: Self.both, remote: Remote(origin: "http://tree.test", adapter: "tree"))
        #expect(
            throws: ModelError(
                "collections[0].lists",
                "the adapter \"tree\" can't list parts of visits; leave lists out, or sync it with "
                    + "a server that can")
        ) { try TreeAdapter(parameters: nil).check(registration) }
        #expect(
            throws: ModelError(
                "collections[0].lists[0].parameters", "the server lists by no \"program\"")
        ) { try TreeAdapter(parameters: ["orgUnit"]).check(registration) }
        #expect(throws: Never.self) { try TreeAdapter().check(registration) }

        var shared = registration
        shared.model.collections[0].listLimit = 5
        let error = #expect(throws: ModelError.self) { try TreeAdapter().check(shared) }
        #expect(error?.path == "collections[0].listLimit")
        #expect(error?.problem.contains("numbers no pages") == true)
    }
}
