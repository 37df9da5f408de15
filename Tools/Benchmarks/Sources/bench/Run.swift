// Run.swift — the measurements, by the names of PERFORMANCE.md.

import Foundation

struct Run {
    let options: Options
    let directory: String
    var report = Report()
    private var made = 0
    /// The events written to floors.
    private var event = 0

    init(options: Options, directory: String) {
        self.options = options
        self.directory = directory
    }

    private static let batch = 1000

    private mutating func fresh(_ name: String) -> String {
        made += 1
        return "\(directory)/\(made)-\(name)"
    }

    private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// P1: the log alone, 1,000 events a commit, durable.
    mutating func append() throws {
        let count = options.count(100_000)
        let payloads = (0..<count).map { Workload.document($0) }
        var ours: [Double] = []
        var floors: [Double] = []
        for _ in 0..<options.rounds {
            let floorPath = fresh("floor")
            let floor = Floor(floorPath, trees: ["log"])
            floors.append(
                seconds {
                    for start in stride(from: 0, to: count, by: Self.batch) {
                        floor.commit { transaction in
                            for index in start..<start + Self.batch {
                                floor.put(
                                    transaction, 0, Floor.key(index + 1), payloads[index],
                                    append: true)
                            }
                        }
                    }
                }.0)
            floor.close()
            remove(floorPath)

            let path = fresh("tidemark")
            let peer = try TidemarkPeer(path)
            ours.append(
                try seconds {
                    for start in stride(from: 0, to: count, by: Self.batch) {
                        try peer.appendOnly(Array(payloads[start..<start + Self.batch]))
                    }
                }.0)
            try peer.close()
            remove(path)
        }
        let ratio = median(floors) / median(ours)
        report.add(
            "P1", "the log alone, 1,000 events a commit", (Double(count) / median(ours)).rate,
            "log floor " + (Double(count) / median(floors)).rate, ratio.times, rounds: ours,
            must: "≥ 0.5 ×",
            isMet: ratio >= 0.5)
    }

    /// P2: new rows in id order, then uniformly random updates, 1,000 a commit, durable.
    mutating func batches() throws {
        let count = options.count(100_000)
        let order = Workload.shuffled(count)
        let items = (0..<count).map { Item($0) }
        var creates: [String: [Double]] = [:]
        var updates: [String: [Double]] = [:]
        func chunks(_ body: (Int) throws -> Void) throws -> Double {
            try seconds {
                for start in stride(from: 0, to: count, by: Self.batch) { try body(start) }
            }.0
        }
        for _ in 0..<options.rounds {
            let floorPath = fresh("floor")
            let floor = Floor(floorPath, trees: ["log", "rows", "index", "outbox"])
            creates["floor", default: []].append(
                try chunks { start in
                    floor.commit { transaction in
                        for item in items[start..<start + Self.batch] {
                            floorWrite(floor, transaction, item)
                        }
                    }
                })
            updates["floor", default: []].append(
                try chunks { start in
                    floor.commit { transaction in
                        for number in order[start..<start + Self.batch] {
                            floorWrite(floor, transaction, items[number])
                        }
                    }
                })
            floor.close()
            remove(floorPath)

            let path = fresh("tidemark")
            let peer = try TidemarkPeer(path)
            creates["tidemark", default: []].append(
                try chunks { try peer.insert(items[$0..<$0 + Self.batch]) })
            updates["tidemark", default: []].append(
                try chunks { start in
                    try peer.update(
                        order[start..<start + Self.batch].map { items[$0].id }, version: 1)
                })
            try peer.close()
            remove(path)

            let grdbPath = fresh("grdb")
            let grdb = try GRDBPeer(grdbPath)
            creates["grdb", default: []].append(
                try chunks { try grdb.insert(items[$0..<$0 + Self.batch]) })
            updates["grdb", default: []].append(
                try chunks { start in
                    try grdb.update(
                        order[start..<start + Self.batch].map { items[$0].id }, version: 1)
                })
            try grdb.close()
            remove(grdbPath)
        }
        for (what, times, must) in [
            ("new rows in id order, 1,000 a commit", creates, 5.0),
            ("random updates, 1,000 a commit", updates, 1.2),
        ] {
            let ours = median(times["tidemark"] ?? [])
            let ratio = median(times["grdb"] ?? []) / ours
            let share = median(times["floor"] ?? []) / ours
            report.add(
                "P2", what, (Double(count) / ours).rate,
                "GRDB " + (Double(count) / median(times["grdb"] ?? [])).rate, ratio.times,
                rounds: times["tidemark"] ?? [], must: "≥ \(must) ×", isMet: ratio >= must)
            report.add(
                "P2", what + ", against LMDB alone", "",
                "floor " + (Double(count) / median(times["floor"] ?? [])).rate, share.times,
                must: "")
        }
    }

    private mutating func floorWrite(
        _ floor: Floor, _ transaction: OpaquePointer?, _ item: Item
    ) {
        event += 1
        let id = Array(item.id.utf8)
        let project = Floor.key(item.entry.project_id ?? 0)
        floor.put(transaction, 0, Floor.key(event), item.document, append: true)
        floor.put(transaction, 1, id, item.document, append: false)
        floor.put(transaction, 2, project + id, [1], append: false)
        floor.put(transaction, 3, Floor.key(event), id, append: false)
    }

    /// P3: one mutation a commit, durable.
    mutating func latency() throws {
        let count = max(200, Int(2000 * options.scale))
        let items = (0..<count).map { Item($0) }
        var times: [String: [Double]] = [:]
        for _ in 0..<options.rounds {
            for (name, trees) in [
                ("log floor", ["log"]), ("floor", ["log", "rows", "index", "outbox"]),
            ] {
                let path = fresh("floor")
                let floor = Floor(path, trees: trees)
                for item in items {
                    times[name, default: []].append(
                        seconds {
                            floor.commit { transaction in
                                if trees.count == 1 {
                                    event += 1
                                    floor.put(
                                        transaction, 0, Floor.key(event), item.document,
                                        append: true)
                                } else {
                                    floorWrite(floor, transaction, item)
                                }
                            }
                        }.0)
                }
                floor.close()
                remove(path)
            }
            let path = fresh("tidemark")
            let peer = try TidemarkPeer(path)
            for number in 0..<count {
                times["tidemark", default: []].append(
                    try seconds { try peer.insert(items[number..<number + 1]) }.0)
            }
            try peer.close()
            remove(path)
            let grdbPath = fresh("grdb")
            let grdb = try GRDBPeer(grdbPath)
            for number in 0..<count {
                times["grdb", default: []].append(
                    try seconds { try grdb.insert(items[number..<number + 1]) }.0)
            }
            try grdb.close()
            remove(grdbPath)
        }
        let ours = median(times["tidemark"] ?? [])
        for (name, most) in [("floor", 1.25 as Double?), ("log floor", 2.2), ("grdb", nil)] {
            let peer = median(times[name] ?? [])
            let ratio = ours / peer
            report.add(
                "P3", "one mutation a commit, durable", ours.micros,
                (name == "grdb" ? "GRDB" : name) + " " + peer.micros, ratio.times,
                rounds: times["tidemark"] ?? [], must: most.map { "≤ \($0) ×" } ?? "reported",
                isMet: most.map { ratio <= $0 })
        }
    }

    /// P3b: 64 tasks, each with one mutation at a time.
    mutating func concurrency() async throws {
        let each = max(10, Int(100 * options.scale))
        let items = (0..<64 * each).map { Item($0) }
        var ours: [Double] = []
        var grdbs: [Double] = []
        for _ in 0..<options.rounds {
            let path = fresh("tidemark")
            let peer = try TidemarkPeer(path)
            ours.append(
                try await sixtyFour(each) { number in try await peer.insertOne(items[number]) })
            try peer.close()
            remove(path)
            let grdbPath = fresh("grdb")
            let grdb = try GRDBPeer(grdbPath)
            grdbs.append(
                try await sixtyFour(each) { number in try await grdb.insertOne(items[number]) })
            try grdb.close()
            remove(grdbPath)
        }
        let ratio = median(grdbs) / median(ours)
        let count = Double(64 * each)
        report.add(
            "P3b", "64 writers, one mutation each", (count / median(ours)).rate,
            "GRDB " + (count / median(grdbs)).rate, ratio.times, rounds: ours,
            must: "≥ 5 ×", isMet: ratio >= 5)
    }

    private func sixtyFour(
        _ each: Int, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let clock = ContinuousClock()
        let began = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<64 {
                group.addTask {
                    for index in 0..<each { try await body(writer * each + index) }
                }
            }
            try await group.waitForAll()
        }
        return (clock.now - began).seconds
    }
}
