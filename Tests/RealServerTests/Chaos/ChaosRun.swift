// ChaosRun.swift — two replicas in processes of their own and a plain client on one server, through
// many short episodes on the same stores.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// One run; everything that it chooses follows from its seed.
struct ChaosRun<Server: ChaosServer> {
    private let names: [String]
    private var server: Server
    private let seed: UInt64
    private var random: SplitMix64
    private var children: [Conversation?] = [nil, nil]
    private var oracles: [ChaosOracle]
    /// Where the replicas' clocks stand; each command finds them further on.
    private var seconds: UInt64 = 0
    private var edits = 0
    private(set) var kills: [String: Int] = [:]
    private(set) var drops = 0

    /// - Parameter users: whose replicas the server has made, two of them.
    init(_ server: Server, users: [String], seed: UInt64) {
        self.server = server
        self.seed = seed
        names = users
        oracles = users.map { ChaosOracle(user: $0) }
        random = SplitMix64(seed: seed)
    }

    /// Edits and syncs in bad weather, with processes that are killed; then all three are compared.
    mutating func episode(_ number: Int) async throws {
        random = SplitMix64(seed: seed &+ UInt64(number) &* 0x1_0001)
        try await editPlainly(times: random.below(3))
        try await server.close(ChaosEdit(&random, note: "", in: server.form).key)
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
            try Self.withJournal(path(index)) { journal in
                try oracles[index].tally.noteRows(journal)
                #expect(try journal.verify(.deep).findings == [], "\(names[index])")
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
        let child = try Conversation(
            BuiltProgram.crashChild.path ?? "", ["chaos", path(index), names[index]])
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
                Issue.record("\(names[index]): \(line); it was told: \(words)")
            }
        }
        children[index] = nil
        let signal = try child.end()
        #expect(signal == 9 && place != "nowhere", "\(words) ended by signal \(signal ?? 0)")
        kills[place, default: 0] += 1
        try Self.withJournal(path(index)) { journal in
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

    private mutating func restore(_ collection: CollectionName) async throws {
        var random = random
        try await server.restore(collection) { random.once(in: 8) }
        self.random = random
        drops += 1
    }

    private mutating func editPlainly(times: Int, _ record: String? = nil) async throws {
        for _ in 0..<times {
            edits += 1
            try await server.edit(
                ChaosEdit(&random, note: "plain-\(edits)", of: record, in: server.form))
        }
    }

    // MARK: What must hold

    private mutating func settle(_ note: String) async throws {
        try await server.open()
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
        let new = try await server.readHistory()
        let records = try await server.documents()
        for index in children.indices {
            let name = names[index]
            try Self.withJournal(path(index)) { journal in
                let documents = try Self.documents(journal)
                for key in Set(records.keys).union(documents.keys).sorted() {
                    #expect(documents[key] == records[key], "\(name) \(key) \(note)")
                }
                let open = try journal.read { try $0.outbox(all: false) }
                #expect(open.map(\.mutation.key) == [], "\(name) \(note)")
                try oracles[index].judge(journal, server.history, new: new)
                let story = try oracles[index].story(journal)
                #expect(oracles[index].findings == [], "\(note)\(story)")
                #expect(try journal.verify(.quick).findings == [], "\(name) \(note)")
            }
        }
    }

    private static func documents(_ journal: Journal) throws -> [EntityKey: String] {
        var documents: [EntityKey: String] = [:]
        try journal.read { views in
            try views.forEachEntity { key, row in
                guard let bytes = row.document else { return true }
                documents[key] = String(decoding: bytes, as: UTF8.self)
                return true
            }
        }
        return documents
    }

    private func path(_ index: Int) -> String { server.world.path(names[index]) }

    private static func withJournal(_ path: String, _ body: (Journal) throws -> Void) throws {
        let journal = try Journal.open(at: path, readOnly: true)
        try body(journal)
        try journal.close()
    }
}
