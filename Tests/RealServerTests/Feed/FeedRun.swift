// FeedRun.swift — a device that lists a feed of a real server, through many short rounds: others
// write meanwhile, answers are lost, processes are killed.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// One run; everything that it chooses follows from its seed.
struct FeedRun {
    private static let block = 4
    static let model = SyncModel(
        name: "articles",
        collections: [
            CollectionModel(
                FeedWriter.articles, lastChangeField: "last_modified",
                feed: CollectionModel.FeedRule(
                    order: "released", change: "updated", block: block))
        ])

    private let world: KintoWorld
    private let writer: FeedWriter
    private let seed: UInt64
    private var stores = 0
    private var device: RealDevice
    private var random: SplitMix64
    private(set) var kills = 0
    private(set) var losses = 0
    private(set) var requestsMost = 0

    init(_ world: KintoWorld, seed: UInt64) throws {
        self.world = world
        self.seed = seed
        random = SplitMix64(seed: seed)
        writer = FeedWriter(world.client, seed: random.next())
        device = try world.device("a0")
    }

    /// Some articles to begin with.
    func begin() async throws { try await writer.edit(times: 40) }

    /// Edits and syncs in bad weather, then in fine weather.
    ///
    /// After one run all is here that is there; a list of everything finds what was deleted, and
    /// another one nothing.
    mutating func round(_ number: Int) async throws {
        let note = Comment(rawValue: "seed \(seed), round \(number)")
        random = SplitMix64(seed: seed &+ UInt64(number) &* 0x1_0001)
        if random.once(in: 4) {
            try finish()
            stores += 1
            device = try world.device("a\(stores)")
        }
        try await writer.edit(times: random.below(6))
        if random.once(in: 4) { try await writer.editTogether(times: 2 * Self.block) }
        try await writer.edit(times: 1)
        for _ in 0..<1 + random.below(3) { try await run() }

        device.wire.hook(nil)
        try await sync(isFull: false, note)
        try await expectAll(note)
        try await sync(isFull: true, note)
        try await expectEqual(note)
        let position = try device.position()
        try await sync(isFull: true, note)
        let news = try device.events(after: position).map(\.event.kind)
            .filter { [.serverUpserted, .serverDeleted].contains($0) }
        #expect(news == [], note)
        try expectOnce(note)
        #expect(try device.replica.journal.verify(.quick).findings == [], note)
    }

    /// What is true of a whole store in the end.
    func finish() throws {
        #expect(try device.replica.journal.verify(.deep).findings == [], "seed \(seed)")
        try device.replica.close()
    }

    /// What happened, in a line.
    func tally() async throws -> String {
        let edits = await writer.edits
        return "edits: \(ChaosTally.list(edits)); kills \(kills), lost \(losses), "
            + "stores \(stores + 1), most requests of a run \(requestsMost)"
    }

    // MARK: Bad weather

    /// A run while others write, mostly of everything: it comes to its end, loses an answer, or its
    /// process is killed.
    private mutating func run() async throws {
        if random.once(in: 3) { return try await kill() }
        let isFull = !random.once(in: 3)
        let loss = random.once(in: 4) ? nil : 1 + random.below(isFull ? 16 : 4)
        let isLostBefore = random.once(in: 3)
        let writer = writer
        let counter = SyncCounter()
        device.wire.hook { moment, _ in
            try await writer.meanwhile()
            if moment == .leaving {
                let isLost = counter.count() + 1 == loss
                if isLost, isLostBefore { throw TransportError(.connectionLost) }
            } else if counter.value == loss, !isLostBefore {
                throw TransportError(.timeout)
            }
        }
        _ = try await device.engine.sync(.userRequested, full: isFull)
        if let loss, counter.value >= loss { losses += 1 }
    }

    /// A run in a process of its own that is killed about the time at which it logs an answer.
    private mutating func kill() async throws {
        try await device.replica.close()
        let crash = try await KintoCrash.run(
            world.path(device.name), after: 1 + random.below(random.once(in: 2) ? 4 : 12),
            microseconds: random.below(4000), user: device.name)
        #expect(crash.signal == 9 || crash.output.contains("ended: "), "\(crash), seed \(seed)")
        if crash.signal == 9 { kills += 1 }
        device = try world.device(device.name)
    }

    // MARK: What must hold

    private mutating func sync(isFull: Bool, _ note: Comment) async throws {
        device.wire.forget()
        let outcome = try await device.engine.sync(.userRequested, full: isFull)
        #expect(outcome.isSynced && outcome.failed.isEmpty, "\(outcome) \(note)")
        // A block of several keys brings one article at least, and each day costs a block, those of
        // that day, and one more; the ids and what they name fit into one request each.
        let requests = device.wire.lines.count
        let articles = await writer.count
        #expect(requests <= 12 + 2 * articles, "\(requests) for \(articles) articles, \(note)")
        requestsMost = max(requestsMost, requests)
    }

    /// Every article that is on the server is here, byte for byte.
    private func expectAll(_ note: Comment) async throws {
        let (there, here) = try await both()
        for (id, document) in there.sorted(by: { $0.key < $1.key }) {
            #expect(here[id] == document, "\(id), \(note)")
        }
    }

    /// What is here is what is there.
    private func expectEqual(_ note: Comment) async throws {
        let (there, here) = try await both()
        for id in Set(there.keys).union(here.keys).sorted() {
            #expect(here[id] == there[id], "\(id), \(note)")
        }
    }

    private func both() async throws -> (there: [String: String], here: [String: String]) {
        (
            try await world.contents(FeedWriter.articles),
            try device.documents(FeedWriter.articles)
        )
    }

    /// The log has no version of an article twice: a block that was logged is not logged again.
    private func expectOnce(_ note: Comment) throws {
        var last: [EntityKey: [UInt8]] = [:]
        for (position, event) in try device.events() {
            guard let key = event.key else { continue }
            switch event.kind {
            case .serverUpserted:
                #expect(last[key] != event.payload, "\(key) at \(position), \(note)")
                last[key] = event.payload
            case .serverDeleted: last[key] = nil
            default: break
            }
        }
    }
}
