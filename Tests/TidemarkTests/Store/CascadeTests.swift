// CascadeTests.swift — what is deleted with an entity, by the references of the model.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a deletion that cascades` {
    private static let model = SyncModel(
        name: "tree",
        collections: [
            CollectionModel("patients"),
            CollectionModel(
                "visits",
                references: [
                    Reference("patient", to: "patients", onDelete: .cascade),
                    Reference("before", to: "visits", onDelete: .cascade),
                ]),
            CollectionModel(
                "tests",
                references: [
                    Reference("visit", to: "visits", onDelete: .cascade),
                    Reference("doctor", to: "patients"),
                ]),
        ], settings: SyncSettings(fullPullEvery: .zero))

    private static let rows = [
        "patients/p1", "patients/p2", "visits/v1", "visits/v2", "visits/v3", "tests/t1",
        "tests/t2", "tests/t3",
    ]

    private func make(_ device: TreeDevice) throws {
        try device.create("patients/p1", #"{"id":"p1"}"#)
        try device.create("patients/p2", #"{"id":"p2"}"#)
        try device.create("visits/v1", #"{"id":"v1","patient":"p1"}"#)
        try device.create("visits/v2", #"{"id":"v2","patient":"p2"}"#)
        // Its patient stays, and what it came after does not.
        try device.create("visits/v3", #"{"id":"v3","patient":"p2","before":"v1"}"#)
        try device.create("tests/t1", #"{"id":"t1","visit":"v1"}"#)
        try device.create("tests/t2", #"{"id":"t2","visit":"v2","doctor":"p1"}"#)
        try device.create("tests/t3", #"{"id":"t3","visit":"v3"}"#)
    }

    private func seen(_ device: TreeDevice) throws -> [String] {
        try Self.rows.filter { try device.document($0) != nil }
    }

    @Test func `takes along what refers to the entity, what refers to that, and nothing else`()
        async throws
    {
        try await TreeDevice.with(Self.model, TreeServer()) { device async throws in
            try make(device)
            #expect(try await device.sync(.push).isSynced)
            let before = try device.position()

            try device.delete("patients/p1")

            #expect(try seen(device) == ["patients/p2", "visits/v2", "tests/t2"])
            let deleted = try device.dump().dropFirst(Int(before.rawValue))
            let names = ["t3", "t1", "v3", "v1", "p1"]
            #expect(deleted.count == names.count)
            for (line, name) in zip(deleted, names) {
                #expect(line.contains(#""kind":"local.deleted""#) && line.contains("\"\(name)\""))
            }
            let server = device.server
            _ = server.takeRequests()
            #expect(try await device.sync(.push).isSynced)
            let sent = Set(server.takeRequests())
            #expect(
                sent == [
                    "DELETE tests/t1", "DELETE tests/t3", "DELETE visits/v1", "DELETE visits/v3",
                    "DELETE patients/p1",
                ])
        }
    }

    @Test func `leaves no trace of what was never sent`() async throws {
        try await TreeDevice.with(Self.model, TreeServer()) { device async throws in
            try make(device)

            try device.delete("patients/p1")

            #expect(try seen(device) == ["patients/p2", "visits/v2", "tests/t2"])
            #expect(try await device.sync(.push).isSynced)
            let sent = device.server.takeRequests()
            #expect(sent.allSatisfy { $0.hasPrefix("PUT") } && sent.count == 3, "\(sent)")
        }
    }

    @Test func `takes along what is hidden, as what else it refers to can't be had`() async throws {
        let model = SyncModel(
            name: "hides",
            collections: [
                CollectionModel("doctors"), CollectionModel("patients"),
                CollectionModel(
                    "visits",
                    references: [
                        Reference("patient", to: "patients", onDelete: .cascade),
                        Reference("doctor", to: "doctors", missing: .hides),
                    ]),
            ], settings: SyncSettings(fullPullEvery: .zero))
        let server = TreeServer()
        server.list("doctors", [#"{"id":"d1"}"#])
        server.list("patients", [#"{"id":"p1"}"#, #"{"id":"p2"}"#])
        server.list(
            "visits",
            [
                #"{"id":"v1","patient":"p1","doctor":"d1"}"#,
                #"{"id":"v2","patient":"p1","doctor":"none"}"#,
                #"{"id":"v3","patient":"p2","doctor":"none"}"#,
            ])
        try await TreeDevice.with(model, server) { device async throws in
            try await device.sync()
            #expect(try device.keys("visits") == ["v1"])
            let before = try device.position()

            try device.delete("patients/p1")

            let deleted = try device.events(after: before).map(\.event)
            #expect(deleted.allSatisfy { $0.kind == .localDeleted })
            let names = deleted.map { $0.key?.description }
            #expect(names == ["visits/v2", "visits/v1", "patients/p1"])
            _ = server.takeRequests()
            #expect(try await device.sync(.push).isSynced)
            let sent = Set(server.takeRequests())
            #expect(sent == ["DELETE visits/v1", "DELETE visits/v2", "DELETE patients/p1"])
            let left = try device.rows("visits").filter { $0.1.content != nil }
            #expect(left.map(\.0.id) == ["v3"])
        }
    }
}
