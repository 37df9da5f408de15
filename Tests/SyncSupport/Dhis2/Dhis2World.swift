// Dhis2World.swift — a server that behaves like DHIS2 and two tablets, by chance from a seed.
//
// Trees, links between them and aggregate values are made, changed, deleted, relayed and wiped,
// answers and jobs are lost, processes die. What users do: Dhis2World+Edits.swift; what is synced:
// Dhis2World+Model.swift.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

extension Dhis2Server: DeviceServer {
    typealias Wire = Dhis2Server

    var remote: Remote {
        .dhis2(origin: "http://dhis2.test/demo", version: withModel { $0.version.text })
    }
}

typealias Dhis2Device = Device<Dhis2Server>

/// What did not hold, with the seed that shows it.
struct Dhis2Failure: Error, CustomStringConvertible {
    var description: String
}

/// A server and two tablets.
final class Dhis2World: Sendable {
    let seed: UInt64
    let random: SyncRandom
    let clock = ManualClock()
    let server: Dhis2Server
    let devices: [Dhis2Device]
    let model: SyncModel
    /// What things are called by the server's version.
    let words: Dhis2WorldWords
    let made = SyncCounter()

    init(seed: UInt64) throws {
        self.seed = seed
        random = SyncRandom(seed: seed)
        var its = Dhis2ServerModel(
            random.pick([.v37, .v40, .v41, .v42]),
            users: [Dhis2User(captureUnits: ["O1"], isSuperuser: true)],
            hoursAheadOfUTC: random.below(4))
        its.acceptsAnyID = true
        its.jobPolls = random.below(3)
        let server = Dhis2Server(its, clock: clock)
        words = its.version == .v37 ? .old : .new
        let model = Self.model(listsByDocuments: seed % 2 == 1, words)
        self.model = model
        self.server = server
        server.put("organisationUnits/O1", #"{"name":"Clinic"}"#)
        server.put("trackedEntityTypes/Person", #"{"name":"Person"}"#)
        server.put(
            "programs/P1",
            #"{"accessLevel":"OPEN","organisationUnits":[{"id":"O1"}]}"#)
        server.put("programStages/S1", #"{"program":{"id":"P1"},"repeatable":true}"#)
        server.put(
            "trackedEntityAttributes/\(Self.number)",
            """
            {"generated":true,"unique":true,"valueType":"TEXT","pattern":"RANDOM(####)"}
            """)
        server.put("relationshipTypes/Sibling", #"{"bidirectional":true}"#)
        server.put("relationshipTypes/Mother", #"{"bidirectional":false}"#)
        for element in ["D1", "D2"] {
            server.put("dataElements/\(element)", #"{"valueType":"INTEGER"}"#)
        }
        server.put(
            "dataSets/\(Self.dataSet)",
            """
            {"periodType":"Monthly","organisationUnits":[{"id":"O1"}],
             "dataSetElements":[{"dataElement":{"id":"D1"}},{"dataElement":{"id":"D2"}}]}
            """)
        let clock = clock
        devices = try (1...2).map { number in
            try Dhis2Device(
                "tablet \(number)", of: server, over: server, model: model,
                dependencies: .seeded(seed &* 10 + UInt64(number), clock: clock),
                removesStore: true)
        }
    }

    // MARK: What happens

    func run(steps: Int) async throws {
        for _ in 0..<steps {
            let device = random.pick(devices)
            switch random.below(10) {
            case 0...5: for _ in 0...random.below(6) { try edit(device) }
            case 6...8: try await sync(device)
            case 9 where random.chance(15):
                try checkValues()
                try await device.replica.wipe(keeping: [], discardingPending: true)
            default: clock.advance(by: .seconds(random.pick([1, 60, 3_600, 40_000])))
            }
        }
        try await settle()
        for device in devices { try check(device) }
        try checkValues()
    }

    private func sync(_ device: Dhis2Device) async throws {
        var rules: [FaultRule] = []
        if random.chance(50) {
            let action: FaultAction = random.pick([
                .offline, .dropBeforeHandling, .dropAfterHandling, .dropAfterHandling,
                .answer(status: 500), .answer(status: 503), .answer(status: 502),
            ])
            let first = 1 + random.below(5)
            rules.append(FaultRule(action, occurrences: first...first + random.below(2)))
        }
        server.faults = FaultPlan(rules)
        if random.chance(15) {
            _ = try await device.run(dyingAfter: random.below(6))
            try device.restart()
        } else {
            let overwrites = random.chance(4)
            _ = try await device.engine.sync(
                .userRequested, scope: random.pick([.all, .all, .push]), overwriting: overwrites)
        }
        if random.chance(10) { server.loseJobs() }
        server.faults = FaultPlan()
    }

    // MARK: The end

    /// Syncs until nothing waits; what the server refuses is given up.
    ///
    /// So are links that it does not take, which it never refuses. The lists are of everything: a
    /// link is no change of what it leads to.
    private func settle() async throws {
        for _ in 0..<12 {
            clock.advance(by: .seconds(90_000))
            var isSettled = true
            for device in devices {
                let outcome = try await device.engine.sync(.userRequested, full: true)
                for issue in try device.replica.issues() {
                    if issue.kind == .rejected {
                        try await device.replica.answer(issue.id, .discard)
                    } else if issue.kind == .warned, let key = issue.key,
                        key.collection == "relationships"
                    {
                        try device.discard(key.description)
                        isSettled = false
                    }
                }
                if outcome.pending > 0 || outcome.refused > 0 || outcome.counts.pulled > 0 {
                    isSettled = false
                }
            }
            if isSettled { return }
        }
        let waiting = try devices.flatMap { device in
            try device.replica.journal.read { views in
                try views.outbox(all: false).map {
                    "\(device.name): \($0.position) \($0.mutation.key) \($0.word)"
                }
            }
        }
        throw Dhis2Failure(
            description: "seed \(seed): not settled: \(waiting.joined(separator: "; "))")
    }

    /// What a device has is what the server has, and its store is whole.
    private func check(_ device: Dhis2Device) throws {
        for collection in model.collections where !collection.pushes.isEmpty {
            let there = records(in: collection.name)
            let here = try device.documents(collection.name)
            for id in Set(there.keys).union(here.keys).sorted() {
                let (one, other) = (try Self.gist(there[id]), try Self.gist(here[id]))
                guard one != other else { continue }
                // What no list of the program shows need not be here, and a part of it may be old.
                let status = try device.status("\(collection.name)/\(id)")
                if here[id] == nil || status == .stub, try !isListed(id, collection.name) {
                    continue
                }
                let text = here[id] ?? there[id] ?? ""
                let above = try JSONValue(parsing: Array(text.utf8)).object
                let parents = ["enrollment", words.trackedEntity].compactMap {
                    above?[$0]?.stringValue
                }
                let ids = [id] + parents
                let history = try device.dump().filter { line in
                    ids.contains { line.contains("\"entity\":\"\($0)\"") }
                }.suffix(14).map { "  \($0.prefix(260))" }
                throw Dhis2Failure(
                    description: "seed \(seed), \(device.name): \(collection.name)/\(id) is "
                        + "\(other ?? "nothing") here and \(one ?? "nothing") there\n"
                        + history.joined(separator: "\n"))
            }
        }
        try checkMutations(device)
        let found = try device.replica.journal.verify(.deep).findings
        guard found.isEmpty else {
            throw Dhis2Failure(description: "seed \(seed), \(device.name): \(found)")
        }
    }

    /// Whether the lists of the program show an entity of the server: what is in no enrollment they
    /// don't, and no link between two such ones.
    private func isListed(_ id: String, _ collection: CollectionName) throws -> Bool {
        let enrolled = server.records(in: "enrollments").values
        switch collection.rawValue {
        case "trackedEntities":
            return enrolled.contains { $0.contains("\"trackedEntity\":\"\(id)\"") }
        case "relationships":
            guard let text = server.records(in: "relationships")[id] else { return true }
            let link = try JSONDocument(parsing: Array(text.utf8))
            let ends = Self.ends(.new).flatMap { reference in
                link.ids(in: reference.field).map { (reference.collection, $0) }
            }
            return try ends.contains { collection, id in
                try collection != "trackedEntities" || isListed(id, collection)
            }
        default: return true
        }
    }

    /// What both sides must agree on.
    private static func gist(_ text: String?) throws -> String? {
        guard let text else { return nil }
        let object = try JSONValue(parsing: Array(text.utf8)).object ?? JSONObject()
        let values = (object["dataValues"]?.array ?? []).compactMap { item -> String? in
            guard let element = item["dataElement"]?.stringValue,
                let value = item["value"]?.stringValue
            else { return nil }
            return "\(element)=\(value)"
        }
        let fields = ["status", "followUp", "followup", "inactive", "value"].compactMap {
            name -> String? in
            // What is false may be left out.
            guard let value = object[name], value != .bool(false) else { return nil }
            return "\(name.lowercased())=\(value)"
        }
        return (fields + values.sorted()).joined(separator: " ")
    }
}
