// BrokenRecordTests.swift — lists with one record that is no JSON, or not by our rules: it is kept
// as it is, and hides none of its neighbours.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `a record that can't be read` {
    /// What may stand as a value in a record and is refused there: strings and brackets match.
    private static let values: [[UInt8]] =
        [
            // Strings.
            #""caf\ud83d""#, #""\udc00\ud800""#, #""\x41""#, #""\u12""#, #""\u00zz""#, "\"\u{1}\"",
            "\"a\nb\"", "\"a\tb\"", #""\'""#, #""\a""#,
            // Numbers.
            "01", "-01", "+1", ".5", "1.", "1.e3", "1e", "1e+", "-", "--1", "0x1F", "1_000", "NaN",
            "Infinity", "-Infinity", "1 000", "1eE2", "2.e-3", "-.1", "1a",
            // Words.
            "nul", "True", "TRUE", "undefined", "nulltrue", "'a'", "a", "*", "\\u0020", "é",
            // Arrays and objects.
            "[1,]", "[,1]", "[1,,2]", "[1 2]", "[1:2]", "[,]", #"["a" "b"]"#, "[1]x",
            #"{"a":1,}"#, #"{"a":1,,"b":2}"#, "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a":}"#, "{:1}",
            "{1:1}", #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#,
            #"{"a":{"b":1,"b":1}}"#, #"{"a"::1}"#, "{null:1}", "[/**/]", "[1]//", "{}x",
        ]
        .map { Array($0.utf8) } + [
            Array("\"caf".utf8) + [0xE9] + Array("\"".utf8),
            Array("\"".utf8) + [0xC0, 0xAF] + Array("\"".utf8),
            Array("\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"".utf8),
            Array("\"".utf8) + [0xF4, 0xBF, 0xBF, 0xBF] + Array("\"".utf8), [0xFF], [0x00],
            deep("[", "]", 200), deep(#"{"a":"#, "}", 130),
        ]

    private static func deep(_ opening: String, _ closing: String, _ count: Int) -> [UInt8] {
        let (start, end) = (
            String(repeating: opening, count: count), String(repeating: closing, count: count)
        )
        return Array("\(start)1\(end)".utf8)
    }

    private static func list(_ head: String, _ value: [UInt8], _ tail: String) -> [UInt8] {
        Array(head.utf8) + value + Array(tail.utf8)
    }

    private func page(_ answer: ServerAnswer) throws -> ListPage {
        guard case .page(let page) = answer else { throw SyncFailure.malformed("\(answer)") }
        return page
    }

    @Test(arguments: values)
    func `of Kinto is kept as it is, by its id, and its neighbours are read`(
        _ value: [UInt8]
    ) throws {
        let record = Self.list(#"{"id":"bad", "last_modified":5,"x": "#, value, "}")
        let body = Self.list(
            #"{"data":[{"id":"a","last_modified":4}, "#, record,
            #" ,{"id":"b","last_modified":6}]}"#)
        let kinto = KintoCase()

        let page = try page(
            kinto.adapter.answer(
                to: kinto.list, HTTPResponse(status: .ok, headerFields: [.eTag: "\"9\""]),
                body: body))

        #expect(page.records.map(\.id) == ["a", "b"])
        #expect(page.unreadable.map(\.id) == ["bad"])
        #expect(page.unreadable.map(\.bytes) == [record])
        #expect(page.unreadable.allSatisfy { !$0.problem.isEmpty })
        #expect(page.cursor == Revision("\"9\""))
    }

    @Test(arguments: values)
    func `of Toggl is kept as it is, by its id, and its neighbours are read`(
        _ value: [UInt8]
    ) throws {
        let record = Self.list(#"{"id":5,"workspace_id":1,"x":"#, value, "}")
        let body = Self.list(
            #"[{"id":4,"workspace_id":1},"#, record, #",{"id":6,"workspace_id":1}]"#)
        let toggl = TogglCase()

        let page = try page(
            toggl.adapter.answer(to: toggl.list("tags"), HTTPResponse(status: .ok), body: body))

        #expect(page.records.map(\.id) == ["4", "6"])
        #expect(page.unreadable.map(\.id) == ["5"])
        #expect(page.unreadable.map(\.bytes) == [record])
    }

    @Test(arguments: values)
    func `in a batch's answer is no word on the other writes`(_ value: [UInt8]) throws {
        let kinto = KintoCase()
        let record = Self.list(#"{"data":{"id":"t1","last_modified":5,"x":"#, value, "}}")
        let body =
            Self.list(#"{"responses":[{"status":200,"body":"#, record, "},")
            + Array(#"{"status":200,"body":{"data":{"id":"t1","last_modified":6}}}]}"#.utf8)

        let answer = kinto.adapter.answer(
            to: .batch([kinto.update, kinto.update]), HTTPResponse(status: .ok), body: body)

        guard case .batch(let answers) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers[0].answer.isMalformed)
        guard case .record = answers[1].answer else {
            Issue.record("\(answers[1])")
            return
        }
    }

    @Test func `is one that answers about it alone could not hold`() throws {
        let kinto = KintoCase()
        for (levels, isReadable) in [(125, true), (126, false)] {
            let value = String(decoding: Self.deep("[", "]", levels), as: UTF8.self)
            let record = #"{"id":"a","last_modified":1,"x":\#(value)}"#
            let page = try page(
                kinto.answer(to: kinto.list, 200, #"{"data":[\#(record)]}"#, [.eTag: "\"9\""]))
            #expect(page.records.isEmpty != isReadable)
            let read = kinto.answer(to: kinto.read, 200, #"{"data":\#(record)}"#)
            // Others wrap it in one level, and a batch in two more that are cut off before.
            if case .record = read { #expect(isReadable) } else { #expect(!isReadable) }
        }
    }

    @Test func `has no id where it says two, or none`() throws {
        let kinto = KintoCase()
        for record in [#"{"id":"a","id":"b"}"#, #"{"x":01}"#, "01", #"{"id":["a"],"x":01}"#, "x"] {
            let page = try page(
                kinto.answer(to: kinto.list, 200, #"{"data":[\#(record)]}"#, [.eTag: "\"9\""]))
            #expect(page.unreadable.map(\.id) == [nil], "\(record)")
        }
    }

    @Test(arguments: [
        #"{"data":[{"id":"a"]}"#, #"{"data":[{"id":"a}]}"#, #"{"data":[{"id":"a"},,{}]}"#,
        #"{"data":[{"id":"a"}]"#, #"{"data":[{"id":"a"}]}}"#, #"{"data":[{}],"data":[]}"#,
        #"{"data":[{"id":"a\"}]}"#, #"{"data":[{}]x}"#, #"{data:[]}"#, #"{"data":[{},]}"#, "{",
    ])
    func `has no bounds where strings and brackets do not match: the page is malformed`(
        _ body: String
    ) {
        let kinto = KintoCase()

        #expect(kinto.answer(to: kinto.list, 200, body, [.eTag: "\"9\""]).isMalformed)
    }
}
