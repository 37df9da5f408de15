// DhisRuleTests.swift — rules of programs and types, types of values, selections of fields.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `rules of a server like DHIS2` {
    private let world = DhisWorld()

    init() { world.putPerson("Person1x") }

    private func codes(_ payload: String) throws -> [String] {
        try world.imported(payload).errorCodes.map { String($0.prefix(5)) }
    }

    /// Puts a program for persons, with more members.
    private func putProgram(_ members: String) {
        world.put(
            "programs/progProt001",
            """
            {"programType":"WITH_REGISTRATION","organisationUnits":[{"id":"unitHere001"}],
             \(members)}
            """)
    }

    private func enrollment(_ name: String, _ members: String = "") -> String {
        let text = DhisWorld.enrollment("Person1x", members)
            .replacing("progOpen001", with: "progProt001")
            .replacing("enrPerson1x", with: "enr\(name)")
        return #"{"enrollments":[\#(text)]}"#
    }

    @Test func `a program takes tracked entities of its type`() throws {
        putProgram(#""trackedEntityType":{"id":"typeOther01"}"#)

        #expect(try codes(enrollment("Person2x")) == ["E1022"])
    }

    @Test func `some programs enroll once, others again after the first is completed`() throws {
        putProgram(#""onlyEnrollOnce":true"#)
        let done = #","status":"COMPLETED""#
        #expect(try codes(enrollment("Person2x", done)) == [])
        #expect(try codes(enrollment("Person3x")) == ["E1016"])

        putProgram(#""onlyEnrollOnce":false"#)
        #expect(try codes(enrollment("Person3x")) == [])
        #expect(try codes(enrollment("Person4x")) == ["E1015"])
        #expect(try codes(enrollment("Person4x", done)) == [])
    }

    @Test func `dates in the future are taken where a program takes them`() throws {
        putProgram(#""selectEnrollmentDatesInFuture":true,"selectIncidentDatesInFuture":true"#)
        let later = enrollment("Person2x").replacing("2026-11-01", with: "2027-01-01")

        #expect(try codes(later) == [])
    }

    @Test func `a mandatory attribute of a program is there, with the person or now`() throws {
        putProgram(
            """
            "programTrackedEntityAttributes":[
             {"mandatory":true,"trackedEntityAttribute":{"id":"attrNumb001"}}]
            """)
        let value = #","attributes":[{"attribute":"attrNumb001","value":"4"}]"#

        #expect(try codes(enrollment("Person2x")) == ["E1018"])
        #expect(try codes(enrollment("Person2x", value)) == [])
        #expect(try codes(enrollment("Person2x")) == [])
    }

    @Test func `a mandatory attribute of a type is there, from before or now`() throws {
        world.put(
            "trackedEntityTypes/typePers001",
            """
            {"trackedEntityTypeAttributes":[
             {"mandatory":true,"trackedEntityAttribute":{"id":"attrName001"}}]}
            """)
        let none = #","attributes":[{"attribute":"attrName001","value":""}]"#
        let person = { (name: String, members: String) in
            #"{"trackedEntities":[\#(DhisWorld.person(name, members))]}"#
        }

        #expect(try codes(person("Person2x", "")) == ["E1090"])
        #expect(try codes(person("Person1x", "")) == [])
        #expect(try codes(person("Person1x", none)) == ["E1090"])
    }

    @Test func `a tracked entity keeps its type`() throws {
        world.put("trackedEntityTypes/typeOther01", "{}")
        let other = DhisWorld.person("Person1x").replacing("typePers001", with: "typeOther01")

        #expect(try codes(#"{"trackedEntities":[\#(other)]}"#) == ["E1126"])
    }

    @Test(arguments: ["program", "trackedEntity"])
    func `an enrollment keeps what it belongs to`(_ member: String) throws {
        world.putPerson("Person2x")
        let names = ["program": "progOpen001", "trackedEntity": "traPerson1x"]
        let other = ["program": "progProt001", "trackedEntity": "traPerson2x"]
        putProgram(#""onlyEnrollOnce":false"#)
        let text = DhisWorld.enrollment("Person1x").replacing(
            "\"\(member)\":\"\(names[member] ?? "")\"",
            with: "\"\(member)\":\"\(other[member] ?? "")\"")

        #expect(try codes(#"{"enrollments":[\#(text)]}"#) == ["E1127"])
    }

    @Test func `an event keeps its enrollment and its stage`() throws {
        world.putPerson("Person2x")
        let moved = DhisWorld.event("Person1x").replacing("enrPerson1x", with: "enrPerson2x")
        world.put("programStages/stagOther01", #"{"program":{"id":"progOpen001"}}"#)
        let staged = DhisWorld.event("Person1x").replacing("stagOpen001", with: "stagOther01")

        #expect(try codes(#"{"events":[\#(moved)]}"#) == ["E1128"])
        #expect(try codes(#"{"events":[\#(staged)]}"#) == ["E1128"])
        #expect(try codes(#"{"events":[\#(DhisWorld.event("Person1x"))]}"#) == [])
    }

    @Test func `a file belongs to one object, until that has another value`() throws {
        world.putPerson("Person2x")
        world.put("dataElements/elemText001", #"{"valueType":"FILE_RESOURCE"}"#)
        let file = try sendFile()
        let event = { (name: String, value: String) in
            let values = #","dataValues":[{"dataElement":"elemText001","value":"\#(value)"}]"#
            return #"{"events":[\#(DhisWorld.event(name, values))]}"#
        }

        #expect(try codes(event("Person1x", file)) == [])
        #expect(try codes(event("Person1x", file)) == [], "it is its own")
        #expect(try codes(event("Person2x", file)) == ["E1009"])
        #expect(try codes(event("Person1x", "")) == [])
        #expect(try codes(event("Person2x", file)) == [])
        #expect(try codes(event("Person1x", "notThere001")) == ["E1084"])
    }

    /// Sends a file, and returns its id.
    private func sendFile() throws -> String {
        var request = HTTPRequest(
            method: .post, scheme: "https", authority: "play.dhis2.org", path: "/api/fileResources")
        request.headerFields[.authorization] = "Basic YWRtaW46ZGlzdHJpY3Q="
        request.headerFields[.contentType] = "multipart/form-data; boundary=b"
        let form =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
            + "bytes\r\n--b--"
        let (sent, now) = (request, world.clock.now)
        let answer = world.server.withModel {
            $0.handle(sent, body: Array(form.utf8), at: now)
        }
        let body = try JSONValue(parsing: answer.body)
        return try #require(body.at("response", "fileResource", "id")?.stringValue)
    }

    @Test func `a relationship is never changed, of which a warning tells`() throws {
        world.putPerson("Person2x")
        let link = { (end: String) in
            """
            {"relationships":[{"relationship":"relPerson12","relationshipType":"relaType001",
             "from":{"trackedEntity":{"trackedEntity":"traPerson1x"}},
             "to":{"event":{"event":"eve\(end)"}}}]}
            """
        }
        #expect(try codes(link("Person1x")) == [])
        let report = try world.imported(link("Person2x"))

        #expect(report["status"] == "WARNING" && report.counts == [0, 0, 0, 1])
        #expect(report.at("validationReport", "warningReports", 0, "warningCode") == "E4015")
        let there = try #require(world.server.record("relationships/relPerson12"))
        #expect(there.contains("evePerson1x"))
    }

    @Test(arguments: [
        ("BOOLEAN", "true", "yes"), ("TRUE_ONLY", "true", "false"),
        ("DATE", "2026-02-28", "2026-02-30"), ("DATETIME", "2026-02-28T10:00", "10:00"),
        ("NUMBER", "-1.5", "1,5"), ("UNIT_INTERVAL", "0.5", "1.5"),
        ("PERCENTAGE", "100", "101"), ("INTEGER", "-3", "1.5"),
        ("INTEGER_POSITIVE", "1", "0"), ("INTEGER_NEGATIVE", "-1", "0"),
        ("INTEGER_ZERO_OR_POSITIVE", "0", "-1"),
    ])
    func `a value is of the type of its element`(type: String, good: String, bad: String) throws {
        world.put("dataElements/elemText001", #"{"valueType":"\#(type)"}"#)
        let event = { (value: String) in
            let values = #","dataValues":[{"dataElement":"elemText001","value":"\#(value)"}]"#
            return #"{"events":[\#(DhisWorld.event("Person1x", values))]}"#
        }

        #expect(try codes(event(good)) == [])
        #expect(try codes(event(bad)) == ["E1302"])
    }

    @Test func `a rule complains about one value, or about all of an element`() throws {
        let value = #","dataValues":[{"dataElement":"elemText001","value":"a"}]"#
        let payload = #"{"events":[\#(DhisWorld.event("Person1x", value))]}"#

        world.model.valueRules = [
            Dhis2ValueRule(element: "elemText001", value: "b", message: "no b")
        ]
        #expect(try codes(payload) == [])
        world.model.valueRules[0].value = nil
        #expect(try codes(payload) == ["E1300"])
    }

    @Test func `deleting a tracked entity takes all that is in it, and what links to it`() throws {
        world.putPerson("Person2x")
        world.put(
            "relationships/relPerson12",
            """
            {"relationshipType":"relaType001","from":{"trackedEntity":"traPerson2x"},
             "to":{"event":"evePerson1x"}}
            """)
        try world.imported(
            #"{"trackedEntities":[{"trackedEntity":"traPerson1x"}]}"#, strategy: "DELETE")

        for key in ["enrollments/enrPerson1x", "events/evePerson1x", "relationships/relPerson12"] {
            #expect(world.server.record(key) == nil, "\(key)")
        }
        #expect(world.server.record("trackedEntities/traPerson2x") != nil)
        let list = try world.value(
            .get, "/tracker/relationships?trackedEntity=traPerson2x&includeDeleted=true")
        #expect(list.at("instances", 0, "deleted") == true)
    }
}

@Suite struct `fields of a server like DHIS2` {
    private let world = DhisWorld()

    private func keys(_ fields: String) throws -> [String] {
        try world.value(.get, "/programs/progOpen001?fields=\(fields)").object?.keys ?? []
    }

    @Test(arguments: [
        ("id", ["id"]), ("name,id", ["id", "name"]), ("nothing", []),
        (":identifiable", ["id", "created", "lastUpdated", "name"]),
        (
            "*,!created,!lastUpdated,!organisationUnits,!programTrackedEntityAttributes",
            ["id", "name", "accessLevel", "programType", "trackedEntityType", "displayName"]
        ),
    ])
    func `are those that are named, in the object's order`(fields: String, names: [String]) throws {
        #expect(try keys(fields) == names)
    }

    @Test func `may be nested, and brackets that do not close end with the text`() throws {
        let nested =
            "programTrackedEntityAttributes%5BtrackedEntityAttribute%5Bid%5D,sortOrder%5D,id"
        #expect(
            try world.value(.get, "/programs/progOpen001?fields=\(nested)") == [
                "id": "progOpen001",
                "programTrackedEntityAttributes": [
                    ["trackedEntityAttribute": ["id": "attrNumb001"]]
                ],
            ])
        #expect(try keys("id,trackedEntityType%5Bid") == ["id", "trackedEntityType"])
        #expect(try keys("id%5D%5D,name") == ["id"])
    }
}
