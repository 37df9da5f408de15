// FieldFormTests.swift — fields that a server writes otherwise: reading, sending, and how a model
// says it.

import Testing

@testable import TidemarkEvents

@Suite struct `forms of fields` {
    private func collection(
        _ forms: FieldForm..., dates: DateFormat = .iso8601
    ) -> CollectionModel {
        CollectionModel("entries", dates: dates, forms: forms)
    }

    private func read(_ json: String, _ collection: CollectionModel) throws -> String {
        String(decoding: try collection.read(Array(json.utf8)), as: UTF8.self)
    }

    private func sent(_ json: String, _ collection: CollectionModel) throws -> String {
        let document = try JSONDocument(parsing: Array(json.utf8))
        return String(
            decoding: try collection.sent(document, of: document).bytes, as: UTF8.self)
    }

    @Test(arguments: ["-1", "-1795337759", "-0.5", "-1e3"])
    func `a negative number is read as null`(_ number: String) throws {
        let entries = collection(.negativeIsNull("n"))

        #expect(try read(#"{"a":1,"n": \#(number) }"#, entries) == #"{"a":1,"n":null}"#)
        let patch = Patch(set: [Patch.Field("n", Array(number.utf8))])
        #expect(entries.read(patch).value(of: "n") == Array("null".utf8))
    }

    @Test(arguments: ["0", "-0", "-0.0e5", "1800", "null", #""-1""#, "[-1]", #"{"n":-1}"#])
    func `anything else stays, and so do the document's bytes`(_ value: String) throws {
        let json = #"{ "m":-1, "n" :\#(value)}"#

        #expect(try read(json, collection(.negativeIsNull("n"))) == json)
    }

    @Test(arguments: [
        (#""2026-11-18T09:10:00.250Z""#, #""2026-11-18T09:10:00Z""#),
        (#""2026-11-18T09:10:00.999999+00:00""#, #""2026-11-18T09:10:00Z""#),
        (#""2026-11-18T10:10:59+01:00""#, #""2026-11-18T09:10:59Z""#),
        (#""1969-12-31T23:59:59.5Z""#, #""1969-12-31T23:59:59Z""#),
        (#""2026-11-18T09:10:00Z""#, #""2026-11-18T09:10:00Z""#), ("null", "null"),
        (#""soon""#, #""soon""#), ("5", "5"),
    ])
    func `a time is read in whole seconds, rounded down, in one writing`(
        _ expected: (wire: String, read: String)
    ) throws {
        let entries = collection(.wholeSeconds("start"))
        let once = try read(#"{"start":\#(expected.wire)}"#, entries)

        #expect(once == #"{"start":\#(expected.read)}"#)
        #expect(try read(once, entries) == once)
    }

    @Test func `a time may be a number`() throws {
        #expect(
            try read(#"{"t":1500}"#, collection(.wholeSeconds("t"), dates: .milliseconds))
                == #"{"t":1000}"#)
        #expect(
            try read(#"{"t":1.75}"#, collection(.wholeSeconds("t"), dates: .seconds))
                == #"{"t":1}"#)
    }

    @Test(
        arguments: [
            (.milliseconds, "-9223372036854775", "-9223372036854000"),
            (.milliseconds, "-9223372036854000", "-9223372036854000"),
            (.milliseconds, "9223372036854775", "9223372036854000"),
            (.seconds, "-9223372036854.775807", "-9223372036854"),
        ] as [(DateFormat, String, String)])
    func `a time at the end of the range is read in whole seconds, too`(
        _ dates: DateFormat, _ wire: String, _ expected: String
    ) throws {
        let entries = collection(.wholeSeconds("t"), dates: dates)
        let once = try read(#"{"t":\#(wire)}"#, entries)

        #expect(once == #"{"t":\#(expected)}"#)
        #expect(try read(once, entries) == once)
        let sending = collection(.negativeIsNull("n", sent: .minusSeconds(of: "t")), dates: dates)
        #expect(try sent(#"{"n":null,"t":\#(wire)}"#, sending).contains(#""n":-"#))
    }

    @Test func `null is sent as the number that the form says`() throws {
        #expect(
            try sent(#"{"n":null,"m":null}"#, collection(.negativeIsNull("n")))
                == #"{"n":-1,"m":null}"#)
        #expect(
            try sent(#"{"n":null}"#, collection(.negativeIsNull("n", sent: .number(-7))))
                == #"{"n":-7}"#)
        #expect(try sent(#"{"n":60}"#, collection(.negativeIsNull("n"))) == #"{"n":60}"#)
        #expect(try sent("{}", collection(.negativeIsNull("n"))) == "{}")
    }

    @Test func `null is sent as minus the seconds of a time, or -1 without one`() throws {
        let entries = collection(.negativeIsNull("n", sent: .minusSeconds(of: "start")))

        #expect(
            try sent(#"{"n":null,"start":"2026-11-18T11:06:40.9Z"}"#, entries)
                == #"{"n":-1795000000,"start":"2026-11-18T11:06:40.9Z"}"#)
        #expect(try sent(#"{"n":null,"start":"soon"}"#, entries) == #"{"n":-1,"start":"soon"}"#)
        #expect(
            try sent(#"{"n":null,"start":"1960-01-01T00:00:00Z"}"#, entries)
                == #"{"n":-1,"start":"1960-01-01T00:00:00Z"}"#)
    }

    @Test func `what is sent is read as it was`() throws {
        let entries = collection(.negativeIsNull("n"), .wholeSeconds("t"))
        let json = #"{"n":null,"t":"2026-11-18T11:06:40Z"}"#

        #expect(try read(try sent(json, entries), entries) == json)
    }

    @Test func `a form is for what the migrations made`() throws {
        let entries = CollectionModel(
            "entries", migrations: [.rename("n", to: "m")], forms: [.negativeIsNull("m")])

        #expect(try read(#"{"n":-5}"#, entries) == #"{"m":null}"#)
    }

    // MARK: In a model

    private func model(_ forms: String) throws -> CollectionModel {
        let text = #"{"collections":[{"name":"e","nullable":["n"],"forms":\#(forms)}]}"#
        return try ModelRegistration(parsing: Array(text.utf8)).model.collections[0]
    }

    @Test func `a model file says them, and a log has them as they were`() throws {
        let json = """
            [{"negativeIsNull":"n"},{"wholeSeconds":"s"}]
            """
        let entries = try model(json)

        #expect(entries.forms == [.negativeIsNull("n"), .wholeSeconds("s")])
        #expect(
            try model(#"[{"negativeIsNull":"n","sent":-5}]"#).forms
                == [.negativeIsNull("n", sent: .number(-5))])
        #expect(
            try model(#"[{"negativeIsNull":"n","sentMinus":"s"}]"#).forms
                == [.negativeIsNull("n", sent: .minusSeconds(of: "s"))])
        let registration = ModelRegistration(model: SyncModel(name: "m", collections: [entries]))
        #expect(
            try ModelRegistration(parsing: registration.encoded, isLogged: true) == registration)
    }

    @Test func `a collection without forms says nothing of them`() throws {
        let registration = ModelRegistration(
            model: SyncModel(name: "m", collections: [CollectionModel("e")]))

        #expect(!String(decoding: registration.encoded, as: UTF8.self).contains("forms"))
    }

    @Test(arguments: [
        ("5", "collections[0].forms"), ("[5]", "collections[0].forms[0]"),
        ("[{}]", "collections[0].forms[0]"), (#"[{"whole":"n"}]"#, "collections[0].forms[0]"),
        (#"[{"wholeSeconds":""}]"#, "collections[0].forms[0].wholeSeconds"),
        (#"[{"wholeSeconds":"s","sent":-1}]"#, "collections[0].forms[0]"),
        (#"[{"negativeIsNull":"n","sent":0}]"#, "collections[0].forms[0].sent"),
        (#"[{"negativeIsNull":"n","sent":-1.5}]"#, "collections[0].forms[0].sent"),
        (
            #"[{"negativeIsNull":"n","sent":-1,"sentMinus":"s"}]"#,
            "collections[0].forms[0].sentMinus"
        ),
        (
            #"[{"negativeIsNull":"n","sentMinus":"n"}]"#, "collections[0].forms[0].sentMinus"
        ),
        (#"[{"wholeSeconds":"s"},{"wholeSeconds":"s"}]"#, "collections[0].forms[1]"),
    ])
    func `a form that is none is refused with its place`(
        _ wrong: (json: String, place: String)
    ) {
        let error = #expect(throws: ModelError.self) { try model(wrong.json) }

        #expect(error?.path == wrong.place, "\(error.map { "\($0)" } ?? "taken")")
    }
}
