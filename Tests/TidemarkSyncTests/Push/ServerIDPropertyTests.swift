// ServerIDPropertyTests.swift — random edits of a chain of entities, with lost answers, restarts
// and other clients: nothing is made twice, and both sides are equal in the end.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a chain of entities that the server numbers` {
    private final class Chain {
        let device: NumberedDevice
        let random: SyncRandom
        /// What was made here, by collection; each has a name that no other has.
        var made: [String: [String]] = [:]
        /// How many entities there must be on the server in the end.
        var expected: [String: Int] = [:]
        private var count = 0

        init(seed: UInt64) throws {
            device = try NumberedDevice(seed: seed)
            random = SyncRandom(seed: seed)
        }

        private func name() -> String {
            count += 1
            return "n\(count)"
        }

        /// A key here, or an id of the server, of what is seen in a collection.
        private func anyID(_ collection: String) throws -> String? {
            let keys = try device.keys(CollectionName(collection))
            guard !keys.isEmpty else { return nil }
            let key = random.pick(keys)
            return random.chance(50)
                ? key : try random.pick(device.ids("\(collection)/\(key)"))
        }

        private func reference(_ field: String, _ collection: String) throws -> String {
            guard let id = try anyID(collection), random.chance(80) else { return "" }
            let number = Int(id).map { "\($0)" } ?? "\"\(id)\""
            return field == "tags" ? ",\"tags\":[\(number)]" : ",\"\(field)\":\(number)"
        }

        private func document(_ collection: String, _ name: String) throws -> String {
            var json = #"{"name":"\#(name)","what":"\#(name)","start":1"#
            if collection != "workspaces" { json += try reference("workspace", "workspaces") }
            if collection == "entries" {
                json += try reference("project", "projects") + reference("tags", "tags")
            }
            return json + "}"
        }

        func make() throws {
            let collection = random.pick(["workspaces", "tags", "projects", "entries"])
            let name = name()
            try device.put("\(collection)/\(name)", try document(collection, name))
            expected[collection, default: 0] += 1
        }

        func makeThere() throws {
            let collection = random.pick(["workspaces", "projects", "entries"])
            let name = name()
            device.server.make(collection, #"{"name":"\#(name)","what":"\#(name)","start":1}"#)
            expected[collection, default: 0] += 1
        }

        func edit() throws {
            guard let id = try anyID("entries") else { return }
            let patch = "{\"n\":\(random.below(5))" + (try reference("project", "projects")) + "}"
            try device.patch("entries/\(id)", patch)
        }

        func remove() throws {
            guard let id = try anyID("entries") else { return }
            try device.delete("entries/\(id)")
            expected["entries", default: 0] -= 1
        }

        /// A run in which one kind of request fails, before or after the server did its work.
        func syncBadly() async throws {
            let line = random.pick([
                "POST workspaces", "POST projects", "POST entries", "POST", "PUT", "DELETE",
                "GET entries", "GET projects",
            ])
            let status = random.pick([0, 0, 500, 503, 429])
            // Who says that there were too many requests did nothing.
            let reaches = random.chance(60) && !line.hasPrefix("GET") && status != 429
            _ = try await device.sync(
                failing: line, status: status, reaches: reaches, times: 1 + random.below(2))
        }

        func step() async throws {
            switch random.below(12) {
            case 0...3: try make()
            case 4, 5: try edit()
            case 6: try remove()
            case 7: try makeThere()
            case 8, 9: try await syncBadly()
            case 10: try device.restart()
            default: _ = try await device.sync()
            }
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 0..<40)
    func `is equal on both sides in the end, and made once`(_ round: Int)
        async throws
    {
        let seed = 0x5EED_1D00 + UInt64(round)
        let chain = try Chain(seed: seed)
        let device = chain.device
        let place: Comment = "seed \(seed)"
        for _ in 0..<30 { try await chain.step() }
        for _ in 0..<6 { _ = try await device.sync() }

        #expect(try device.outbox() == [], place)
        for collection in ["workspaces", "tags", "projects", "entries"] {
            let ids = device.server.ids(collection)
            #expect(ids.count == chain.expected[collection, default: 0], place)
            let keys = try device.keys(CollectionName(collection))
            #expect(try keys.map { try device.serverID("\(collection)/\($0)") }.sorted() == ids)
            for id in ids {
                let path = "\(collection)/\(id)"
                #expect(try device.document(path) == device.server.document(path), place)
            }
        }
        try device.verify(place)
    }
}
