// Dhis2ReadTests.swift — an engine that reads from a server that behaves like DHIS2, in each of its
// versions.

import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `reading from DHIS2` {
    private static let unit = "DiszpKrYNg8"

    /// A server with two programs, one of them protected, and a patient who is in both.
    private func server(_ version: Dhis2Version, _ clock: ManualClock) -> Dhis2Server {
        var model = Dhis2ServerModel(
            version, users: [Dhis2User(captureUnits: [Self.unit])], hoursAheadOfUTC: 3)
        model.acceptsAnyID = true
        let server = Dhis2Server(model, clock: clock)
        server.put("organisationUnits/\(Self.unit)", #"{"name":"Ngelehun"}"#)
        server.put("organisationUnits/OtherUnit01", #"{"name":"Other"}"#)
        server.put("trackedEntityTypes/Person00001", #"{"name":"Person"}"#)
        server.put("programs/OpenProgram", #"{"name":"Child","accessLevel":"OPEN"}"#)
        server.put("programs/Protected01", #"{"name":"TB","accessLevel":"PROTECTED"}"#)
        server.put("programStages/StageOpen01", #"{"program":{"id":"OpenProgram"}}"#)
        server.put("programStages/StageProt01", #"{"program":{"id":"Protected01"}}"#)
        server.put("trackedEntities/t1", patient)
        return server
    }

    private var patient: String {
        """
        {"trackedEntityType":"Person00001","orgUnit":"\(Self.unit)","enrollments":[
          {"enrollment":"e1","program":"OpenProgram","orgUnit":"\(Self.unit)","status":"ACTIVE",
           "enrolledAt":"2026-01-01","events":[\(event("v1", "Open")),\(event("v2", "Open"))]},
          {"enrollment":"e2","program":"Protected01","orgUnit":"\(Self.unit)","status":"ACTIVE",
           "enrolledAt":"2026-01-01","events":[\(event("v3", "Prot"))]}]}
        """
    }

    /// The same of another one.
    private var other: String {
        ["e1": "f1", "e2": "f2", "v1": "w1", "v2": "w2", "v3": "w3"].sorted { $0.key < $1.key }
            .reduce(patient) { $0.replacing("\"\($1.key)\"", with: "\"\($1.value)\"") }
    }

    private func event(_ id: String, _ stage: String) -> String {
        let program = stage == "Open" ? "OpenProgram" : "Protected01"
        return """
            {"event":"\(id)","program":"\(program)","programStage":"Stage\(stage)01",\
            "orgUnit":"\(Self.unit)","status":"ACTIVE","occurredAt":"2026-01-02"}
            """
    }

    private func model(
        _ version: Dhis2Version, _ lists: [ListRule], pageSize: Int? = nil
    ) -> SyncModel {
        let id = version == .v37 ? "trackedEntityInstance" : "trackedEntity"
        return SyncModel(
            name: "tracker",
            collections: [
                CollectionModel("programs", pushes: [], absence: .keeps),
                CollectionModel(
                    "trackedEntities", idField: id, pageSize: pageSize, pushes: [], lists: lists,
                    embeds: [EmbedRule("enrollments", "enrollments")]),
                CollectionModel(
                    "enrollments", idField: "enrollment",
                    references: [Reference(id, to: "trackedEntities")], pushes: [], lists: [],
                    embeds: [EmbedRule("events", "events")]),
                CollectionModel(
                    "events", idField: "event",
                    references: [Reference("enrollment", to: "enrollments")], pushes: [],
                    lists: []),
            ], settings: SyncSettings(fullPullEvery: .zero))
    }

    private static let open = ListRule(["program": "OpenProgram", "orgUnit": unit])
    private static let people = ListRule(["trackedEntityType": "Person00001", "orgUnit": unit])

    private func with(
        _ version: Dhis2Version, _ lists: [ListRule], pageSize: Int? = nil,
        _ body: (Dhis2Device, Dhis2Server) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let server = server(version, clock)
        let device = try Dhis2Device(
            of: server, over: server, model: model(version, lists, pageSize: pageSize),
            dependencies: .seeded(1, clock: clock, movesClock: true))
        try await device.lendAndVerify { try await body($0, server) }
    }

    private func live(_ device: Dhis2Device, _ name: CollectionName) throws -> [String] {
        try device.rows(name).filter { $0.1.baseState == .live }.map(\.0.id).sorted()
    }

    @Test(arguments: Dhis2Version.allCases)
    func `brings patients with what is below them, and later what changed`(
        _ version: Dhis2Version
    ) async throws {
        try await with(version, [Self.open]) { device, server async throws in
            let first = try await device.sync()
            #expect(first.isSynced, "\(first)")
            #expect(try live(device, "trackedEntities") == ["t1"])
            #expect(try live(device, "enrollments") == ["e1"], "the other is of another program")
            #expect(try live(device, "events") == ["v1", "v2"])
            let document = try #require(try device.document("trackedEntities/t1"))
            #expect(!document.contains("enrollments"))

            // The server lies below a path.
            #expect(server.requestLog.allSatisfy { $0.path.hasPrefix("/demo/api/") })

            let before = try device.position()
            let idle = try await device.sync()
            #expect(idle.isSynced && idle.counts.pulled == 0)
            #expect(
                try device.position().rawValue == before.rawValue + 1, "an idle run is an event")

            server.put("events/v2", #"{"status":"COMPLETED"}"#)
            server.delete("events/v1")
            server.put("trackedEntities/t2", other)
            let changed = try await device.sync()
            #expect(changed.isSynced, "\(changed)")
            #expect(try live(device, "trackedEntities") == ["t1", "t2"])
            #expect(try live(device, "events") == ["v2", "w1", "w2"])
            #expect(try device.document("events/v2")?.contains("COMPLETED") == true)
        }
    }

    @Test func `goes on in the same store where the server was updated, in its new words`()
        async throws
    {
        try await with(.v40, [Self.open]) { device, server async throws in
            #expect(try await device.sync().isSynced)
            server.withModel { $0.version = .v41 }
            server.put("trackedEntities/t2", other)
            server.clearRequestLog()

            let engine = try engine(device, server.remote)
            #expect(try await engine.sync().isSynced)

            #expect(try device.replica.registration?.remote == server.remote)
            #expect(try live(device, "trackedEntities") == ["t1", "t2"])
            let list = server.requestLog.map(\.path).first { $0.contains("trackedEntities?") }
            #expect(list?.contains("orgUnits=") == true, "\(list ?? "none")")
        }
    }

    @Test func `needs another store where the new version has other names for fields`()
        async throws
    {
        try await with(.v37, [Self.open]) { device, server async throws in
            #expect(try await device.sync().isSynced)
            server.withModel { $0.version = .v40 }

            let engine = try engine(device, server.remote)
            let error = await #expect(throws: TidemarkError.self) { _ = try await engine.sync() }

            #expect(error?.code == .otherRemote)
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("version \"2.37.0\"") && text.contains("\"2.40.0\""), "\(text)")
        }
    }

    private func engine(_ device: Dhis2Device, _ remote: Remote) throws -> SyncEngine {
        try SyncEngine(device.replica, remote: remote, transport: device.wire) {
            .basic(user: "me", password: "secret")
        }
    }

    @Test func `reads a list page by page`() async throws {
        try await with(.v41, [Self.people], pageSize: 2) { device, server async throws in
            for id in 2...5 {
                server.put(
                    "trackedEntities/t\(id)",
                    #"{"trackedEntityType":"Person00001","orgUnit":"\#(Self.unit)"}"#)
            }
            server.clearRequestLog()

            #expect(try await device.sync().isSynced)

            #expect(try live(device, "trackedEntities") == (1...5).map { "t\($0)" })
            let lists = server.requestLog.map(\.path).filter { $0.contains("trackedEntities?") }
            #expect(lists.count == 4, "the last page is an empty one: \(lists)")
        }
    }

    @Test(arguments: Dhis2Version.allCases, [["t4"], ["t4", "t5"]])
    func `reads on behind a page out of which the server took what may not be seen`(
        _ version: Dhis2Version, _ denied: [String]
    ) async throws {
        try await with(version, [Self.open], pageSize: 2) { device, server async throws in
            for n in 2...5 {
                server.put("trackedEntities/t\(n)", patient.replacing("\"e1\"", with: "\"n\(n)\""))
            }
            for id in denied { server.withModel { $0.deny(id, program: "OpenProgram") } }
            #expect(try await device.sync().isSynced)
            let seen = ["t1", "t2", "t3", "t5"].filter { !denied.contains($0) }
            #expect(try live(device, "trackedEntities") == seen)
        }
    }

    /// An engine that reads units by fifty, of which there are 120 with one time of change.
    private func withUnits(
        _ body: (Dhis2Device, Dhis2Server, ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        var model = Dhis2ServerModel(.v41)
        model.acceptsAnyID = true
        let server = Dhis2Server(model, clock: clock)
        for number in 100..<220 {
            server.put("organisationUnits/u\(number)", #"{"name":"Unit"}"#)
        }
        let device = try Dhis2Device(
            of: server, over: server,
            model: SyncModel(
                name: "units",
                collections: [CollectionModel("organisationUnits", pageSize: 50, pushes: [])]),
            dependencies: .seeded(1, clock: clock, movesClock: true))
        try await device.lendAndVerify { try await body($0, server, clock) }
    }

    @Test func `brings all metadata of one time, in whatever order pages have what is equal`()
        async throws
    {
        try await withUnits { device, server, _ async throws in
            server.withModel { $0.mixesTies = true }

            #expect(try await device.sync().isSynced)

            #expect(try live(device, "organisationUnits") == (100..<220).map { "u\($0)" })
            let lists = server.requestLog.filter { $0.path.contains("organisationUnits?") }
            #expect(lists.count == 3)
        }
    }

    @Test func `lists metadata once more of which some went between two pages`() async throws {
        try await withUnits { device, server, _ async throws in
            let wire = MeddledWire(server: server) { server.delete("organisationUnits/u100") }
            let engine = try SyncEngine(device.replica, remote: server.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }

            #expect(try await engine.sync().isSynced)

            let here = try live(device, "organisationUnits")
            #expect(here.contains("u150"), "it moved from the second page to the first one")
            let lists = server.requestLog.filter { $0.path.contains("organisationUnits?") }
            #expect(lists.count == 5, "three pages of 50, and then two of 100")

            #expect(try await engine.sync(.userRequested, full: true).isSynced)
            #expect(try live(device, "organisationUnits") == (101..<220).map { "u\($0)" })
            await engine.stop()
        }
    }

    @Test func `lists units once, of which one is edited before each second page`() async throws {
        try await withUnits { device, server, clock async throws in
            let edited = Mutex(219)
            let wire = MeddledWire(server: server) {
                clock.advance(by: .seconds(1))
                let number = edited.withLock { number -> Int in
                    number -= 1
                    return number + 1
                }
                server.put("organisationUnits/u\(number)", #"{"name":"Edited"}"#)
            }
            let engine = try SyncEngine(device.replica, remote: server.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }

            #expect(try await engine.sync().isSynced)

            let lists = server.requestLog.map(\.path).filter { $0.contains("organisationUnits?") }
            #expect(lists.count == 3 && lists.allSatisfy { $0.contains("pageSize=50") }, "\(lists)")
            #expect(try await engine.sync().isSynced)
            #expect(try live(device, "organisationUnits") == (100..<220).map { "u\($0)" })

            // What is gone is concluded, however busy the server is.
            for number in 100..<115 { server.delete("organisationUnits/u\(number)") }
            server.clearRequestLog()
            #expect(try await engine.sync(.userRequested, full: true).isSynced)
            let again = server.requestLog.map(\.path)
            #expect(!again.contains { $0.contains("pageSize=100") }, "\(again)")
            #expect(try live(device, "organisationUnits") == (115..<220).map { "u\($0)" })
            await engine.stop()
        }
    }

    @Test(arguments: [false, true])
    func `lists units once more in a later run, where some went past a page`(
        _ isKnown: Bool
    ) async throws {
        try await withUnits { device, server, clock async throws in
            if isKnown { #expect(try await device.sync().isSynced) }
            server.faults = FaultPlan([FaultRule(.offline, pathContains: "pageSize=100")])
            let wire = MeddledWire(server: server) {
                for number in 100..<115 { server.delete("organisationUnits/u\(number)") }
            }
            let engine = try SyncEngine(device.replica, remote: server.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }
            #expect(try await engine.sync(.userRequested, full: isKnown).failure != nil)

            server.faults = FaultPlan([])
            clock.advance(by: .seconds(3_600))
            #expect(try await engine.sync().isSynced)

            let here = Set(try live(device, "organisationUnits"))
            #expect(here.isSuperset(of: (115..<220).map { "u\($0)" }))
            #expect(try await engine.sync(.userRequested, full: true).isSynced)
            #expect(try live(device, "organisationUnits") == (115..<220).map { "u\($0)" })
            await engine.stop()
        }
    }

    @Test func `brings what pages that never came have, also where listing once more fails`()
        async throws
    {
        try await withUnits { device, server, clock async throws in
            server.faults = FaultPlan([FaultRule(.offline, pathContains: "page=3&")])
            let wire = MeddledWire(server: server) {
                for number in 100..<115 { server.delete("organisationUnits/u\(number)") }
            }
            let engine = try SyncEngine(device.replica, remote: server.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }
            #expect(try await engine.sync().failure != nil)

            server.faults = FaultPlan([
                FaultRule(.answer(status: 500), pathContains: "page=2&pageSize=100")
            ])
            clock.advance(by: .seconds(3_600))
            #expect(try await engine.sync().isSynced == false)
            #expect(try live(device, "organisationUnits").contains("u219") == false)

            server.faults = FaultPlan([])
            clock.advance(by: .seconds(3_600))
            #expect(try await engine.sync().isSynced)
            let here = Set(try live(device, "organisationUnits"))
            #expect(here.isSuperset(of: (115..<220).map { "u\($0)" }))
            await engine.stop()
        }
    }

    @Test(arguments: [false, true])
    func `lists units once more, where some went past a page between two runs`(
        _ isKnown: Bool
    ) async throws {
        try await withUnits { device, server, clock async throws in
            if isKnown { #expect(try await device.sync().isSynced) }
            server.faults = FaultPlan([FaultRule(.offline, pathContains: "page=2&")])
            let cut = try await device.engine.sync(.userRequested, full: isKnown)
            #expect(cut.failure != nil, "\(cut)")

            for number in 100..<115 { server.delete("organisationUnits/u\(number)") }
            server.faults = FaultPlan([])
            clock.advance(by: .seconds(3_600))
            #expect(try await device.sync().isSynced)

            let here = Set(try live(device, "organisationUnits"))
            #expect(here.isSuperset(of: (115..<220).map { "u\($0)" }))
        }
    }

    @Test func `ends a list that is asked for once more at a page that fails then`() async throws {
        try await withUnits { device, server, clock async throws in
            server.faults = FaultPlan([
                FaultRule(.answer(status: 500), pathContains: "pageSize=100")
            ])
            let wire = MeddledWire(server: server) { server.delete("organisationUnits/u100") }
            let engine = try SyncEngine(device.replica, remote: server.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }

            let outcome = try await engine.sync()
            #expect(outcome.isSynced, "\(outcome)")

            clock.advance(by: .seconds(3_600))
            server.clearRequestLog()
            #expect(try await engine.sync().isSynced)
            let lists = server.requestLog.filter { $0.path.contains("organisationUnits?") }
            #expect(lists.allSatisfy { $0.path.contains("filter=lastUpdated:ge:") })
            #expect(try live(device, "organisationUnits").contains("u150"))
            await engine.stop()
        }
    }

    @Test func `brings all patients of one time, in whatever order pages have what is equal`()
        async throws
    {
        try await with(.v41, [Self.people]) { device, server async throws in
            put(patients: 2...60, server)
            server.withModel { $0.mixesTies = true }

            #expect(try await device.sync().isSynced)

            #expect(try live(device, "trackedEntities").count == 60)
            let lists = server.requestLog.filter { $0.path.contains("trackedEntities?") }
            #expect(lists.count == 5, "two pages of 50, then one of 100, an empty one behind both")
        }
    }

    @Test func `concludes nothing from lists whose pages name something twice each time`()
        async throws
    {
        try await with(.v41, [Self.people]) { device, server async throws in
            put(patients: 2...250, server)
            #expect(try await device.sync().isSynced)
            #expect(try live(device, "trackedEntities").count == 250)
            server.withModel { $0.mixesTies = true }

            let outcome = try await device.engine.sync(.userRequested, full: true)

            #expect(outcome.isSynced, "\(outcome)")
            #expect(try live(device, "trackedEntities").count == 250)
        }
    }

    private func put(patients: ClosedRange<Int>, _ server: Dhis2Server) {
        for number in patients {
            server.put(
                "trackedEntities/t\(number)",
                #"{"trackedEntityType":"Person00001","orgUnit":"\#(Self.unit)"}"#)
        }
    }

    @Test func `keeps what a list about no program may not show, as its owner may be another`()
        async throws
    {
        try await with(.v41, [Self.people]) { device, server async throws in
            #expect(try await device.sync().isSynced)
            #expect(try live(device, "enrollments") == ["e1", "e2"])
            // Both are purged, without a trace.
            server.forget("enrollments/e1")
            server.forget("enrollments/e2")
            server.put("trackedEntities/t1", #"{"trackedEntityType":"Person00001"}"#)

            #expect(try await device.sync().isSynced)

            #expect(try live(device, "enrollments") == ["e1", "e2"])
            #expect(try live(device, "events").contains("v3"))
        }
    }

    @Test(arguments: Dhis2Version.allCases)
    func `removes what is purged of a patient, in a list of several units`(
        _ version: Dhis2Version
    ) async throws {
        let units = ListRule(["program": "OpenProgram", "orgUnit": "\(Self.unit),OtherUnit01"])
        try await with(version, [units]) { device, server async throws in
            #expect(try await device.sync().isSynced)
            #expect(try live(device, "events") == ["v1", "v2"])
            server.forget("events/v1")
            server.put("trackedEntities/t1", #"{"trackedEntityType":"Person00001"}"#)

            #expect(try await device.sync().isSynced)

            #expect(try live(device, "events") == ["v2"])
        }
    }

    @Test(arguments: [Dhis2Version.v40, .v41])
    func `goes on where access to one patient is refused`(_ version: Dhis2Version) async throws {
        try await with(version, [Self.open]) { device, server async throws in
            #expect(try await device.sync().isSynced)
            server.withModel { $0.users[0].captureUnits = [] }
            let refusal = try #require(Dhis2Adapter(version: version.text))
            let call = ServerCall.read(model(version, []).collections[1], id: "t1")
            let status: HTTPResponse.Status = version == .v40 ? .unauthorized : .forbidden
            let answer = refusal.answer(
                to: call, HTTPResponse(status: status),
                body: Array(#"{"status":"ERROR","message":"OWNERSHIP_ACCESS_DENIED"}"#.utf8))
            #expect(answer == .failure(.forbidden))
            let wrong = refusal.answer(
                to: call, HTTPResponse(status: .unauthorized),
                body: Array(#"{"status":"ERROR","message":"Unauthorized"}"#.utf8))
            #expect(wrong == .failure(.unauthorized))
        }
    }
}

/// Meddles with a server before it is asked for a second page.
private struct MeddledWire: Transport {
    let server: Dhis2Server
    let meddle: @Sendable () -> Void

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        if request.path?.contains("page=2&") == true { meddle() }
        return try await server.send(request, body: body, limits: limits)
    }
}
