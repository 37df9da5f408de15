// DhisAnswerShape.swift — recorded answers, and how a made one is compared with them.

import Foundation
import TestSupport
import TidemarkEvents
import TidemarkTesting

/// Recorded answers of real servers, where there are any.
enum DhisRecorded {
    static func value(_ file: String) throws -> JSONValue {
        let folder = RecordedAnswers.dhis2 ?? Checkout.root
        let path = folder.appending(path: "\(file).json")
        return try JSONValue(parsing: Array(try Data(contentsOf: path)))
    }
}

/// The members of a JSON value by their paths, each with the kind of its values.
struct DhisShape: Equatable {
    /// Members that the model does not have, which say nothing about a sync.
    private static let unknown: Set = [
        "attributeCategoryOptions", "assignedUser", "coordinate", "coordinates", "createdBy",
        "displayName", "href", "orgUnitName", "updatedAtAtClient", "updatedBy", "valueType",
        // Of a system's description.
        "databaseInfo", "intervalSinceLastAnalyticsTableSuccess", "jasperReportsVersion",
        "lastAnalyticsTableRuntime", "lastAnalyticsTableSuccess",
        // What a job was asked for.
        "data", "dataType",
        // Of relationships that stand for a whole object.
        "from", "to",
    ]

    private(set) var kinds: [String: Set<String>] = [:]

    init(_ values: [JSONValue]) {
        for value in values { add(value, "") }
    }

    private mutating func add(_ value: JSONValue, _ path: String) {
        if let object = value.object {
            kinds[path, default: []].insert("object")
            for (key, value) in object where !Self.unknown.contains(key) {
                add(value, path + "." + key)
            }
        } else if let list = value.array {
            kinds[path, default: []].insert("list")
            for item in list { add(item, path + "[]") }
        } else {
            kinds[path, default: []].insert(Self.kind(value))
        }
    }

    private static func kind(_ value: JSONValue) -> String {
        if value.stringValue != nil { return "text" }
        if value.boolValue != nil { return "bool" }
        return value == .null ? "null" : "number"
    }

    /// What is recorded and not made: paths with their kinds.
    func missing(in made: DhisShape) -> [String] {
        kinds.keys.sorted().flatMap { path in
            (kinds[path] ?? []).subtracting(made.kinds[path] ?? []).subtracting(["null"]).sorted()
                .map { "\(path) \($0)" }
        }
    }
}

/// The metadata to which a recorded object refers, and all that stands at relationships' ends.
struct DhisReferences {
    private static let lists = [
        "orgUnit": "organisationUnits", "ownerOrgUnit": "organisationUnits",
        "program": "programs", "programStage": "programStages",
        "trackedEntityType": "trackedEntityTypes", "attribute": "trackedEntityAttributes",
        "dataElement": "dataElements", "relationshipType": "relationshipTypes",
    ]

    private(set) var ids: [String: Set<String>] = [:]
    /// Objects at the ends of relationships, as `events/a`.
    private(set) var ends: Set<String> = []

    mutating func collect(_ value: JSONValue) {
        for item in value.array ?? [] { collect(item) }
        for (key, value) in value.object ?? JSONObject() {
            if let list = Self.lists[key], let id = value.stringValue {
                ids[list, default: []].insert(id)
            }
            if key == "from" || key == "to" { addEnd(value) }
            collect(value)
        }
    }

    private mutating func addEnd(_ value: JSONValue) {
        for (member, list) in [
            ("trackedEntity", "trackedEntities"), ("trackedEntityInstance", "trackedEntities"),
            ("enrollment", "enrollments"), ("event", "events"),
        ] {
            if let id = value.at(member, member)?.stringValue { ends.insert("\(list)/\(id)") }
        }
    }

    /// Puts all of them, so that nothing is refused for what it refers to.
    func put(into world: DhisWorld, hasEnrollments: Bool) {
        let units = (ids["organisationUnits"] ?? []).sorted()
        for unit in units {
            world.put("organisationUnits/\(unit)", #"{"parent":{"id":"unitHere001"}}"#)
        }
        let list = units.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
        let type = hasEnrollments ? "WITH_REGISTRATION" : "WITHOUT_REGISTRATION"
        for program in (ids["programs"] ?? []).sorted() {
            world.put(
                "programs/\(program)",
                #"{"programType":"\#(type)","organisationUnits":[\#(list)]}"#)
        }
        for name in [
            "programStages", "trackedEntityTypes", "trackedEntityAttributes", "dataElements",
            "relationshipTypes",
        ] {
            for id in (ids[name] ?? []).sorted() { world.put("\(name)/\(id)", #"{"name":"n"}"#) }
        }
        for end in ends.sorted() {
            world.put(
                end,
                """
                {"trackedEntityType":"\(ids["trackedEntityTypes"]?.min() ?? "typePers001")",
                 "orgUnit":"unitHere001"}
                """)
        }
    }
}
