// ListSourceTests.swift — a collection whose lists take their parameters from documents.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a collection whose lists follow from documents` {
    /// Visits of each program, in all units of the account.
    private static let model = SyncModel(
        name: "sources",
        collections: [
            CollectionModel("programs", placeholder: .init()),
            CollectionModel("account"),
            CollectionModel(
                "visits", references: [Reference("program", to: "programs", placeholder: .always)],
                lists: [
                    ListRule(
                        [:],
                        from: [
                            ListSource("program", in: "programs", each: true),
                            ListSource("orgUnit", in: "account", field: "/units/*/id"),
                        ])
                ]),
        ], settings: SyncSettings(fullPullEvery: .zero))

    private static let p1 = "visits?orgUnit=u1,u2&program=P1"
    private static let p2 = "visits?orgUnit=u1,u2&program=P2"

    private func server(_ programs: [String] = ["P2", "P1"]) -> TreeServer {
        let server = TreeServer()
        server.list("programs", programs.map { #"{"id":"\#($0)"}"# })
        server.list("account", [#"{"id":"me","units":[{"id":"u2"},{"id":"u1"},{"no":1}]}"#])
        server.list(Self.p1, [#"{"id":"a","program":"P1"}"#], cursor: "7")
        server.list(Self.p2, [#"{"id":"b","program":"P2"}"#], cursor: "9")
        return server
    }

    private func visits(_ device: TreeDevice) throws -> [String] { try device.keys("visits") }

    @Test func `is asked for by them, and each part goes on by its own cursor`() async throws {
        let server = server()
        try await TreeDevice.with(Self.model, server) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == ["programs", "account", Self.p1, Self.p2])
            #expect(try visits(device) == ["a", "b"])

            try device.restart()
            #expect(try await device.sync(.pull(["visits"])).isSynced)
            #expect(server.takeRequests() == [Self.p1 + "&after=7", Self.p2 + "&after=9"])
        }
    }

    @Test func `asks for nothing without one, and loses nothing`() async throws {
        let server = server()
        try await TreeDevice.with(Self.model, server) { device async throws in
            #expect(try await device.sync().isSynced)
            server.list("account?after=c1", [#"{"id":"me","units":[]}"#])
            _ = server.takeRequests()

            #expect(try await device.sync().isSynced)
            #expect(server.takeRequests() == ["programs?after=c1", "account?after=c1"])
            #expect(try visits(device) == ["a", "b"])
            #expect(try device.replica.issues().isEmpty)
        }
    }

    @Test func `counts only what the server has said, as a whole`() async throws {
        let server = server(["P1"])
        server.list(Self.p1, [#"{"id":"c","program":"P3"}"#])
        try await TreeDevice.with(Self.model, server) { device async throws in
            try device.create("programs/P9", "{}")
            let names: [CollectionName] = ["programs", "account", "visits"]
            #expect(try await device.sync(.pull(names)).failure == nil)

            #expect(server.takeRequests() == ["programs", "account", Self.p1])
            #expect(try device.status("programs/P3") == .placeholder)
            #expect(try await device.sync(.pull(["visits"])).failure == nil)
            #expect(server.takeRequests() == [Self.p1 + "&after=c1"])
        }
    }

    @Test func `owes a list of everything of each part, until it was made`() async throws {
        let server = server()
        try await TreeDevice.with(Self.model, server) { device async throws in
            #expect(try await device.sync().isSynced)
            server.answer(Self.p1, 403)
            _ = try await device.engine.sync(full: true)
            _ = server.takeRequests()

            server.list(Self.p1, [#"{"id":"a","program":"P1"}"#], cursor: "8")
            #expect(try await device.sync(.pull(["visits"])).isSynced)
            #expect(server.takeRequests() == [Self.p1, Self.p2 + "&after=9"])
        }
    }

    @Test func `is told by a model that its adapter can list by`() async throws {
        var model = Self.model
        model.collections[2].lists = [
            ListRule([:], from: [ListSource("clinic", in: "programs")])
        ]
        let error = #expect(throws: ModelError.self) {
            try TreeAdapter().check(ModelRegistration(model: model))
        }
        #expect(error?.path == "collections[2].lists[0].parameters")
        #expect(error?.problem.contains("the server lists by no \"clinic\"") == true)
    }
}
