// DhisDataValueTests.swift — aggregate data values, and data sets that are complete.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `data values of a server like DHIS2` {
    private let world = DhisWorld()
    private let list = "/dataValueSets?dataSet=dataSett001&orgUnit=unitHere001&period=202611"

    private func value(_ value: String, _ members: String = "") -> String {
        """
        {"dataElement":"elemNumb001","period":"202611","orgUnit":"unitHere001",
         "value":"\(value)"\(members)}
        """
    }

    private func post(_ values: String..., set: String = "dataSett001") throws -> JSONValue {
        try world.value(
            .post, "/dataValueSets",
            #"{"dataSet":"\#(set)","dataValues":[\#(values.joined(separator: ","))]}"#)
    }

    private func counts(_ answer: JSONValue) -> [Int64] {
        ["imported", "updated", "ignored", "deleted"].compactMap {
            answer.at("response", "importCount", $0)?.int64Value
        }
    }

    @Test func `are imported, updated and listed`() throws {
        let made = try post(value("3", #","comment":"guess","followup":true"#))
        world.wait(60)
        let changed = try post(value("4"))

        #expect(made["httpStatusCode"] == 200 && counts(made) == [1, 0, 0, 0])
        #expect(made.at("response", "description") == "Import process completed successfully")
        #expect(counts(changed) == [0, 1, 0, 0])
        #expect(
            try world.value(.get, list) == [
                "dataSet": "dataSett001", "period": "202611", "orgUnit": "unitHere001",
                "dataValues": [
                    [
                        "dataElement": "elemNumb001", "period": "202611",
                        "orgUnit": "unitHere001", "categoryOptionCombo": "HllvX50cXC0",
                        "attributeOptionCombo": "HllvX50cXC0", "value": "4",
                        "storedBy": "android", "created": "2026-11-18T11:06:40.000+0000",
                        "lastUpdated": "2026-11-18T11:07:40.000+0000", "comment": "guess",
                        "followup": true,
                    ]
                ],
            ])
    }

    @Test func `are different ones by period, unit and combination`() throws {
        _ = try post(
            value("1"), value("2", #","categoryOptionCombo":"comboOther1""#),
            value("3").replacing("202611", with: "202612"),
            value("4").replacing("unitHere001", with: "unitRoom001"))

        #expect(try world.value(.get, list)["dataValues"]?.array?.count == 2)
        let children = try world.value(.get, list + "&children=true&period=202612")
        #expect(children["dataValues"]?.array?.count == 4)
    }

    @Test func `that are wrong are named by index, and the others are imported`() throws {
        let answer = try post(value("x"), value("3"), value("x"))

        let words =
            "Value must match data element's `elemNumb001` type constraints: "
            + "Data value is not numeric"

        #expect(answer["httpStatusCode"] == 409 && answer["status"] == "WARNING")
        #expect(counts(answer) == [1, 0, 2, 0])
        #expect(
            answer.at("response", "conflicts") == [
                [
                    "object": "elemNumb001",
                    "objects": ["dataElement": "elemNumb001", "value": "x"],
                    "value": .string(words),
                    "errorCode": "E7619", "property": "value", "indexes": [0, 2],
                ]
            ])
        #expect(answer.at("response", "rejectedIndexes") == [0, 2])
    }

    @Test func `of 2.37 have a bare summary, and conflicts without indexes`() throws {
        world.model.version = .v37
        let answer = try post(value("x"))

        #expect(answer["responseType"] == "ImportSummary" && answer["status"] == "WARNING")
        #expect(
            answer["conflicts"] == [
                [
                    "object": "elemNumb001",
                    "value": "Data value is not numeric, must match data element type: elemNumb001",
                ]
            ])
    }

    @Test(arguments: [
        (#""dataElement":"elemNone001","period":"202611","orgUnit":"unitHere001""#, "E7610"),
        (#""dataElement":"elemNumb001","period":"soon","orgUnit":"unitHere001""#, "E7611"),
        (#""dataElement":"elemNumb001","period":"202611","orgUnit":"unitNone001""#, "E7612"),
        (#""dataElement":"elemNumb001","period":"202611","orgUnit":"unitAway001""#, "E7617"),
    ])
    func `are refused for what they refer to`(members: String, code: String) throws {
        let answer = try post(#"{\#(members),"value":"1"}"#)

        #expect(answer.at("response", "conflicts", 0, "errorCode")?.stringValue == code)
        #expect(counts(answer) == [0, 0, 1, 0])
    }

    @Test func `need a value, and a data set that there is`() throws {
        let empty = try post(value(""))
        let unknown = try post(value("1"), set: "dataNone001")

        #expect(empty.at("response", "conflicts", 0, "errorCode") == "E7618")
        #expect(unknown["status"] == "ERROR")
        #expect(unknown.at("response", "conflicts", 0, "errorCode") == "E7600")
    }

    @Test func `are deleted, and listed as deleted when that is wanted`() throws {
        _ = try post(value("3"))
        let answer = try post(value("3", #","deleted":true"#))

        #expect(counts(answer) == [0, 0, 0, 1])
        #expect(try world.value(.get, list)["dataValues"] == .none)
        #expect(
            try world.value(.get, list + "&includeDeleted=true").at("dataValues", 0, "deleted")
                == true)
        #expect(counts(try post(value("5"))) == [1, 0, 0, 0])
    }

    @Test func `are listed by when they were changed`() throws {
        _ = try post(value("3"))
        let path = "/dataValueSets?dataSet=dataSett001&orgUnit=unitHere001&lastUpdated="

        #expect(
            try world.value(.get, path + "2026-11-18")["dataValues"]?.array?.count == 1)
        #expect(try world.value(.get, path + "2026-11-19")["dataValues"] == [])
    }

    @Test(arguments: [
        "orgUnit=unitHere001&period=202611", "dataSet=dataSett001&period=202611",
        "dataSet=dataSett001&orgUnit=unitHere001",
    ])
    func `are not listed without set, unit and period`(query: String) {
        #expect(world.answer(.get, "/dataValueSets?\(query)").status == 409)
    }

    @Test func `can be put by another client`() throws {
        world.server.putDataValues(#"{"dataValues":[\#(value("8"))]}"#)
        let found = try world.value(.get, list).at("dataValues", 0)

        #expect(found?["value"] == "8" && found?["storedBy"] == "admin")
    }

    @Test func `are rows by what they are told by, which another client puts and deletes`() throws {
        let key = "dataValues/elemNumb001-202611-unitHere001-HllvX50cXC0-comboOther1"
        let server = world.server
        server.put(key, #"{"value":"8","period":"202612","comment":"guess"}"#)
        let row = try #require(server.record(key)).utf8

        #expect(JSON.value("value", of: Array(row)) == "8")
        #expect(JSON.value("period", of: Array(row)) == "202611")
        #expect(
            try world.value(.get, list).at("dataValues", 0, "attributeOptionCombo")
                == "comboOther1")
        world.wait(60)
        server.delete(key)
        #expect(server.record(key) == nil)
        let deleted = try world.value(.get, list + "&includeDeleted=true").at("dataValues", 0)
        #expect(
            deleted?["deleted"] == true
                && deleted?["lastUpdated"] == "2026-11-18T11:07:40.000+0000")
        server.forget(key)
        #expect(try world.value(.get, list + "&includeDeleted=true").at("dataValues", 0) == nil)
        #expect(!Dhis2Server.isRow("dataValues/elemNumb001-202611"))
    }
}

@Suite struct `complete data sets of a server like DHIS2` {
    private let world = DhisWorld()
    private let list =
        "/completeDataSetRegistrations?dataSet=dataSett001&orgUnit=unitHere001&period=202611"
    private let key =
        #""dataSet":"dataSett001","period":"202611","organisationUnit":"unitHere001""#

    private func rows() throws -> [JSONValue] {
        try world.value(.get, list)["completeDataSetRegistrations"]?.array ?? []
    }

    private func post(_ members: String) throws -> JSONValue {
        try world.value(
            .post, "/completeDataSetRegistrations",
            #"{"completeDataSetRegistrations":[{\#(members)}]}"#)
    }

    @Test func `are registered and listed`() throws {
        let answer = try post(key)

        #expect(answer.at("response", "importCount", "imported") == 1)
        #expect(
            try rows() == [
                [
                    "period": "202611", "dataSet": "dataSett001",
                    "organisationUnit": "unitHere001", "attributeOptionCombo": "HllvX50cXC0",
                    "date": "2026-11-18T11:06:40.000+0000", "storedBy": "android",
                    "lastUpdated": "2026-11-18T11:06:40.000+0000", "completed": true,
                ]
            ])
    }

    @Test func `are taken back, or deleted without a trace`() throws {
        _ = try post(key)
        let back = try post(key + #","completed":false"#)

        #expect(back.at("response", "importCount", "updated") == 1)
        #expect(try rows().map { $0["completed"] } == [false])
        let path = "/completeDataSetRegistrations?ds=dataSett001&pe=202611&ou=unitHere001"
        #expect(world.answer(.delete, path).status == 204)
        #expect(try rows() == [])
        #expect(world.answer(.delete, "/completeDataSetRegistrations?ds=a").status == 400)
    }

    @Test func `are of sets and units that there are`() throws {
        let answer = try post(key.replacing("dataSett001", with: "dataNone001"))

        #expect(answer["httpStatusCode"] == 409 && answer["status"] == "WARNING")
        #expect(answer.at("response", "conflicts", 0, "object") == "dataNone001")
        #expect(world.answer(.get, "/completeDataSetRegistrations?orgUnit=a").status == 409)
    }

    @Test func `come with the values of a set that is complete`() throws {
        _ = try world.value(
            .post, "/dataValueSets",
            """
            {"dataSet":"dataSett001","completeDate":"2026-11-18","period":"202611",
             "orgUnit":"unitHere001","dataValues":[{"dataElement":"elemNumb001","value":"3"}]}
            """)

        #expect(try rows().count == 1)
        let set = try world.value(
            .get, "/dataValueSets?dataSet=dataSett001&orgUnit=unitHere001&period=202611")
        #expect(set["completeDate"] == "2026-11-18T11:06:40.000+0000")
    }
}
