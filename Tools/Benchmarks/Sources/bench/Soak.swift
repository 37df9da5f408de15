// Soak.swift — a store that lives long: changes of the same entities for a million events, while
// old ones are sealed and dropped, with a sync run's tidying after every few commits.

import Foundation
import Tidemark
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

extension Run {
    /// The size of the file beside what it keeps, and whether readers or descriptors are left over.
    mutating func soak() throws {
        let events = options.count(1_000_000)
        let entities = options.count(20_000)
        let path = "\(directory)/soak"
        var model = SyncModel(
            name: "bench",
            collections: [CollectionModel(TidemarkPeer.collection, indexes: [["project_id"]])])
        model.settings.keep = .bytes(1 << 20)
        let replica = try Replica.open(at: path, model: model)
        var order: [Int] = []
        var most = 0
        let before = Self.descriptors
        for start in stride(from: 0, to: events, by: 1000) {
            if start % entities == 0 { order = Workload.shuffled(entities) }
            let some = order[start % entities..<start % entities + 1000]
            let version = start / entities
            try Measuring.pull(
                some.map { (Workload.id($0), Workload.document($0, version: version)) },
                of: TidemarkPeer.collection, into: replica)
            if start % 5_000 == 0 {
                Measuring.tidy(replica)
                _ = try replica.read { try $0.document(EntityKey(TidemarkPeer.collection, "x")) }
                most = max(most, try fileBytes(path))
            }
        }
        let after = Self.descriptors
        let (_, lag) = try Measuring.space(of: replica)
        let result = try Measuring.verify(replica)
        precondition(result.isFine, "the store does not verify after the soak")
        let log = try Measuring.log(of: replica)
        try replica.close()
        let size = try fileBytes(path)
        let again = try Replica.open(at: path, model: model)
        let (used, _) = try Measuring.space(of: again)
        try again.close()
        let shrunk = try Replica.shrink(at: path).bytesAfter
        try FileManager.default.removeItem(atPath: path)
        let ratio = Double(size) / Double(used)
        report.add(
            "soak", "\(events) events of \(entities) entities, \(log.events) of them kept",
            "\(size / 1_000_000) MB, at most \(most / 1_000_000)",
            "\(used / 1_000_000) MB in use", ratio.times, must: "≤ 1.3 ×", isMet: ratio <= 1.3)
        let least = Double(shrunk) / Double(used)
        report.add(
            "soak", "the same after Replica.shrink", "\(shrunk / 1_000_000) MB", "", least.times,
            must: "≤ 1.3 ×", isMet: least <= 1.3)
        report.add(
            "soak", "descriptors left over, and commits that a reader is behind",
            "\(after - before), \(lag)", "", "", must: "0, 0",
            isMet: after <= before && lag == 0)
    }

    private func fileBytes(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/data.mdb")
        return attributes[.size] as? Int ?? 0
    }

    /// How many descriptors the process has open.
    private static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
}
