// DhisOldImportTests.swift — the importers of the old API and their summaries.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `the old importers of a server like DHIS2` {
    private let world = DhisWorld(.v37)

    private func event(_ id: String, _ members: String = "") -> String {
        """
        {"event":"\(id)","enrollment":"enrPerson1x","program":"progOpen001",
         "programStage":"stagOpen001","orgUnit":"unitHere001","eventDate":"2026-11-02"\(members)}
        """
    }

    private func person(_ members: String = "", events: String = "") -> String {
        """
        {"trackedEntityInstances":[{"trackedEntityInstance":"traPerson1x",
         "trackedEntityType":"typePers001","orgUnit":"unitHere001"\(members),
         "enrollments":[{"enrollment":"enrPerson1x","trackedEntityInstance":"traPerson1x",
          "program":"progOpen001","orgUnit":"unitHere001","enrollmentDate":"2026-11-01",
          "incidentDate":"2026-11-01","events":[\(events)]}]}]}
        """
    }

    private func post(_ list: String, _ strategy: String, _ body: String) throws -> JSONValue {
        try world.value(.post, "/\(list)?strategy=\(strategy)", body)
    }

    @Test func `create a tree, with a summary for each object in that of its parent`() throws {
        let answer = try post(
            "trackedEntityInstances", "SYNC", person(events: event("evePerson1x")))
        let first = answer.at("response", "importSummaries", 0)

        #expect(answer["httpStatusCode"] == 200 && answer["status"] == "OK")
        #expect(answer["message"] == "Import was successful.")
        #expect(answer.at("response", "responseType") == "ImportSummaries")
        #expect(answer.at("response", "importOptions", "importStrategy") == "SYNC")
        #expect(answer.at("response", "imported") == 1 && answer.at("response", "total") == 1)
        #expect(first?["reference"] == "traPerson1x")
        #expect(first?["importCount"] == ["imported": 1, "updated": 0, "ignored": 0, "deleted": 0])
        let enrollment = first?.at("enrollments", "importSummaries", 0)
        #expect(enrollment?["reference"] == "enrPerson1x")
        #expect(enrollment?.at("events", "importSummaries", 0, "reference") == "evePerson1x")
        #expect(
            try world.value(.get, "/events/evePerson1x")["trackedEntityInstance"]
                == "traPerson1x")
    }

    @Test func `an error of what is in an object is not its own`() throws {
        let wrong = #","dataValues":[{"dataElement":"elemBool001","value":"x"}]"#
        let answer = try post(
            "trackedEntityInstances", "SYNC", person(events: event("evePerson1x", wrong)))
        let enrollments = answer.at("response", "importSummaries", 0, "enrollments")
        let events = enrollments?.at("importSummaries", 0, "events")

        #expect(answer["httpStatusCode"] == 200)
        #expect(answer.at("response", "status") == "SUCCESS")
        #expect(enrollments?["status"] == "SUCCESS" && events?["status"] == "ERROR")
        #expect(
            events?.at("importSummaries", 0, "conflicts")
                == [["object": "elemBool001", "value": "value_not_bool"]])
        #expect(events?["ignored"] == 1)
        #expect(world.server.record("events/evePerson1x") == nil)
    }

    @Test func `an error of an object keeps out what is in it, and is 409`() throws {
        let value = #","attributes":[{"attribute":"attrNumb001","value":"x"}]"#
        let answer = world.answer(
            .post, "/trackedEntityInstances?strategy=SYNC", person(value))
        let summary = try JSONValue(parsing: answer.body).at("response", "importSummaries", 0)

        #expect(answer.status == 409)
        #expect(summary?["status"] == "ERROR" && summary?["enrollments"] == .none)
        #expect(
            summary?.at("conflicts", 0) == [
                "object": "Attribute.value",
                "value": "Value 'x' is not an integer for attribute attrNumb001",
            ])
        #expect(world.server.record("enrollments/enrPerson1x") == nil)
    }

    @Test func `the others of a request are imported`() throws {
        world.putPerson("Person1x")
        let bad = event("evePerson3x").replacing("unitHere001", with: "unitRoom001")
        let answer = try post(
            "events", "SYNC", #"{"events":[\#(event("evePerson2x")),\#(bad)]}"#)

        #expect(answer["httpStatusCode"] == 409)
        #expect(answer["message"] == "An error occurred, please check import summary.")
        #expect(answer.at("response", "imported") == 1 && answer.at("response", "ignored") == 1)
        #expect(
            answer.at("response", "importSummaries", 1, "description")
                == "Program is not assigned to this Organisation Unit: unitRoom001")
        #expect(world.server.record("events/evePerson2x") != nil)
    }

    @Test func `a warning is told, and lets the object in`() throws {
        world.putPerson("Person1x")
        world.model.valueRules = [
            Dhis2ValueRule(element: "elemText001", severity: .warning, message: "is odd")
        ]
        let odd = #","dataValues":[{"dataElement":"elemText001","value":"odd"}]"#
        let answer = try post("events", "SYNC", #"{"events":[\#(event("evePerson2x", odd))]}"#)

        #expect(answer["httpStatusCode"] == 409 && answer["status"] == "WARNING")
        #expect(answer.at("response", "importSummaries", 0, "importCount", "imported") == 1)
        #expect(world.server.record("events/evePerson2x") != nil)
    }

    @Test func `delete what is marked when they synchronise, and nothing else`() throws {
        world.putPerson("Person1x")
        let answer = try post(
            "events", "SYNC",
            #"{"events":[\#(event("evePerson1x", #","deleted":true"#)),\#(event("evePerson2x"))]}"#)

        #expect(answer.at("response", "deleted") == 1 && answer.at("response", "imported") == 1)
        #expect(world.server.record("events/evePerson1x") == nil)
        #expect(world.server.record("events/evePerson2x") != nil)
    }

    @Test func `deleting what is not there succeeds, without a reference`() throws {
        let answer = try post(
            "trackedEntityInstances", "SYNC", person(#","deleted":true"#))
        let summary = answer.at("response", "importSummaries", 0)

        #expect(answer["httpStatusCode"] == 200 && summary?["status"] == "SUCCESS")
        #expect(summary?["reference"] == .none)
        #expect(
            summary?["description"]?.stringValue
                == "Tracked entity instance traPerson1x cannot be deleted as it is not present "
                + "in the system")
    }

    @Test func `replace the values of an event, and keep attributes that are not given`() throws {
        world.putPerson("Person1x")
        let value = #","dataValues":[{"dataElement":"elemNumb001","value":"3"}]"#
        _ = try post("events", "SYNC", #"{"events":[\#(event("evePerson1x", value))]}"#)
        _ = try post(
            "trackedEntityInstances", "SYNC",
            person(#","attributes":[{"attribute":"attrCode001","value":"9"}]"#))

        let event = try world.value(.get, "/events/evePerson1x")
        let person = try world.value(.get, "/trackedEntityInstances/traPerson1x")
        #expect(event["dataValues"]?.array?.map { $0["dataElement"] } == ["elemNumb001"])
        #expect(
            person["attributes"]?.array?.map { $0["attribute"] } == ["attrName001", "attrCode001"])
    }

    @Test(arguments: ["null", "\"\""])
    func `remove an attribute whose value is empty`(_ value: String) throws {
        world.putPerson("Person1x")
        _ = try post(
            "trackedEntityInstances", "SYNC",
            person(#","attributes":[{"attribute":"attrName001","value":\#(value)}]"#))

        let person = try world.value(.get, "/trackedEntityInstances/traPerson1x")
        #expect(person["attributes"]?.array?.isEmpty != false)
    }

    @Test func `replace a program's attributes of one that is written alone`() throws {
        world.putPerson("Person1x")
        func ids(_ program: String, _ given: String) throws -> [JSONValue?]? {
            let body = """
                {"trackedEntityType":"typePers001","orgUnit":"unitHere001","attributes":[\(given)]}
                """
            _ = try world.value(
                .put, "/trackedEntityInstances/traPerson1x?program=\(program)", body)
            let whole = try world.value(
                .get, "/trackedEntityInstances/traPerson1x?program=progOpen001")
            return whole["attributes"]?.array?.map { $0["attribute"] }
        }
        let number = #"{"attribute":"attrNumb001","value":"7"}"#

        #expect(try ids("progOpen001", number) == ["attrName001", "attrNumb001"])
        #expect(try ids("progEvnt001", "") == ["attrName001", "attrNumb001"])
        #expect(try ids("progOpen001", "") == ["attrName001"])
    }

    @Test func `change and delete single objects`() throws {
        world.putPerson("Person1x")
        let changed = try world.value(
            .put, "/events/evePerson1x", event("evePerson1x", #","status":"COMPLETED""#))
        let deleted = try world.value(.delete, "/events/evePerson1x")

        #expect(changed.at("response", "responseType") == "ImportSummary")
        #expect(changed.at("response", "importCount", "updated") == 1)
        #expect(
            deleted.at("response", "description")
                == "Deletion of event evePerson1x was successful")
        #expect(deleted.at("response", "importCount", "deleted") == 1)
        #expect(world.answer(.put, "/events/evePerson9x", event("evePerson9x")).status == 409)
    }

    @Test func `find the enrollment of an event by its tracked entity`() throws {
        world.putPerson("Person1x")
        _ = try world.value(
            .post, "/events",
            """
            {"event":"evePerson2x","trackedEntityInstance":"traPerson1x","program":"progOpen001",
             "programStage":"stagOpen001","orgUnit":"unitHere001","eventDate":"2026-11-02"}
            """)

        #expect(try world.value(.get, "/events/evePerson2x")["enrollment"] == "enrPerson1x")
    }

    @Test func `create relationships once, and delete them by their address`() throws {
        world.putPerson("Person1x")
        let body = """
            {"relationships":[{"relationship":"relPerson12","relationshipType":"relaType001",
             "from":{"trackedEntityInstance":{"trackedEntityInstance":"traPerson1x"}},
             "to":{"event":{"event":"evePerson1x"}}}]}
            """
        let first = try world.value(.post, "/relationships", body)
        let second = try world.value(.post, "/relationships", body)
        let list = try world.value(.get, "/relationships?tei=traPerson1x")
        let deleted = world.answer(.delete, "/relationships/relPerson12")

        #expect(first.at("response", "imported") == 1)
        #expect(second["httpStatusCode"] == 409)
        #expect(
            second.at("response", "importSummaries", 0, "description")
                == "Relationship relPerson12 already exists")
        #expect(
            list.at("relationships", 0, "from")
                == ["trackedEntityInstance": ["trackedEntityInstance": "traPerson1x"]])
        #expect(deleted.status == 200)
        #expect(world.answer(.delete, "/relationships/relPerson12").status == 404)
    }

    @Test func `refuse a strategy that there is not`() {
        #expect(world.answer(.post, "/events?strategy=MERGE", "{}").status == 400)
    }
}
