// Pull.swift — P5, P15 and the size of a store: what a pull costs in time, and what it leaves.

import Foundation
import Tidemark
import TidemarkHTTP
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

/// What JSONDecoder makes of a page.
struct Answer: Decodable {
    var data: [TimeEntry]
}

extension Run {
    private func replica(_ path: String, _ collections: [CollectionModel]) throws -> Replica {
        try Replica.open(
            at: path, model: SyncModel(name: "bench", collections: collections), remote: .bench)
    }

    private func pull(_ replica: Replica, _ server: any Transport) async throws -> Double {
        let engine = try SyncEngine(replica, remote: .bench, transport: server) {
            .bearer("a-token-of-the-bench")
        }
        let (took, outcome) = try await seconds { try await engine.sync() }
        await engine.stop()
        guard outcome.failure == nil else { fatalError("\(outcome)") }
        return took
    }

    /// P5: 100,000 entities in pages of 500, then changes of a tenth of them; from the bytes of the
    /// pages to commits on disk.
    mutating func pulls() async throws {
        let count = options.count(100_000)
        let order = Workload.shuffled(count)
        let changed = Array(order.prefix(max(1, count / 10)))
        let servers = [
            ("a first pull, ids ascending", 1.0, CannedServer(Array(0..<count))),
            ("a first pull, ids in random order", nil, CannedServer(order)),
            ("changes of random ids, a tenth", 3.0, CannedServer(changed) { _ in 1 }),
        ]
        var ours: [[Double]] = [[], [], []]
        var peers: [[Double]] = [[], [], []]
        var sizes: [Int] = []
        var shrunk: [Int] = []
        for _ in 0..<options.rounds {
            let paths = ["\(directory)/pull-ascending", "\(directory)/pull-random"]
            for (index, path) in paths.enumerated() {
                let collection = CollectionModel(TidemarkPeer.collection, indexes: [["project_id"]])
                let first = try replica(path, [collection])
                ours[index].append(try await pull(first, servers[index].2))
                // With what it seals: an app that goes on waits for none of that.
                try await first.close()
                guard index == 1 else { continue }
                sizes.append(try size(path))
                shrunk.append(try await Replica.shrink(at: path).bytesAfter)
                let second = try replica(path, [collection])
                ours[2].append(try await pull(second, servers[2].2))
                try await second.close()
            }
            for path in paths { try FileManager.default.removeItem(atPath: path) }
            for (index, server) in servers.enumerated() {
                let decoder = JSONDecoder()
                peers[index].append(
                    try seconds {
                        for page in server.2.bodies {
                            _ = try decoder.decode(Answer.self, from: Data(page))
                        }
                    }.0)
            }
        }
        for (index, (what, must, _)) in servers.enumerated() {
            let ratio = median(ours[index]) / median(peers[index])
            report.add(
                "P5", what, median(ours[index]).millis,
                "JSONDecoder " + median(peers[index]).millis, ratio.times,
                rounds: ours[index], must: must.map { "≤ \($0) ×" } ?? "reported",
                isMet: must.map { ratio <= $0 })
        }
        let bytes = servers[1].2.bytes
        for (what, sizes, must) in [
            ("the file after a first pull, ids in random order", sizes, 3.5),
            ("the same, sealed, after Replica.shrink", shrunk, 2.2),
        ] {
            let size = median(sizes.map(Double.init))
            let ratio = size / Double(bytes)
            report.add(
                "size", what, "\(Int(size / 1e6)) MB", "\(bytes / 1_000_000) MB of JSON",
                ratio.times, must: "≤ \(must) ×", isMet: ratio <= must)
        }
    }

    private func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")
        return attributes[.size] as? Int ?? 0
    }

    /// P15: nine requests of a run by which nothing is new.
    mutating func idleCycle() async throws {
        let path = "\(directory)/idle"
        let names = (1...8).map { "collection\($0)" }
        let replica = try replica(path, names.map { CollectionModel(CollectionName($0)) })
        let server = IdleServer(names)
        _ = try await pull(replica, server)
        _ = try await pull(replica, server)
        let before = try Measuring.log(of: replica)
        _ = try await pull(replica, server)
        let after = try Measuring.log(of: replica)
        try await replica.close()
        try FileManager.default.removeItem(atPath: path)
        let (commits, bytes) = (after.commits - before.commits, after.bytes - before.bytes)
        report.add(
            "P15", "a run of nine requests without news",
            "\(commits) commits, \(after.events - before.events) events, \(bytes) bytes", "", "",
            must: "1, ≤ 400 bytes", isMet: commits <= 1 && bytes <= 400)
    }

    /// P12: what to push next of an outbox of 10,000 mutations, of one collection, and of the last
    /// of four, where little is pending in the others.
    mutating func outbox() throws {
        let count = options.count(10_000)
        for others in [0, 3] {
            let path = "\(directory)/outbox-\(others)"
            let peer = try TidemarkPeer(path, before: others)
            for start in stride(from: 0, to: count, by: 1000) {
                try peer.insert((start..<start + 1000).map { Item($0) }[...])
            }
            try peer.insertOthers(2)
            var found = 0
            let times = try (0..<50).map { _ in
                try seconds { found = try Measuring.nextToPush(peer.replica).found }.0
            }
            try peer.close()
            try FileManager.default.removeItem(atPath: path)
            report.add(
                "P12",
                "the next \(found) to push of \(count) mutations"
                    + (others == 0 ? "" : ", in the last of \(others + 1) collections"),
                median(times).millis, "", "", rounds: times, must: "≤ 1 ms",
                isMet: median(times) <= 0.001)
        }
    }
}

extension Remote {
    /// Where ``CannedServer`` and ``IdleServer`` are.
    static var bench: Remote { .kinto(origin: "http://bench.test", bucket: "b") }
}
