// ListPartsTests.swift — which lists follow from values that stand in documents.

import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `lists whose parameters stand in documents` {
    private func parts(_ rule: ListRule, _ values: [[String]]) -> [String] {
        ListParts.of(rule, values: values).map(\.description)
    }

    private let set = ListSource("unit", in: "units")
    private let each = ListSource("program", in: "programs", each: true)

    @Test func `have all values in one, or one each, in the order of their bytes`() {
        let rule = ListRule(["kind": "open"], from: [set, each])

        #expect(
            parts(rule, [["b", "a", "b", ""], ["q", "p"]]) == [
                "kind=open, program=p, unit=a,b", "kind=open, program=q, unit=a,b",
            ])
        #expect(
            parts(rule, [["a", "b"], ["p", "q"]]) == parts(rule, [["b", "a"], ["q", "p", "p"]]),
            "the order of the documents is nothing")
    }

    @Test func `are none where a parameter has no value`() {
        let rule = ListRule([:], from: [set, each])

        #expect(parts(rule, [[], ["p"]]) == [] && parts(rule, [["a"], []]) == [])
        #expect(parts(rule, [[""], ["p"]]) == [])
        #expect(parts(ListRule(["kind": "open"]), []) == ["kind=open"])
    }

    @Test func `are several where there is no room for all values in one`() {
        let units = (10..<100).map { "unit-number-\($0)" }
        let found = ListParts.of(ListRule(["p": "1"], from: [set]), values: [units])

        #expect(found.count == 5)
        #expect(found.allSatisfy { $0.scope.utf8.count <= ListParameters.bytesMax })
        let shared = found.flatMap { ($0["unit"] ?? "").split(separator: ",").map(String.init) }
        #expect(shared == units, "each once, in order")
    }

    @Test func `share the room where several parameters have sets`() {
        let rule = ListRule([:], from: [set, ListSource("other", in: "others")])
        let values = (10..<40).map { "a-long-value-\($0)" }
        let found = ListParts.of(rule, values: [values, values])

        #expect(found.count > 1)
        #expect(found.allSatisfy { $0.scope.utf8.count <= ListParameters.bytesMax })
        #expect(Set(found).count == found.count)
        #expect(
            Set(found.map { $0["unit"] }).count * Set(found.map { $0["other"] }).count
                == found.count)
    }

    @Test func `leave out what no list has room for, and commas in a set`() {
        let long = String(repeating: "x", count: 400)

        #expect(parts(ListRule([:], from: [set]), [[long, "a", "b,c"]]) == ["unit=a"])
        #expect(
            parts(ListRule([:], from: [each]), [[long, "a", "b,c"]]) == [
                "program=a", "program=b,c",
            ])
        #expect(parts(ListRule([:], from: [set]), [[long]]) == [])
    }
}
