// Feed.swift — P20: the backfill of a feed in blocks of 50, each durable by itself.

import Foundation
import HTTPTypes
import Tidemark
import TidemarkHTTP
import TidemarkSync

/// A server shaped like Kinto that holds a feed.
///
/// The blocks of its backfill are made before the measurement; no request gets anything else.
private final class FeedServer: Transport {
    static let order = "releaseDate"
    static let change = "updatedAt"
    static let block = 50

    let bodies: [[UInt8]]
    private let date = ServerDate()
    /// The block that begins at a key.
    private let places: [String: Int]

    init(_ count: Int) {
        var bodies: [[UInt8]] = []
        var places: [String: Int] = [:]
        var start = 0
        while true {
            let end = min(start + Self.block, count)
            let records = (start..<end).map { number in
                let document = String(
                    decoding: Workload.document(number).dropLast(), as: UTF8.self)
                let key = Self.key(count - number)
                return document + #","\#(Self.order)":"\#(key)","\#(Self.change)":"\#(key)","#
                    + #""last_modified":\#(1_000_000 + count - number)}"#
            }
            places[Self.key(count - start)] = bodies.count
            bodies.append(Array((#"{"data":["# + records.joined(separator: ",") + "]}").utf8))
            if end - start < Self.block { break }
            // The record at the edge comes twice.
            start = end - 1
        }
        (self.bodies, self.places) = (bodies, places)
    }

    /// Keys in the order of their numbers, all of them in the past.
    private static func key(_ number: Int) -> String {
        let base = 1_700_000_000 + number
        return Date(timeIntervalSince1970: Double(base)).formatted(.iso8601)
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = date.text
        let query = URLComponents(string: request.path ?? "")?.queryItems ?? []
        guard let key = query.first(where: { $0.name == "max_" + Self.order })?.value else {
            let collections = #"{"data":[{"id":"time_entries","last_modified":1}]}"#
            return TransportResponse(response: head, body: Array(collections.utf8))
        }
        // The first block is asked for by the time.
        let text = key.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        return TransportResponse(response: head, body: bodies[places[text] ?? 0])
    }
}

extension Run {
    /// P20: 100,000 records of a feed, from the bytes of its blocks to commits, one a block.
    mutating func feed() async throws {
        let count = options.count(100_000)
        let server = FeedServer(count)
        let collection = CollectionModel(
            TidemarkPeer.collection, indexes: [["project_id"]],
            feed: .init(
                order: FeedServer.order, change: FeedServer.change, block: FeedServer.block))
        var ours: [Double] = []
        var peers: [Double] = []
        for _ in 0..<options.rounds {
            let path = "\(directory)/feed"
            let replica = try await Replica.open(
                at: path, model: SyncModel(name: "bench", collections: [collection]),
                remote: .bench)
            let engine = try SyncEngine(replica, remote: .bench, transport: server) {
                .bearer("a-token-of-the-bench")
            }
            let (took, outcome) = try await seconds { try await engine.sync() }
            await engine.stop()
            guard outcome.failure == nil, outcome.counts.pulled == count else {
                fatalError("\(outcome)")
            }
            ours.append(took)
            try await replica.close()
            let peer = try GRDBPeer("\(directory)/feed-peer")
            let decoder = JSONDecoder()
            peers.append(
                try seconds {
                    for block in server.bodies {
                        let entries = try decoder.decode(Answer.self, from: Data(block)).data
                        try peer.apply(entries, cursor: entries.last?.start ?? "")
                    }
                }.0)
            try peer.close()
            for name in ["feed", "feed-peer"] {
                try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
            }
        }
        let ratio = median(ours) / median(peers)
        report.add(
            "P20", "the backfill of a feed of \(count), in durable blocks of 50",
            median(ours).millis, "GRDB " + median(peers).millis, ratio.times, rounds: ours,
            must: "≤ 1.0 ×", isMet: ratio <= 1)
    }
}
