// DhisJobTests.swift — imports that are answered before they are done.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `jobs of a server like DHIS2` {
    private let world = DhisWorld()

    /// Imports a person and returns the id of the job.
    private func start() throws -> String {
        let answer = try world.value(
            .post, "/tracker?importStrategy=CREATE_AND_UPDATE",
            #"{"trackedEntities":[\#(DhisWorld.person("Person1x"))]}"#)
        #expect(answer["message"] == "Tracker job added")
        #expect(answer.at("response", "responseType") == "TrackerJob")
        return answer.at("response", "id")?.stringValue ?? ""
    }

    private func isDone(_ id: String) throws -> Bool {
        (try world.value(.get, "/tracker/jobs/\(id)").array ?? []).contains {
            $0["completed"] == true
        }
    }

    private var person: String? { world.server.record("trackedEntities/traPerson1x") }

    @Test func `are done at once unless the model lets them wait`() throws {
        let id = try start()

        #expect(try isDone(id) && person != nil)
        #expect(try world.value(.get, "/tracker/jobs/\(id)/report").counts == [1, 0, 0, 0])
        #expect(
            try world.value(.get, "/tracker/jobs/\(id)").at(0, "message")
                == "Import complete with status OK, 1 created, 0 updated, 0 deleted, 0 ignored")
    }

    @Test func `wait for some time`() throws {
        world.model.jobSeconds = 10
        let id = try start()

        #expect(try !isDone(id) && person == nil)
        #expect(world.answer(.get, "/tracker/jobs/\(id)/report").status == 404)
        world.wait(10)
        #expect(try isDone(id) && person != nil)
    }

    @Test func `wait for some requests`() throws {
        world.model.jobPolls = 2
        let id = try start()

        #expect(try !isDone(id))
        #expect(try !isDone(id))
        #expect(world.model.pendingJobs == [id])
        #expect(try isDone(id))
        #expect(world.model.pendingJobs == [])
    }

    @Test func `are finished by the test`() throws {
        world.model.jobSeconds = 1000
        let id = try start()
        world.server.finishJobs()

        #expect(try isDone(id) && person != nil)
    }

    @Test func `are lost by a restart, and nobody knows them then`() throws {
        world.model.jobSeconds = 10
        let id = try start()
        world.model.loseJobs()
        world.wait(20)

        let list = world.answer(.get, "/tracker/jobs/\(id)")
        #expect(list.status == 200 && list.text == "[]")
        #expect(world.answer(.get, "/tracker/jobs/\(id)/report").status == 404)
        #expect(person == nil)
    }

    @Test func `have a report of errors with the status 200`() throws {
        let answer = try world.value(.post, "/tracker", #"{"events":[\#(DhisWorld.event("A"))]}"#)
        let id = answer.at("response", "id")?.stringValue ?? ""
        let report = world.answer(.get, "/tracker/jobs/\(id)/report")

        #expect(report.status == 200)
        #expect(try JSONValue(parsing: report.body)["status"] == "ERROR")
        #expect(try isDone(id))
        #expect(world.answer(.get, "/tracker/jobs/\(id)/report?reportMode=NONE").status == 400)
    }

    @Test func `are carried out in their order`() throws {
        world.model.jobSeconds = 10
        _ = try start()
        world.wait(5)
        let second = try world.value(
            .post, "/tracker?importStrategy=DELETE",
            #"{"trackedEntities":[{"trackedEntity":"traPerson1x"}]}"#)
        world.wait(10)
        let id = second.at("response", "id")?.stringValue ?? ""

        #expect(try world.value(.get, "/tracker/jobs/\(id)/report").counts == [0, 0, 1, 0])
        #expect(person == nil)
    }
}
