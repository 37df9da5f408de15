// Large.swift — the cost of a long log: rebuilding, dumping and verifying it.

import Foundation
@_spi(Measuring) import TidemarkInspect

extension Run {
    /// P4, P6, P7: 1,000,000 events of 100,000 entities, as a server sends them.
    mutating func large() throws {
        let events = options.count(1_000_000)
        let entities = options.count(100_000)
        let path = "\(directory)/large"
        let peer = try TidemarkPeer(path)
        // Every entity once, then changes of all entities in random order.
        var order = Array(0..<entities)
        var version = 0
        for start in stride(from: 0, to: events, by: 1000) {
            if start % entities == 0, start > 0 {
                version += 1
                order = Workload.shuffled(entities)
            }
            try peer.pull(
                order[start % entities..<start % entities + 1000].map {
                    Item($0, version: version)
                })
        }

        if options.wants("P4") { try rebuild(peer, events, entities) }
        if options.wants("P6") {
            var bytes = 0
            let times = try (0..<options.rounds).map { _ in
                try seconds { bytes = try Measuring.dump(peer.replica) }.0
            }
            let rate = Double(events) / median(times)
            report.add(
                "P6", "dump -o json of \(events) events", rate.rate,
                "\(Int(Double(bytes) / median(times) / 1e6)) MB/s", "", rounds: times,
                must: "≥ 300 k/s", isMet: rate >= 300_000)
        }
        if options.wants("P7") {
            try verify(peer, "verify in full", must: 400)
        }
        if options.wants("P10") { try seal(peer, events) }
        try peer.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private mutating func verify(
        _ peer: TidemarkPeer, _ what: String, must: Double?
    ) throws {
        var bytes: UInt64 = 0
        let times = try (0..<options.rounds).map { _ in
            try seconds {
                let result = try Measuring.verify(peer.replica)
                precondition(result.isFine, "the store does not verify")
                bytes = result.bytes
            }.0
        }
        let rate = Double(bytes) / median(times) / 1e6
        report.add(
            "P7", what, "\(Int(rate)) MB/s", "", "", rounds: times,
            must: must.map { "≥ \(Int($0)) MB/s" } ?? "reported", isMet: must.map { rate >= $0 })
    }

    private mutating func seal(_ peer: TidemarkPeer, _ events: Int) throws {
        let blocks = try Measuring.blocks(of: peer.replica)
        let (alone, _) = try seconds { try Measuring.compress(blocks) }
        let (took, sealed) = try seconds { try Measuring.seal(peer.replica) }
        let (part, speed) = (Double(sealed.stored) / Double(sealed.bytes), alone / took)
        report.add(
            "P10", "sealing \(events) events: size", String(format: "%.3f", part), "", "",
            must: "≤ 0.16", isMet: part <= 0.16)
        report.add(
            "P10", "sealing, rows and flushes with it",
            "\(Int(Double(sealed.bytes) / took / 1e6)) MB/s",
            "zstd \(Int(Double(sealed.bytes) / alone / 1e6)) MB/s",
            String(format: "%.2f ×", speed), must: "≥ 0.8 ×", isMet: speed >= 0.8)
        // Far apart, so that no block is met twice while it is kept.
        let places = (1...200).map { UInt64($0 * 7919 % (events - 1)) + 1 }
        let times = try places.map { place in
            try seconds { try Measuring.event(at: place, of: peer.replica) }.0
        }
        report.add(
            "P10", "reading one sealed event", median(times).micros, "", "", must: "≤ 1 ms",
            isMet: median(times) <= 0.001)
        try verify(peer, "verify in full, sealed", must: nil)
        let (folding, _) = try seconds { try Measuring.rebuild(peer.replica) }
        report.add(
            "P4", "rebuild from sealed events", (Double(events) / folding).rate, "", "",
            must: "reported")
    }

    private mutating func rebuild(_ peer: TidemarkPeer, _ events: Int, _ entities: Int) throws {
        let times = try (0..<options.rounds).map { _ in
            try seconds { _ = try Measuring.rebuild(peer.replica) }.0
        }
        let rate = Double(events) / median(times)
        // The peer refills a tenth of it: its cost grows at least as fast as the number of changes.
        let some = max(1000, events / 10)
        let grdbPath = "\(directory)/refill"
        let grdb = try GRDBPeer(grdbPath)
        for start in stride(from: 0, to: some, by: 1000) {
            try grdb.fillChanges(
                (start..<start + 1000).map { Item($0 % max(1, entities / 10)) })
        }
        let (took, refilled) = try seconds { try grdb.refill() }
        try grdb.close()
        try? FileManager.default.removeItem(atPath: grdbPath)
        let peerRate = Double(refilled) / took
        report.add(
            "P4", "rebuild from \(events) events", rate.rate, "GRDB " + peerRate.rate,
            (rate / peerRate).times, rounds: times, must: "≥ 500 k/s, ≥ 10 ×",
            isMet: rate >= 500_000 && rate >= 10 * peerRate)
    }
}
