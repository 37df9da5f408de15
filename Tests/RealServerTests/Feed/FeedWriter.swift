// FeedWriter.swift — somebody else who writes articles on a real server, whatever devices do: makes
// and changes and deletes them, and moves their dates.

import TestSupport
import Tidemark
import TidemarkEvents

@testable import SyncSupport

/// A plain client; everything that it chooses follows from its seed.
actor FeedWriter {
    static let articles: CollectionName = "articles"
    /// More articles than that are never there; with so few days, many have the same one.
    private static let countMax = 34
    private static let days = 8
    /// Some that a server may take for something else in an address.
    private static let ids =
        (0..<30).map { "a\($0)" } + ["7", "12", "1e5", "true", "null", "0", "Z-9", "x_1"]

    private let client: KintoClient
    private var random: SplitMix64
    private var dates: [String: String] = [:]
    /// Each change has a second of its own, but those that are made together.
    private var seconds = 0
    private(set) var edits: [String: Int] = [:]

    init(_ client: KintoClient, seed: UInt64) {
        self.client = client
        random = SplitMix64(seed: seed)
    }

    /// How many articles there are.
    var count: Int { dates.count }

    /// So many edits, one after the other.
    func edit(times: Int) async throws {
        for _ in 0..<times {
            seconds += 1
            try await edit()
        }
    }

    /// Several edits with the same time of the change, as an import makes them.
    func editTogether(times: Int) async throws {
        seconds += 1
        for _ in 0..<times { try await edit() }
    }

    /// An edit now and then, by chance.
    func meanwhile() async throws {
        if random.once(in: 2) { try await edit(times: 1 + random.below(2)) }
    }

    private func edit() async throws {
        let id = random.pick(Self.ids)
        let day = "2026-01-0\(1 + random.below(Self.days))T00:00:00Z"
        switch random.below(10) {
        case 0..<2 where dates[id] != nil:
            try await client.delete("\(Self.articles)/\(id)")
            dates[id] = nil
            edits["deleted", default: 0] += 1
        case 2..<5 where dates[id] != nil: try await write(id, day, "moved")
        default:
            guard dates[id] != nil || dates.count < Self.countMax else { return }
            try await write(id, dates[id] ?? day, dates[id] == nil ? "made" : "changed")
        }
    }

    private func write(_ id: String, _ day: String, _ word: String) async throws {
        let text = random.once(in: 8) ? "" : "\(random.next())"
        try await client.put(
            "\(Self.articles)/\(id)",
            #"{"released":"\#(day)","updated":"\#(now)","text":"\#(text)"}"#)
        dates[id] = day
        edits[word, default: 0] += 1
    }

    /// The time of the change; long past for every device, and of one length.
    private var now: String {
        func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (minutes, hours) = (seconds / 60, seconds / 3600)
        return "2026-02-\(digits(1 + hours / 24))"
            + "T\(digits(hours % 24)):\(digits(minutes % 60)):\(digits(seconds % 60))Z"
    }
}
