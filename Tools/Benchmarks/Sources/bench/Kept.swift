// Kept.swift — P27: how much slower a pull is because verbatim answers are kept.

import Foundation
import Tidemark
import TidemarkHTTP
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

extension Run {
    private enum Pull: String, CaseIterable {
        case first = "a first pull, answers kept"
        case again = "all listed again, one in 100 changed, answers kept"
    }

    /// P27: the same pulls with and without kept answers, in turn.
    mutating func kept() async throws {
        let count = options.count(100_000)
        let servers: [Pull: CannedServer] = [
            .first: CannedServer(Array(0..<count)),
            .again: CannedServer(Array(0..<count)) { $0 % 100 == 0 ? 1 : 0 },
        ]
        var times: [Pull: (without: [Double], with: [Double])] = [:]
        var bytes: [Pull: Int] = [:]
        for round in 0..<options.rounds {
            for isKept in round.isMultiple(of: 2) ? [false, true] : [true, false] {
                let path = "\(directory)/kept-\(UUID().uuidString)"
                let remote = Remote.kinto(origin: "http://bench.test", bucket: "b")
                var model = SyncModel(
                    name: "bench", collections: [CollectionModel(TidemarkPeer.collection)])
                model.settings.answers = isKept ? .init(runs: 20, bytes: 1 << 30) : .none
                let replica = try await Replica.open(at: path, model: model, remote: remote)
                for pull in Pull.allCases {
                    guard let server = servers[pull] else { continue }
                    let engine = try SyncEngine(replica, remote: remote, transport: server) {
                        .bearer("a-token-of-the-bench")
                    }
                    let before = Measuring.keptBytes(of: replica)
                    let (time, outcome) = try await seconds {
                        try await engine.sync(full: pull == .again)
                    }
                    await engine.stop()
                    guard outcome.failure == nil, outcome.counts.pulled > 0 else {
                        fatalError("\(outcome)")
                    }
                    if isKept {
                        times[pull, default: ([], [])].with.append(time)
                        bytes[pull] = Measuring.keptBytes(of: replica) - before
                    } else {
                        times[pull, default: ([], [])].without.append(time)
                    }
                }
                try await replica.close()
                try FileManager.default.removeItem(atPath: path)
            }
        }
        for pull in Pull.allCases {
            guard let time = times[pull], let kept = bytes[pull], let server = servers[pull]
            else { continue }
            let ratio = median(time.with) / median(time.without)
            let share = Double(kept) / Double(server.bytes)
            report.add(
                "P27", pull.rawValue, median(time.with).millis + ", \(kept / 1024) KiB",
                median(time.without).millis + ", \(server.bytes / 1024) KiB of bodies",
                "\(ratio.times) time, \(share.times) bytes", must: "≤ 1.05 ×, ≤ 0.2 ×",
                isMet: ratio <= 1.05 && share <= 0.2)
        }
    }
}
