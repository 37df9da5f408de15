// SyncOrderTests.swift — what is pushed first, and what waits for what.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `the order of pushes` {
    @Test func `is parents first, however they were made`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/child", #"{"parent":"mother","list":"home"}"#)
            try device.put("tasks/mother", #"{"list":"home"}"#)
            try device.put("lists/home", "{}")
            try device.put("lists/work", "{}")

            #expect(try await device.sync().isSynced)

            #expect(
                world.writes == [
                    "PUT lists/home * 201", "PUT lists/work * 201", "PUT tasks/mother * 201",
                    "PUT tasks/child * 201",
                ])
        }
    }

    @Test func `is deletions last, and children first`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("lists/home", "{}")
            try device.put("tasks/one", #"{"list":"home"}"#)
            try device.put("tasks/two", #"{"list":"home"}"#)
            try await device.sync()
            world.server.clearRequestLog()
            try device.delete("lists/home")
            try device.delete("tasks/two")
            try device.delete("tasks/one")
            try device.put("tasks/new", "{}")
            try device.put("lists/new", "{}")

            #expect(try await device.sync().isSynced)

            #expect(
                world.writes == [
                    "PUT lists/new * 201", "PUT tasks/new * 201", "DELETE tasks/two = 200",
                    "DELETE tasks/one = 200", "DELETE lists/home = 200",
                ])
        }
    }

    @Test func `within a collection is that of the edits`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            for name in ["c", "a", "b"] { try device.put("tasks/\(name)", "{}") }
            try device.patch("tasks/c", #"{"n":1}"#)

            try await device.sync()

            #expect(
                world.writes == [
                    "PUT tasks/c * 201", "PUT tasks/a * 201", "PUT tasks/b * 201",
                ])
        }
    }

    @Test func `sends a document as it is, with its id and without what only the server sets`()
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("tasks/old", #"{"n":1.0,"x":{"y":[ 1e2 ]}}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.put("tasks/new", "{ \"last_modified\":5,\t\"t\":\"\\u00e9\" }")
            try device.patch("tasks/old", #"{"m":"\u00e9"}"#)
            try await device.sync()

            let bodies = world.server.requestLog.compactMap(\.body)
                .map { String(decoding: $0, as: UTF8.self) }
            #expect(
                bodies == [
                    #"{"data":{"t":"\u00e9","id":"new"}}"#,
                    #"{"data":{"n":1.0,"x":{"y":[ 1e2 ]},"id":"old","m":"\u00e9"}}"#,
                ])
        }
    }

    @Test func `sends several edits of an entity as one write`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"a"}"#)
            try device.patch("tasks/t1", #"{"title":"b"}"#)
            try device.patch("tasks/t1", #"{"title":"c","n":1}"#)

            try await device.sync()

            #expect(world.writes == ["PUT tasks/t1 * 201"])
            #expect(world.record("tasks/t1") == #"{"title":"c","n":1}"#)
            #expect(try device.mutations("tasks/t1") == ["accepted", "coalesced", "accepted"])
            try device.verify()
        }
    }

    @Test func `sends the last of many edits of one field, and each has its outcome`() async throws
    {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", #"{"title":"a"}"#)
            try await device.sync()
            for number in 1...12 { try device.patch("tasks/t1", #"{"title":"a\#(number)"}"#) }
            #expect(try device.entries().count == 12)

            try await device.sync()

            #expect(world.writes == ["PUT tasks/t1 * 201", "PUT tasks/t1 = 200"])
            #expect(world.record("tasks/t1") == #"{"title":"a12"}"#)
            let coalesced = Array(repeating: "coalesced", count: 11)
            #expect(try device.mutations("tasks/t1") == ["accepted"] + coalesced + ["accepted"])
            try device.verify()
        }
    }

    @Test func `gives up the last of many edits of one field where the server wins`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/home", #"{"title":"a"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            for number in 1...9 { try device.patch("lists/home", #"{"title":"a\#(number)"}"#) }
            world.rivalPuts("lists/home", #"{"title":"theirs"}"#)

            try await device.sync()

            let lost = Array(repeating: "coalesced", count: 8) + ["superseded"]
            #expect(try device.mutations("lists/home") == lost)
            #expect(try device.document("lists/home")?.contains("theirs") == true)
            for number in 1...9 { try device.patch("lists/home", #"{"title":"b\#(number)"}"#) }
            try device.discard("lists/home")
            let discarded = Array(repeating: "discarded", count: 9)
            #expect(try device.mutations("lists/home") == lost + discarded)
            try device.verify()
        }
    }

    @Test(arguments: [["a", "b"], ["a", "b", "c"], ["a"]])
    func `does not wait for ever where entities refer to each other in a circle`(
        _ names: [String]
    ) async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            for (index, name) in names.enumerated() {
                let next = names[(index + 1) % names.count]
                try device.put("tasks/\(name)", #"{"parent":"\#(next)"}"#)
            }
            try device.put("tasks/outside", #"{"parent":"a"}"#)

            #expect(try await device.sync().isSynced)

            #expect(world.writes.first == "PUT tasks/a * 201")
            #expect(
                world.writes.sorted() == (names + ["outside"]).map { "PUT tasks/\($0) * 201" })
        }
    }

    @Test func `does not wait for what nobody has, or what is there already`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/there", "{}")
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("lists/there", #"{"n":1}"#)
            world.server.faults = FaultPlan([
                FaultRule(.answer(status: 400), method: .put, recordID: { $0 == "there" })
            ])
            try device.put("tasks/one", #"{"list":"nowhere"}"#)
            try device.put("tasks/two", #"{"list":"there"}"#)
            try device.put("tasks/three", #"{"list":7}"#)

            let outcome = try await device.sync()

            #expect(outcome.counts.pushed == 3 && outcome.refused == 1 && outcome.pending == 0)
        }
    }

    @Test func `takes an edit that comes while the run is on`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            let isFirst = SyncFlag()
            device.wire.tap { request, _, pass in
                if request.isWrite, isFirst.raise() { try device.put("lists/late", "{}") }
                return await pass()
            }

            #expect(try await device.sync().isSynced)

            #expect(world.writes == ["PUT tasks/t1 * 201", "PUT lists/late * 201"])
        }
    }
}

@Suite(.serialized) struct `a server that gives ids of its own` {
    @Test func `changes no key: the entity keeps the one it was made with`() async throws {
        var model = SyncWorld.usualModel
        model.collections[1].ids = .serverText
        let world = SyncWorld(model: model)
        try await SyncDevice.with(world, adapter: AssigningAdapter()) { device in
            try device.put("tasks/mine", #"{"title":"tea"}"#)

            #expect(try await device.sync().isSynced)

            let id = "00000000-0000-4000-8000-000000000001"
            #expect(world.record("tasks/\(id)") == #"{"title":"tea"}"#)
            #expect(try device.document("tasks/mine") == #"{"title":"tea"}"#)
            #expect(try device.status("tasks/mine") == .synced)
            #expect(try device.mutations("tasks/mine") == ["accepted"])
            #expect(try device.document("tasks/\(id)") == #"{"title":"tea"}"#)
            #expect(try count(device) == 1)

            world.rivalPuts("tasks/\(id)", #"{"title":"milk"}"#)
            #expect(try await device.sync().counts.pulled == 1)
            #expect(try device.document("tasks/mine") == #"{"title":"milk"}"#)
            #expect(try count(device) == 1)

            world.rivalDeletes("tasks/\(id)")
            #expect(try await device.sync().counts.pulled == 1)
            #expect(try device.document("tasks/mine") == nil)
            #expect(try count(device) == 0)
            try device.verify()
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    private func count(_ device: SyncDevice) throws -> Int {
        var count = 0
        try device.replica.read { context in
            try context.forEachDocument { _, _, _ in
                count += 1
                return true
            }
        }
        return count
    }
}

/// A server that makes the ids: what is created is posted to the list.
private struct AssigningAdapter: ServerAdapter {
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard case .create(let collection, _, let body) = call else {
            return try kinto.request(for: call)
        }
        var request = try kinto.request(for: .list(collection, after: nil, page: nil))
        request.method = .post
        request.path = String(request.path.prefix { $0 != "?" })
        request.headers = [.contentType: "application/json"]
        guard let document = try? JSONDocument(parsing: body) else {
            throw .malformed("no document")
        }
        let data = document.applying(set: [], unset: ["id"])
        request.body = Array(#"{"data":"#.utf8) + data + Array("}".utf8)
        return request
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        kinto.answer(to: call, response, body: body)
    }
}
