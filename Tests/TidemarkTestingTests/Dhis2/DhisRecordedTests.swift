// DhisRecordedTests.swift — recorded answers of DHIS2: what is in them, the model answers too.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite(.enabled(if: RecordedAnswers.dhis2 != nil, "\(RecordedAnswers.missing)"))
struct `recorded answers of DHIS2` {
    // MARK: Tracker objects, which are imported and asked for

    @Test(arguments: [
        "trackedentity/new_tracker_importer_tracked_entities",
        "trackedentity/new_tracker_importer_tracked_entities_lower_v41",
        "trackedentity/new_tracker_importer_tracked_entity_collection",
        "trackedentity/new_tracker_importer_tracked_entity_with_relationship",
        "event/new_tracker_importer_events", "event/new_tracker_importer_events_1",
        "event/new_tracker_importer_events_lower_v41",
        "event/new_tracker_importer_events_with_uids",
        "event/new_tracker_importer_two_events_first_good_second_wrong_foreign_key",
        "trackedentity/new_tracker_importer_tracked_entities_empty",
    ])
    func `of 2.40 are listed again as they are`(file: String) throws {
        try compare(file, .v40, "instances")
    }

    @Test(arguments: [
        (
            "trackedentity/new_tracker_importer_tracked_entities_greater_equal_v41",
            "trackedEntities"
        ),
        ("event/new_tracker_importer_events_greater_equal_v41", "events"),
    ])
    func `of 2.41 are listed again as they are`(file: String, list: String) throws {
        try compare(file, .v41, list)
    }

    @Test(arguments: [
        ("trackedentity/tracked_entity_instances", "trackedEntityInstances"),
        ("trackedentity/tracked_entity_instances_with_relationship", "trackedEntityInstances"),
        ("event/events", "events"), ("event/events_1", "events"),
        ("event/events_1_with_removed_data_values", "events"),
        ("event/events_with_uids", "events"),
    ])
    func `of the old API are listed again as they are`(file: String, list: String) throws {
        try compare(file, .v37, list)
    }

    @Test(arguments: [
        ("trackedentity/new_tracker_importer_tracked_entity", Dhis2Version.v40),
        ("trackedentity/new_tracker_importer_tracked_entity_with_removed_data_single", .v40),
        ("trackedentity/glass/glass_v42_tei_without_program", .v42),
        ("trackedentity/tracked_entity_instance_single", .v37),
        ("trackedentity/tracked_entity_instance_with_removed_data_single", .v37),
        ("trackedentity/glass/glass_v42_tei_without_program_old", .v37),
    ])
    func `of one tracked entity are answered again`(file: String, version: Dhis2Version) throws {
        let recorded = try DhisRecorded.value(file)
        let world = DhisWorld(version)
        let list = version == .v37 ? "trackedEntityInstances" : "trackedEntities"
        try load([recorded], list, into: world)
        let id =
            recorded["trackedEntity"]?.stringValue
            ?? recorded["trackedEntityInstance"]?.stringValue ?? ""
        let place = version == .v37 ? "" : "/tracker"
        let made = try world.value(.get, "\(place)/\(list)/\(id)?fields=*&includeDeleted=true")

        #expect(DhisShape([recorded]).missing(in: DhisShape([made])) == [])
    }

    /// Imports what is recorded, and compares the list of it.
    private func compare(_ file: String, _ version: Dhis2Version, _ list: String) throws {
        let recorded = try DhisRecorded.value(file)
        let objects = recorded[list]?.array ?? []
        let world = DhisWorld(version)
        let isEvent = file.hasPrefix("event/")
        let kind =
            isEvent ? "events" : version == .v37 ? "trackedEntityInstances" : "trackedEntities"
        try load(objects, kind, into: world)
        let member =
            isEvent ? "event" : version == .v37 ? "trackedEntityInstance" : "trackedEntity"
        let ids = objects.compactMap { $0[member]?.stringValue }
        let filter = ids.isEmpty ? "trackedEntityType=typePers001&" : ""
        let place = version == .v37 ? "" : "/tracker"
        let query =
            "\(filter)\(member)=\(ids.joined(separator: ";"))&ouMode=ACCESSIBLE&fields=*"
            + "&includeDeleted=true&includeAllAttributes=true"
            + (recorded.at("pager", "total") == .none ? "" : "&totalPages=true")
        let made = try world.value(.get, "\(place)/\(kind)?\(query)")

        // An event of a program without registration has no tracked entity on a real server.
        let missing = DhisShape([recorded]).missing(in: DhisShape([made]))
        #expect(missing.filter { !isEvent || !$0.hasSuffix("trackedEntityInstance text") } == [])
        #expect(made[list]?.array?.count == objects.count)
        for object in objects {
            let same = made[list]?.array?.first { $0[member] == object[member] }
            try expectSame(object, same ?? .null)
        }
    }

    /// The members that the server does not work out have the recorded values.
    private func expectSame(_ recorded: JSONValue, _ made: JSONValue) throws {
        for member in [
            "orgUnit", "program", "programStage", "status", "trackedEntityType", "eventDate",
            "occurredAt", "dueDate", "scheduledAt", "geometry", "completedAt", "completedDate",
        ] where recorded[member] != .none {
            // What is not completed was not completed at a time.
            if member.hasPrefix("completed"), recorded["status"] != "COMPLETED" { continue }
            #expect(made[member] == recorded[member], "\(member)")
        }
        for (list, key) in [("dataValues", "dataElement"), ("attributes", "attribute")] {
            for value in recorded[list]?.array ?? [] where value["value"] != "" {
                let same = made[list]?.array?.first { $0[key] == value[key] }
                #expect(same?["value"] == value["value"])
            }
        }
    }

    /// Imports objects by the API of the version, with what they refer to.
    private func load(_ objects: [JSONValue], _ list: String, into world: DhisWorld) throws {
        world.model.acceptsAnyID = true
        world.model.users[0].isSuperuser = true
        var references = DhisReferences()
        for object in objects { references.collect(object) }
        references.put(into: world, hasEnrollments: list != "events")
        let isOld = world.model.version == .v37
        let payload = JSONValue.object([list: .array(objects.map(live))]).description
        let answer =
            try isOld
            ? world.value(.post, "/\(list)?strategy=CREATE_AND_UPDATE", payload)
            : world.imported(payload)
        let status = answer["status"]?.stringValue
        // A relationship stands at both its ends, and is there already at the second one.
        #expect(["OK", "WARNING"].contains(status), "\(answer)")
        for object in objects { putOwners(object, into: world) }
    }

    /// Owners stay when the enrollments are not to be seen.
    private func putOwners(_ object: JSONValue, into world: DhisWorld) {
        let id = object["trackedEntity"] ?? object["trackedEntityInstance"]
        guard let id = id?.stringValue, let owners = object["programOwners"]?.array else { return }
        let list = owners.map { owner -> JSONValue in
            let unit = owner["orgUnit"] ?? owner["ownerOrgUnit"] ?? .null
            return ["program": owner["program"] ?? .null, "orgUnit": unit]
        }
        world.put("trackedEntities/\(id)", #"{"programOwners":\#(JSONValue.array(list))}"#)
    }

    /// An object as a client sends it: dates in the past are kept, deletions are not imported.
    private func live(_ object: JSONValue) -> JSONValue {
        guard var members = object.object else { return object }
        members["deleted"] = nil
        return .object(members)
    }

    // MARK: What answers to writes and refusals

    @Test func `of imports by the old API have no member that the model's have not`() throws {
        let made = DhisShape(try DhisMade.oldImports())
        for file in [
            "web_response", "web_response_with_empty_events",
            "web_response_with_event_import_conflicts",
            "web_response_with_event_import_conflicts2", "web_response_with_import_conflicts",
            "web_response_with_import_conflicts_2", "web_response_with_import_conflicts_3",
            "tracker-importer/event-conflict-old", "tracker-importer/event-ok-old",
            "tracker-importer/tei-old", "relationship_web_response",
            "relationship_web_response_with_errors", "relationship_delete_web_response",
        ] {
            let recorded = DhisShape([try DhisRecorded.value("imports/" + file)])
            let missing = recorded.missing(in: made)
            // Some versions repeat the options in each summary.
            #expect(
                missing.filter { !$0.contains("importSummaries[].importOptions") } == [], "\(file)")
        }
    }

    @Test func `of parts of summaries have no member that the model's have not`() throws {
        let answers = try DhisMade.oldImports()
        let summaries = answers.flatMap {
            $0.at("response", "importSummaries")?.array ?? []
        }
        let enrollments = summaries.compactMap { $0["enrollments"] }
        let events = enrollments.flatMap { $0["importSummaries"]?.array ?? [] }
            .compactMap { $0["events"] }
        let options = answers.compactMap { $0.at("response", "importOptions") }
            .map { JSONValue.object(["importOptions": $0]) }

        for (file, values) in [
            ("import_summaries", answers.compactMap { $0["response"] }),
            ("import_enrollment", enrollments), ("import_event", events),
            ("import_count", summaries.compactMap { $0["importCount"] }),
            ("import_summary_with_event_conflicts", summaries + options),
            ("import_summary_with_tei_conflicts", summaries + options),
        ] {
            let recorded = DhisShape([try DhisRecorded.value("imports/" + file)])
            #expect(recorded.missing(in: DhisShape(values)) == [], "\(file)")
        }
    }

    @Test func `of the new importer have no member that the model's have not`() throws {
        let made = DhisShape(try DhisMade.reports())
        for file in [
            "imports/tracker-importer/event-conflict-new", "imports/tracker-importer/event-ok-new",
            "imports/tracker-importer/tei-new",
            "imports/tracker-importer/tei-with-enrollment-error-new",
            "imports/web_response_with_event_import_conflicts2_new",
            "imports/web_response_with_event_import_conflicts_new",
            "tracker/importer/jobreport-error", "tracker/importer/jobreport-success",
        ] {
            let recorded = DhisShape([try DhisRecorded.value(file)])
            #expect(recorded.missing(in: made) == [], "\(file)")
        }
    }

    @Test func `of jobs and of refusals are the model's`() throws {
        for (file, made) in try DhisMade.jobs() + DhisMade.refusals() + DhisMade.others() {
            let recorded = DhisShape([try DhisRecorded.value(file)])
            #expect(recorded.missing(in: DhisShape(made)) == [], "\(file)")
        }
    }

    @Test func `of refusals have the words and the status of the model's`() throws {
        for (file, made) in try DhisMade.refusals() {
            let recorded = try DhisRecorded.value(file)
            for member in ["httpStatus", "httpStatusCode", "status", "message", "errorCode"] {
                #expect(made.first?[member] == recorded[member], "\(file): \(member)")
            }
        }
    }

    @Test func `of data values have no member that the model's have not`() throws {
        for (file, made) in try DhisMade.dataValues() {
            let recorded = DhisShape([try DhisRecorded.value(file)])
            #expect(recorded.missing(in: DhisShape(made)) == [], "\(file)")
        }
    }
}
