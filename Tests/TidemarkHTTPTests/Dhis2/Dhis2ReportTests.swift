// Dhis2ReportTests.swift — what is sent to DHIS2, and what its importers say of each write.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `imports into DHIS2` {
    private static let events = CollectionModel(
        "events", idField: "event", keyed: [.init("dataValues", by: "dataElement")])
    private static let entities = CollectionModel("trackedEntities", idField: "trackedEntity")
    private static let enrollments = CollectionModel("enrollments", idField: "enrollment")

    private func adapter(_ version: String) throws -> Dhis2Adapter {
        try #require(Dhis2Adapter(version: version))
    }

    private func update(_ id: String, _ collection: CollectionModel = events) -> ServerCall {
        .update(
            collection, id: id, body: Array(#"{"a":1}"#.utf8), revision: Revision(rawValue: []))
    }

    private func delete(_ id: String, _ collection: CollectionModel = events) -> ServerCall {
        .delete(collection, id: id, revision: Revision(rawValue: []))
    }

    private func answers(
        _ version: String, _ calls: [ServerCall], _ body: String, status: Int = 200
    ) throws -> [ServerAnswer] {
        let answer = try adapter(version).answer(
            to: .batch(calls), HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
        guard case .batch(let parts) = answer else { return [answer] }
        return parts.map(\.answer)
    }

    private func words(_ answer: ServerAnswer) -> String {
        switch answer {
        case .stored(let id, _, let issues): "stored \(id) \(issues.words)"
        case .refused(let refusal): "refused \(refusal.issues.words)"
        case .ignored(let issues): "ignored \(issues.words)"
        case .absent: "absent"
        case .deferred(let ticket): "later \(ticket)"
        case .waiting: "waiting"
        case .failure(let failure): "failed \(failure.kind)"
        default: "else"
        }
    }

    // MARK: What is sent

    @Test func `from 2.40 on what belongs together goes in one request`() throws {
        let create = ServerCall.create(
            Self.entities, id: "T1", body: Array(#"{"trackedEntity":"T1"}"#.utf8))
        let event = ServerCall.create(Self.events, id: "V1", body: Array(#"{"event":"V1"}"#.utf8))
        let request = try adapter("2.41").request(for: .batch([create, event]))
        #expect(
            request.path
                == "/api/tracker?async=false&reportMode=WARNINGS&atomicMode=OBJECT"
                + "&importStrategy=CREATE_AND_UPDATE")
        #expect(
            request.body.map { String(decoding: $0, as: UTF8.self) }
                == #"{"trackedEntities":[{"trackedEntity":"T1"}],"events":[{"event":"V1"}]}"#)
    }

    @Test func `up to 2.39 what is created together goes one in the other`() throws {
        let entities = CollectionModel("trackedEntities", idField: "trackedEntityInstance")
        func make(_ collection: CollectionModel, _ id: String, _ body: String) -> ServerCall {
            .create(collection, id: id, body: Array(body.utf8))
        }
        let t1 = #"{"trackedEntityInstance":"T1"}"#
        let e1 = #"{"enrollment":"E1","trackedEntityInstance":"T1"}"#
        let e2 = #"{"enrollment":"E2","trackedEntityInstance":"T9"}"#
        let v1 = #"{"event":"V1","enrollment":"E1"}"#
        let v2 = #"{"event":"V2","enrollment":"E1"}"#
        let old = try adapter("2.37")
        func sent(_ calls: [ServerCall]) throws -> String {
            let request = try old.request(for: .batch(calls))
            return request.path + " " + String(decoding: request.body ?? [], as: UTF8.self)
        }
        let tree = [
            make(entities, "T1", t1), make(entities, "T2", #"{"trackedEntityInstance":"T2"}"#),
            make(Self.enrollments, "E1", e1), make(Self.events, "V1", v1),
            make(Self.events, "V2", v2),
        ]
        #expect(
            try sent(tree)
                == #"/api/trackedEntityInstances?strategy=SYNC {"trackedEntityInstances":["#
                + #"{"trackedEntityInstance":"T1","enrollments":["#
                + #"{"enrollment":"E1","trackedEntityInstance":"T1","events":[\#(v1),\#(v2)]}]},"#
                + #"{"trackedEntityInstance":"T2"}]}"#)
        #expect(
            try sent([make(Self.enrollments, "E1", e1), make(Self.events, "V1", v1)])
                == #"/api/enrollments?strategy=SYNC {"enrollments":[{"enrollment":"E1","#
                + #""trackedEntityInstance":"T1","events":[\#(v1)]}]}"#)
        // A tree of another kind has a request of its own.
        #expect(throws: SyncFailure.self) {
            try sent([make(entities, "T1", t1), make(Self.enrollments, "E2", e2)])
        }
        #expect(old.traits.nestedIn == ["enrollments": "trackedEntities", "events": "enrollments"])
        #expect(try adapter("2.41").traits.nestedIn.isEmpty)
    }

    @Test func `up to 2.39 events without an enrollment have a strategy of their own`() throws {
        func path(_ version: String, _ bodies: String...) throws -> String {
            let calls = bodies.enumerated().map { index, body in
                ServerCall.create(Self.events, id: "V\(index)", body: Array(body.utf8))
            }
            return try adapter(version).request(for: .batch(calls)).path
        }
        let (own, other) = (#"{"event":"V0","enrollment":null}"#, #"{"event":"V1"}"#)
        let inside = #"{"event":"V2","enrollment":"E1"}"#
        let simple = "/api/events?strategy=CREATE_AND_UPDATE"
        #expect(try path("2.37", own, other) == simple)
        #expect(try path("2.37", inside) == "/api/events?strategy=SYNC")
        #expect(try path("2.29", inside) == simple && path("2.30", own) == simple)
        #expect(try adapter("2.39").traits.presenceFields == ["events": "enrollment"])
        #expect(try adapter("2.40").traits.presenceFields.isEmpty)
    }

    @Test func `of values only those are sent that changed`() throws {
        let call = ServerCall.update(
            Self.events, id: "V1",
            body: Array(
                (#"{"event":"V1","dataValues":[{"dataElement":"A","value":"1"},"#
                    + #"{"dataElement":"B"}]}"#).utf8),
            changes: Array(#"{"dataValues":[{"dataElement":"B"}]}"#.utf8),
            revision: Revision(rawValue: []))
        let new = try adapter("2.41").request(for: call).body
        #expect(
            new.map { String(decoding: $0, as: UTF8.self) }
                == #"{"events":[{"event":"V1","dataValues":[{"dataElement":"B"}]}]}"#)
        let old = try adapter("2.37").request(for: call)
        #expect(old.body?.count ?? 0 > 80 && old.path == "/api/events?strategy=CREATE_AND_UPDATE")
    }

    @Test func `more than a few writes are a job`() throws {
        let calls = (1...11).map { delete("V\($0)") }
        let new = try adapter("2.42")
        #expect(
            try new.request(for: .batch(calls)).path
                == "/api/tracker?atomicMode=OBJECT&importStrategy=DELETE")
        #expect(
            try new.request(for: .poll("jobs/J1", of: calls)).path == "/api/tracker/jobs/J1")
        #expect(
            try new.request(for: .poll("jobs/J1/report", of: calls)).path
                == "/api/tracker/jobs/J1/report?reportMode=WARNINGS")
    }

    @Test(arguments: ["", "jobs", "jobs/", "jobs/../x", "jobs/a/b", "jobs/a/report/x", "job/a"])
    func `a word that names no job makes no request`(_ ticket: String) throws {
        let new = try adapter("2.42")
        #expect(throws: SyncFailure.self) { try new.request(for: .poll(ticket, of: [])) }
    }

    @Test func `ids are made as DHIS2 wants them`() {
        var seen: Set<String> = []
        for number in 0..<20_000 {
            let id = Dhis2Adapter.id(from: "\(number)")
            #expect(id.wholeMatch(of: /[A-Za-z][A-Za-z0-9]{10}/) != nil)
            seen.insert(id)
        }
        #expect(seen.count == 20_000)
        #expect(Dhis2Adapter.id(from: "a") == Dhis2Adapter.id(from: "a"))
    }

    // MARK: What is answered

    @Test func `two errors of one object are both kept, and an equal one once`() throws {
        let error = #"{"uid":"V1","trackerType":"EVENT","errorCode":"E1029","message":"a"}"#
        let other = #"{"uid":"V1","trackerType":"EVENT","errorCode":"E1302","message":"b"}"#
        let found = try answers(
            "2.41", [update("V1"), update("V2")],
            #"{"status":"ERROR","validationReport":{"errorReports":["#
                + [error, other, error].joined(separator: ",") + "]}}", status: 409)
        #expect(found.map(words) == ["refused E1029: a; E1302: b", "ignored "])
    }

    @Test func `who is named twice has one answer, with each thing that is said once`() throws {
        let kept = #"{"status":"SUCCESS","reference":"V1","importCount":{"updated":1}}"#
        let refused =
            #"{"status":"ERROR","reference":"V1","description":"no access","#
            + #""importCount":{"ignored":1}}"#
        func found(_ summaries: String...) throws -> [String] {
            try answers(
                "2.37", [update("V1"), update("V2")],
                #"{"response":{"responseType":"ImportSummaries","importSummaries":["#
                    + summaries.joined(separator: ",") + "]}}", status: 409
            ).map(words)
        }
        #expect(try found(refused, refused) == ["refused no access", "ignored "])
        #expect(try found(kept, refused) == ["refused no access", "ignored "])
        #expect(try found(kept, kept) == ["stored V1 ", "ignored "])

        let imported = #""bundleReport":{"typeReportMap":{"EVENT":{"objectReports":["#
        let error = #"{"uid":"V1","trackerType":"EVENT","errorCode":"E1007","message":"a"}"#
        let twice = try answers(
            "2.41", [update("V1")],
            #"{"status":"ERROR","validationReport":{"errorReports":[\#(error)]},"#
                + imported + #"{"uid":"V1"},{"uid":"V1","errorReports":[\#(error)]}]}}}}"#)
        #expect(twice.map(words) == ["refused E1007: a"])
    }

    @Test func `a note that is there already is nothing to warn of`() throws {
        let warning = #"{"uid":"V1","trackerType":"EVENT","warningCode":"E1119","message":"a"}"#
        let found = try answers(
            "2.41", [update("V1")],
            #"{"status":"WARNING","validationReport":{"errorReports":[],"warningReports":["#
                + warning
                + #"]},"bundleReport":{"typeReportMap":{"EVENT":{"objectReports":["#
                + #"{"uid":"V1"}]}}}}"#
        )
        #expect(found.map(words) == ["stored V1 "])
    }

    @Test func `a report about nobody, or of another type, says nothing of what was sent`() throws {
        let found = try answers(
            "2.41", [update("V1")],
            """
            {"status":"OK","validationReport":{"errorReports":[
              {"uid":"V1","trackerType":"ENROLLMENT","errorCode":"E1","message":"a"},
              {"uid":"X","trackerType":"EVENT","errorCode":"E1","message":"a"}]},
             "bundleReport":{"typeReportMap":{"ENROLLMENT":{"objectReports":[{"uid":"V1"}]}}}}
            """)
        #expect(found.map(words) == ["ignored "])
    }

    @Test func `what was deleted there is gone, whatever is sent`() throws {
        let body = { (code: String) in
            #"{"status":"ERROR","validationReport":{"errorReports":["#
                + #"{"uid":"V1","trackerType":"EVENT","errorCode":"\#(code)","message":"a"}]}}"#
        }
        #expect(try answers("2.41", [update("V1")], body("E1082")).map(words) == ["absent"])
        #expect(try answers("2.41", [delete("V1")], body("E1032")).map(words) == ["absent"])
        #expect(
            try answers("2.41", [update("V1")], body("E1032")).map(words) == ["refused E1032: a"])
        #expect(try answers("2.41", [update("V1")], body("E5000")).map(words) == ["ignored "])
    }

    @Test func `a relationship is never refused: it stays pending with what is said`() throws {
        let relationships = CollectionModel("relationships", idField: "relationship")
        let found = try answers(
            "2.41", [update("R1", relationships), delete("R2", relationships)],
            """
            {"status":"ERROR","validationReport":{"errorReports":[
              {"uid":"R1","trackerType":"RELATIONSHIP","errorCode":"E4000","message":"a"},
              {"uid":"R2","trackerType":"RELATIONSHIP","errorCode":"E4016","message":"b"}]}}
            """, status: 409)
        #expect(found.map(words) == ["ignored E4000: a", "absent"])
    }

    @Test func `a relationship that is there already is made, and an edit refused`() throws {
        let relationships = CollectionModel("relationships", idField: "relationship")
        let create = ServerCall.create(relationships, id: "R1", body: Array("{}".utf8))
        let body = """
            {"status":"WARNING","validationReport":{"errorReports":[],"warningReports":[
              {"uid":"R1","trackerType":"RELATIONSHIP","warningCode":"E4015","message":"a"}]},
             "bundleReport":{"typeReportMap":{"RELATIONSHIP":{"objectReports":[]}}}}
            """

        #expect(try answers("2.41", [create], body).map(words) == ["stored R1 "])
        #expect(
            try answers("2.41", [update("R1", relationships)], body).map(words) == [
                "refused E4015: DHIS2 never changes a relationship: delete it, and make another one"
            ])
        #expect(try answers("2.41", [delete("R1", relationships)], body).map(words) == ["ignored "])
    }

    @Test func `old summaries: nested, without a reference, and with a word all the same`() throws {
        let found = try answers(
            "2.37",
            [update("T1", Self.entities), delete("T2", Self.entities), update("V9")],
            """
            {"status":"OK","response":{"responseType":"ImportSummaries","status":"WARNING",
             "importSummaries":[
               {"responseType":"ImportSummary","status":"WARNING","reference":"T1",
                "conflicts":[{"object":"x","value":"odd"}],
                "importCount":{"updated":1,"ignored":0},
                "enrollments":{"importSummaries":[{"status":"SUCCESS","reference":"E1",
                  "events":{"importSummaries":[{"status":"SUCCESS","reference":"V9",
                    "importCount":{"ignored":1},"conflicts":[{"object":"a","value":"no"}]}]}}]}},
               {"responseType":"ImportSummary","status":"SUCCESS",
                "description":"T2 cannot be deleted as it is not present in the system"}]}}
            """, status: 409)
        #expect(found.map(words) == ["stored T1 warning: odd", "absent", "refused no"])
    }

    @Test(
        arguments: [
            ("User has no data write access to event V1", "refused"),
            ("Event V1 cannot be deleted as it is not present in the system", "absent"),
            ("Event not found for ID V1", "absent"), ("V1 does not exist", "absent"),
            // Nobody else was sent.
            ("Program P1 is not assigned to this Organisation Unit: O1", "refused"),
            ("There is no access", "refused"), ("The unit O1 does not exist", "refused"),
        ])
    func `an old summary without a reference is about whom its sentence names`(
        _ sentence: String, _ word: String
    ) throws {
        let found = try answers(
            "2.37", [delete("V1")],
            #"{"response":{"responseType":"ImportSummaries","importSummaries":["#
                + #"{"status":"ERROR","description":"\#(sentence)"}]}}"#, status: 409)
        let detail = word == "refused" ? sentence : ""
        #expect(found.map(words) == [word == "absent" ? word : "\(word) \(detail)"])
    }

    @Test func `a sentence that names nobody is about the one of whom nothing else is said`() throws
    {
        let kept = #"{"status":"SUCCESS","reference":"V1","importCount":{"updated":1}}"#
        let sentence = #"{"status":"ERROR","description":"The unit O1 does not exist"}"#
        func found(_ calls: [ServerCall], _ said: String...) throws -> [String] {
            try answers(
                "2.37", calls,
                #"{"response":{"responseType":"ImportSummaries","importSummaries":["#
                    + said.joined(separator: ",") + "]}}", status: 409
            ).map(words)
        }
        let refused = "refused The unit O1 does not exist"
        #expect(
            try found([update("V1"), update("V2")], kept, sentence) == ["stored V1 ", refused])
        // That something else is not there says nothing of what was to be deleted.
        #expect(
            try found([update("V1"), delete("V2")], kept, sentence) == ["stored V1 ", refused])
        // What is said of the first beside its summary is not about the second.
        let more = #"{"status":"ERROR","description":"V1 has another owner"}"#
        #expect(
            try found([update("V1"), update("V2")], kept, more) == ["stored V1 ", "ignored "])
        // Of two it is not known whose it is, nor which of two is whose.
        #expect(try found([update("V2"), update("V3")], sentence) == ["ignored ", "ignored "])
        let other = #"{"status":"ERROR","description":"no access"}"#
        #expect(try found([update("V2")], sentence, other) == ["ignored "])
        // What is named is not anybody else's.
        let named = #"{"status":"ERROR","description":"V2 does not exist"}"#
        #expect(
            try found([update("V2"), update("V3")], named)
                == ["refused V2 does not exist", "ignored "])
        #expect(
            try found([update("V2"), update("V3")], named, sentence)
                == ["refused V2 does not exist", refused])
    }

    @Test(arguments: [200, 409])
    func `an old import that broke off says nothing of any object, and may have stored some`(
        _ status: Int
    ) throws {
        let body =
            #"{"response":{"responseType":"ImportSummaries","status":"ERROR","importSummaries":["#
            + #"{"responseType":"ImportSummary","status":"ERROR","conflicts":[],"#
            + #""description":"The import process failed: null"}]}}"#
        let old = try adapter("2.37")
        let response = HTTPResponse(status: .init(code: status))
        for call in [ServerCall.batch([update("V1"), update("V2")]), update("V1")] {
            let answer = old.answer(to: call, response, body: Array(body.utf8))
            #expect(words(answer) == "failed client")
            #expect(old.effect(of: answer, to: call, response) == .turnedAway)
        }
    }

    @Test func `counts of an old summary may be any numbers`() throws {
        let counts = #"{"imported":9223372036854775807,"updated":9223372036854775807,"ignored":1}"#
        let found = try answers(
            "2.37", [update("V1")],
            #"{"response":{"responseType":"ImportSummaries","importSummaries":["#
                + #"{"status":"SUCCESS","reference":"V1","importCount":\#(counts)}]}}"#)
        #expect(found.map(words) == ["stored V1 "])
    }

    @Test(arguments: ["2.37", "2.41"])
    func `a conflict without a report is told with its reason`(_ version: String) throws {
        let found = try answers(
            version, [update("V1"), update("V2")],
            #"{"httpStatusCode":409,"status":"ERROR","message":"The stage has no form"}"#,
            status: 409)
        #expect(found.count == 1)
        guard case .failure(let failure) = found.first else { return #expect(Bool(false)) }
        #expect(failure == .client(status: 409, "The stage has no form"))
    }

    @Test func `whom a sentence only mentions is what its own summary says`() throws {
        let found = try answers(
            "2.37", [update("T1", Self.entities)],
            #"{"response":{"responseType":"ImportSummaries","importSummaries":["#
                + #"{"status":"SUCCESS","reference":"T1","importCount":{"updated":1}},"#
                + #"{"status":"ERROR","description":"T1 has another enrollment"}]}}"#,
            status: 409)
        #expect(found.map(words) == ["stored T1 "])
    }

    @Test(arguments: ["", "null", "[]", "{}", #"{"status":"OK"}"#, #"{"status":7}"#, "busy"])
    func `an answer without a report proves nothing`(_ body: String) throws {
        for version in ["2.37", "2.41"] {
            let found = try answers(version, [update("V1"), update("V2")], body)
            #expect(found.map(words) == ["failed malformed"], "\(version)")
        }
    }

    @Test func `a report of an import that broke off is none`() throws {
        let body =
            #"{"status":"ERROR","message":"Exception:null","validationReport":"#
            + #"{"errorReports":[],"warningReports":[]},"stats":{"total":0}}"#
        let found = try answers("2.40", [update("V1"), update("V2")], body, status: 409)
        guard case .failure(let failure) = found.first else { return #expect(Bool(false)) }
        #expect(failure == .client(status: 409, "Exception:null"))
        #expect(try polled("jobs/J1/report", body) == "absent")
    }

    // MARK: Jobs

    private func polled(_ ticket: String, _ body: String, status: Int = 200) throws -> String {
        let answer = try adapter("2.41").answer(
            to: .poll(ticket, of: [update("V1")]), HTTPResponse(status: .init(code: status)),
            body: Array(body.utf8))
        if case .batch(let parts) = answer { return parts.map { words($0.answer) }.joined() }
        return words(answer)
    }

    @Test func `a job is waited for, then its report is asked for at once`() throws {
        let promise =
            #"{"status":"OK","response":{"responseType":"TrackerJob","id":"LkXBUdIgbe3"}}"#
        #expect(
            try answers("2.41", [update("V1"), update("V2")], promise).map(words)
                == ["later jobs/LkXBUdIgbe3"])
        #expect(try polled("jobs/J1", "[]") == "waiting")
        #expect(try polled("jobs/J1", #"[{"completed":false}]"#) == "waiting")
        #expect(try polled("jobs/J1", #"{"httpStatusCode":404}"#, status: 404) == "waiting")
        #expect(
            try polled("jobs/J1", #"[{"completed":true},{"completed":false}]"#)
                == "later jobs/J1/report")
        #expect(try polled("jobs/J1", #"{"completed":true}"#) == "later jobs/J1/report")
        #expect(try polled("jobs/J1", "7") == "failed malformed")
        #expect(try polled("jobs/J1", "{}", status: 502).hasPrefix("failed"))
    }

    @Test func `a job that is done and has no report is lost`() throws {
        #expect(try polled("jobs/J1/report", #"{"httpStatusCode":404}"#, status: 404) == "absent")
        // A gateway's word: the job may have a report.
        let route = #"{"message":"no Route matched with those values"}"#
        for ticket in ["jobs/J1", "jobs/J1/report"] {
            #expect(try polled(ticket, route, status: 404) == "failed foreign")
        }
        #expect(try polled("jobs/J1/report", "null") == "absent")
        #expect(
            try polled(
                "jobs/J1/report",
                #"{"status":"OK","bundleReport":{"typeReportMap":{"EVENT":{"objectReports":["#
                    + #"{"uid":"V1"}]}}}}"#) == "stored V1 ")
    }

    @Test(arguments: ["no", "a/b", "../x", ""])
    func `a promise by an id that is none is no promise`(_ id: String) throws {
        let promise = #"{"status":"OK","response":{"id":"\#(id)"}}"#
        let isOne = id == "no"
        #expect(
            try answers("2.41", [update("V1"), update("V2")], promise).map(words)
                == [isOne ? "later jobs/no" : "failed malformed"])
    }
}
