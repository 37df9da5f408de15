// ClinicScene.swift — `tidemark demo --story clinic`: a tablet with a clinic's patients, offline
// for a day, with a server shaped like DHIS2.

import Foundation
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// Server, network and the tablet's replica.
struct ClinicScene: DemoStory {
    /// The width of a terminal, for which the story is told.
    fileprivate static let columns = 80

    private static let model = SyncModel(
        name: "clinic",
        collections: [
            CollectionModel("trackedEntityAttributes", pushes: []),
            CollectionModel("programs", pushes: []),
            CollectionModel("programStages", pushes: []),
            CollectionModel(
                "trackedEntities", idField: "trackedEntity",
                actions: [ActionRule("override", grants: .hours(2))],
                lists: [ListRule(["program": "care", "orgUnit": "hill"])],
                embeds: [EmbedRule("enrollments", "enrollments")],
                keyed: [.init("attributes", by: "attribute")]),
            CollectionModel(
                "enrollments", idField: "enrollment",
                references: [
                    Reference("trackedEntity", to: "trackedEntities", rollUp: .always)
                ], lists: [], embeds: [EmbedRule("events", "events")]),
            CollectionModel(
                "events", idField: "event",
                references: [Reference("enrollment", to: "enrollments", rollUp: .always)],
                lists: [], keyed: [.init("dataValues", by: "dataElement")]),
        ],
        pools: [SyncModel.Pool("numbers", keys: [["number"]], fill: 10)])

    private let tablet: DemoReplica
    private let network = DemoNetwork()
    private let server: Dhis2Server
    private let listener: LoopbackServer
    private let today = String(Dependencies.live.now().toTheSecond.prefix(10))

    static let further = [
        "tidemark status tablet", "tidemark why tablet trackedEntities/juma",
        "tidemark history tablet events/visit-zuri", "tidemark dump tablet -o verbose",
    ]

    init(_ folder: String) async throws {
        var model = Dhis2ServerModel(
            .v41, users: [Dhis2User(captureUnits: ["hill"], searchUnits: ["hill", "town"])])
        model.acceptsAnyID = true
        server = Dhis2Server(model, now: Dependencies.live.now)
        listener = try await LoopbackServer.start(server)
        tablet = try DemoReplica(
            "tablet", folder, Self.model,
            .dhis2(origin: listener.origin, version: Dhis2Version.v41.text), network,
            columns: Self.columns)
        for unit in ["hill", "town"] {
            server.put("organisationUnits/\(unit)", #"{"name":"\#(unit)"}"#)
        }
        server.put("trackedEntityTypes/person", #"{"name":"Person"}"#)
        server.put("trackedEntityAttributes/name", #"{"valueType":"TEXT"}"#)
        server.put(
            "trackedEntityAttributes/number",
            #"{"valueType":"TEXT","generated":true,"unique":true,"#
                + #""pattern":"\"HILL-\" + SEQUENTIAL(###)"}"#)
        server.put(
            "programs/care",
            #"{"accessLevel":"PROTECTED","organisationUnits":[{"id":"hill"},{"id":"town"}]}"#)
        server.put("dataElements/weight", #"{"valueType":"NUMBER"}"#)
        server.put(
            "programStages/visit",
            #"{"program":{"id":"care"},"repeatable":true,"#
                + #""programStageDataElements":[{"dataElement":{"id":"weight"}}]}"#)
        putPatient("amina", "hill")
        putPatient("zuri", "town")
    }

    /// A patient that somebody registered earlier, with one visit.
    private func putPatient(_ name: String, _ unit: String) {
        let visit =
            #"{"event":"visit-\#(name)-1","program":"care","programStage":"visit","#
            + #""orgUnit":"\#(unit)","occurredAt":"2026-01-05","dataValues":["#
            + #"{"dataElement":"weight","value":"60"}]}"#
        let enrollment =
            #"{"enrollment":"care-\#(name)","program":"care","orgUnit":"\#(unit)","#
            + #""enrolledAt":"2026-01-05","events":[\#(visit)]}"#
        server.put(
            "trackedEntities/\(name)",
            #"{"trackedEntityType":"person","orgUnit":"\#(unit)","attributes":["#
                + #"{"attribute":"name","value":"\#(name.capitalized)"}],"#
                + #""enrollments":[\#(enrollment)]}"#)
    }

    func end() async throws {
        try tablet.close()
        await listener.stop()
    }

    // MARK: The story

    func tell() async throws {
        try await Demo.chapter("1  Morning: the clinic's register, and numbers for new patients") {
            try await tablet.sync()
            try tablet.sayNumbers()
        }
        try await Demo.chapter("2  A day in the village, no network: each has a number at once") {
            network.isDown = true
            try tablet.edit { tx in try register("juma", enrolledAt: today, tx) }
            try tablet.edit { tx in try register("neema", enrolledAt: "2062-01-01", tx) }
            try tablet.edit { tx in try visit("amina", weight: "61.5", tx) }
            try await tablet.sync()
            network.isDown = false
        }
        try await Demo.chapter("3  Evening: trees in one request; an enrollment is refused") {
            try await tablet.sync(.push)
            try tablet.sayWhy(EntityKey("enrollments", "care-neema"))
        }
        try await Demo.chapter("4  Its date is set right: it goes up, and its visit with it") {
            try tablet.edit { tx in
                try tx.patch(
                    EntityKey("enrollments", "care-neema"),
                    Patch(settingAllOf: try document(#"{"enrolledAt":"\#(today)"}"#)))
            }
            try await tablet.sync(.push)
        }
        let zuri = EntityKey("trackedEntities", "zuri")
        let one = SyncScope.select([
            .init("trackedEntities", ["trackedEntity": "zuri", "program": "care"])
        ])
        try await Demo.chapter("5  A patient of the hospital comes by: behind glass") {
            let outcome = try await tablet.sync(one)
            for (name, failure) in outcome.failed.sorted(by: { $0.key < $1.key }) {
                tablet.say("  \(name): \(failure)")
            }
        }
        try await Demo.chapter("6  The glass is broken, with a reason: the patient is here") {
            try tablet.edit { tx in
                try tx.request(
                    "override", of: zuri, parameters: ["program": "care", "reason": "emergency"])
            }
            try await tablet.sync(.push)
            try await tablet.sync(one)
            if let until = try tablet.replica.grant("override", of: zuri) {
                tablet.say("  the server lets it be read until \(until.toTheSecond)")
            }
        }
        try await Demo.chapter("7  The glass has closed: it is broken once more for a visit") {
            try tablet.edit { tx in try visit("zuri", weight: "58", tx) }
            server.withModel { $0.endTemporaryAccess() }
            try await tablet.sync(.push)
            try tablet.sayWhy(EntityKey("events", "visit-zuri"))
        }
        try await Demo.chapter("8  The day is over: the server has what the tablet has") {
            try await tablet.sync()
            for name in ["juma", "neema"] { sayNumber(of: name) }
        }
    }

    /// A new patient with a number, an enrollment and a first visit.
    private func register(
        _ name: String, enrolledAt: String, _ tx: WriteContext
    ) throws {
        let number = try tx.take(from: "numbers", key: ["number"])
        try tx.put(
            EntityKey("trackedEntities", name),
            Array(
                (#"{"trackedEntityType":"person","orgUnit":"hill","attributes":["#
                    + #"{"attribute":"name","value":"\#(name.capitalized)"},"#
                    + #"{"attribute":"number","value":"\#(number)"}]}"#).utf8))
        try tx.put(
            EntityKey("enrollments", "care-\(name)"),
            Array(
                (#"{"trackedEntity":"\#(name)","program":"care","orgUnit":"hill","#
                    + #""status":"ACTIVE","enrolledAt":"\#(enrolledAt)"}"#).utf8))
        try visit(name, weight: "55", tx)
    }

    private func visit(
        _ name: String, weight: String, _ tx: WriteContext
    ) throws {
        try tx.put(
            EntityKey("events", "visit-\(name)"),
            Array(
                (#"{"enrollment":"care-\#(name)","program":"care","programStage":"visit","#
                    + #""orgUnit":"hill","status":"ACTIVE","occurredAt":"\#(today)","#
                    + #""dataValues":[{"dataElement":"weight","value":"\#(weight)"}]}"#).utf8))
    }

    private func document(_ json: String) throws -> JSONDocument {
        try JSONDocument(parsing: Array(json.utf8))
    }

    /// Prints a patient's number, as the server has it.
    private func sayNumber(of name: String) {
        let record = server.record("trackedEntities/\(name)").map { Array($0.utf8) } ?? []
        let values = (try? JSONValue(parsing: record))?["attributes"]?.array ?? []
        let number = values.first { $0["attribute"]?.stringValue == "number" }
        Terminal.write(
            "   server  has \(name), number \(number?["value"]?.stringValue ?? "unknown")")
    }
}

extension DemoReplica {
    /// Prints how many reserved numbers are left.
    fileprivate func sayNumbers() throws {
        let left = try replica.valuesLeft(in: "numbers", key: ["number"])
        say("  \(left) numbers are reserved for this tablet")
    }

    /// Prints why an entity is as it is.
    fileprivate func sayWhy(_ key: EntityKey) throws {
        let lines = try replica.journal.read { views in
            try EntityExplanation(EntityTarget(key), views)?.lines ?? []
        }
        for line in lines {
            let parts = EventText.wrapped("  " + line, to: ClinicScene.columns - 11)
            for part in parts { say(part) }
        }
    }
}
