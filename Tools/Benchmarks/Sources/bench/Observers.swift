// Observers.swift — P11: the cost of commits while a thousand observers watch other rows.

import Foundation
import Tidemark
import TidemarkSync

/// The entries as the observers decode them.
private struct Watched: Entity {
    static let collection = TidemarkPeer.collection
    static let fields: FieldNames<Watched> = [\.project: "project_id", \.start: "start"]

    let id: Tidemark.ID<Watched>
    var project: Int?
    var start: String

    enum CodingKeys: String, CodingKey {
        case id, start
        case project = "project_id"
    }
}

/// What the thousand observers watch: entities, queries with an equality, or queries with a range,
/// all to one end, or each of another width, many of them one inside another.
private enum Observed: String, CaseIterable {
    case entities = "1,000 observers of other entities"
    case equalities = "1,000 observers of queries with another value"
    case ranges = "1,000 observers of queries with another range"
    case nested = "1,000 observers of ranges that overlap, around another value"

    /// Observes a result that never changes; reports the first one.
    func follow(_ replica: Replica, _ number: Int, _ seen: () -> Void) async throws {
        func count(_ query: EntityQuery<Watched>) async throws {
            for try await _ in replica.observe(count: query) { seen() }
        }
        switch self {
        case .entities:
            for try await _ in replica.observe(Watched.self, ID("other-\(number)")) { seen() }
        case .equalities: try await count(Watched.where(\.project == -1 - number))
        case .ranges: try await count(Watched.where(\.start > "3000-\(number)"))
        case .nested:
            // The entries' projects are about 2,000,000: half of the ranges lie before, half after.
            let middle = number.isMultiple(of: 2) ? 1_000_000 : 3_000_000
            let range = middle - 900 * number...middle + 900 * number
            try await count(Watched.where(.in(\.project, range)))
        }
    }
}

extension Run {
    /// P11: one mutation a commit, durable, with and without observers, in turn.
    mutating func observers() async throws {
        let count = max(50, Int(400 * options.scale))
        for observed in Observed.allCases {
            let path = "\(directory)/observers-\(observed)"
            let peer = try TidemarkPeer(path)
            var (without, with): ([Double], [Double]) = ([], [])
            for round in 0..<options.rounds * 2 {
                let numbers = round * count * 2..<(round + 1) * count * 2
                let (early, late) = (numbers.prefix(count), numbers.suffix(count))
                // What comes second writes to a larger store: that is each of them in turn.
                if round.isMultiple(of: 2) { without += try commits(early, peer) }
                let observing = try await begin(observed, peer.replica)
                with += try commits(round.isMultiple(of: 2) ? late : early, peer)
                observing.cancel()
                await observing.value
                if !round.isMultiple(of: 2) { without += try commits(late, peer) }
            }
            try peer.close()
            try FileManager.default.removeItem(atPath: path)
            let ratio = median(with) / median(without)
            report.add(
                "P11", observed.rawValue, median(with).micros, "none " + median(without).micros,
                ratio.times, rounds: with, must: "≤ 1.05 ×", isMet: ratio <= 1.05)
        }
    }

    private func commits(_ numbers: Range<Int>, _ peer: TidemarkPeer) throws -> [Double] {
        try numbers.map { number in
            let item = Item(number)
            return try seconds { try peer.insert([item]) }.0
        }
    }

    /// Returns when each observer has seen its first result.
    private func begin(_ observed: Observed, _ replica: Replica) async throws -> Task<Void, Never> {
        let (seen, sender) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        do {
                            try await observed.follow(replica, number) { sender.yield() }
                        } catch { fatalError("\(error)") }
                    }
                }
            }
        }
        var left = 1000
        for await _ in seen {
            left -= 1
            if left == 0 { break }
        }
        return task
    }
}
