// KeyedListSyncTests.swift — two devices that edit one list, element by element, in any order:
// nothing is lost, both end alike, and a new fold makes the same rows.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `devices that edit one keyed list` {
    private static let list = KeyedList("answers", by: "question")

    private static func world(_ policy: ConflictPolicy) -> SyncWorld {
        SyncWorld(
            model: SyncModel(
                name: "surveys",
                collections: [
                    CollectionModel(
                        "surveys", lastChangeField: "last_modified", conflict: policy, keyed: [list]
                    )
                ], settings: SyncSettings(batchSize: 1)))
    }

    /// One device and the questions that it answers.
    private struct Side {
        var device: SyncDevice
        var questions: [String]
        /// What it wrote last; nil for what it removed.
        var written: [String: Int?] = [:]

        mutating func edit(_ random: SyncRandom) throws {
            var patch = Patch()
            for question in questions where random.chance(40) {
                let name = KeyedListSyncTests.list.name(of: question)
                if random.chance(25) {
                    patch.unset.append(name)
                    written.updateValue(nil, forKey: question)
                } else {
                    let value = random.below(1_000)
                    let element = #"{"question":\#(JSONValue.string(question)),"n":\#(value)}"#
                    patch.set.append(Patch.Field(name, Array(element.utf8)))
                    written.updateValue(value, forKey: question)
                }
            }
            let edit = patch
            try device.replica.write { tx in _ = try tx.patch(EntityKey("surveys", "s"), edit) }
        }

        var answers: [String: Int] {
            get throws {
                let bytes = try device.replica.read { try $0.document(EntityKey("surveys", "s")) }
                return try KeyedListSyncTests.answers(try #require(bytes))
            }
        }
    }

    fileprivate static func answers(_ document: [UInt8]) throws -> [String: Int] {
        let list = try JSONDocument(parsing: document).value("answers")?.array ?? []
        var answers: [String: Int] = [:]
        for element in list {
            let question = try #require(element["question"]?.stringValue)
            let value = try #require(element["n"]?.int64Value)
            #expect(
                answers.updateValue(Int(value), forKey: question) == nil, "\(question) is twice")
        }
        return answers
    }

    @Test(arguments: [0x5EED_0821, 0x5EED_0822, 0x5EED_0823] as [UInt64])
    func `lose nothing where each answers its own`(_ seed: UInt64) async throws {
        print("seed \(seed)")
        let random = SyncRandom(seed: seed)
        let world = Self.world(random.pick([.serverWins, .localWins, .mergeFields(.serverWins)]))
        world.rivalPuts(
            "surveys/s", #"{"answers":[{"question":"a","n":1},{"question":"x","n":1}]}"#)
        try await SyncDevice.with(world, seed: 1) { one in
            try await SyncDevice.with(world, seed: 2) { other in
                var sides = [
                    Side(device: one, questions: ["a", "b", "c/d"]),
                    Side(device: other, questions: ["x", "~", ""]),
                ]
                for side in sides { try await side.device.sync() }
                for _ in 0..<20 {
                    let index = random.below(2)
                    switch random.below(3) {
                    case 0: try await sides[index].device.sync()
                    case 1: try sides[index].device.restart()
                    default: try sides[index].edit(random)
                    }
                    world.clock.advance(by: .seconds(60))
                }
                for _ in 0..<2 { for side in sides { try await side.device.sync() } }

                var expected = ["a": 1, "x": 1]
                for (question, value) in sides.flatMap({ Array($0.written) }) {
                    expected[question] = value
                }
                for side in sides {
                    #expect(try side.answers == expected, "seed \(seed)")
                    #expect(try side.device.replica.issues() == [], "seed \(seed)")
                    try side.device.verify()
                }
                let record = try #require(world.record("surveys/s"))
                #expect(try Self.answers(Array(record.utf8)) == expected, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [0x5EED_0831, 0x5EED_0832, 0x5EED_0833] as [UInt64])
    func `end alike where both answer the same, and each value is somebody's`(
        _ seed: UInt64
    ) async throws {
        print("seed \(seed)")
        let random = SyncRandom(seed: seed)
        let world = Self.world(random.pick([.serverWins, .localWins, .mergeFields(.localWins)]))
        world.rivalPuts("surveys/s", #"{"answers":[{"question":"a","n":1}]}"#)
        try await SyncDevice.with(world, seed: 1) { one in
            try await SyncDevice.with(world, seed: 2) { other in
                var sides = [one, other].map { Side(device: $0, questions: ["a", "b", "c"]) }
                for side in sides { try await side.device.sync() }
                for _ in 0..<20 {
                    let index = random.below(2)
                    if random.chance(40) {
                        try await sides[index].device.sync()
                    } else {
                        try sides[index].edit(random)
                    }
                    world.clock.advance(by: .seconds(60))
                }
                for _ in 0..<2 { for side in sides { try await side.device.sync() } }

                #expect(try sides[0].answers == sides[1].answers, "seed \(seed)")
                let record = try #require(world.record("surveys/s"))
                #expect(
                    try Self.answers(Array(record.utf8)) == sides[0].answers, "seed \(seed)")
                for side in sides { try side.device.verify() }
            }
        }
    }
}

private typealias KeyedListSyncTests = `devices that edit one keyed list`
