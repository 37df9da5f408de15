// SyncLinksTests.swift — links, which stand in the records at both of their ends.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `links that stand in records` {
    private static let model = SyncModel(
        name: "links",
        collections: [
            CollectionModel("patients", embeds: [EmbedRule("visits", "links")]),
            CollectionModel(
                "links",
                references: [
                    Reference("from", to: "patients"),
                    Reference("to", to: "patients", rollUp: .whereTrue("both")),
                ], lists: []),
        ], settings: SyncSettings(fullPullEvery: .zero))

    private func patient(_ id: String, _ links: [String], _ more: String = "") -> String {
        #"{"id":"\#(id)","visits":[\#(links.joined(separator: ","))]\#(more)}"#
    }

    private func link(_ id: String, _ from: String, _ to: String, both: Bool = true) -> String {
        #"{"id":"\#(id)","from":"\#(from)","to":"\#(to)","both":\#(both)}"#
    }

    private func live(_ device: TreeDevice) throws -> [String] {
        try device.rows("links").filter { $0.1.baseState == .live }.map(\.0.id).sorted()
    }

    private func with(
        _ server: TreeServer, _ body: (TreeDevice, TreeServer) async throws -> Void
    ) async throws {
        try await TreeDevice.with(Self.model, server) { try await body($0, server) }
    }

    @Test func `are one entity each, and said once, whichever ends are on a page`() async throws {
        let server = TreeServer()
        let (one, two) = (link("l1", "p1", "p2"), link("l2", "p1", "p3"))
        server.list("patients", [patient("p1", [one, two]), patient("p2", [one])])
        try await with(server) { device, server async throws in
            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.pulled == 4)
            #expect(try live(device) == ["l1", "l2"])
            let page = try #require(try device.dump().first { $0.contains("pull.page") })
            #expect(page.contains(#"{"of":"patients/p1","collection":"links","ids":["l1","l2"],"#))
            #expect(page.contains(#"{"of":"patients/p2","collection":"links","ids":["l1"],"#))

            let count = try device.position()
            server.list("patients?after=c1", [patient("p2", [one])], cursor: "c2")
            #expect(try await device.sync().counts.pulled == 0)
            let later = try device.dump().dropFirst(Int(count.rawValue))
            #expect(!later.contains { $0.contains("server.") })
        }
    }

    @Test func `are gone where an end leaves them out at which they count`() async throws {
        let server = TreeServer()
        let (one, two) = (link("l1", "p1", "p2"), link("l2", "p1", "p2", both: false))
        server.list("patients", [patient("p1", [one, two]), patient("p2", [one])])
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            #expect(try live(device) == ["l1", "l2"])

            // One that goes one way is not to be expected at its end.
            server.list("patients?after=c1", [patient("p2", [])], cursor: "c2")
            _ = try await device.sync()
            #expect(try live(device) == ["l2"])

            server.list("patients?after=c2", [patient("p1", [])], cursor: "c3")
            _ = try await device.sync()
            #expect(try live(device) == [])
        }
    }

    @Test func `stay where one end of a page holds them and the other does not`() async throws {
        let server = TreeServer()
        let one = link("l1", "p1", "p2")
        server.list("patients", [patient("p1", [one]), patient("p2", [one])])
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            server.list(
                "patients?after=c1", [patient("p2", []), patient("p1", [one])], cursor: "c2")
            _ = try await device.sync()
            #expect(try live(device) == ["l1"])
        }
    }

    @Test func `go with either end, once`() async throws {
        let server = TreeServer()
        let (one, two) = (link("l1", "p1", "p2"), link("l2", "p3", "p1"))
        server.list(
            "patients", [patient("p1", [one, two]), patient("p2", [one]), patient("p3", [two])])
        try await with(server) { device, server async throws in
            _ = try await device.sync()
            let count = try device.position()
            server.list(
                "patients?after=c1",
                [#"{"id":"p1","deleted":true}"#, #"{"id":"p2","deleted":true}"#], cursor: "c2")
            _ = try await device.sync()

            #expect(try live(device) == [])
            let gone = try device.dump().dropFirst(Int(count.rawValue))
                .filter { $0.contains(#""kind":"server.deleted""#) }
            #expect(gone.count == 4)
        }
    }

    @Test func `of others are put aside, and so is one that stands twice at one end`()
        async throws
    {
        let server = TreeServer()
        let (one, other) = (link("l1", "p1", "p2"), link("l2", "p3", "p4"))
        server.list("patients", [patient("p1", [one, one, other])])
        try await with(server) { device, _ async throws in
            _ = try await device.sync()

            #expect(try live(device) == ["l1"])
            let problems = try device.replica.issues().map(\.message)
            #expect(problems.contains { $0.contains("links/l1 is there twice in one answer") })
            #expect(problems.contains { $0.contains(#"names p3 in "from" or "to""#) })
        }
    }
}
