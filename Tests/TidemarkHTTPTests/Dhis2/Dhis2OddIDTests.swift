// Dhis2OddIDTests.swift — ids that are long or have separators in them, and what a 404 says.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `ids in requests to DHIS2` {
    private static let events = CollectionModel("events", idField: "event")
    private static let entities = CollectionModel("trackedEntities", idField: "trackedEntity")
    private static let units = CollectionModel("organisationUnits")

    private func path(_ call: ServerCall, _ version: String = "2.41") throws -> String {
        try #require(Dhis2Adapter(version: version)).request(for: call).path
    }

    private func failure(_ call: ServerCall) -> String {
        do {
            let path = try path(call)
            return "asks for \(path)"
        } catch let failure as SyncFailure { return failure.detail } catch { return "\(error)" }
    }

    @Test(arguments: [
        ("a;b", "a%3Bb"), ("a,b", "a%2Cb"), ("a:[b]", "a%3A%5Bb%5D"),
        ("a/?%é,", "a%2F%3F%25%C3%A9%2C"),
    ])
    func `with a separator have a request of their own`(_ id: String, _ encoded: String) throws {
        #expect(
            try path(.fetch(Self.events, ids: [id]))
                == "/api/tracker/events/\(encoded)?fields=*,!programOwners")
        #expect(
            try path(.refetch(Self.events, ids: [id], together: nil), "2.37")
                == "/api/events/\(encoded)?fields=*,!programOwners,!relationships")
        #expect(
            try path(.refetch(Self.units, ids: [id], together: nil))
                == "/api/organisationUnits/\(encoded)?fields=:owner")
        let others = failure(.fetch(Self.events, ids: ["V1", id]))
        #expect(
            others == "\"\(id)\" has one of ,;:[], by which DHIS2 parts ids; it is asked for alone")
    }

    @Test func `with other marks stay in the parameter that names them`() throws {
        let path = try path(.fetch(Self.events, ids: ["a/?%&é", "b=#"]))
        #expect(path.contains("?events=a%2F%3F%25%26%C3%A9,b%3D%23&fields="))
    }

    @Test(arguments: [".", ".."])
    func `that would be another place are refused`(_ id: String) {
        let words =
            "\"\(id)\" can't be asked for as an id: in an address it is another place; "
            + "correct what names it"
        #expect(failure(.read(Self.events, id: id)) == words)
        #expect(
            failure(
                .listPart(
                    Self.entities, ["trackedEntity": id, "program": "P"], after: nil, page: nil))
                == words)
    }

    @Test func `are as many in a request as go into an address`() throws {
        let traits = try #require(Dhis2Adapter(version: "2.41")).traits
        #expect(traits.refetchesPerRequestMax == 100 && traits.idBytesPerRequestMax == 3000)
        let ids = (0..<100).map { Dhis2Adapter.id(from: "\($0)") }
        #expect(try path(.fetch(Self.events, ids: ids)).utf8.count < 1400)
        let values = (0..<55).map { number in
            Dhis2Adapter.id(
                dataElement: Dhis2Adapter.id(from: "e\(number)"), period: "202601",
                orgUnit: Dhis2Adapter.id(from: "u\(number)"),
                categoryOptionCombo: "HllvX50cXC0", attributeOptionCombo: "HllvX50cXC0")
        }
        #expect(values.reduce(0) { $0 + $1.utf8.count } <= 3000)
        let collection = CollectionModel("dataValues")
        #expect(try path(.fetch(collection, ids: values)).utf8.count < 8000)
    }

    @Test func `of very many data sets, and periods, are not named one by one`() throws {
        let lists = (0..<500).map { CollectionModel.ListRule(["dataSet": "set\($0)xxxxx"]) }
        let value = Dhis2Adapter.id(
            dataElement: "D1", period: "202601", orgUnit: "O1", categoryOptionCombo: "C1",
            attributeOptionCombo: "A1")
        let path = try path(.fetch(CollectionModel("dataValues", lists: lists), ids: [value]))
        #expect(path.contains("?dataElement=D1&orgUnit=O1&period=202601&"))

        let set = #"{"periodType":"Daily","openFuturePeriods":400}"#
        let asked = try #require(Dhis2Adapter(version: "2.41")).asked(
            ["dataSet": "S1", "orgUnit": "O1", "periods": "400"],
            of: CollectionModel("dataValues"), at: Timestamp(rawValue: 0)
        ) { _ in try? JSONDocument(parsing: Array(set.utf8)) }
        #expect(asked["period"] == nil && asked["startDate"] == "1965-01-01")
    }

    // MARK: What is answered

    private func answer(
        _ call: ServerCall, _ version: String, _ status: Int, _ body: String
    ) throws -> ServerAnswer {
        try #require(Dhis2Adapter(version: version)).answer(
            to: call, HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
    }

    @Test func `with a separator are answered by the object itself`() throws {
        let body = #"{"event":"a;b","status":"ACTIVE"}"#
        guard
            case .records(let found) = try answer(
                .fetch(Self.events, ids: ["a;b"]), "2.41", 200, body)
        else { return #expect(Bool(false)) }
        #expect(found.map(\.id) == ["a;b"])
        guard
            case .records(let other) = try answer(
                .refetch(Self.events, ids: ["b;a"], together: nil), "2.41", 200, body)
        else { return #expect(Bool(false)) }
        #expect(other.isEmpty)
    }

    private static let none =
        #"{"httpStatusCode":404,"message":"TrackedEntity with id T1 could not be found."}"#

    @Test(arguments: [("2.41", false), ("2.42", true)])
    func `that are denied as if there was none prove no absence`(
        _ version: String, _ isDenial: Bool
    ) throws {
        let part = ServerCall.listPart(
            Self.entities, ["trackedEntity": "T1", "program": "P"], after: nil, page: nil)
        let list = try answer(part, version, 404, Self.none)
        if isDenial {
            #expect(list == .failure(.forbidden))
        } else {
            #expect(list == .page(ListPage(records: [], next: nil, cursor: nil)))
        }
        let read = ServerCall.read(Self.events, id: "V1")
        #expect(
            try answer(read, version, 404, Self.none) == (isDenial ? .failure(.forbidden) : .absent)
        )
        let own = #"{"message":"Event with id V1 could not be found."}"#
        #expect(try answer(read, version, 404, own) == .absent)
        #expect(
            try answer(.read(Self.entities, id: "T1"), version, 404, Self.none) == .absent)
    }

    @Test(
        arguments: ["2.37", "2.41", "2.42"],
        ["<!doctype html><title>HTTP Status 404 – Not Found</title>", "404 page not found", ""])
    func `that are missed by a server in between prove nothing`(
        _ version: String, _ body: String
    ) throws {
        let action = ServerCall.perform(
            Self.entities, id: "T1", action: "transfer",
            parameters: ["program": "P", "orgUnit": "U"])
        let calls: [(ServerCall, [Int])] = [
            (.read(Self.events, id: "V1"), [404]),
            (.read(Self.entities, id: "T1"), [404]),
            (.refetch(Self.events, ids: ["V1"], together: nil), [404]),
            (
                .listPart(
                    Self.entities, ["trackedEntity": "T1", "program": "P"], after: nil, page: nil),
                [404]
            ),
            (action, [200, 400, 403, 404, 409]),
        ]
        for (call, statuses) in calls {
            for status in statuses {
                let found = try answer(call, version, status, body)
                #expect(
                    found == .failure(.foreign("\(status) without a message of DHIS2")),
                    "\(call) \(status)")
            }
        }
        let message = #"{"httpStatus":"OK","httpStatusCode":200,"message":"Ownership transferred"}"#
        #expect(try answer(action, version, 200, message) == .stored(id: "T1", nil))
    }

    @Test(
        arguments: [
            (#"{"message":"no Route matched with those values"}"#, false),
            (#"{"message":"Cannot GET /api/tracker/events/V1","statusCode":404}"#, false),
            (#"{"status":404,"error":"Not Found","path":"/api/tracker/events/V1"}"#, false),
            (#"{"message":"Event with id V10 could not be found."}"#, false), ("{}", false),
            (#"{"httpStatusCode":403,"message":"no"}"#, false),
            (#"{"httpStatusCode":404,"message":"no"}"#, true),
            (#"{"message":"Event with id V1 could not be found."}"#, true),
            (#"{"message":"No event 'V1' found."}"#, true),
        ])
    func `that are missed are gone only where DHIS2 itself says so`(
        _ body: String, _ isOwn: Bool
    ) throws {
        let foreign = ServerAnswer.failure(.foreign("404 without a message of DHIS2"))
        let list: ListParameters = ["trackedEntity": "V1", "program": "P"]
        #expect(
            try answer(.read(Self.events, id: "V1"), "2.41", 404, body)
                == (isOwn ? .absent : foreign))
        #expect(
            try answer(.refetch(Self.events, ids: ["V1"], together: nil), "2.41", 404, body)
                == (isOwn ? .records([]) : foreign))
        #expect(
            try answer(.listPart(Self.entities, list, after: nil, page: nil), "2.41", 404, body)
                == (isOwn ? .page(ListPage(records: [], next: nil, cursor: nil)) : foreign))
    }

    @Test func `that are missed together prove nothing of each`() throws {
        let enrollments = CollectionModel("enrollments", idField: "enrollment")
        let sentence = "Enrollment with id E2 could not be found."
        let body = #"{"httpStatusCode":404,"message":"\#(sentence)"}"#

        let alone = try answer(
            .refetch(enrollments, ids: ["E2"], together: nil), "2.41", 404, body)
        let together = try answer(
            .refetch(enrollments, ids: ["E1", "E2"], together: nil), "2.41", 404, body)

        #expect(alone == .records([]))
        #expect(together == .failure(.client(status: 404, sentence)))
    }

    @Test(arguments: [403, 404, 409])
    func `that the user may not see are not there, by a word of DHIS2's`(_ status: Int) throws {
        let enrollments = CollectionModel("enrollments", idField: "enrollment")
        func answered(_ ids: [String], _ body: String) throws -> ServerAnswer {
            try answer(.refetch(enrollments, ids: ids, together: nil), "2.41", status, body)
        }
        let body =
            #"{"httpStatusCode":\#(status),"#
            + #""message":"User has no data read access to program: P"}"#
        #expect(try answered(["E1"], body) == .records([]))
        guard case .failure = try answered(["E1", "E2"], body) else {
            return #expect(Bool(false), "one of them may be seen")
        }
        guard case .failure(.foreign) = try answered(["E1"], "<html>") else {
            return #expect(Bool(false), "a proxy's page says nothing of it")
        }
    }

    @Test(arguments: [401, 403, 409], ["OWNERSHIP_ACCESS_DENIED", "PROGRAM_ACCESS_CLOSED"])
    func `that are denied say nothing of the credentials`(
        _ status: Int, _ message: String
    ) throws {
        let calls: [ServerCall] = [
            .listPart(
                Self.entities, ["trackedEntity": "T1", "program": "P"], after: nil, page: nil),
            .read(Self.events, id: "V1"),
        ]
        for call in calls {
            let found = try answer(call, "2.41", status, #"{"message":"\#(message)"}"#)
            #expect(found == .failure(.forbidden))
        }
        let action = ServerCall.perform(
            Self.entities, id: "T1", action: "override",
            parameters: ["program": "P", "reason": "visit"])
        let found = try answer(action, "2.41", status, #"{"message":"\#(message)"}"#)
        #expect(found == .refused(ServerRefusal(status: status, message: message)))
    }
}
