// Dhis2World.swift — a server that behaves like DHIS2 and two tablets, by chance from a seed: trees
// are made, changed, deleted and wiped, answers and jobs are lost, processes die.

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
    private let made = SyncCounter()

    /// The model: trees of the program `P1`, elements told by their keys, all below goes along.
    static let model = SyncModel(
        name: "clinic",
        collections: [
            CollectionModel(
                "trackedEntities", idField: "trackedEntity",
                lists: [ListRule(["program": "P1", "orgUnit": "O1"])],
                embeds: [EmbedRule("enrollments", "enrollments")],
                keyed: [.init("attributes", by: "attribute")]),
            CollectionModel(
                "enrollments", idField: "enrollment",
                references: [
                    Reference(
                        "trackedEntity", to: "trackedEntities", rollUp: .always, onDelete: .cascade)
                ], lists: [], embeds: [EmbedRule("events", "events")]),
            CollectionModel(
                "events", idField: "event",
                references: [
                    Reference(
                        "enrollment", to: "enrollments", rollUp: .always, onDelete: .cascade)
                ], lists: [], keyed: [.init("dataValues", by: "dataElement")]),
            CollectionModel("trackedEntityAttributes", pushes: [], lists: []),
        ], pools: [SyncModel.Pool(numbers, keys: [[number]], fill: 8)],
        settings: SyncSettings(fullPullEvery: .zero, batchSize: 200))

    /// The pool, and the attribute of which it holds values.
    private static let (numbers, number) = ("numbers", "A1")

    init(seed: UInt64) throws {
        self.seed = seed
        random = SyncRandom(seed: seed)
        var model = Dhis2ServerModel(
            random.pick([.v40, .v41, .v42]), users: [Dhis2User(isSuperuser: true)],
            hoursAheadOfUTC: random.below(4))
        model.acceptsAnyID = true
        model.jobPolls = random.below(3)
        let server = Dhis2Server(model, clock: clock)
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
        for element in ["D1", "D2"] {
            server.put("dataElements/\(element)", #"{"valueType":"INTEGER"}"#)
        }
        let clock = clock
        devices = try (1...2).map { number in
            try Dhis2Device(
                "tablet \(number)", of: server, over: server, model: Self.model,
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

    private func newID(_ letter: String) -> String { "\(letter)\(made.count())" }

    private func edit(_ device: Dhis2Device) throws {
        let entities = try device.keys("trackedEntities")
        let enrollments = try device.keys("enrollments")
        let events = try device.keys("events")
        do {
            switch random.below(entities.isEmpty ? 1 : 12) {
            case 0...1: try register(device)
            case 2...5 where !enrollments.isEmpty:
                for _ in 0...random.below(4) { try visit(device, random.pick(enrollments)) }
            case 6...7 where !events.isEmpty: try measure(device, random.pick(events))
            case 8 where !enrollments.isEmpty:
                try device.patch(
                    "enrollments/\(random.pick(enrollments))",
                    "{\"followUp\":\(random.chance(50))}")
            case 9:
                try device.patch(
                    "trackedEntities/\(random.pick(entities))",
                    "{\"inactive\":\(random.chance(50))}")
            case 10 where !events.isEmpty: try device.delete("events/\(random.pick(events))")
            case 11 where random.chance(40):
                try device.delete("trackedEntities/\(random.pick(entities))")
            case 11 where !enrollments.isEmpty:
                try device.delete("enrollments/\(random.pick(enrollments))")
            default: break
            }
        } catch let error as TidemarkError where error.code == .notFound {
            // What it is about went with something else.
        }
    }

    private func register(_ device: Dhis2Device) throws {
        let (entity, enrollment) = (newID("T"), newID("E"))
        try device.replica.write { tx in
            // Without a value left the entity has no number.
            let key = [Self.number]
            let value = try? tx.take(from: Self.numbers, key: key)
            let attributes = value.map {
                #","attributes":[{"attribute":"\#(Self.number)","value":"\#($0)"}]"#
            }
            let json = #"{"trackedEntityType":"Person","orgUnit":"O1"\#(attributes ?? "")}"#
            _ = try tx.create(try device.key("trackedEntities/\(entity)"), Array(json.utf8))
        }
        // A value for a form that nobody sends.
        if random.chance(10) {
            _ = try? device.replica.take(from: Self.numbers, key: [Self.number])
        }
        try device.create(
            "enrollments/\(enrollment)",
            """
            {"trackedEntity":"\(entity)","program":"P1","orgUnit":"O1","status":"ACTIVE",
             "enrolledAt":"2026-01-01T00:00:00.000"}
            """)
        for _ in 0..<random.below(5) { try visit(device, enrollment) }
    }

    private func visit(_ device: Dhis2Device, _ enrollment: String) throws {
        try device.create(
            "events/\(newID("V"))",
            """
            {"enrollment":"\(enrollment)","program":"P1","programStage":"S1","orgUnit":"O1",
             "status":"ACTIVE","occurredAt":"2026-01-02T00:00:00.000",
             "dataValues":[{"dataElement":"D1","value":"\(random.below(90))"}]}
            """)
    }

    /// Takes a value; now and then one that the server refuses.
    private func measure(_ device: Dhis2Device, _ event: String) throws {
        let element = random.pick(["D1", "D2"])
        let value = random.chance(10) ? "five" : "\(random.below(90))"
        let patch = Patch(
            set: [
                Patch.Field(
                    "/dataValues/\(element)",
                    Array(#"{"dataElement":"\#(element)","value":"\#(value)"}"#.utf8))
            ])
        try device.replica.write { tx in _ = try tx.patch(try device.key("events/\(event)"), patch)
        }
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
            _ = try await device.sync(random.pick([.all, .all, .push]))
        }
        if random.chance(10) { server.loseJobs() }
        server.faults = FaultPlan()
    }

    // MARK: The end

    /// Syncs until nothing waits; what the server refuses is given up.
    private func settle() async throws {
        for _ in 0..<12 {
            clock.advance(by: .seconds(90_000))
            var isSettled = true
            for device in devices {
                let outcome = try await device.sync(.all)
                for issue in try device.replica.issues() where issue.kind == .rejected {
                    try device.replica.answer(issue.id, .discard)
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
        for collection in Self.model.collections {
            let there = server.records(in: collection.name)
            let here = try device.documents(collection.name)
            for id in Set(there.keys).union(here.keys).sorted() {
                let (one, other) = (try Self.gist(there[id]), try Self.gist(here[id]))
                guard one != other else { continue }
                // What no list of the program shows need not be here.
                if here[id] == nil, !isListed(id, collection.name) { continue }
                let text = here[id] ?? there[id] ?? ""
                let above = try JSONValue(parsing: Array(text.utf8)).object
                let parents = ["enrollment", "trackedEntity"].compactMap {
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
    /// don't.
    private func isListed(_ id: String, _ collection: CollectionName) -> Bool {
        guard collection.rawValue == "trackedEntities" else { return true }
        return server.records(in: "enrollments").values.contains {
            $0.contains("\"trackedEntity\":\"\(id)\"")
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
        let fields = ["status", "followUp", "inactive"].compactMap { name -> String? in
            // What is false may be left out.
            guard let value = object[name], value != .bool(false) else { return nil }
            return "\(name)=\(value)"
        }
        return (fields + values.sorted()).joined(separator: " ")
    }
}
