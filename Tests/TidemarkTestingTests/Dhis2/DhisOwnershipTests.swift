// DhisOwnershipTests.swift — who may see a tracked entity, and how the glass is broken.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `ownership on a server like DHIS2` {
    private let world = DhisWorld()
    private let path = "/tracker/trackedEntities/traPerson1x?program="
    private let pair = "trackedEntity=traPerson1x&program=progProt001"

    private func put(_ program: String, _ unit: String, _ name: String = "Person1x") {
        let stage = program == "progProt001" ? "stagProt001" : "stagOpen001"
        world.putPerson(name, program: program, stage: stage, unit: unit)
    }

    @Test func `an open program is read wherever the user searches`() {
        put("progOpen001", "unitAway001")
        #expect(world.answer(.get, path + "progOpen001").status == 200)

        let other = DhisWorld()
        other.putPerson("Person1x", unit: "unitLost001")
        #expect(other.answer(.get, path + "progOpen001").status == 401)
    }

    @Test func `a protected program is read where the user writes`() throws {
        put("progProt001", "unitHere001", "Person2x")
        put("progProt001", "unitAway001")

        let denied = try world.value(.get, path + "progProt001")
        #expect(
            denied == [
                "httpStatus": "Unauthorized", "httpStatusCode": 401, "status": "ERROR",
                "message": "OWNERSHIP_ACCESS_DENIED",
            ])
        #expect(world.answer(.get, "/tracker/enrollments/enrPerson1x").status == 401)
        #expect(world.answer(.get, "/tracker/events/evePerson1x").status == 401)
        #expect(
            try world.ids(
                "/tracker/trackedEntities?program=progProt001&ouMode=ACCESSIBLE", "instances",
                "trackedEntity") == ["traPerson2x"])
        #expect(
            try world.ids(
                "/tracker/events?program=progProt001&ouMode=ACCESSIBLE", "instances", "event")
                == ["evePerson2x"])
    }

    @Test func `in 2.40 and 2.41 it is taken out of a page of a list after that was cut`() throws {
        for version in Dhis2Version.allCases {
            let world = DhisWorld(version)
            for number in 1...3 {
                world.putPerson(
                    "Person\(number)x", program: "progProt001", stage: "stagProt001")
            }
            world.model.deny("traPerson2x", program: "progProt001")
            let path = version == .v37 ? "/trackedEntityInstances" : "/tracker/trackedEntities"
            let first = try world.value(
                .get, "\(path)?orgUnit=unitHere001&program=progProt001&pageSize=2")
            let names = ["instances", "trackedEntities", "trackedEntityInstances"]
            let rows = names.compactMap { first[$0]?.array }.first ?? []

            let isCutFirst = version == .v40 || version == .v41
            #expect(rows.count == (isCutFirst ? 1 : 2), "\(version)")
        }
    }

    @Test func `a closed program stays closed`() throws {
        put("progClos001", "unitAway001")

        #expect(
            try world.value(.get, path + "progClos001")["message"] == "PROGRAM_ACCESS_CLOSED")
        #expect(
            world.answer(
                .post,
                "/tracker/ownership/override?trackedEntity=traPerson1x&program=progClos001&reason=a"
            ).status == 403)
    }

    @Test func `a refusal has the status of the version, or the one that is set`() throws {
        for (version, status) in [(Dhis2Version.v40, 401), (.v41, 403), (.v42, 404)] {
            let world = DhisWorld(version)
            world.putPerson(
                "Person1x", program: "progProt001", stage: "stagProt001", unit: "unitAway001")
            #expect(world.answer(.get, path + "progProt001").status == status, "\(version)")
        }
        put("progProt001", "unitAway001")
        world.model.denialStatus = 409
        #expect(world.answer(.get, path + "progProt001").status == 409)
        world.model.denialStatus = 403
        #expect(try world.value(.get, path + "progProt001")["errorCode"] == "E1006")
        world.model.denialStatus = 404
        #expect(
            try world.value(.get, path + "progProt001")["message"]
                == "TrackedEntity with id traPerson1x could not be found.")
    }

    @Test func `without a program it is there, with its owners and without enrollments`() throws {
        put("progProt001", "unitAway001")
        let person = try world.value(.get, "/tracker/trackedEntities/traPerson1x?fields=*")

        #expect(person["enrollments"] == [])
        #expect(person.at("programOwners", 0, "orgUnit") == "unitAway001")
    }

    @Test func `a reason opens it for three hours`() throws {
        put("progProt001", "unitAway001")
        let answer = try world.value(
            .post, "/tracker/ownership/override?\(pair)&reason=emergency")

        #expect(
            answer == [
                "httpStatus": "OK", "httpStatusCode": 200, "status": "OK",
                "message": "Temporary Ownership granted",
            ])
        world.wait(3 * 3600 - 1)
        #expect(world.answer(.get, path + "progProt001").status == 200)
        world.wait(1)
        #expect(world.answer(.get, path + "progProt001").status == 401)
    }

    @Test func `it is opened for the one who asked`() {
        put("progProt001", "unitAway001")
        let (one, two) = ("Basic YQ==", "Basic Yg==")
        world.model.users = [("userAlic001", one), ("userBobb001", two)].map {
            Dhis2User(
                id: $0.0, authorization: $0.1, captureUnits: ["unitHere001"],
                searchUnits: ["unitAway001"])
        }
        world.answer(
            .post, "/tracker/ownership/override?\(pair)&reason=a", authorization: one)

        #expect(world.answer(.get, path + "progProt001", authorization: one).status == 200)
        #expect(world.answer(.get, path + "progProt001", authorization: two).status == 401)
    }

    @Test func `it is not opened without a reason, nor beyond the search`() {
        put("progProt001", "unitLost001")
        let override = "/tracker/ownership/override?\(pair)"

        #expect(world.answer(.post, override).status == 400)
        #expect(world.answer(.post, override + "&reason=a").status == 403)
        #expect(world.answer(.post, "/tracker/ownership/override?reason=a").status == 400)
    }

    @Test func `an upload is refused with the codes that clients know`() throws {
        put("progProt001", "unitHere001")
        world.model.deny("traPerson1x", program: "progProt001")
        let enrollment = DhisWorld.enrollment("Person1x")
            .replacing("progOpen001", with: "progProt001")
        let event = DhisWorld.event("Person1x").replacing("progOpen001", with: "progProt001")
            .replacing("stagOpen001", with: "stagProt001")
        let payload = #"{"enrollments":[\#(enrollment)],"events":[\#(event)]}"#

        #expect(
            try world.imported(payload).errorCodes == ["E1102 enrPerson1x", "E1000 evePerson1x"])
        world.answer(.post, "/tracker/ownership/override?\(pair)&reason=a")
        #expect(try world.imported(payload).counts == [0, 2, 0, 0])
    }

    @Test func `an upload by the old API is refused with the words of the refusal`() throws {
        put("progProt001", "unitHere001")
        world.model.deny("traPerson1x", program: "progProt001")
        let answer = try world.value(.delete, "/enrollments/enrPerson1x")

        #expect(answer["httpStatusCode"] == 409)
        #expect(answer.at("response", "description") == "OWNERSHIP_ACCESS_DENIED")
        world.model.grant("traPerson1x", program: "progProt001")
        #expect(world.answer(.delete, "/enrollments/enrPerson1x").status == 200)
    }

    @Test func `a transfer gives the tracked entity to another unit`() throws {
        put("progProt001", "unitHere001")
        let answer = try world.value(
            .put, "/tracker/ownership/transfer?\(pair)&ou=unitAway001")

        #expect(answer["message"] == "Ownership transferred")
        #expect(world.answer(.get, path + "progProt001").status == 401)
        #expect(
            world.answer(.put, "/tracker/ownership/transfer?\(pair)&ou=unitHere001").status == 401)
        #expect(world.answer(.put, "/tracker/ownership/transfer?\(pair)").status == 400)
    }

    @Test func `an owner can be put, without an enrollment`() {
        put("progProt001", "unitHere001")
        #expect(world.answer(.get, path + "progProt001").status == 200)
        world.put(
            "trackedEntities/traPerson1x",
            #"{"programOwners":[{"program":"progProt001","orgUnit":"unitAway001"}]}"#)

        #expect(world.answer(.get, path + "progProt001").status == 401)
    }

    @Test func `who may do everything sees everything`() {
        put("progClos001", "unitLost001")
        world.model.users[0].isSuperuser = true

        #expect(world.answer(.get, path + "progClos001").status == 200)
        #expect(
            world.answer(.get, "/tracker/trackedEntities?program=progClos001&ouMode=ALL").status
                == 200)
    }
}
