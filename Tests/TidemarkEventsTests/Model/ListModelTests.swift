// ListModelTests.swift — the parts that a collection is listed in, and what stands in its records,
// as a model, a run and a page say it.

import Testing

@testable import TidemarkEvents

@Suite struct `a model with lists` {
    private func model(_ members: String) throws(ModelError) -> SyncModel {
        let text = #"{"collections":[{"name":"visits",\#(members)}]}"#
        return try ModelRegistration(parsing: Array(text.utf8)).model
    }

    @Test func `is written as it was read`() throws {
        let read = try model(
            #""lists":[{"parameters":{"unit":"O1","program":"P1"},"limit":5},{}]"#)
        let lists = try #require(read.collections[0].lists)

        #expect(lists == [ListRule(["program": "P1", "unit": "O1"], limit: 5), ListRule([:])])
        #expect(lists[0].parameters.scope == #"{"program":"P1","unit":"O1"}"#, "sorted by name")
        let again = try ModelRegistration(parsing: ModelRegistration(model: read).encoded)
        #expect(again.model == read)
        #expect(try model(#""lists":[]"#).collections[0].listTargets.isEmpty)
        #expect(try model(#""keys":"verbatim""#).collections[0].listTargets == ["visits"])
    }

    @Test func `says where values of parameters stand`() throws {
        let text = """
            {"collections":[{"name":"units"},{"name":"programs"},{"name":"visits","lists":[
              {"parameters":{"kind":"open"},"limit":5,"from":{
                "unit":{"collection":"units","field":"/of/*/id"},
                "program":{"collection":"programs","each":true}}}]}]}
            """
        let read = try ModelRegistration(parsing: Array(text.utf8)).model
        let lists = try #require(read.collections[2].lists)

        #expect(Set(lists[0].from.map(\.parameter)) == ["program", "unit"])
        #expect(lists[0].from.first { $0.each }?.collection == "programs")
        #expect(lists[0].from.first { !$0.each }?.field == "/of/*/id")
        #expect(read.collections[2].listTargets.isEmpty, "nothing is known without documents")
        let again = try ModelRegistration(parsing: ModelRegistration(model: read).encoded)
        #expect(again.model == read)
        let found = read.collections[2].listTargets { _ in [["unit": "1"], ["unit": "1"]] }
        #expect(found == [PullTarget("visits", ["unit": "1"])] && found[0].limit == 5)
    }

    @Test(arguments: [
        (
            #""from":{"unit":{"collection":"nothing"}}"#, "lists",
            "there is no collection nothing; name one of the model"
        ),
        (#""from":{"unit":{"collection":"visits"}}"#, "lists", "visits is listed later"),
        (
            #""parameters":{"unit":"1"},"from":{"unit":{"collection":"units"}}"#,
            "lists[0].from.unit", "parameters has a value for it"
        ),
        (#""from":{"unit":{}}"#, "lists[0].from.unit.collection", "name is needed"),
        (#""from":["unit"]"#, "lists[0].from", "an object of parameter to where its values stand"),
        (
            #""parameters":{"p":"\#(String(repeating: "x", count: 250))"},"#
                + #""from":{"unit":{"collection":"units"}}"#,
            "lists[0].parameters", "they leave no room for values from documents"
        ),
    ])
    func `refuses values that can't be had`(_ list: String, _ path: String, _ problem: String) {
        let text = #"{"collections":[{"name":"units"},{"name":"visits","lists":[{\#(list)}]}]}"#
        let error = #expect(throws: ModelError.self) {
            let registration = try ModelRegistration(parsing: Array(text.utf8))
            _ = try registration.checked()
        }
        #expect(error?.path == "collections[1].\(path)")
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
    }

    @Test func `refuses values of a set that is not seen yet`() throws {
        func checked(_ names: [String]) throws {
            let members = [
                "units": #""pushes":[],"allOrNone":"all""#,
                "forms": #""pushes":[],"allOrNone":"all""#,
                "visits": #""lists":[{"from":{"unit":{"collection":"units"}}}]"#,
            ]
            let texts = names.map { #"{"name":"\#($0)",\#(members[$0] ?? "")}"# }
            let text = #"{"collections":[\#(texts.joined(separator: ","))]}"#
            _ = try ModelRegistration(parsing: Array(text.utf8)).checked()
        }
        try checked(["units", "forms", "visits"])
        let error = #expect(throws: ModelError.self) {
            try checked(["units", "visits", "forms"])
        }
        #expect(error?.path == "collections[1].lists")
        let problem = error?.problem ?? ""
        #expect(problem.contains("units is seen once forms is listed"), "\(problem)")
    }

    @Test(arguments: [
        (#"[{"parameters":{"p":7}}]"#, "lists[0].parameters", "an object of name to text"),
        (#"[{"parameters":{"p":""}}]"#, "lists[0].parameters", "an object of name to text"),
        (#"[{"parameters":["p"]}]"#, "lists[0].parameters", "an object of name to text"),
        (#"[{"limit":0}]"#, "lists[0].limit", "a number from 1 to 1000000"),
        (#"[{"program":"P1"}]"#, "lists[0]", #""program" is none of parameters, limit"#),
        (
            #"[{"parameters":{"p":"1"}},{"parameters":{"p":"1"},"limit":3}]"#,
            "lists[1].parameters", "lists[0] has the same; leave one of them out"
        ),
        (
            #"[{"parameters":{"p":"b;a"}},{"parameters":{"p":"a,b"},"limit":3}]"#,
            "lists[1].parameters", "lists[0] has the same; leave one of them out"
        ),
        (
            #"[{"parameters":{"p":"\#(String(repeating: "x", count: 320))"}}]"#,
            "lists[0].parameters", "they are 328 bytes as JSON, and 320 are the most"
        ),
    ])
    func `says what is wrong with one, and where`(
        _ lists: String, _ path: String, _ problem: String
    ) {
        let error = #expect(throws: ModelError.self) { _ = try model(#""lists":\#(lists)"#) }
        #expect(error?.path == "collections[0].\(path)")
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
    }

    @Test func `shares a limit among those without one of their own`() throws {
        let lists = #""lists":[{"parameters":{"u":"1"},"limit":2},{"parameters":{"u":"2"}}]"#
        let targets = try model(lists + #","listLimit":7"#).collections[0].listTargets
        #expect(targets.map(\.limit) == [2, 5] && targets.map(\.isShared) == [false, true])

        for (members, problem) in [
            (lists + #","listLimit":2"#, "2 is no more than the limits of its lists together"),
            (#""listLimit":2,"window":{"back":"P1M"}"#, "a window has no such limit"),
        ] {
            let error = #expect(throws: ModelError.self) { _ = try model(members) }
            #expect(error?.path == "collections[0].listLimit")
            #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
        }
    }

    @Test func `has parameters that an entity is of, or may be of`() throws {
        let parameters: ListParameters = ["program": "P1", "number": "7"]
        func document(_ text: String) throws -> JSONDocument {
            try JSONDocument(parsing: Array(text.utf8))
        }
        let whole = try document(#"{"program":"P1","number":7}"#)
        let other = try document(#"{"program":"P2","number":7}"#)
        let untold = try document(#"{"program":"P1"}"#)

        #expect(parameters.hold(whole) && parameters.mayHold(whole))
        #expect(!parameters.hold(other) && !parameters.mayHold(other))
        #expect(!parameters.hold(untold) && parameters.mayHold(untold))
        #expect(ListParameters(scope: parameters.scope) == parameters)
        #expect(ListParameters(scope: "back") == nil && ListParameters(scope: "{") == nil)
    }

    @Test(arguments: [
        ("false", "false", true), ("false", "true", false), ("1.5", "1.50", false),
        ("1.5", "1.5", true), ("7", "7.0", true), ("null", "null", false),
    ])
    func `has parameters that are no texts`(_ value: String, _ there: String, _ holds: Bool) throws
    {
        let document = try JSONDocument(parsing: Array(#"{"archived":\#(there)}"#.utf8))
        #expect((["archived": value] as ListParameters).hold(document) == holds)
    }

    @Test func `has several values of a parameter in any order, each once`() throws {
        func target(_ value: String) -> PullTarget {
            PullTarget("visits", ["unit": value, "state": "new"])
        }
        for same in ["b;a", "a,b", "b,a,b", ",b;;a"] {
            #expect(target(same) == target("a,b"), "\(same)")
            #expect(target(same).scope == #"{"state":"new","unit":"a,b"}"#)
            #expect(target(same).parameters["unit"] == same)
        }
        for (one, other) in [("a", "a,b"), ("a b", "b a")] {
            #expect(target(one) != target(other))
        }
        #expect(target(",").scope == #"{"state":"new","unit":","}"#)

        let document = try JSONDocument(parsing: Array(#"{"unit":"tea, milk"}"#.utf8))
        let list: ListParameters = ["unit": "tea, milk"]
        #expect(list.hold(document) && ListParameters(scope: list.scope)?.hold(document) == true)
        #expect(!(["unit": "tea"] as ListParameters).hold(document))
    }

    @Test func `is listed by a run of a scope that says so, in a shape of its own`() {
        let scope = SyncScope.select([
            .init("visits", ["program": "P1"], limit: 5), .init("visits"),
        ])
        let json = scope.json

        #expect(
            json?.description
                == #"{"select":[{"collection":"visits","parameters":{"program":"P1"},"limit":5},"#
                + #"{"collection":"visits"}]}"#)
        #expect(SyncScope(json) == scope && scope.schema == 2 && scope.isPartialPull)
        #expect(EventKind.syncStarted.newestSchema == 5)
    }

    @Test func `may be of folders, the root by the collection alone`() {
        let scope = SyncScope.folders([.init("files", "F/7"), .init("files")])
        let json = scope.json

        #expect(json?.description == #"{"folders":["files/F/7","files"]}"#)
        #expect(SyncScope(json) == scope && scope.schema == 5 && scope.isPartialPull)
    }
}

@Suite struct `a page of records that hold others` {
    private let text =
        #"{"scope":"","ids":["p1","p2"],"at":[7,"="],"within":[{"of":"patients/p1","#
        + #""collection":"visits","ids":["v1","v2"],"at":[8,"="]}]}"#

    @Test func `is written as it was read, and knows the events of all of them`() throws {
        let page = try PullPage(reading: Array(text.utf8))

        #expect(String(decoding: page.encoded, as: UTF8.self) == text)
        #expect(page.events == [Position(7), Position(8)])
        #expect(page.within[0].page.same == ["v2"])
    }

    @Test func `loses what a shorter log has no events of`() throws {
        let page = try PullPage(reading: Array(text.utf8))

        let shorter = try #require(page.without(events: [Position(8)]))
        #expect(shorter.ids == ["p1", "p2"] && shorter.within[0].ids == ["v2"])
        let other = try #require(page.without(events: [Position(7)]))
        #expect(other.ids == ["p2"] && other.within[0].ids == ["v1", "v2"])
    }
}
