// SyncWholeListEdgeTests.swift — what a list must not be taken for: complete, new, or proof that
// something is gone.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a list at the edges` {
    private func count(_ device: SyncDevice) throws -> Int {
        try device.replica.keys(in: "tasks").count
    }

    /// A tap that changes the bodies of lists of tasks.
    private static func lists(
        _ change: @escaping @Sendable (String) -> String
    ) -> SyncWire.Tap {
        { request, _, pass in
            let answer = await pass()
            guard request.path?.contains("/tasks/records?") == true else { return answer }
            return answer.map { $0.with(body: change($0.text)) }
        }
    }

    @Test func `of collections that the model does not know makes no run of news`() async throws {
        let world = SyncWorld()
        world.server.request(.put, "/v1/buckets/b/collections/others")
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            let before = try device.position()

            #expect(try await device.sync().isSynced)

            #expect(try device.kinds(after: before) == ["sync.finished"])
        }
    }

    @Test func `of everything without a Date is not made with each run`() async throws {
        let world = SyncWorld([
            FaultRule(.answer(status: 403), method: .get, pathContains: "/collections?")
        ])
        world.rivalPuts("tasks/t1", "{}")
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { _, _, pass in
                await pass().map { answer in
                    var answer = answer
                    answer.response.headerFields[.date] = nil
                    return answer
                }
            }
            try await device.sync()
            world.server.clearRequestLog()
            let before = try device.position()

            #expect(try await device.sync().isSynced)

            #expect(world.requests == ["GET lists?_since 304", "GET tasks?_since 304"])
            #expect(try device.kinds(after: before) == ["sync.finished"])
        }
    }

    @Test func `that was held back makes no later run of news`() async throws {
        let world = SyncWorld()
        for number in 0..<6 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            for number in 0..<5 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.engine.sync(full: true).held == ["tasks": 5])
            let before = try device.position()

            try await device.sync()

            #expect(try device.kinds(after: before) == ["sync.finished"])
        }
    }

    @Test func `of everything that says nothing changed says nothing`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/t1", "{}")
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { request, _, pass in
                guard request.path?.contains("/tasks/") == true else { return await pass() }
                return .success(
                    TransportResponse(response: HTTPResponse(status: 304), body: []))
            }

            let outcome = try await device.sync()

            #expect(outcome.failed["tasks"]?.name == "malformed")
            #expect(try device.cursor("tasks") == nil)
            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t1") == "{}")
        }
    }

    @Test func `whose later page says nothing changed is not complete`() async throws {
        let world = SyncWorld.paging(2)
        for number in 0..<5 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { request, number, pass in
                // The lists, the first page of the tasks, the second one.
                guard number == 3 else { return await pass() }
                return .success(
                    TransportResponse(response: HTTPResponse(status: 304), body: []))
            }

            #expect(try await device.sync().failed["tasks"]?.name == "malformed")
            #expect(try device.cursor("tasks") == nil)

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)
            #expect(try count(device) == 5)
        }
    }

    @Test func `with records that have no id proves nobody's absence`() async throws {
        let world = SyncWorld()
        for number in 0..<30 { world.rivalPuts("tasks/t\(number)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            // t1 and t10 to t19 are there, and can't be told by their ids.
            device.wire.tap(
                Self.lists { $0.replacing(#""id":"t1"#, with: #""id":1,"was":"t1"#) })

            let outcome = try await device.engine.sync(full: true)

            #expect(try count(device) == 30)
            #expect(outcome.held == ["tasks": 11])
            device.wire.tap(nil)
            _ = try await device.engine.sync(full: true)
            #expect(try device.replica.issues().allSatisfy { $0.kind != .absent })
            try device.verify()
        }
    }

    @Test func `tells ids apart by their bytes`() async throws {
        let gone = FaultRule(
            .answer(status: 404, body: Array(#"{"code":404,"errno":110}"#.utf8)),
            method: .get, pathContains: "cafe%CC%81")
        let world = SyncWorld([gone])
        for id in ["x1", "x2", "x3", "x4", "x5"] { world.rivalPuts("tasks/\(id)", "{}") }
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap(
                Self.lists { text in
                    text.replacing(#""x1""#, with: "\"caf\u{E9}\"")
                        .replacing(#""x2""#, with: "\"cafe\u{301}\"")
                })
            #expect(try await device.sync().isSynced)
            #expect(try count(device) == 5)
            world.rivalDeletes("tasks/x2")
            world.server.withModel { $0.purgeTombstones() }

            #expect(try await device.engine.sync(full: true).isSynced)

            #expect(try device.document("tasks/caf\u{E9}") == "{}")
            #expect(try device.document("tasks/cafe\u{301}") == nil)
            try device.verify()
        }
    }

    @Test func `takes the rest when one that it names can't be fetched`() async throws {
        let world = SyncWorld()
        for number in 0..<5 { world.rivalPuts("tasks/t\(number)", "{}") }
        let adapter = HookedAdapter(takesSeveral: false, onlyNames: true)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            world.server.faults = FaultPlan([
                FaultRule(.answer(status: 400), method: .get, recordID: { $0 == "t2" })
            ])

            let outcome = try await device.sync()

            #expect(outcome.failed.isEmpty && outcome.unsettled == 1)
            #expect(try count(device) == 4)
            #expect(try device.cursor("tasks") != nil)
            world.server.faults = FaultPlan()
            #expect(try await device.sync().isSynced)
            #expect(try count(device) == 5)
            try device.verify()
        }
    }

    @Test func `is heard when it asks for fewer requests, after others brought news`() async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            world.rivalPuts("lists/l", "{}")
            device.wire.tap { request, _, pass in
                await pass().map { answer in
                    var answer = answer
                    if request.path?.contains("/tasks/") == true,
                        let name = HTTPField.Name("Backoff")
                    {
                        answer.response.headerFields[name] = "30"
                    }
                    return answer
                }
            }

            #expect(try await device.sync().isSynced)

            #expect(try device.gates()[.busy] != nil)
            try device.verify()
        }
    }
}

@Suite(.serialized) struct `a server that writes an id in another form` {
    @Test func `has the same entity under both`() async throws {
        let answer = #"{"data":{"id":"cafe\#u{301}","last_modified":5,"n":1}}"#
        let world = SyncWorld([
            FaultRule(.answer(status: 201, body: Array(answer.utf8)), method: .put)
        ])
        try await SyncDevice.with(world, adapter: HookedAdapter()) { device async throws in
            try device.put("tasks/caf\u{E9}", #"{"n":1}"#)

            #expect(try await device.sync().isSynced)

            let ids = try device.replica.keys(in: "tasks").map { Array($0.id.utf8) }
            #expect(ids == [Array("caf\u{E9}".utf8)])
            #expect(try device.document("tasks/cafe\u{301}") == #"{"n":1}"#)
            try device.verify()
        }
    }
}
