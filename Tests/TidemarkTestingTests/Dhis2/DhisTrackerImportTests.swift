// DhisTrackerImportTests.swift — the importer of the new API: what it takes and what it reports.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `the new importer of a server like DHIS2` {
    private let world = DhisWorld()

    private func text(_ path: String) throws -> JSONValue { try world.value(.get, path) }

    @Test func `creates nested objects, and reports each under its kind`() throws {
        let event = DhisWorld.event("Person1x")
        let enrollment = DhisWorld.enrollment("Person1x", #","events":[\#(event)]"#)
        let person = DhisWorld.person("Person1x", #","enrollments":[\#(enrollment)]"#)

        let report = try world.imported(#"{"trackedEntities":[\#(person)]}"#)

        #expect(report["status"] == "OK" && report.counts == [3, 0, 0, 0])
        let map = report.at("bundleReport", "typeReportMap")
        #expect(map?.at("TRACKED_ENTITY", "objectReports", 0, "uid") == "traPerson1x")
        #expect(map?.at("ENROLLMENT", "stats", "created") == 1)
        #expect(map?.at("EVENT", "objectReports", 0, "index") == 0)
        #expect(map?.at("RELATIONSHIP", "objectReports") == [])
        #expect(world.server.record("events/evePerson1x") != nil)
    }

    @Test func `takes flat lists in any order, a parent before its children`() throws {
        let report = try world.imported(
            """
            {"events":[\(DhisWorld.event("Person1x"))],
             "enrollments":[\(DhisWorld.enrollment("Person1x"))],
             "trackedEntities":[\(DhisWorld.person("Person1x"))]}
            """)

        #expect(report.counts == [3, 0, 0, 0])
    }

    @Test func `changes the values that are given, and removes those that are empty`() throws {
        world.putPerson("Person1x")
        world.wait(60)
        let values = #","dataValues":[{"dataElement":"elemNumb001","value":"3"}]"#
        let report = try world.imported(
            #"{"events":[\#(DhisWorld.event("Person1x", values))]}"#)
        let event = try text("/tracker/events/evePerson1x")

        #expect(report.counts == [0, 1, 0, 0])
        #expect(event["dataValues"]?.array?.count == 2)
        #expect(event.at("dataValues", 0, "updatedAt") == "2026-11-18T11:06:40.000")
        #expect(event.at("dataValues", 1, "createdAt") == "2026-11-18T11:07:40.000")
        #expect(event["createdAt"] == "2026-11-18T11:06:40.000")
        #expect(event["updatedAt"] == "2026-11-18T11:07:40.000")

        let empty = #","dataValues":[{"dataElement":"elemText001","value":null}]"#
        try world.imported(#"{"events":[\#(DhisWorld.event("Person1x", empty))]}"#)
        let left = try text("/tracker/events/evePerson1x")["dataValues"]?.array
        #expect(left?.map { $0["dataElement"] } == ["elemNumb001"])
    }

    @Test func `adds notes, and says when and by whom something was completed`() throws {
        world.putPerson("Person1x")
        let members =
            #","status":"COMPLETED","notes":[{"note":"notePers001","value":"one"},{"value":"two"}]"#
        for _ in 1...2 {
            try world.imported(#"{"events":[\#(DhisWorld.event("Person1x", members))]}"#)
        }
        let event = try text("/tracker/events/evePerson1x")

        #expect(event["completedAt"] == "2026-11-18T11:06:40.000")
        #expect(event["completedBy"] == "android")
        #expect(
            event["notes"]?.array?.map { $0["value"]?.stringValue } == ["one", "two", "two"])
        try world.imported(
            #"{"events":[\#(DhisWorld.event("Person1x", #","status":"ACTIVE""#))]}"#)
        #expect(try text("/tracker/events/evePerson1x")["completedAt"] == .none)
    }

    @Test func `creates and updates only what the strategy says`() throws {
        world.putPerson("Person1x")
        let payload = """
            {"trackedEntities":[\(DhisWorld.person("Person1x")),\(DhisWorld.person("Person2x"))]}
            """

        let create = try world.imported(payload, strategy: "CREATE")
        let update = try world.imported(
            #"{"trackedEntities":[\#(DhisWorld.person("Person3x"))]}"#, strategy: "UPDATE")

        #expect(create.errorCodes == ["E1002 traPerson1x"])
        #expect(create.counts == [1, 0, 0, 1])
        #expect(update.errorCodes == ["E1063 traPerson3x"])
        #expect(world.answer(.post, "/tracker?importStrategy=SYNC", "{}").status == 400)
    }

    @Test func `deletes, and says of what is not there that it does not exist`() throws {
        world.putPerson("Person1x")
        let payload = """
            {"trackedEntities":[{"trackedEntity":"traPerson2x"}],
             "enrollments":[{"enrollment":"enrPerson2x"}],
             "events":[{"event":"evePerson1x"},{"event":"evePerson2x"}],
             "relationships":[{"relationship":"relPerson12"}]}
            """
        let report = try world.imported(payload, strategy: "DELETE")

        #expect(
            Set(report.errorCodes) == [
                "E1063 traPerson2x", "E1081 enrPerson2x", "E1032 evePerson2x", "E4016 relPerson12",
            ])
        #expect(report.counts == [0, 0, 1, 4])
        let again = try world.imported(#"{"events":[{"event":"evePerson1x"}]}"#, strategy: "DELETE")
        #expect(again.errorCodes == ["E1082 evePerson1x"])
        let change = try world.imported(#"{"events":[\#(DhisWorld.event("Person1x"))]}"#)
        #expect(change.errorCodes == ["E1082 evePerson1x"])
    }

    @Test func `an error keeps all out, unless objects are alone`() throws {
        let payload = """
            {"trackedEntities":[\(DhisWorld.person("Person1x")),
              {"trackedEntity":"traPerson2x","trackedEntityType":"typeNone001",
               "orgUnit":"unitHere001"}]}
            """

        let all = try world.imported(payload, mode: "ALL")
        #expect(all.errorCodes == ["E1005 traPerson2x"])
        #expect(all.counts == [0, 0, 0, 2] && all["bundleReport"] == .none)
        #expect(world.server.record("trackedEntities/traPerson1x") == nil)

        let alone = try world.imported(payload)
        #expect(alone["status"] == "ERROR" && alone.counts == [1, 0, 0, 1])
        #expect(alone.at("bundleReport", "typeReportMap", "TRACKED_ENTITY", "stats", "total") == 1)
        #expect(world.server.record("trackedEntities/traPerson1x") != nil)
    }

    @Test func `what is in an object that failed can't be created either`() throws {
        let event = DhisWorld.event("Person1x")
        let enrollment = DhisWorld.enrollment("Person1x", #","events":[\#(event)]"#)
        let report = try world.imported(
            """
            {"trackedEntities":[{"trackedEntity":"traPerson1x","trackedEntityType":"typeNone001",
             "orgUnit":"unitHere001","enrollments":[\(enrollment)]}]}
            """)

        #expect(
            report.errorCodes == [
                "E1005 traPerson1x", "E5000 enrPerson1x", "E5000 evePerson1x",
            ])
        #expect(
            report.at("validationReport", "errorReports", 1, "message")?.stringValue
                == "Enrollment `enrPerson1x` cannot be created because TrackedEntity "
                + "`traPerson1x` referenced by it could not be created.")
    }

    @Test func `answers 409 to errors, and a report without warnings unless they are wanted`()
        throws
    {
        world.model.valueRules = [
            Dhis2ValueRule(
                element: "elemText001", value: "odd", severity: .warning, message: "is odd")
        ]
        world.putPerson("Person1x")
        let odd = #","dataValues":[{"dataElement":"elemText001","value":"odd"}]"#
        let payload = #"{"events":[\#(DhisWorld.event("Person1x", odd))]}"#

        let usual = world.answer(.post, "/tracker?async=false", payload)
        #expect(usual.status == 200)
        #expect(
            try JSONValue(parsing: usual.body)["validationReport"]?.object?.keys
                == ["errorReports"])

        let report = try world.imported(payload, reports: "FULL")
        #expect(report["status"] == "WARNING" && report.counts == [0, 1, 0, 0])
        #expect(
            report.at("validationReport", "warningReports", 0) == [
                "message": "Generated by ProgramRule (`ruLe0000001`) - `is odd`.",
                "warningCode": "E1300", "trackerType": "EVENT", "uid": "evePerson1x",
            ])
        #expect(report["timingsStats"] != .none)

        world.model.valueRules[0].severity = .error
        #expect(world.answer(.post, "/tracker?async=false", payload).status == 409)
    }

    @Test func `a trial imports nothing`() throws {
        let report = try world.value(
            .post, "/tracker?async=false&importMode=VALIDATE",
            #"{"trackedEntities":[\#(DhisWorld.person("Person1x"))]}"#)

        #expect(report.counts == [1, 0, 0, 0])
        #expect(world.server.record("trackedEntities/traPerson1x") == nil)
    }

    @Test func `objects without an id get one of eleven letters and digits`() throws {
        let report = try world.imported(
            #"{"trackedEntities":[{"trackedEntityType":"typePers001","orgUnit":"unitHere001"}]}"#)
        let id =
            report.at("bundleReport", "typeReportMap", "TRACKED_ENTITY", "objectReports", 0, "uid")?
            .stringValue ?? ""

        #expect(id.count == 11 && id.first?.isLetter == true)
        #expect(world.server.record("trackedEntities/\(id)") != nil)
    }

    @Test func `other ids are refused unless the model accepts any`() throws {
        let payload =
            #"{"trackedEntities":[{"trackedEntity":"T1","trackedEntityType":"typePers001","#
            + #""orgUnit":"unitHere001"}]}"#

        #expect(try world.imported(payload).errorCodes == ["E1048 T1"])
        world.model.acceptsAnyID = true
        #expect(try world.imported(payload).counts == [1, 0, 0, 0])
    }
}

@Suite struct `checks of the new importer of a server like DHIS2` {
    private let world = DhisWorld()

    init() { world.putPerson("Person1x") }

    private func codes(_ payload: String) throws -> [String] {
        try world.imported(payload).errorCodes.map { String($0.prefix(5)) }
    }

    @Test(arguments: [
        (#"{"trackedEntity":"traPerson2x","orgUnit":"unitHere001"}"#, "E1121"),
        (
            #"{"trackedEntity":"traPerson2x","trackedEntityType":"typePers001","orgUnit":"a"}"#,
            "E1049"
        ),
        (
            #"{"trackedEntity":"traPerson2x","trackedEntityType":"typePers001","#
                + #""orgUnit":"unitAway001"}"#, "E1000"
        ),
        (DhisWorld.person("Person2x", #","attributes":[{"attribute":"a","value":"b"}]"#), "E1006"),
        (
            DhisWorld.person(
                "Person2x", #","attributes":[{"attribute":"attrNumb001","value":"b"}]"#), "E1007"
        ),
        (DhisWorld.person("Person2x", #","attributes":[{"value":"b"}]"#), "E1075"),
    ])
    func `a tracked entity is refused`(person: String, code: String) throws {
        #expect(try codes(#"{"trackedEntities":[\#(person)]}"#) == [code])
        #expect(world.server.record("trackedEntities/traPerson2x") == nil)
    }

    @Test func `a unique value belongs to one tracked entity`() throws {
        let value = #","attributes":[{"attribute":"attrCode001","value":"7"}]"#
        let payload = """
            {"trackedEntities":[\(DhisWorld.person("Person2x", value)),
             \(DhisWorld.person("Person3x", value))]}
            """
        let report = try world.imported(payload)

        #expect(report.errorCodes == ["E1064 traPerson3x"])
        #expect(try world.imported(payload).errorCodes == ["E1064 traPerson3x"])
    }

    @Test(arguments: [
        (#""trackedEntity":"traPerson9x","program":"progOpen001""#, "E1068"),
        (#""trackedEntity":"traPerson1x","program":"progNone001""#, "E1069"),
        (#""trackedEntity":"traPerson1x","program":"progEvnt001""#, "E1014"),
        (#""trackedEntity":"traPerson1x","program":"progOpen001""#, "E1015"),
        (#""trackedEntity":"traPerson1x""#, "E1122"),
    ])
    func `an enrollment is refused`(members: String, code: String) throws {
        let found = try codes(
            """
            {"enrollments":[{"enrollment":"enrPerson2x",\(members),"orgUnit":"unitHere001",
             "enrolledAt":"2026-11-01"}]}
            """)

        #expect(found == [code])
    }

    @Test(arguments: [
        (#""enrolledAt":"2027-01-01""#, "E1020"), (#""enrolledAt":null"#, "E1025"),
        (#""enrolledAt":"2026-11-01","occurredAt":"2027-01-01""#, "E1021"),
        (
            #""enrolledAt":"2026-11-01","attributes":[{"attribute":"attrName001","value":"b"}]"#,
            "E1019"
        ),
    ])
    func `an enrollment is refused for what it says`(members: String, code: String) throws {
        let found = try codes(
            """
            {"enrollments":[{"enrollment":"enrPerson2x","trackedEntity":"traPerson1x",
             "program":"progProt001","orgUnit":"unitHere001",\(members)}]}
            """)

        #expect(found == [code])
    }

    @Test(arguments: [
        (#""programStage":"stagNone001","program":"progOpen001""#, "E1013"),
        (#""programStage":"stagOpen001","program":"progNone001""#, "E1010"),
        (#""programStage":"stagOpen001""#, "E1033"),
        (#""programStage":"stagProt001","enrollment":"enrPerson1x""#, "E1079"),
        (#""program":"progOpen001","enrollment":"enrPerson1x""#, "E1123"),
        (
            #""programStage":"stagOpen001","program":"progProt001","enrollment":"enrPerson1x""#,
            "E1089"
        ),
    ])
    func `an event is refused for its place`(members: String, code: String) throws {
        let found = try codes(
            """
            {"events":[{"event":"evePerson2x",\(members),"orgUnit":"unitHere001",
             "occurredAt":"2026-11-02"}]}
            """)

        #expect(found.first == code)
        #expect(world.server.record("events/evePerson2x") == nil)
    }

    @Test(arguments: [
        (#""occurredAt":null"#, "E1031"), (#""status":"SCHEDULE""#, "E1050"),
        (
            #""occurredAt":"2026-11-02","dataValues":[{"dataElement":"a","value":"1"}]"#, "E1304"
        ),
        (
            #""occurredAt":"2026-11-02","dataValues":[{"dataElement":"elemNumb001","value":"x"}]"#,
            "E1302"
        ),
    ])
    func `an event is refused for what it says`(members: String, code: String) throws {
        let found = try codes(
            """
            {"events":[{"event":"evePerson2x","programStage":"stagOpen001","orgUnit":"unitHere001",
             "enrollment":"enrPerson1x",\(members)}]}
            """)

        #expect(found == [code])
    }

    @Test func `an event that is planned needs no date on which it happened`() throws {
        let report = try world.imported(
            """
            {"events":[{"event":"evePerson2x","programStage":"stagOpen001","orgUnit":"unitHere001",
             "enrollment":"enrPerson1x","status":"SCHEDULE","scheduledAt":"2026-12-01"}]}
            """)

        #expect(report.counts == [1, 0, 0, 0])
    }

    @Test func `a stage that does not repeat has one event in an enrollment`() throws {
        world.put(
            "programStages/stagOpen001",
            #"{"program":{"id":"progOpen001"},"repeatable":false}"#)
        let second = DhisWorld.event("Person1x").replacing("evePerson1x", with: "evePerson2x")

        #expect(try codes(#"{"events":[\#(second)]}"#) == ["E1039"])
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x"))]}"#) == [])
    }

    @Test func `a completed event has its compulsory values, now or from before`() throws {
        world.put(
            "programStages/stagOpen001",
            """
            {"program":{"id":"progOpen001"},"programStageDataElements":[
             {"compulsory":true,"dataElement":{"id":"elemNumb001"}},
             {"dataElement":{"id":"elemText001"}}]}
            """)
        let done = #","status":"COMPLETED""#
        let value = #","dataValues":[{"dataElement":"elemNumb001","value":"3"}]"#
        let other = #","dataValues":[{"dataElement":"elemBool001","value":"true"}]"#

        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x", done))]}"#) == ["E1303"])
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x", value))]}"#) == [])
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x", done))]}"#) == [])
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x", other))]}"#) == ["E1305"])
    }

    @Test func `a program is used at its units, and the sentence names both`() throws {
        let event = DhisWorld.event("Person1x").replacing("unitHere001", with: "unitRoom001")
        let payload = #"{"events":[\#(event)]}"#
        let words = { (report: JSONValue) in
            report.at("validationReport", "errorReports", 0, "message")?.stringValue
        }

        let old = try world.imported(payload)
        #expect(old.errorCodes == ["E1029 evePerson1x"])
        #expect(
            words(old)
                == "Event OrganisationUnit: `OrganisationUnit (unitRoom001)`, and Program: "
                + "`Program (progOpen001)`, dont match.")
        world.model.version = .v42
        #expect(
            words(try world.imported(payload))
                == "Event OrganisationUnit: `unitRoom001` and Program: `progOpen001`, do not match."
        )
    }

    @Test func `what a user may only read he can't write`() throws {
        world.model.users[0].readOnly = ["progOpen001"]
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x"))]}"#) == ["E1091"])
        world.model.users[0].readOnly = ["stagOpen001"]
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x"))]}"#) == ["E1095"])
        world.model.users[0].readOnly = ["typePers001"]
        #expect(try codes(#"{"trackedEntities":[\#(DhisWorld.person("Person1x"))]}"#) == ["E1001"])
    }

    @Test func `a value is the code of an option where there are options`() throws {
        world.put(
            "optionSets/optsKind001", #"{"options":[{"id":"optKind0001","code":"A"}]}"#)
        world.put(
            "dataElements/elemText001",
            #"{"valueType":"TEXT","optionSet":{"id":"optsKind001"}}"#)
        let event = { (value: String) in
            DhisWorld.event(
                "Person1x", #","dataValues":[{"dataElement":"elemText001","value":"\#(value)"}]"#)
        }

        #expect(try codes(#"{"events":[\#(event("A"))]}"#) == [])
        #expect(try codes(#"{"events":[\#(event("B"))]}"#) == ["E1125"])
    }

    @Test(arguments: [
        (#""from":{"trackedEntity":"traPerson1x"},"to":{"event":{"event":"evePerson1x"}}"#, ""),
        (#""from":{"trackedEntity":"traPerson1x"}"#, "E1124"),
        (#""from":{"trackedEntity":"traPerson1x"},"to":{"event":"evePerson9x"}"#, "E4012"),
        (#""from":{"trackedEntity":"traPerson1x"},"to":{}"#, "E4001"),
        (#""from":{"event":"evePerson1x"},"to":{"event":"evePerson1x"}"#, "E4000"),
    ])
    func `a relationship links two objects that there are`(ends: String, code: String) throws {
        let payload = """
            {"relationships":[{"relationship":"relPerson12","relationshipType":"relaType001",
             \(ends)}]}
            """

        #expect(try codes(payload) == (code.isEmpty ? [] : [code]))
    }

    @Test func `a link is there once, and a relationship is not changed`() throws {
        let relationship = { (id: String) in
            """
            {"relationships":[{"relationship":"\(id)","relationshipType":"relaType001",
             "from":{"trackedEntity":"traPerson1x"},"to":{"event":"evePerson1x"}}]}
            """
        }

        #expect(try world.imported(relationship("relPerson12")).counts == [1, 0, 0, 0])
        #expect(try world.imported(relationship("relPerson12")).counts == [0, 0, 0, 1])
        #expect(try codes(relationship("relPerson13")) == ["E4018"])
        #expect(
            try world.imported(relationship("relPerson12"), strategy: "CREATE").errorCodes
                == ["E4015 relPerson12"])
    }
}
