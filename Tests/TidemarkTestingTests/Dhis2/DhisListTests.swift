// DhisListTests.swift — lists of tracker objects and single ones, in both APIs.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `lists of a server like DHIS2` {
    private let place = "orgUnit=unitHere001&program=progOpen001"

    /// Five persons, one a minute.
    private func world(_ version: Dhis2Version = .v40) -> DhisWorld {
        let world = DhisWorld(version)
        for number in 1...5 {
            world.putPerson("Person\(number)x")
            world.wait(60)
        }
        return world
    }

    @Test func `are pages of fifty without a count, beside the rows in 2.40`() throws {
        let list = try world().value(.get, "/tracker/trackedEntities?\(place)")

        #expect(list.object?.keys == ["page", "pageSize", "instances"])
        #expect(list["pageSize"] == 50)
        #expect(list["instances"]?.array?.count == 5)
    }

    @Test func `have a pager from 2.41 on, and are named by what they hold`() throws {
        let in41 = try world(.v41).value(
            .get, "/tracker/events?\(place)&totalPages=true&pageSize=2&page=3")
        let in42 = try world(.v42).value(.get, "/tracker/events?\(place)&pageSize=2")

        #expect(in41["pager"] == ["page": 3, "pageCount": 3, "total": 5, "pageSize": 2])
        #expect(in41["page"] == 3)
        #expect(in41["events"]?.array?.count == 1)
        #expect(in42.object?.keys == ["pager", "events"])
        #expect(in42["pager"] == ["page": 1, "pageSize": 2])
    }

    @Test func `of the old API say which page is the last, or count all`() throws {
        let world = world(.v37)
        let page = try world.value(.get, "/events?\(place)&pageSize=3&page=2")
        let counted = try world.value(.get, "/events?\(place)&pageSize=3&totalPages=true")

        #expect(page["pager"] == ["page": 2, "pageSize": 3, "isLastPage": true])
        #expect(page["events"]?.array?.count == 2)
        #expect(counted["pager"] == ["page": 1, "pageCount": 2, "total": 5, "pageSize": 3])
    }

    @Test func `cover every row once, whatever the pages`() throws {
        let world = world()
        for size in 1...6 {
            var seen: [String] = []
            for page in 1...5 {
                seen += try world.ids(
                    "/tracker/trackedEntities?\(place)&pageSize=\(size)&page=\(page)",
                    "instances", "trackedEntity")
            }
            #expect(seen.count == 5 && Set(seen).count == 5, "\(size)")
        }
    }

    @Test func `have all rows without paging, and nothing after the last page`() throws {
        let world = world()

        #expect(
            try world.value(.get, "/tracker/events?\(place)&skipPaging=true").object?.keys
                == ["instances"])
        #expect(try world.value(.get, "/tracker/events?\(place)&page=9")["instances"] == [])
        #expect(world.answer(.get, "/tracker/events?\(place)&page=0").status == 400)
        let last = "/tracker/events?\(place)&page=9223372036854775807"
        #expect(world.answer(.get, last).status == 200)
    }

    @Test func `are in the order that is wanted, else the newest first`() throws {
        let world = world()
        let path = "/tracker/trackedEntities?\(place)&pageSize=2"
        let ids = { (order: String) in
            try world.ids(path + order, "instances", "trackedEntity")
        }

        #expect(try ids("") == ["traPerson5x", "traPerson4x"])
        #expect(try ids("&order=createdAt:asc") == ["traPerson1x", "traPerson2x"])
        #expect(try ids("&order=createdAt:desc") == ["traPerson5x", "traPerson4x"])
        #expect(world.answer(.get, path + "&order=colour").status == 400)
    }

    @Test func `of tracked entities compare days up to 2.40, and times from 2.41 on`() throws {
        for (version, count) in [(Dhis2Version.v37, 5), (.v40, 5), (.v41, 2), (.v42, 2)] {
            let world = world(version)
            let since = "2026-11-18T11:09:40.000"
            let list =
                try version == .v37
                ? world.value(
                    .get, "/trackedEntityInstances?\(place)&lastUpdatedStartDate=\(since)")
                : world.value(.get, "/tracker/trackedEntities?\(place)&updatedAfter=\(since)")
            let names = ["instances", "trackedEntities", "trackedEntityInstances"]
            let rows = names.compactMap { list[$0] }.first

            #expect(rows?.array?.count == count, "\(version)")
        }
    }

    @Test func `of events and enrollments compare times in every version`() throws {
        let world = world()
        let since = "2026-11-18T11:09:40.000"

        #expect(
            try world.ids("/tracker/events?\(place)&updatedAfter=\(since)", "instances", "event")
                == ["evePerson5x", "evePerson4x"])
        #expect(
            try world.ids("/events?\(place)&lastUpdatedStartDate=\(since)", "events", "event")
                == ["evePerson5x", "evePerson4x"])
        #expect(
            try world.ids(
                "/tracker/enrollments?\(place)&updatedAfter=\(since)", "instances", "enrollment")
                == ["enrPerson5x", "enrPerson4x"])
        #expect(world.answer(.get, "/tracker/events?\(place)&updatedAfter=soon").status == 400)
    }

    @Test func `take times without a zone for the server's`() throws {
        let world = DhisWorld(.v41, hoursAheadOfUTC: 2)
        world.putPerson("Person1x")
        let ids = { (since: String) in
            try world.ids("/tracker/events?\(place)&updatedAfter=\(since)", "events", "event")
        }

        #expect(try ids("2026-11-18T13:06:40.000") == ["evePerson1x"])
        #expect(try ids("2026-11-18T13:06:41.000") == [])
        #expect(try ids("2026-11-18T11:06:40Z") == ["evePerson1x"])
        #expect(try ids("2026-11-18T12:06:40%2B0100") == ["evePerson1x"])
    }

    @Test func `have what was deleted when they are asked for it, and it is gone alone`() throws {
        let world = world()
        world.server.delete("trackedEntities/traPerson2x")
        let all = try world.value(
            .get, "/tracker/trackedEntities?\(place)&includeDeleted=true&fields=*")
        let gone = all["instances"]?.array?.first { $0["trackedEntity"] == "traPerson2x" }

        #expect(gone?["deleted"] == true)
        #expect(gone?.at("enrollments", 0, "deleted") == true)
        #expect(gone?.at("enrollments", 0, "events", 0, "deleted") == true)
        #expect(try world.value(.get, "/tracker/events?\(place)")["instances"]?.array?.count == 4)
        #expect(world.answer(.get, "/tracker/trackedEntities/traPerson2x").status == 404)
        #expect(world.answer(.get, "/tracker/events/evePerson2x").status == 404)
    }

    @Test func `of tracked entities notice a change of what is in them`() throws {
        let world = world(.v41)
        let since = "2026-11-18T11:11:40.000"
        let path = "/tracker/trackedEntities?\(place)&updatedAfter=\(since)"
        #expect(try world.ids(path, "trackedEntities", "trackedEntity") == [])

        try world.imported(#"{"events":[\#(DhisWorld.event("Person3x"))]}"#)

        #expect(try world.ids(path, "trackedEntities", "trackedEntity") == ["traPerson3x"])
    }

    @Test func `are of the units that are named, of their children, or of all below`() throws {
        let world = DhisWorld()
        world.putPerson("Person1x")
        world.putPerson("Person2x", unit: "unitRoom001")
        world.putPerson("Person3x", unit: "unitAway001")
        world.putPerson("Person4x", unit: "unitLost001")
        let ids = { (query: String) in
            try world.ids(
                "/tracker/events?program=progOpen001&order=createdAt:asc&" + query, "instances",
                "event"
            ).map { String($0.dropFirst(9).prefix(1)) }.joined()
        }

        #expect(try ids("orgUnit=unitHere001") == "1")
        #expect(try ids("orgUnit=unitHere001;unitAway001") == "13")
        #expect(try ids("orgUnit=unitHere001&ouMode=CHILDREN") == "12")
        #expect(try ids("orgUnit=unitRoot001&ouMode=DESCENDANTS") == "123")
        #expect(try ids("ouMode=CAPTURE") == "12")
        #expect(try ids("orgUnitMode=ACCESSIBLE") == "123")
        #expect(world.answer(.get, "/tracker/events?ouMode=ALL").status == 403)
        #expect(world.answer(.get, "/tracker/events?ouMode=NEAR").status == 400)
    }

    @Test func `need a unit unless objects are named, up to 2.40`() throws {
        let world = world()

        #expect(world.answer(.get, "/tracker/trackedEntities?program=progOpen001").status == 409)
        #expect(
            try world.ids(
                "/tracker/trackedEntities?trackedEntity=traPerson1x;traPerson4x&order=createdAt",
                "instances", "trackedEntity") == ["traPerson1x", "traPerson4x"])
        #expect(world.answer(.get, "/tracker/trackedEntities?orgUnit=unitHere001").status == 409)
        #expect(world.answer(.get, "/tracker/events?orgUnit=nothing0001").status == 409)
        #expect(world.answer(.get, "/tracker/events?\(place)x").status == 409)
        world.model.version = .v41
        #expect(world.answer(.get, "/tracker/trackedEntities?program=progOpen001").status == 200)
    }

    @Test func `are of one type, and of those with a value of an attribute`() throws {
        let world = world()
        let name = #","attributes":[{"attribute":"attrName001","value":"Bob"}]"#
        try world.imported(#"{"trackedEntities":[\#(DhisWorld.person("Person1x", name))]}"#)
        let ids = { (query: String) in
            try world.ids(
                "/tracker/trackedEntities?orgUnit=unitHere001&" + query, "instances",
                "trackedEntity")
        }

        #expect(try ids("trackedEntityType=typePers001").count == 5)
        #expect(try ids("trackedEntityType=typeNone001") == [])
        #expect(try ids("program=progOpen001&filter=attrName001:EQ:bob") == ["traPerson1x"])
        #expect(try ids("program=progOpen001&filter=attrName001:LIKE:da").count == 4)
    }
}

@Suite struct `objects of a server like DHIS2` {
    private let world = DhisWorld()

    init() { world.putPerson("Person1x") }

    @Test func `have what is in them when it is asked for`() throws {
        let usual = try world.value(.get, "/tracker/trackedEntities/traPerson1x")
        let whole = try world.value(.get, "/tracker/trackedEntities/traPerson1x?fields=*")

        #expect(usual["enrollments"] == .none)
        #expect(whole.at("enrollments", 0, "enrollment") == "enrPerson1x")
        #expect(
            whole.at("enrollments", 0, "events", 0, "dataValues", 0, "dataElement")
                == "elemText001")
        #expect(
            whole.at("programOwners", 0) == [
                "orgUnit": "unitHere001", "trackedEntity": "traPerson1x", "program": "progOpen001",
            ])
    }

    @Test func `have the old names in the old API, at every depth`() throws {
        let whole = try world.value(.get, "/trackedEntityInstances/traPerson1x?fields=*")
        let enrollment = whole.at("enrollments", 0)
        let event = enrollment?.at("events", 0)

        #expect(whole["trackedEntityInstance"] == "traPerson1x")
        #expect(whole["lastUpdated"] == "2026-11-18T11:06:40.000")
        #expect(enrollment?["trackedEntityInstance"] == "traPerson1x")
        #expect(enrollment?["enrollmentDate"] == "2026-11-01T00:00:00.000")
        #expect(enrollment?["incidentDate"] == "2026-11-01T00:00:00.000")
        #expect(event?["eventDate"] == "2026-11-02T00:00:00.000")
        #expect(event?.at("dataValues", 0, "created") == "2026-11-18T11:06:40.000")
        #expect(whole.at("programOwners", 0, "ownerOrgUnit") == "unitHere001")
        #expect(whole["trackedEntity"] == .none && event?["occurredAt"] == .none)
    }

    @Test func `have the fields that are wanted, also of what is in them`() throws {
        let fields = "trackedEntity,enrollments%5Bevents%5Bevent,status%5D%5D"
        let some = try world.value(
            .get, "/tracker/trackedEntities/traPerson1x?fields=" + fields)

        #expect(
            some == [
                "trackedEntity": "traPerson1x",
                "enrollments": [["events": [["event": "evePerson1x", "status": "ACTIVE"]]]],
            ])
    }

    @Test func `have the attributes of the type, and in a program the program's too`() throws {
        let number = #","attributes":[{"attribute":"attrNumb001","value":"7"}]"#
        try world.imported(#"{"enrollments":[\#(DhisWorld.enrollment("Person1x", number))]}"#)
        let names = { (query: String) in
            (try world.value(.get, "/tracker/trackedEntities/traPerson1x?fields=*" + query))
                .at("attributes")?.array?.compactMap { $0["attribute"]?.stringValue } ?? []
        }

        #expect(try names("") == ["attrName001"])
        #expect(try names("&program=progOpen001") == ["attrName001", "attrNumb001"])
        let enrollment = try world.value(
            .get, "/tracker/enrollments/enrPerson1x?fields=attributes%5Battribute,value%5D")
        #expect(enrollment == ["attributes": [["attribute": "attrNumb001", "value": "7"]]])
    }

    @Test func `have relationships at both of their ends, and lists of them by an end`() throws {
        world.putPerson("Person2x")
        world.put(
            "relationships/relPerson12",
            """
            {"relationshipType":"relaType001",
             "from":{"trackedEntity":{"trackedEntity":"traPerson1x"}},
             "to":{"event":{"event":"evePerson2x"}}}
            """)

        let from = try world.value(
            .get, "/tracker/trackedEntities/traPerson1x?fields=relationships")
        let to = try world.value(.get, "/tracker/events/evePerson2x?fields=relationships")
        let list = try world.value(.get, "/tracker/relationships?event=evePerson2x")

        #expect(from == to)
        #expect(from.at("relationships", 0, "relationshipName") == "Mother")
        #expect(from.at("relationships", 0, "bidirectional") == true)
        #expect(list.at("instances", 0) == from.at("relationships", 0))
        #expect(world.answer(.get, "/tracker/relationships").status == 400)
        #expect(world.answer(.get, "/tracker/relationships?event=nothing0001").status == 404)
    }
}
