// ChaosRun.swift — two replicas in processes of their own and a plain client on one server, through
// many short episodes on the same stores.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkViews

/// One run; everything that it chooses follows from its seed.
struct ChaosRun {
    private static let names = ["a", "b"]

    let world: KintoWorld
    let seed: UInt64
    private var random: SplitMix64
    private var children: [Conversation?] = [nil, nil]
    private var oracles = names.map { ChaosOracle(user: $0) }
    private var history: ChaosHistory
    /// Where the replicas' clocks stand; each command finds them further on.
    private var seconds: UInt64 = 0
    private var edits = 0
    private(set) var kills: [String: Int] = [:]
    private(set) var drops = 0

    init(_ world: KintoWorld, seed: UInt64) async throws {
        self.world = world
        self.seed = seed
        random = SplitMix64(seed: seed)
        history = try await ChaosHistory(world.client, users: Self.names + [world.client.user])
        for name in Self.names { try world.device(name).replica.close() }
    }

    /// Edits and syncs in bad weather, with processes that are killed; then all three are compared.
    mutating func episode(_ number: Int) async throws {
        random = SplitMix64(seed: seed &+ UInt64(number) &* 0x1_0001)
        try await editPlainly(times: random.below(3))
        let first = random.below(2)
        for index in [first, 1 - first] {
            while try await !play(index), random.once(in: 2) {}
            if random.once(in: 2) { try await editPlainly(times: 1) }
        }
        try await settle("episode \(number)")
    }

    /// Whatever is still under way arrives; then all three are compared.
    mutating func finish() async throws {
        for index in children.indices { try await command(index, "deliver \(nextTime())") }
        try await settle("the end")
        for index in children.indices {
            let signal = try children[index]?.end()
            #expect(signal == nil)
            children[index] = nil
            try Self.withJournal(world, index) { journal in
                try oracles[index].tally.noteRows(journal)
                #expect(try journal.verify(.deep).findings == [], "\(Self.names[index])")
            }
        }
    }

    var tally: ChaosTally { oracles[0].tally + oracles[1].tally }

    // MARK: The processes

    private mutating func nextTime() -> UInt64 {
        seconds += 2000
        return seconds
    }

    private mutating func child(_ index: Int) throws -> Conversation {
        if let child = children[index] { return child }
        let name = Self.names[index]
        let child = try Conversation(
            KintoCrash.executable ?? "", ["chaos", world.path(name), name])
        children[index] = child
        return child
    }

    /// One replica edits and syncs; false when its process was killed.
    private mutating func play(_ index: Int, isMeanwhile: Bool = false) async throws -> Bool {
        let words = "play \(random.next() >> 1) \(nextTime())"
        return try await command(index, words, isMeanwhile: isMeanwhile) != nil
    }

    /// Lets a process do something.
    ///
    /// - Returns: what it said in the end; nil when it was killed.
    @discardableResult
    private mutating func command(
        _ index: Int, _ words: String, isMeanwhile: Bool = false
    ) async throws -> String? {
        let child = try child(index)
        var place = "nowhere"
        child.say(words)
        while let line = child.line() {
            if line.hasPrefix("yield ") {
                let record = line.dropFirst("yield ".count)
                try await meanwhile(
                    isMeanwhile ? nil : 1 - index, record.isEmpty ? nil : String(record))
                child.say("go")
            } else if line.hasPrefix("dying ") {
                place = String(line.dropFirst("dying ".count))
            } else if line == "done" || line.hasPrefix("settled ") {
                return line
            } else {
                Issue.record("\(Self.names[index]): \(line); it was told: \(words)")
            }
        }
        children[index] = nil
        let signal = try child.end()
        #expect(signal == 9 && place != "nowhere", "\(words) ended by signal \(signal ?? 0)")
        kills[place, default: 0] += 1
        try Self.withJournal(world, index) { journal in
            let findings = try journal.verify(.quick).findings
            #expect(findings == [])
        }
        return nil
    }

    /// While a request of one replica is under way: the other one, or the plain client.
    private mutating func meanwhile(_ other: Int?, _ record: String?) async throws {
        if let other, random.once(in: 4) { _ = try await play(other, isMeanwhile: true) }
        if let record, random.once(in: 2) { try await editPlainly(times: 1, record) }
        try await editPlainly(times: random.below(2))
        if random.once(in: 60) { try await restore(random.pick(["lists", "tasks"])) }
    }

    /// Drops a collection and makes it anew from a backup that lacks a few of its records: no list
    /// of changes tells, and no tombstone is left.
    private mutating func restore(_ collection: CollectionName) async throws {
        let records = try await world.client.records(collection).sorted { $0.key < $1.key }
        try await world.client.send(.delete, "/collections/\(collection)")
        try await world.client.send(.put, "/collections/\(collection)", "{}")
        drops += 1
        for (id, json) in records where !random.once(in: 8) {
            let document = try JSONDocument(parsing: Array(json.utf8))
            let data = document.applying(set: [], unset: ["id", "last_modified"])
            try await world.client.put(
                "\(collection)/\(id)", String(decoding: data, as: UTF8.self))
        }
    }

    private mutating func editPlainly(times: Int, _ record: String? = nil) async throws {
        for _ in 0..<times {
            edits += 1
            let edit = ChaosEdit(&random, note: "plain-\(edits)", of: record)
            switch edit.action {
            case .put: try await world.client.put(edit.key, edit.json)
            case .patch: try await world.client.patch(edit.key, edit.json)
            case .delete: try await world.client.deleteIfThere(edit.key)
            }
        }
    }

    // MARK: What must hold

    private mutating func settle(_ note: String) async throws {
        var last: [String] = []
        for _ in 0..<12 {
            last = []
            for index in children.indices {
                last.append(try await command(index, "settle \(nextTime())") ?? "killed")
            }
            if last.allSatisfy({ $0.hasPrefix("settled quiet") }) { break }
        }
        #expect(last.allSatisfy { $0.hasPrefix("settled quiet") }, "no rest: \(last) \(note)")
        try await compare(note)
    }

    private mutating func compare(_ note: String) async throws {
        let new = try await history.read()
        var records: [String: String] = [:]
        for collection in world.model.collections.map(\.name) {
            for (id, json) in try await world.client.records(collection) {
                records["\(collection)/\(id)"] = json
            }
        }
        for index in children.indices {
            let name = Self.names[index]
            try Self.withJournal(world, index) { journal in
                let documents = try Self.documents(journal)
                for key in Set(records.keys).union(documents.keys).sorted() {
                    #expect(documents[key] == records[key], "\(name) \(key) \(note)")
                }
                let open = try journal.read { try $0.outbox(all: false) }
                #expect(open.map(\.mutation.key) == [], "\(name) \(note)")
                try oracles[index].judge(journal, history, new: new)
                let story = try oracles[index].story(journal)
                #expect(oracles[index].findings == [], "\(note)\(story)")
                #expect(try journal.verify(.quick).findings == [], "\(name) \(note)")
            }
        }
    }

    private static func documents(_ journal: Journal) throws -> [String: String] {
        var documents: [String: String] = [:]
        try journal.read { views in
            try views.forEachEntity { key, row in
                guard let bytes = row.document else { return true }
                documents["\(key)"] = String(decoding: bytes, as: UTF8.self)
                return true
            }
        }
        return documents
    }

    private static func withJournal(
        _ world: KintoWorld, _ index: Int, _ body: (Journal) throws -> Void
    ) throws {
        let journal = try Journal.open(at: world.path(names[index]), readOnly: true)
        try body(journal)
        try journal.close()
    }
}
