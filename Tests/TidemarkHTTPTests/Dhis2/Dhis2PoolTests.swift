// Dhis2PoolTests.swift — values that DHIS2 reserves: what is asked, and when each of them ends.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `values that DHIS2 reserves` {
    private let adapter = Dhis2Adapter(version: "2.41")

    private func call(_ key: [String], pattern: String? = nil) -> ServerCall {
        .reserve(pool: "numbers", key: key, pattern: pattern, count: 51)
    }

    private func answer(
        _ body: String, pattern: String? = nil, date: String? = nil
    ) throws -> ServerAnswer {
        var response = HTTPResponse(status: 200)
        if let date { response.headerFields[.date] = date }
        return try #require(adapter).answer(
            to: call(["A1"], pattern: pattern), response, body: Array(body.utf8))
    }

    private func until(
        _ members: String, pattern: String? = nil, date: String? = nil
    ) throws -> String? {
        let answer = try answer("[{\"value\":\"1\",\(members)}]", pattern: pattern, date: date)
        guard case .reserved(let reserved) = answer else {
            Issue.record("\(answer)")
            return nil
        }
        #expect(reserved.unreadable == 0 && reserved.values.count == 1)
        return reserved.values.first?.until.map { String($0.description.prefix(16)) }
    }

    @Test func `are asked for by attribute, and by the code of a unit`() throws {
        let adapter = try #require(adapter)
        #expect(
            try adapter.request(for: call(["A1"])).path
                == "/api/trackedEntityAttributes/A1/generateAndReserve?numberToReserve=51")
        #expect(
            try adapter.request(for: call(["A1", "OS L"])).path
                == "/api/trackedEntityAttributes/A1/generateAndReserve?numberToReserve=51"
                + "&ORG_UNIT_CODE=OS%20L")
        let error = #expect(throws: SyncFailure.self) {
            try adapter.request(for: call(["A1", "OSL", "x"]))
        }
        #expect(
            error?.detail
                == "a key of numbers is the id of an attribute, or that and the code of a unit")
    }

    // RV09 to RV12, and further days.
    @Test(arguments: [
        ("2019-12-10", "CURRENT_DATE(Y)", "2020-01-01"),
        ("2019-12-10", "CURRENT_DATE(M)", "2020-01-01"),
        ("2019-12-10", "CURRENT_DATE(w)", "2019-12-16"),
        ("2019-12-10", "CURRENT_DATE(YYYYMM) + RANDOM(###) + CURRENT_DATE(MMww)", "2019-12-16"),
        ("2019-12-16", "CURRENT_DATE(ww)", "2019-12-23"),
        ("2019-12-15", "CURRENT_DATE(ww)", "2019-12-16"),
        ("2024-01-31", "\"w\" + CURRENT_DATE(yyyyMM)", "2024-02-01"),
        ("2024-02-29", "\"CURRENT_DATE(w)\" + CURRENT_DATE(yyyy)", "2025-01-01"),
    ])
    func `end when a date in them is wrong: on that day none is used any more`(
        _ today: String, _ pattern: String, _ end: String
    ) throws {
        let created = #""created":"\#(today)T11:06:40.000","expiryDate":"2099-01-01T00:00:00""#
        #expect(try until(created, pattern: pattern) == "\(end)T00:00")
        // Without the attribute's own pattern that of the answer counts.
        let quoted = JSONValue.string(pattern).description
        #expect(try until("\"key\":\(quoted),\(created)") == "\(end)T00:00")
    }

    @Test func `hold for all of their last day, or to the end of their date if that is earlier`()
        throws
    {
        let created = #""created":"2026-01-09T11:06:40.000""#
        let expiry = #""expiryDate":"2026-03-10T11:06:40.000""#
        #expect(try until("\(created),\(expiry)", pattern: "RANDOM(###)") == "2026-03-11T00:00")
        #expect(
            try until("\(created),\(expiry)", pattern: "CURRENT_DATE(MM)") == "2026-02-01T00:00")
        #expect(try until(created, pattern: "RANDOM(###)") == nil)
    }

    @Test(arguments: [
        ("Fri, 09 Jan 2026 08:06:41 GMT", "2026-03-10T21:00"),
        ("Fri, 09 Jan 2026 11:06:39 GMT", "2026-03-11T00:00"),
        ("Fri, 09 Jan 2026 16:36:40 GMT", "2026-03-11T05:30"),
        // No zone is that far away: the Date tells nothing.
        ("Sun, 11 Jan 2026 08:06:40 GMT", "2026-03-11T00:00"),
    ])
    func `end by the server's calendar, whose zone its Date tells`(
        _ date: String, _ end: String
    ) throws {
        let times =
            #""created":"2026-01-09T11:06:40.000","expiryDate":"2026-03-10T11:06:40.000""#
        #expect(try until(times, date: date) == end)
    }

    @Test func `that can't be read are counted, and the others are taken`() throws {
        let answer = try answer(
            """
            [{"value":"1","key":"RANDOM(#)","expiryDate":"2026-03-10"},{"value":2},{},7,
             {"value":"3","expiryDate":"soon"},{"value":"4"}]
            """)
        guard case .reserved(let reserved) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reserved.pattern == "RANDOM(#)" && reserved.unreadable == 4)
        #expect(reserved.values.map(\.value) == ["1", "4"])
        // Of a date in a value nobody knows of which day it is.
        let undated = #"[{"value":"1","expiryDate":"2026-03-10"}]"#
        #expect(
            try self.answer(undated, pattern: "CURRENT_DATE(w)")
                == .reserved(
                    ReservedValues(pattern: "CURRENT_DATE(w)", values: [], unreadable: 1)))
    }

    @Test func `are none in an answer that is no list, or is an error`() throws {
        guard case .failure(.malformed) = try answer("{}"),
            case .failure(.malformed) = try answer("")
        else {
            Issue.record("a list is needed")
            return
        }
        let refused = try #require(adapter).answer(
            to: call(["A1"]), HTTPResponse(status: 409),
            body: Array(#"{"message":"Unable to reserve 51 values: not enough left"}"#.utf8))
        guard case .failure(.client(409, let detail)) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(detail == "Unable to reserve 51 values: not enough left")
    }

    @Test func `are told by the attribute's document how they are made now`() throws {
        let adapter = try #require(adapter)
        let document = try JSONDocument(parsing: Array(#"{"pattern":"RANDOM(##)"}"#.utf8))
        #expect(
            adapter.pattern(of: ["A1", "OSL"], in: "numbers") { key in
                key == EntityKey("trackedEntityAttributes", "A1") ? document : nil
            } == "RANDOM(##)")
        #expect(adapter.pattern(of: ["A2"], in: "numbers") { _ in nil } == nil)
    }

    @Test func `are refused in a model whose server or key can't have them`() throws {
        func check(_ adapter: (any ServerAdapter)?, _ pools: [SyncModel.Pool]) -> ModelError? {
            let model = SyncModel(
                name: "m", collections: [CollectionModel("programs", pushes: [])], pools: pools)
            do throws(ModelError) {
                try adapter?.check(ModelRegistration(model: model))
                return nil
            } catch { return error }
        }
        let kinto = KintoAdapter(origin: "http://kinto.test", bucket: "b")
        #expect(check(kinto, [.init("numbers")])?.path == "pools.numbers")
        #expect(check(adapter, [.init("numbers", keys: [["A1"], ["A1", "OSL"]])]) == nil)
        let error = check(adapter, [.init("numbers", keys: [["A1"], ["a", "b", "c"]])])
        #expect(error?.path == "pools.numbers.keys[1]")
    }
}
