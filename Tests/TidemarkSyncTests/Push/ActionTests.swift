// ActionTests.swift — what a server is to do with an entity, beside taking its changes: in its
// place among them, and told as they are.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `what a server is asked to do` {
    private let clock = ManualClock()
    private let server: Dhis2Server

    init() {
        server = Dhis2Server(
            Dhis2ServerModel(
                .v41, users: [Dhis2User(captureUnits: ["O1"], searchUnits: ["O1", "O2"])]),
            clock: clock)
        server.withModel { $0.acceptsAnyID = true }
        for unit in ["O1", "O2"] { server.put("organisationUnits/\(unit)", "{}") }
        server.put("trackedEntityTypes/Person", "{}")
        server.put(
            "programs/P1",
            #"{"accessLevel":"PROTECTED","organisationUnits":[{"id":"O1"},{"id":"O2"}]}"#)
        server.put("programStages/S1", #"{"program":{"id":"P1"},"repeatable":true}"#)
    }

    private func device() throws -> Dhis2Device {
        var model = Dhis2World.model
        model.collections[0].actions = [
            .init("override", grants: .hours(2)), .init("transfer", waitsForTree: true),
        ]
        return try Dhis2Device(
            of: server, over: server, model: model, dependencies: .seeded(5, clock: clock))
    }

    private func register(_ device: Dhis2Device) async throws {
        try device.create(
            "trackedEntities/T1", #"{"trackedEntityType":"Person","orgUnit":"O1"}"#)
        try device.create(
            "enrollments/E1",
            """
            {"trackedEntity":"T1","program":"P1","orgUnit":"O1","status":"ACTIVE",
             "enrolledAt":"2026-01-01T00:00:00.000"}
            """)
        // The second run brings it in the server's words.
        for _ in 1...2 { #expect(try await device.sync().isSynced) }
    }

    private func request(
        _ action: String, _ device: Dhis2Device, _ parameters: [String: String]
    ) throws {
        try device.replica.write { tx in
            _ = try tx.request(
                action, of: EntityKey("trackedEntities", "T1"),
                parameters: parameters.merging(["program": "P1"]) { given, _ in given })
        }
    }

    /// The writes that were sent since, by method and the end of the path.
    private func sent(_ device: Dhis2Device, after position: Position) throws -> [String] {
        try device.replica.journal.read { views in
            var sent: [String] = []
            var next = position.next
            while let event = try views.event(at: next) {
                next = next.next
                guard let request = event.read(RequestSent.self), event.mutation != nil else {
                    continue
                }
                let path = (request.path ?? "").split(separator: "?")[0].split(separator: "/")
                sent.append("\(request.method ?? "") \(path.last ?? "")")
            }
            return sent
        }
    }

    @Test func `is done in its place among the edits`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            let before = try device.replica.position
            try device.patch("trackedEntities/T1", #"{"inactive":true}"#)
            try request("override", device, ["reason": "visit"])
            try device.patch("trackedEntities/T1", #"{"potentialDuplicate":true}"#)

            #expect(try await device.sync().isSynced)

            let asked = try sent(device, after: before)
            #expect(asked == ["POST tracker", "POST override", "POST tracker"])
            #expect(
                try device.document("trackedEntities/T1")?.contains("\"inactive\":true") == true)
        }
    }

    @Test func `grants something for a time, by the server's clock`() async throws {
        try await device().lendAndVerify { device in
            let key = EntityKey("trackedEntities", "T1")
            try await register(device)
            #expect(try device.replica.grant("override", of: key) == nil)
            try request("override", device, ["reason": "visit"])
            #expect(try device.replica.grant("override", of: key) == nil)
            #expect(try await device.sync(.push).isSynced)

            let until = try #require(try device.replica.grant("override", of: key))
            let left = until.rawValue - device.replica.dependencies.now().rawValue
            #expect((7_190...7_200).contains(left / 1_000_000))
            clock.advance(by: .seconds(7_201))
            #expect(try device.replica.grant("override", of: key) == nil)
            #expect(try device.replica.grant("transfer", of: key) == nil)
        }
    }

    @Test func `waits for the tree where the model says so`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            let before = try device.replica.position
            try request("transfer", device, ["orgUnit": "O2"])
            try device.patch("enrollments/E1", #"{"followUp":true}"#)
            let words = try device.replica.journal.read { views in
                try OutboxExplanation.all(views).flatMap(\.holds).map(\.words)
            }
            let wanted =
                "transfer waits until nothing in its tree waits, was refused or has a warning"
            #expect(words == [wanted])

            #expect(try await device.sync(.push).isSynced)

            #expect(try sent(device, after: before) == ["POST tracker", "PUT transfer"])
        }
    }

    @Test func `stays where something in the tree is refused`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            try request("transfer", device, ["orgUnit": "O2"])
            try device.patch("enrollments/E1", #"{"orgUnit":"O9"}"#)

            let outcome = try await device.sync(.push)

            #expect(outcome.refused == 1 && outcome.pending == 1)
            let now = device.replica.dependencies.moment
            let lines = try device.replica.journal.read { views in
                let next = NextRun(try views.gates(), at: now)
                return try OutboxExplanation.all(views).flatMap { $0.lines(next) }
            }
            #expect(lines.contains("  next: when its tree is settled"), "\(lines)")
            try device.discard("enrollments/E1")
            #expect(try await device.sync(.push).isSynced)
        }
    }

    @Test func `is asked for once more where the answer is lost`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            let before = try device.replica.position
            try request("override", device, ["reason": "visit"])
            server.faults = FaultPlan([FaultRule(.dropAfterHandling, occurrences: 1...1)])
            _ = try await device.sync(.push)
            server.faults = FaultPlan()
            _ = try await device.sync(.push)
            clock.advance(by: .seconds(3_600))
            #expect(try await device.sync().isSynced)

            let asked = try sent(device, after: before)
            #expect(asked == ["POST override", "POST override"])
        }
    }

    @Test func `is refused where the model has no such action`() throws {
        let device = try device()
        defer { try? device.replica.deleteTemporary() }
        let before = try device.replica.position
        try device.replica.write { tx in
            expect(.noModel) { _ = try tx.request("copy", of: EntityKey("trackedEntities", "T1")) }
            expect(.noModel) { _ = try tx.request("override", of: EntityKey("events", "V1")) }
        }
        #expect(try device.replica.position == before)
    }

    @Test func `holds what comes behind it where it is refused, until the user decides`()
        async throws
    {
        try await device().lendAndVerify { device in
            try await register(device)
            // There is no such program.
            try request("override", device, ["program": "P9", "reason": "visit"])
            try device.patch("trackedEntities/T1", #"{"inactive":true}"#)
            let outcome = try await device.sync(.push)
            #expect(outcome.refused == 1 && outcome.pending == 1)
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .rejected && issue.message.hasPrefix("404 "))

            server.put("programs/P9", #"{"accessLevel":"PROTECTED"}"#)
            try await device.replica.answer(issue.id, .retry)
            #expect(try await device.sync(.push).isSynced)
            #expect(try device.replica.issues().isEmpty)
        }
    }

    @Test func `waits behind an edit that is refused, and the run ends`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            let before = try device.replica.position
            try device.patch("trackedEntities/T1", #"{"orgUnit":"O9"}"#)
            try request("override", device, ["reason": "visit"])

            let outcome = try await device.sync(.push)

            #expect(outcome.refused == 1 && outcome.pending == 1)
            #expect(try sent(device, after: before) == ["POST tracker"])
            try device.discard("trackedEntities/T1")
            #expect(try await device.sync(.push).isSynced)
        }
    }

    @Test func `goes with what was made here and deleted before it was sent`() async throws {
        try await device().lendAndVerify { device in
            try await register(device)
            try device.create(
                "trackedEntities/T2", #"{"trackedEntityType":"Person","orgUnit":"O1"}"#)
            try await device.replica.write { tx in
                _ = try tx.request(
                    "override", of: EntityKey("trackedEntities", "T2"),
                    parameters: ["program": "P1", "reason": "visit"])
            }
            try device.delete("trackedEntities/T2")
            let before = try device.replica.position
            #expect(try await device.sync(.push).isSynced)
            #expect(try sent(device, after: before) == [])
        }
    }
}
