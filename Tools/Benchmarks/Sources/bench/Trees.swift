// Trees.swift — P16 to P19: entities in trees as DHIS2 has them, its reports, and the values that
// it reserves.

import Foundation
import HTTPTypes
import Synchronization
import Tidemark
import TidemarkHTTP
import TidemarkSync

/// What JSONDecoder makes of a page of trees.
private struct TreePage: Decodable {
    struct Value: Decodable {
        var dataElement: String
        var value: String
    }
    struct Event: Decodable {
        var event: String
        var enrollment: String
        var program: String
        var programStage: String
        var orgUnit: String
        var status: String
        var occurredAt: String
        var updatedAt: String
        var dataValues: [Value]
    }
    struct Enrollment: Decodable {
        var enrollment: String
        var trackedEntity: String
        var program: String
        var orgUnit: String
        var status: String
        var enrolledAt: String
        var updatedAt: String
        var events: [Event]
    }
    struct Attribute: Decodable {
        var attribute: String
        var value: String
    }
    struct Tracked: Decodable {
        var trackedEntity: String
        var trackedEntityType: String
        var orgUnit: String
        var updatedAt: String
        var attributes: [Attribute]
        var enrollments: [Enrollment]
    }
    var trackedEntities: [Tracked]
}

/// Trees, as pages of a list, made before the measurement.
private enum Trees {
    static let perPage = 50
    private static let time = "2026-11-02T09:45:00.000"

    /// An id of eleven characters.
    static func id(_ kind: Character, _ number: Int) -> String {
        let digits = String(number)
        return String(kind) + String(repeating: "0", count: 10 - digits.count) + digits
    }

    /// A page of trees, each with so many enrollments of so many events.
    static func page(_ numbers: Range<Int>, enrollments: Int, events: Int) -> [UInt8] {
        let trees = numbers.map { tree($0, enrollments: enrollments, events: events) }
        return Array(
            (#"{"pager":{"page":1,"pageSize":\#(perPage)},"trackedEntities":["#
                + trees.joined(separator: ",") + "]}").utf8)
    }

    static func tracked(_ number: Int) -> String {
        #"{"trackedEntity":"\#(id("t", number))","trackedEntityType":"nEenWmSyUEp","#
            + #""orgUnit":"DiszpKrYNg8","updatedAt":"\#(time)","#
            + #""attributes":[{"attribute":"w75KJ2mc4zz","value":"Name \#(number)"},"#
            + #"{"attribute":"zDhUuAYrxNC","value":"Family \#(number % 97)"}]"#
    }

    private static func tree(_ number: Int, enrollments: Int, events: Int) -> String {
        let parts = (0..<enrollments).map { part in
            let own = number * enrollments + part
            let below = (0..<events).map { event(own * events + $0, of: own) }
            return #"{"enrollment":"\#(id("e", own))","trackedEntity":"\#(id("t", number))","#
                + #""program":"IpHINAT79UW","orgUnit":"DiszpKrYNg8","status":"ACTIVE","#
                + #""enrolledAt":"\#(time)","updatedAt":"\#(time)","#
                + #""events":["# + below.joined(separator: ",") + "]}"
        }
        return tracked(number) + #","enrollments":["# + parts.joined(separator: ",") + "]}"
    }

    private static func event(_ number: Int, of enrollment: Int) -> String {
        let values = (0..<5).map {
            #"{"dataElement":"\#(id("d", $0))","value":"\#(number % 1000 + $0)"}"#
        }
        return #"{"event":"\#(id("v", number))","enrollment":"\#(id("e", enrollment))","#
            + #""program":"IpHINAT79UW","programStage":"A03MvHHogjR","orgUnit":"DiszpKrYNg8","#
            + #""status":"ACTIVE","occurredAt":"\#(time)","updatedAt":"\#(time)","#
            + #""dataValues":["# + values.joined(separator: ",") + "]}"
    }

    static func model(pools: [SyncModel.Pool] = []) -> SyncModel {
        func below(_ field: String, _ collection: CollectionName) -> [Reference] {
            [Reference(field, to: collection, rollUp: .always)]
        }
        return SyncModel(
            name: "trees",
            collections: [
                CollectionModel(
                    "trackedEntities", idField: "trackedEntity",
                    lists: [.init(["program": "IpHINAT79UW", "orgUnit": "DiszpKrYNg8"])],
                    embeds: [.init("enrollments", "enrollments")],
                    keyed: [.init("attributes", by: "attribute")]),
                CollectionModel(
                    "enrollments", idField: "enrollment",
                    references: below("trackedEntity", "trackedEntities"), lists: [],
                    embeds: [.init("events", "events")]),
                CollectionModel(
                    "events", idField: "event", references: below("enrollment", "enrollments"),
                    lists: [], keyed: [.init("dataValues", by: "dataElement")]),
            ], pools: pools)
    }
}

/// A server shaped like DHIS2 that gives pages which were made before, accepts whatever it is sent,
/// and reserves any number of values.
private final class TreeServer: Transport {
    private let pages: [[UInt8]]
    private let date = ServerDate()
    /// What it says of the entities that were sent, and when it said so.
    private let reports = Mutex((bodies: [[UInt8]](), at: ContinuousClock.now))

    init(_ pages: [[UInt8]] = []) { self.pages = pages }

    /// The last report, when it was given, and how many there were.
    var lastReport: (body: [UInt8], at: ContinuousClock.Instant, count: Int) {
        reports.withLock { ($0.bodies.last ?? [], $0.at, $0.bodies.count) }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.date] = date.text
        let query = URLComponents(string: request.path ?? "")?.queryItems ?? []
        func number(_ name: String) -> Int {
            query.first { $0.name == name }?.value.flatMap { Int($0) } ?? 0
        }
        if request.method == .post {
            let report = Self.report(on: body ?? [])
            reports.withLock {
                $0.bodies.append(report)
                $0.at = .now
            }
            return TransportResponse(response: head, body: report)
        }
        let count = number("numberToReserve")
        if count > 0 {
            let values = (0..<count).map {
                #"{"ownerUid":"w75KJ2mc4zz","key":"RANDOM(#####)","value":"\#(10_000 + $0)","#
                    + #""expiryDate":"2999-01-01T00:00:00.000"}"#
            }
            let list = "[" + values.joined(separator: ",") + "]"
            return TransportResponse(response: head, body: Array(list.utf8))
        }
        let page = number("page")
        let body =
            pages.indices.contains(page - 1)
            ? pages[page - 1] : Trees.page(0..<0, enrollments: 0, events: 0)
        return TransportResponse(response: head, body: body)
    }

    /// All of what was sent was imported.
    private static func report(on body: [UInt8]) -> [UInt8] {
        let sent = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        let entities = sent?["trackedEntities"] as? [[String: Any]] ?? []
        let objects = entities.compactMap { $0["trackedEntity"] as? String }.map {
            #"{"trackerType":"TRACKED_ENTITY","uid":"\#($0)","index":0,"errorReports":[]}"#
        }
        let list = objects.joined(separator: ",")
        var text = #"{"status":"OK","validationReport":{"errorReports":[],"warningReports":[]},"#
        text += #""stats":{"created":\#(objects.count),"total":\#(objects.count)},"#
        text += #""bundleReport":{"typeReportMap":{"TRACKED_ENTITY":"#
        text += #"{"trackerType":"TRACKED_ENTITY","objectReports":[\#(list)]}}}}"#
        return Array(text.utf8)
    }
}

extension Run {
    private static var remote: Remote { .dhis2(origin: "http://bench.test", version: "2.41") }

    private func sync(_ replica: Replica, _ server: TreeServer) async throws -> SyncOutcome {
        let engine = try SyncEngine(replica, remote: Self.remote, transport: server) {
            .bearer("a-token-of-the-bench")
        }
        let outcome = try await engine.sync()
        await engine.stop()
        guard outcome.failure == nil else { fatalError("\(outcome)") }
        return outcome
    }

    private func treeReplica(
        _ path: String, pools: [SyncModel.Pool] = [], batchSize: Int = SyncSettings().batchSize
    ) throws -> Replica {
        var model = Trees.model(pools: pools)
        model.settings.batchSize = batchSize
        return try Replica.open(at: path, model: model, remote: Self.remote)
    }

    /// P16: 1,000 trees of 1 entity, 2 enrollments and 20 events, from the bytes of their pages.
    mutating func trees() async throws {
        let count = options.count(1000)
        let pages = stride(from: 0, to: count, by: Trees.perPage).map {
            Trees.page($0..<$0 + Trees.perPage, enrollments: 2, events: 10)
        }
        let server = TreeServer(pages)
        var (ours, peers): ([Double], [Double]) = ([], [])
        for _ in 0..<options.rounds {
            let path = "\(directory)/trees"
            let replica = try treeReplica(path)
            let (took, outcome) = try await seconds { try await sync(replica, server) }
            guard outcome.counts.pulled == count * 23 else { fatalError("\(outcome)") }
            ours.append(took)
            try await replica.close()
            try FileManager.default.removeItem(atPath: path)
            let decoder = JSONDecoder()
            peers.append(
                try seconds {
                    for page in pages {
                        _ = try decoder.decode(TreePage.self, from: Data(page))
                    }
                }.0)
        }
        let ratio = median(ours) / median(peers)
        report.add(
            "P16", "a first pull of \(count) trees of 23 entities", median(ours).millis,
            "JSONDecoder " + median(peers).millis, ratio.times, rounds: ours, must: "≤ 3 ×",
            isMet: ratio <= 3)
    }

    /// P17 and P19: an edit of a clean leaf three levels down, and a reserved value taken; each in
    /// turn with a mutation of P3.
    mutating func leaves() async throws {
        let count = max(100, Int(1000 * options.scale)) / 20 * 20
        let many = 10_000
        let small = TreeServer(
            stride(from: 0, to: count / 20, by: Trees.perPage).map {
                Trees.page($0..<$0 + Trees.perPage, enrollments: 2, events: 10)
            })
        let large = TreeServer([Trees.page(0..<1, enrollments: 1, events: many)])
        let pools = [SyncModel.Pool("numbers", keys: [["w75KJ2mc4zz"]], fill: count)]
        let inTrees = try treeReplica("\(directory)/leaves")
        let inOne = try treeReplica("\(directory)/leaves-of-one", pools: pools)
        _ = try await sync(inTrees, small)
        _ = try await sync(inOne, large)
        let peer = try TidemarkPeer("\(directory)/leaves-peer")
        let items = (0..<count).map { Item($0) }
        var times: [String: (took: [Double], pages: [Double])] = [:]
        func measure(_ name: String, _ body: () throws -> Void) throws {
            let before = Self.bytesWritten()
            let took = try seconds(body).0
            times[name, default: ([], [])].took.append(took)
            times[name, default: ([], [])].pages.append(Double(Self.bytesWritten() - before) / 4096)
        }
        func edit(_ replica: Replica, _ number: Int) throws {
            let patch = Patch(set: [Patch.Field("status", Array(#""COMPLETED""#.utf8))])
            try replica.write { tx in
                try tx.patch(EntityKey("events", Trees.id("v", number)), patch)
            }
        }
        let order = Workload.shuffled(many)
        for number in 0..<count {
            try measure("P3") { try peer.insert(items[number..<number + 1]) }
            try measure("leaf") { try edit(inTrees, number) }
            try measure("leaf of many") { try edit(inOne, order[number]) }
            try measure("take") { _ = try inOne.take(from: "numbers", key: ["w75KJ2mc4zz"]) }
        }
        for replica in [inTrees, inOne] { try await replica.close() }
        try peer.close()
        for name in ["leaves", "leaves-of-one", "leaves-peer"] {
            try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
        }
        let one = times["P3"] ?? ([], [])
        for (id, name, what, most) in [
            ("P17", "leaf", "an edit of a clean leaf three levels down", 1.25),
            ("P17", "leaf of many", "the same in a tree of \(many)", 1.25),
            ("P19", "take", "a reserved value taken", 1.1),
        ] {
            let own = times[name] ?? ([], [])
            let ratio = median(own.took) / median(one.took)
            report.add(
                id, what + String(format: ", %.1f pages written", median(own.pages)),
                median(own.took).micros,
                "P3 " + median(one.took).micros + String(format: ", %.1f pages", median(one.pages)),
                ratio.times, rounds: own.took, must: "≤ \(most) ×", isMet: ratio <= most)
        }
    }

    /// How many bytes this process gave the disk so far.
    private static func bytesWritten() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("wchar:") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// P18: what reports on 500 entities each lead to, from the bytes of a report to the end
    /// of the run; GRDB does the same by hand.
    mutating func reports() async throws {
        let each = 500
        let path = "\(directory)/reports"
        let replica = try treeReplica(path, batchSize: each)
        let peer = try ReportPeer("\(directory)/reports-peer")
        let server = TreeServer()
        var (ours, peers): ([Double], [Double]) = ([], [])
        for round in 0..<max(2, options.count(10_000) / each) {
            let numbers = round * each..<(round + 1) * each
            try await replica.write { tx in
                for number in numbers {
                    _ = try tx.create(
                        EntityKey("trackedEntities", Trees.id("t", number)),
                        Array((Trees.tracked(number) + "}").utf8))
                }
            }
            try peer.insert(numbers.map { (Trees.id("t", $0), Trees.tracked($0) + "}") })
            let outcome = try await sync(replica, server)
            let end = ContinuousClock.now
            // All of them go in one request.
            guard outcome.counts.pushed == each, server.lastReport.count == round + 1 else {
                fatalError("\(server.lastReport.count) reports, \(outcome)")
            }
            ours.append((end - server.lastReport.at).seconds)
            peers.append(try seconds { try peer.settle(server.lastReport.body) }.0)
        }
        try await replica.close()
        try peer.close()
        for name in ["reports", "reports-peer"] {
            try FileManager.default.removeItem(atPath: "\(directory)/\(name)")
        }
        let ratio = median(ours) / median(peers)
        report.add(
            "P18", "a report on \(each) entities settled, with the end of its run",
            median(ours).millis, "GRDB " + median(peers).millis, ratio.times, rounds: ours,
            must: "≤ 1.0 ×", isMet: ratio <= 1)
    }
}
