// Age.swift — P8 and P14: what a store costs that has become old.

import Foundation
@_spi(Measuring) import TidemarkInspect

extension Run {
    /// Changes of 100,000 entities, up to 10,000,000 events; opened at three ages.
    mutating func age() throws {
        let entities = options.count(100_000)
        let path = "\(directory)/age"
        var young: [Double] = []
        var old: [Double] = []
        var done = 0
        let ages = [min(10_000, entities), options.count(1_000_000), options.count(10_000_000)]
        for (index, age) in ages.enumerated() {
            let peer = try TidemarkPeer(path)
            var order: [Int] = []
            while done < age {
                if done % entities == 0 || order.isEmpty { order = Workload.shuffled(entities) }
                let start = done % entities
                let items = order[start..<start + 1000].map { Item($0, version: done / entities) }
                let took = try seconds { try peer.pull(items) }.0
                done += 1000
                // The same number of batches, once every entity is there.
                if done > entities, done <= 2 * entities { young.append(took) }
                if index == 2, done > age - entities { old.append(took) }
            }
            try peer.close()
            try open(path, age)
        }
        try FileManager.default.removeItem(atPath: path)
        let ratio = median(old) / median(young)
        report.add(
            "P14", "a change of \(entities) entities at \(ages[2]) events",
            (median(old) / 1000).micros, "at \(2 * entities) " + (median(young) / 1000).micros,
            ratio.times, rounds: old, must: "≤ 1.5 ×", isMet: ratio <= 1.5)
    }

    private mutating func open(_ path: String, _ events: Int) throws {
        let times = try (0..<9).map { _ in
            let (took, peer) = try seconds { try TidemarkPeer(path) }
            try peer.close()
            return took
        }
        report.add(
            "P8", "open a store of \(events) events", median(times).millis, "", "",
            rounds: times, must: "≤ 10 ms", isMet: median(times) <= 0.010)
    }
}
