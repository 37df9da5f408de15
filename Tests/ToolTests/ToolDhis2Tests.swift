// ToolDhis2Tests.swift — what `tidemark why` says of entities that a server shaped like DHIS2 said
// something of: its summary, and what was left out.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool and a register of patients` {
    /// A server with a tree of two events.
    private func makeServer(_ clock: ManualClock) -> Dhis2Server {
        let user = Dhis2User(captureUnits: ["O1"], isSuperuser: true)
        var its = Dhis2ServerModel(.v41, users: [user])
        its.acceptsAnyID = true
        let server = Dhis2Server(its, clock: clock)
        server.put("organisationUnits/O1", #"{"name":"Clinic"}"#)
        server.put("trackedEntityTypes/Person", #"{"name":"Person"}"#)
        server.put("programs/P1", #"{"accessLevel":"OPEN","organisationUnits":[{"id":"O1"}]}"#)
        server.put("programStages/S1", #"{"program":{"id":"P1"},"repeatable":true}"#)
        server.put("dataElements/D1", #"{"valueType":"INTEGER"}"#)
        let event = { (id: String) in
            """
            {"event":"\(id)","program":"P1","programStage":"S1","orgUnit":"O1",
             "status":"ACTIVE","occurredAt":"2026-01-02"}
            """
        }
        server.put(
            "trackedEntities/T1",
            """
            {"trackedEntityType":"Person","orgUnit":"O1","enrollments":[{"enrollment":"E1",
             "program":"P1","orgUnit":"O1","status":"ACTIVE","enrolledAt":"2026-01-01",
             "events":[\(event("V1")),\(event("V2"))]}]}
            """)
        return server
    }

    /// A process of a tablet that leaves trees alone in which something waits.
    private func open(
        _ store: String, _ server: Dhis2Server, _ clock: ManualClock
    ) throws -> Dhis2Device {
        var model = Dhis2World.model
        model.pools = []
        for index in model.collections.indices {
            model.collections[index].conflict = .overwriteIfSynced
            if model.collections[index].name == "trackedEntities" {
                model.collections[index].withholdsTrees = true
            }
        }
        return try Dhis2Device(
            of: server, over: server, model: model, at: store,
            dependencies: .seeded(1, clock: clock))
    }

    @Test func `why names the summary that refused an event, its code, and where it stands`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let store = folder / "store"
        let tablet = try open(store, makeServer(clock), clock)
        try await tablet.sync()
        try tablet.patch("events/V1", #"{"dataValues":[{"dataElement":"D1","value":"five"}]}"#)
        try await tablet.sync(.push)
        let refusal = try #require(
            try tablet.events(of: "events/V1").last { $0.event.kind == .pushRejected })
        try await tablet.replica.close()

        let why = try await SyncTool.run("why", store, "events/V1")

        #expect(why.code == 0 && why.lines.first == "events/V1: error", "\(why.out)")
        let words = "  waits: refused with 409: E1302: DataElement `D1` is not valid: "
        let said = why.lines.filter { $0.hasPrefix(words) }
        #expect(said.count == 1 && said[0].hasSuffix("(\(refusal.position))"), "\(why.out)")
        let other = try await SyncTool.run("why", store, "events/V2")
        #expect(other.code == 0 && !other.out.contains("E1302"))
    }

    @Test func `why says of a tree that what the server said of it was left out`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let server = makeServer(clock)
        let store = folder / "store"
        let tablet = try open(store, server, clock)
        try await tablet.sync()
        try tablet.patch("events/V1", #"{"status":"COMPLETED"}"#)
        clock.advance(by: .seconds(60))
        server.put("events/V2", #"{"status":"SKIPPED"}"#)
        try await tablet.sync(.pull(["trackedEntities"]))
        let page = try #require(try tablet.events().last { $0.event.kind == .pullPage })
        try await tablet.replica.close()

        let why = try await SyncTool.run("why", store, "trackedEntities/T1")

        let words =
            "what the server said of it at \(page.position) was left out, as something in its tree "
            + "waited; it is read once nothing does"
        #expect(why.code == 0 && why.out.contains(words), "\(why.out)")

        let next = try open(store, server, clock)
        try await next.sync()
        try await next.sync()
        #expect(try next.documents("events")["V2"]?.contains("SKIPPED") == true)
        try await next.replica.close()
        let later = try await SyncTool.run("why", store, "trackedEntities/T1")
        #expect(later.code == 0 && !later.out.contains("was left out"), "\(later.out)")
    }
}
