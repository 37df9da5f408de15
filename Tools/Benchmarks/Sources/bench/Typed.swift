// Typed.swift — the cost of reading entities as values of the app's types.

import Foundation
import Tidemark
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

extension Run {
    /// P9: one entity by its id, and a list of 1,000; then the decoding alone.
    mutating func typed() throws {
        let items = (0..<1000).map { Item($0) }
        let path = "\(directory)/typed", grdbPath = "\(directory)/typed-grdb"
        let peer = try TidemarkPeer(path)
        try peer.insert(items[...])
        let grdb = try GRDBPeer(grdbPath)
        try grdb.insert(items[...])
        let counts = (try peer.all().count, try grdb.all().count)
        precondition(counts == (1000, 1000), "something was not written")

        var times: [String: [Double]] = [:]
        func measure(_ name: String, _ body: () throws -> Void) rethrows {
            times[name, default: []].append(try seconds(body).0)
        }
        let order = Workload.shuffled(1000).map { items[$0].id }
        for _ in 0..<options.rounds {
            for id in order {
                try measure("get") { _ = try peer.get(id) }
                try measure("grdb get") { _ = try grdb.get(id) }
            }
            for _ in 0..<20 {
                try measure("all") { _ = try peer.all() }
                try measure("grdb all") { _ = try grdb.all() }
            }
        }
        compare("typed get by id", "get", "grdb get", "GRDB", times) { $0.micros }
        compare("typed list of 1,000", "all", "grdb all", "GRDB", times) { $0.millis }

        let documents = items.map { (id: $0.id, document: $0.document) }
        let decoder = JSONDecoder()
        for _ in 0..<20 * options.rounds {
            try measure("decode") { _ = try Measuring.decode(TypedEntry.self, documents) }
            try measure("foundation") {
                for item in items {
                    _ = try decoder.decode(TimeEntry.self, from: Data(item.document))
                }
            }
        }
        compare(
            "decoding 1,000 documents", "decode", "foundation", "JSONDecoder", times, isMust: false
        ) { $0.millis }
        try peer.close()
        try grdb.close()
    }

    private mutating func compare(
        _ what: String, _ ours: String, _ theirs: String, _ peer: String,
        _ times: [String: [Double]], isMust: Bool = true, _ show: (Double) -> String
    ) {
        let (left, right) = (median(times[ours] ?? []), median(times[theirs] ?? []))
        let ratio = left / right
        report.add(
            "P9", what, show(left), "\(peer) \(show(right))", ratio.times,
            must: isMust ? "≤ 1.0 ×" : "reported", isMet: isMust ? ratio <= 1 : nil)
    }
}
