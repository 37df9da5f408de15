// Kept.swift — P27: how much slower a pull is because verbatim answers are kept.

import Foundation
import HTTPTypes
import Tidemark
import TidemarkHTTP
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

/// A server shaped like Kinto whose answers are made before the measurement.
private final class CannedServer: Transport {
    static let perPage = 500
    private let pages: [[UInt8]]

    /// - Parameter changed: one in so many entities differs from version 0.
    init(_ count: Int, version: Int = 0, changed: Int = 1) {
        pages = stride(from: 0, to: count, by: Self.perPage).map { start in
            let records = (start..<min(start + Self.perPage, count)).map { number in
                let own = number % changed == 0 ? version : 0
                let document = String(
                    decoding: Workload.document(number, version: own).dropLast(), as: UTF8.self)
                return document + #","last_modified":\#(1_000_000 + own * 1_000_000 + number)}"#
            }
            return Array((#"{"data":["# + records.joined(separator: ",") + "]}").utf8)
        }
    }

    var bytes: Int { pages.reduce(0) { $0 + $1.count } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = "Sat, 21 Nov 2026 12:00:00 GMT"
        head.headerFields[.eTag] = "\"9000000\""
        guard path.contains("/records") else {
            let collections = #"{"data":[{"id":"time_entries","last_modified":1}]}"#
            return TransportResponse(response: head, body: Array(collections.utf8))
        }
        let number = path.split(separator: "_token=").dropFirst().first.flatMap { Int($0) } ?? 0
        if number + 1 < pages.count, let name = HTTPField.Name("Next-Page") {
            head.headerFields[name] =
                "http://bench.test/v1/buckets/b/collections/time_entries/records?_token="
                + "\(number + 1)"
        }
        return TransportResponse(response: head, body: pages[number])
    }
}

extension Run {
    private enum Pull: String, CaseIterable {
        case first = "a first pull, answers kept"
        case again = "all listed again, one in 100 changed, answers kept"
    }

    /// P27: the same pulls with and without kept answers, in turn.
    mutating func kept() async throws {
        let count = options.count(100_000)
        let servers: [Pull: CannedServer] = [
            .first: CannedServer(count), .again: CannedServer(count, version: 1, changed: 100),
        ]
        var times: [Pull: (without: [Double], with: [Double])] = [:]
        var bytes: [Pull: Int] = [:]
        for _ in 0..<options.rounds {
            for isKept in [false, true] {
                let path = "\(directory)/kept-\(UUID().uuidString)"
                let remote = Remote.kinto(origin: "http://bench.test", bucket: "b")
                var model = SyncModel(
                    name: "bench", collections: [CollectionModel(TidemarkPeer.collection)])
                model.settings.answers = isKept ? .init(runs: 20, bytes: 1 << 30) : .none
                let replica = try Replica.open(at: path, model: model, remote: remote)
                for pull in Pull.allCases {
                    guard let server = servers[pull] else { continue }
                    let engine = try SyncEngine(replica, remote: remote, transport: server) {
                        .bearer("a-token-of-the-bench")
                    }
                    let before = Measuring.keptBytes(of: replica)
                    let clock = ContinuousClock()
                    let began = clock.now
                    let outcome = try await engine.sync(full: pull == .again)
                    let took = clock.now - began
                    await engine.stop()
                    guard outcome.failure == nil, outcome.counts.pulled > 0 else {
                        fatalError("\(outcome)")
                    }
                    let time =
                        Double(took.components.seconds)
                        + Double(took.components.attoseconds) / 1e18
                    if isKept {
                        times[pull, default: ([], [])].with.append(time)
                        bytes[pull] = Measuring.keptBytes(of: replica) - before
                    } else {
                        times[pull, default: ([], [])].without.append(time)
                    }
                }
                try replica.close()
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
