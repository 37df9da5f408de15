// Dhis2ValueSummaryTests.swift — which of several data values an answer of DHIS2 is about.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `summaries of data values` {
    private static let values = CollectionModel("dataValues")

    private func create(
        _ element: String, _ period: String = "202601", value: String = "five"
    ) -> ServerCall {
        let id = Dhis2Adapter.id(
            dataElement: element, period: period, orgUnit: "O1", categoryOptionCombo: "C1",
            attributeOptionCombo: "A1")
        return .create(
            Self.values, id: id, body: Array(#"{"id":"\#(id)","value":"\#(value)"}"#.utf8))
    }

    private func delete(_ element: String) -> ServerCall {
        let id = create(element).write?.id ?? ""
        return .delete(Self.values, id: id, revision: Revision(""))
    }

    private func answers(
        _ calls: [ServerCall], _ body: String, version: String = "2.41", status: Int = 409
    ) throws -> [String] {
        let adapter = try #require(Dhis2Adapter(version: version))
        let call = calls.count == 1 ? calls[0] : ServerCall.batch(calls)
        let response = HTTPResponse(status: .init(code: status))
        let answer = adapter.answer(to: call, response, body: Array(body.utf8))
        guard case .batch(let parts) = answer else {
            return [words(answer) + " \(adapter.effect(of: answer, to: call, response))"]
        }
        return parts.map { words($0.answer) + " \($0.effect)" }
    }

    private func words(_ answer: ServerAnswer) -> String {
        switch answer {
        case .stored(_, _, let issues): "stored [\(issues.words)]"
        case .refused(let refusal): "refused [\(refusal.issues.words)]"
        case .ignored(let issues): "ignored [\(issues.words)]"
        case .failure(let failure): "failed \(failure.kind)"
        default: "else"
        }
    }

    private func summary(
        _ status: String, ignored: Int, _ conflicts: String..., rejected: String? = nil
    ) -> String {
        let indexes = rejected.map { #","rejectedIndexes":[\#($0)]"# } ?? ""
        return """
            {"httpStatusCode":409,"response":{"responseType":"ImportSummary","status":"\(status)",
             "description":"said","importCount":{"ignored":\(ignored)},
             "conflicts":[\(conflicts.joined(separator: ","))]\(indexes)}}
            """
    }

    @Test func `all are taken, or none`() throws {
        let calls = [create("D1"), create("D2")]
        #expect(
            try answers(calls, summary("SUCCESS", ignored: 0), status: 200)
                == ["stored [] done", "stored [] done"])
        #expect(
            try answers(calls, summary("ERROR", ignored: 2))
                == ["refused [said] nothing", "refused [said] nothing"])
        let error = #"{"object":"S9","errorCode":"E7600","value":"no set S9"}"#
        #expect(
            try answers(calls, summary("ERROR", ignored: 2, error))
                == Array(repeating: "refused [E7600: no set S9] nothing", count: 2))
    }

    /// A summary of an import that went well, with the numbers of what was imported, updated,
    /// deleted and ignored.
    private func success(_ counts: [Int], rejected: String? = nil) -> String {
        let indexes = rejected.map { #","rejectedIndexes":[\#($0)]"# } ?? ""
        return """
            {"httpStatusCode":200,"response":{"responseType":"ImportSummary","status":"SUCCESS",
             "description":"said","importCount":{"imported":\(counts[0]),"updated":\(counts[1]),
             "deleted":\(counts[2]),"ignored":\(counts[3])},"conflicts":[]\(indexes)}}
            """
    }

    private static let zero =
        "warning at value: not stored: zero is not significant for its data element"

    @Test(
        arguments: [
            // From 2.38 on such a zero is not counted, before it counts as ignored.
            ([1, 0, 0, 0], true), ([0, 1, 0, 0], true), ([1, 0, 0, 1], true),
            // From 2.38 on the value that it replaces is deleted.
            ([1, 0, 1, 0], true), ([0, 1, 1, 0], true),
            ([1, 1, 0, 0], false), ([2, 0, 0, 0], false),
        ] as [([Int], Bool)])
    func `a zero is warned of where fewer values were stored than were sent, or one was deleted`(
        _ counts: [Int], _ isWarned: Bool
    ) throws {
        for zero in ["0", "0.0", "-0"] {
            let found = try answers(
                [create("D1"), create("D2", value: zero)], success(counts), status: 200)
            let issue = isWarned ? #"\#(Self.zero) ("\#(zero)")"# : ""
            #expect(found == ["stored [] done", "stored [\(issue)] done"])
        }
    }

    @Test func `a zero is not warned of where only what was to be deleted was not there`() throws {
        let calls = [create("D1", value: "0"), delete("D2"), delete("D3")]
        let all = Array(repeating: "stored [] done", count: 3)
        #expect(try answers(calls, success([1, 0, 1, 1]), status: 200) == all)
        #expect(try answers(calls, success([1, 0, 1, 0]), status: 200) == all)
        // Where no counts are told nothing is said.
        #expect(try answers(calls, summary("SUCCESS", ignored: 0), status: 200) == all)
    }

    @Test func `a zero is warned of where more was deleted than was to be`() throws {
        let calls = [create("D1", value: "0"), delete("D2"), delete("D3")]
        let warned = #"stored [\#(Self.zero) ("0")] done"#
        let done = "stored [] done"
        #expect(try answers(calls, success([0, 0, 3, 0]), status: 200) == [warned, done, done])
        // One that was not there is numbered.
        let numbered = success([0, 0, 2, 1], rejected: "2")
        #expect(try answers(calls, numbered, status: 200) == [warned, done, done])
    }

    @Test func `what was numbered is refused also where the import went well`() throws {
        let calls = [create("D1"), create("D2", value: "0"), delete("D3")]
        #expect(
            try answers(calls, success([1, 0, 0, 2], rejected: "1,2"), status: 200)
                == ["stored [] done", "refused [left out: said] nothing", "stored [] done"])
    }

    @Test(arguments: [200, 409])
    func `an import that broke off says nothing of any value, and may have stored some`(
        _ status: Int
    ) throws {
        let body = summary("ERROR", ignored: 0)
        let calls = [create("D1"), create("D2")]
        #expect(try answers(calls, body, status: status) == ["failed client turnedAway"])
        #expect(
            try answers([create("D1")], body, version: "2.37", status: status)
                == ["failed client turnedAway"])
    }

    @Test func `by the numbers that the server gives`() throws {
        let conflict =
            #"{"object":"D2","value":"no number","errorCode":"E7619","property":"value","#
            + #""indexes":[0,2]}"#
        let calls = [create("D1"), create("D2"), create("D3")]
        let wrong = #"refused [E7619 at value: no number ("five")] nothing"#
        #expect(
            try answers(calls, summary("WARNING", ignored: 2, conflict, rejected: "0,2"))
                == [wrong, "stored [] done", wrong])
        #expect(
            try answers(calls, summary("WARNING", ignored: 2, conflict))
                == [wrong, "stored [] done", wrong])
        #expect(
            try answers(calls, summary("WARNING", ignored: 1, conflict, rejected: "2"))
                == [
                    #"stored [warning E7619 at value: no number ("five")] done"#, "stored [] done",
                    wrong,
                ])
    }

    @Test func `by what is named where there are no numbers`() throws {
        let conflict = #"{"object":"x","value":"Data value is wrong, element type: D2"}"#
        let calls = [create("D1"), create("D2")]
        #expect(
            try answers(calls, summary("WARNING", ignored: 1, conflict), version: "2.37")
                == [
                    "stored [] done",
                    "refused [Data value is wrong, element type: D2] nothing",
                ])
        let period = #"{"object":"202602","value":"Period 202602 is closed for data element D1"}"#
        #expect(
            try answers(
                [create("D1"), create("D1", "202602"), create("D2", "202602")],
                summary("WARNING", ignored: 1, period)
            ).map { $0.prefix(7) } == ["stored ", "refused", "stored "])
    }

    @Test func `one that fits no value is said of all of them`() throws {
        let odd = #"{"object":"40L","value":"odd"}"#
        let calls = [create("D1"), create("D2")]
        #expect(
            try answers(calls, summary("WARNING", ignored: 0, odd))
                == Array(repeating: "stored [warning: odd] done", count: 2))
        #expect(
            try answers(calls, summary("WARNING", ignored: 1, odd))
                == Array(repeating: "ignored [odd] turnedAway", count: 2))
        #expect(
            try answers(calls, summary("WARNING", ignored: 2, odd))
                == Array(repeating: "refused [odd] nothing", count: 2))
        let beyond = #"{"value":"odd","indexes":[0,7]}"#
        #expect(
            try answers(calls, summary("WARNING", ignored: 1, beyond, rejected: "0,7"))
                == Array(repeating: "ignored [odd] turnedAway", count: 2))
        #expect(
            try answers([create("D1")], summary("WARNING", ignored: 1, odd))
                == ["refused [odd] nothing"])
    }

    @Test func `where more fit than were left out, those that fit are sent again`() throws {
        let conflict = #"{"object":"x","value":"wrong, element type: D1"}"#
        #expect(
            try answers(
                [create("D1"), create("D1", "202602"), create("D2")],
                summary("WARNING", ignored: 1, conflict))
                == [
                    "ignored [wrong, element type: D1] turnedAway",
                    "ignored [wrong, element type: D1] turnedAway", "stored [] done",
                ])
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"responseType":"ImportSummary"}"#,
        #"{"responseType":"ImportSummary","status":"PENDING"}"#,
        #"{"responseType":"TrackerJob","status":"OK"}"#,
    ])
    func `an answer without a summary proves nothing`(_ body: String) throws {
        #expect(
            try answers([create("D1"), create("D2")], body).map { $0.prefix(13) }
                == ["failed client"])
        #expect(
            try answers([create("D1"), create("D2")], body, status: 200)
                == ["failed malformed unknown"])
    }
}
