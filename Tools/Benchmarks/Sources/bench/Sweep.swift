// Sweep.swift — P21: a sweep that finds nothing to remove.

import Foundation
import Tidemark
@_spi(Measuring) import TidemarkInspect

extension Run {
    /// P21: a sweep of 10,000 files, each named by an entity, and what it logs.
    mutating func sweep() throws {
        let count = options.count(10_000)
        let path = directory + "/sweep"
        var collection = CollectionModel(TidemarkPeer.collection)
        // Each of them is looked at.
        collection.contents = [.init("photo", unwanted: .days(7), quotaBytes: 1 << 40)]
        let replica = try Replica.open(
            at: path, model: SyncModel(name: "bench", collections: [collection]))
        let source = directory + "/photo"
        for start in stride(from: 0, to: count, by: 1000) {
            let names = try (start..<start + 1000).map { number in
                try Data("photo \(number)".utf8).write(to: URL(filePath: source))
                return try replica.importFile(at: source)
            }
            try replica.write { tx in
                for (index, name) in names.enumerated() {
                    guard case .file(let digest, let bytes) = name else { continue }
                    let document = #"{"photo":{"sha256":"\#(digest)","bytes":\#(bytes)}}"#
                    try tx.create(
                        EntityKey(TidemarkPeer.collection, "\(start + index)"),
                        Array(document.utf8))
                }
            }
        }
        let before = try Measuring.log(of: replica).commits
        var times: [Double] = []
        for _ in 0..<options.rounds {
            let (time, removed) = try seconds { try Measuring.sweep(replica) }
            guard removed == 0 else { fatalError("\(removed) files were removed") }
            times.append(time)
        }
        let commits = try Measuring.log(of: replica).commits - before
        report.add(
            "P21", "a sweep of \(count) files, nothing to do", median(times).millis, "",
            "\(commits) commits", rounds: times, must: "≤ 50 ms, ≤ 1 commit",
            isMet: median(times) <= 0.05 && commits <= options.rounds)
        try replica.close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: source)
    }
}
