// DhisMade.swift — answers of the model, made to be compared with recorded ones.

import HTTPTypes
import TidemarkEvents
import TidemarkTesting

enum DhisMade {
    private static func oldPerson(_ name: String, _ values: String) -> String {
        """
        {"trackedEntityInstances":[{"trackedEntityInstance":"tra\(name)",
         "trackedEntityType":"typePers001","orgUnit":"unitHere001",
         "enrollments":[{"enrollment":"enr\(name)","program":"progOpen001",
          "orgUnit":"unitHere001","enrollmentDate":"2026-11-01",
          "events":[{"event":"eve\(name)","program":"progOpen001",
           "programStage":"stagOpen001","orgUnit":"unitHere001","eventDate":"2026-11-02",
           "dataValues":[\(values)]}]}]}]}
        """
    }

    private static let wrong = #"{"dataElement":"elemBool001","value":"x"}"#

    /// Of imports by the old API, of every outcome.
    static func oldImports() throws -> [JSONValue] {
        let world = DhisWorld(.v37)
        let event = """
            {"enrollment":"enrPerson1x","program":"progOpen001","programStage":"stagOpen001",
             "orgUnit":"unitHere001","eventDate":"2026-11-02"
            """
        let relationship = """
            {"relationships":[{"relationship":"relPerson12","relationshipType":"relaType001",
             "from":{"trackedEntityInstance":{"trackedEntityInstance":"traPerson1x"}},
             "to":{"event":{"event":"evePerson1x"}}}]}
            """
        return [
            try world.value(
                .post, "/trackedEntityInstances?strategy=SYNC", oldPerson("Person1x", "")),
            try world.value(
                .post, "/trackedEntityInstances?strategy=SYNC", oldPerson("Person2x", wrong)),
            try world.value(.post, "/events?strategy=SYNC", #"{"events":[\#(event)}]}"#),
            try world.value(
                .post, "/events?strategy=SYNC",
                #"{"events":[\#(event),"dataValues":[\#(wrong)]},{"orgUnit":"a"}]}"#),
            try world.value(
                .post, "/trackedEntityInstances?strategy=SYNC",
                #"{"trackedEntityInstances":[{"trackedEntityInstance":"traPerson9x","#
                    + #""deleted":true}]}"#),
            try world.value(.post, "/relationships", relationship),
            try world.value(.post, "/relationships", relationship),
            try world.value(.delete, "/relationships/relPerson12"),
        ]
    }

    /// Of imports by the new API: whole, in part, and refused.
    static func reports() throws -> [JSONValue] {
        let world = DhisWorld()
        world.putPerson("Person1x")
        let other = DhisWorld.person("Person2x")
        let bad = #"{"trackedEntity":"traPerson3x","orgUnit":"a","trackedEntityType":"b"}"#
        return [
            try world.imported(
                """
                {"trackedEntities":[\(other)],"enrollments":[\(DhisWorld.enrollment("Person2x"))],
                 "events":[\(DhisWorld.event("Person2x"))],"relationships":[{
                  "relationshipType":"relaType001","from":{"trackedEntity":"traPerson2x"},
                  "to":{"event":"evePerson2x"}}]}
                """),
            try world.imported(#"{"trackedEntities":[\#(other),\#(bad)]}"#),
            try world.imported(#"{"trackedEntities":[\#(bad)]}"#),
        ]
    }

    static func jobs() throws -> [(String, [JSONValue])] {
        let world = DhisWorld()
        let answer = try world.value(.post, "/tracker", "{}")
        let id = answer.at("response", "id")?.stringValue ?? ""
        let messages = try world.value(.get, "/tracker/jobs/\(id)")
        return [
            ("imports/tracker-importer/job_response", [answer]),
            ("imports/tracker-importer/job_response_completed", [messages]),
            ("tracker/importer/jobinfo", messages.array ?? []),
        ]
    }

    /// Of requests for what somebody else owns.
    static func refusals() throws -> [(String, [JSONValue])] {
        let folder = "trackedentity/glass/"
        let refusal = { (version: Dhis2Version, program: String) in
            let world = DhisWorld(version)
            world.putPerson("Person1x", program: program, unit: "unitAway001")
            world.put(
                "trackedEntities/PgmUFEQYZdt",
                """
                {"trackedEntityType":"typePers001","orgUnit":"unitAway001","enrollments":[{
                 "enrollment":"enrPerson9x","program":"\(program)","orgUnit":"unitAway001"}]}
                """)
            return [
                try world.value(.get, "/tracker/trackedEntities/PgmUFEQYZdt?program=\(program)")
            ]
        }
        let world = DhisWorld()
        world.putPerson("Person1x", program: "progProt001", unit: "unitAway001")
        let granted = try world.value(
            .post,
            "/tracker/ownership/override?trackedEntity=traPerson1x&program=progProt001&reason=a")
        return [
            (folder + "break_glass_successful", [granted]),
            (folder + "closed_program_failure", try refusal(.v40, "progClos001")),
            (folder + "glass_protected_tei_failure", try refusal(.v40, "progProt001")),
            (folder + "glass_protected_tei_failure_403", try refusal(.v41, "progProt001")),
            (folder + "glass_v42_not_found", try refusal(.v42, "progProt001")),
        ]
    }

    /// Of the system, of reserved values, and parts of tracker objects.
    static func others() throws -> [(String, [JSONValue])] {
        let world = DhisWorld()
        world.putPerson("Person1x")
        world.put(
            "relationships/relPerson12",
            """
            {"relationshipType":"relaType001","from":{"trackedEntity":"traPerson1x"},
             "to":{"event":"evePerson1x"}}
            """)
        let whole = try world.value(.get, "/tracker/trackedEntities/traPerson1x?fields=*")
        let old = try world.value(.get, "/trackedEntityInstances/traPerson1x?fields=*")
        let event = whole.at("enrollments", 0, "events", 0)
        return [
            ("systeminfo/system_info", [try world.value(.get, "/system/info")]),
            (
                "trackedentity/tracked_entity_attribute_reserved_values",
                [
                    try world.value(
                        .get, "/trackedEntityAttributes/attrCode001/generateAndReserve")
                ]
            ),
            (
                "trackedentity/new_tracker_importer_tracked_entity_attribute_value",
                whole["attributes"]?.array ?? []
            ),
            (
                "trackedentity/new_tracker_importer_tracked_entity_data_value",
                event?["dataValues"]?.array ?? []
            ),
            ("trackedentity/ownership/program_owner", old["programOwners"]?.array ?? []),
            ("relationship/new_relationship", whole["relationships"]?.array ?? []),
            ("relationship/relationship_30", old["relationships"]?.array ?? []),
        ]
    }

    static func dataValues() throws -> [(String, [JSONValue])] {
        let world = DhisWorld()
        let value = { (value: String) in
            #"{"dataElement":"elemNumb001","period":"202611","orgUnit":"unitHere001","#
                + #""comment":"c","value":"\#(value)"}"#
        }
        let post = { (values: String) in
            try world.value(
                .post, "/dataValueSets",
                #"{"dataSet":"dataSett001","completeDate":"2026-11-18","period":"202611","#
                    + #""orgUnit":"unitHere001","dataValues":[\#(values)]}"#)
        }
        let success = try post(value("3"))
        let warning = try post(value("x"))
        let get = { (query: String) in
            try world.value(.get, "/dataValueSets?dataSet=dataSett001&orgUnit=unitHere001&" + query)
        }
        let single = try get("period=202611")
        let several = try get("period=202611&period=202612")
        let empty = try get("period=202612")
        let none = try get("period=202612&period=202613")
        _ = try world.value(
            .post, "/dataValueSets?importStrategy=DELETE", #"{"dataValues":[\#(value("3"))]}"#)
        let deleted = try get("period=202611&includeDeleted=true")
        return [
            ("datavalueset/data_value_set_success", [success]),
            ("imports/data_value_import_summary_web_response", [success]),
            ("datavalueset/data_value_set_warning", [warning]),
            ("imports/import_conflict", try conflict(world)),
            ("datavalue/data_value", deleted["dataValues"]?.array ?? []),
            ("datavalue/data_values_single_period", [single]),
            ("datavalue/data_values_only_common_fields", [empty]),
            ("datavalue/data_values_empty", [none]),
            ("datavalue/data_values_monthly", [several]),
            ("datavalue/data_values_weekly", [several]),
            ("datavalue/data_values_BfMAe6Itzgt", [several]),
            ("datavalue/data_values_TaMAefItzgt", [several]),
            ("datavalue/data_values_lyLU2wR22tC", [several]),
        ]
    }

    /// A conflict of several values; what it is about is told by element and value.
    private static func conflict(_ world: DhisWorld) throws -> [JSONValue] {
        let value =
            #"{"dataElement":"elemNumb001","period":"202611","orgUnit":"unitHere001","#
            + #""value":"x"}"#
        let answer = try world.value(
            .post, "/dataValueSets", #"{"dataValues":[\#(value),\#(value)]}"#)
        return answer.at("response", "conflicts")?.array ?? []
    }
}
