// DhisSystemTests.swift — what all answers have, who is let in, versions, time, metadata.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `answers of a server like DHIS2` {
    private let world = DhisWorld()

    @Test func `are JSON with a date, and a refusal is a web message`() throws {
        let answer = world.answer(.get, "/system/info")
        let error = try world.value(.get, "/programs/nothing0001")

        #expect(answer.status == 200)
        #expect(answer.field("Content-Type") == "application/json;charset=UTF-8")
        #expect(answer.field("Date") == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(
            error == [
                "httpStatus": "Not Found", "httpStatusCode": 404, "status": "ERROR",
                "message": "Program with id nothing0001 could not be found.",
                "errorCode": "E1005",
            ])
    }

    @Test func `need an authorization, and the user is the one whose it is`() throws {
        world.model.users = [
            Dhis2User(id: "userAlic001", username: "alice", authorization: "Basic YQ=="),
            Dhis2User(id: "userBobb001", username: "bob", authorization: "Basic Yg=="),
        ]

        let none = world.answer(.get, "/me", authorization: nil)
        let wrong = world.answer(.get, "/me", authorization: "Basic eA==")
        let bob = world.answer(.get, "/me", authorization: "Basic Yg==")

        #expect(none.status == 401 && wrong.status == 401)
        #expect(try JSONValue(parsing: bob.body)["username"] == "bob")
    }

    @Test func `me has the units in which the user writes and searches`() throws {
        let me = try world.value(.get, "/me?fields=id,organisationUnits,teiSearchOrganisationUnits")

        #expect(
            me == [
                "id": "DXyJmlo9rge", "organisationUnits": [["id": "unitHere001"]],
                "teiSearchOrganisationUnits": [["id": "unitAway001"]],
            ])
    }

    @Test func `are the same below an API of a number, and with a suffix`() {
        #expect(world.answer(.get, "/40/system/info.json").status == 200)
        #expect(world.answer(.get, "/40/nothing/at/all").status == 404)
    }

    @Test func `a wrong method is 405, and no JSON 400`() {
        #expect(world.answer(.delete, "/system/info").status == 405)
        #expect(world.answer(.post, "/tracker?async=false", "[").status == 400)
    }

    @Test func `2.37 has the old tracker API alone, 2.42 the new one, others both`() {
        for version in Dhis2Version.allCases {
            world.model.version = version
            let unit = "orgUnit=unitHere001&ou=unitHere001&program=progOpen001"
            let old = world.answer(.get, "/trackedEntityInstances?\(unit)").status
            let new = world.answer(.get, "/tracker/trackedEntities?\(unit)").status
            let importer = world.answer(.post, "/tracker", "{}").status

            #expect(old == (version == .v42 ? 404 : 200), "\(version)")
            #expect(new == (version == .v37 ? 404 : 200), "\(version)")
            #expect(importer == new, "\(version)")
        }
    }

    @Test func `tell the version and the time on the server's wall`() throws {
        let east = DhisWorld(.v42, hoursAheadOfUTC: 3)
        let info = try east.value(.get, "/system/info")

        #expect(info["version"] == "2.42.0")
        #expect(info["serverDate"] == "2026-11-18T14:06:40.000")
        #expect(info["serverTimeZoneId"] == "Etc/GMT-3")
        #expect(try world.value(.get, "/system/info")["serverDate"] == "2026-11-18T11:06:40.000")
    }
}

@Suite struct `metadata of a server like DHIS2` {
    private let world = DhisWorld()

    @Test func `is listed in pages with a count, by name, as id and display name`() throws {
        let list = try world.value(.get, "/programs?page=2&pageSize=3")

        #expect(
            list["pager"] == ["page": 2, "total": 4, "pageSize": 3, "pageCount": 2])
        #expect(list["programs"] == [["id": "progProt001", "displayName": "PROTECTED"]])
    }

    @Test func `is listed whole without a pager, with the fields that are wanted`() throws {
        let fields = "id,trackedEntityType[id],accessLevel"
        let list = try world.value(
            .get, "/programs?paging=false&fields=\(fields)&filter=id:eq:progOpen001")

        #expect(
            list == [
                "programs": [
                    [
                        "id": "progOpen001", "accessLevel": "OPEN",
                        "trackedEntityType": ["id": "typePers001"],
                    ]
                ]
            ])
    }

    @Test func `is found by when it was changed last`() throws {
        let before = try world.value(.get, "/system/info")["serverDate"]?.stringValue ?? ""
        world.wait(60)
        world.put("dataElements/elemText001", #"{"name":"Words","valueType":"LONG_TEXT"}"#)

        let changed = try world.ids(
            "/dataElements?filter=lastUpdated:gt:\(before)", "dataElements", "id")

        #expect(changed == ["elemText001"])
    }

    @Test(arguments: [
        ("name:like:oun", ["elemNumb001"]), ("name:!eq:Words", ["elemNumb001", "elemBool001"]),
        ("valueType:in:[TEXT,BOOLEAN]", ["elemBool001", "elemText001"]),
        ("description:null", ["elemNumb001", "elemBool001", "elemText001"]),
        ("name:gt:D", ["elemBool001", "elemText001"]),
    ])
    func `is filtered`(filter: String, ids: [String]) throws {
        let found = try world.ids("/dataElements?filter=\(filter)", "dataElements", "id")

        #expect(Set(found) == Set(ids) && found.count == ids.count)
    }

    @Test func `is filtered by what it refers to`() throws {
        let stages = try world.ids(
            "/programStages?filter=program.id:eq:progEvnt001", "programStages", "id")

        #expect(stages == ["stagEvnt001"])
        #expect(world.answer(.get, "/programStages?filter=program").status == 400)
    }

    @Test func `has objects of their own, and unknown lists are 404`() throws {
        let unit = try world.value(.get, "/organisationUnits/unitHere001")

        #expect(unit["parent"] == ["id": "unitRoot001"])
        #expect(unit["created"] == "2026-11-18T11:06:40.000")
        #expect(try world.value(.get, "/optionSets")["optionSets"] == [])
        #expect(world.answer(.get, "/nothings").status == 404)
    }
}
