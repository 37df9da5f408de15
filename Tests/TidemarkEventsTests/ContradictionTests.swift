// ContradictionTests.swift — rules that contradict each other are refused in a new model, and taken
// from a log.

import Testing

@testable import TidemarkEvents

@Suite struct `rules that contradict each other` {
    @Test(arguments: ContradictingModel.all)
    func `are refused in a new model with both members and what to do`(
        _ wrong: ContradictingModel
    ) throws {
        do {
            _ = try ModelRegistration(parsing: wrong.document)
            Issue.record("it was taken")
        } catch {
            #expect(error.path == "collections[2].\(wrong.member)", "\(error)")
            #expect(error.problem.contains("\"\(wrong.other)\" of entries: "), "\(error)")
            #expect(error.problem.contains(";"), "what to do: \(error)")
        }
    }

    @Test(arguments: ContradictingModel.all)
    func `are taken from a log, and stay as long as the model does`(
        _ wrong: ContradictingModel
    ) throws {
        let logged = try ModelRegistration(parsing: wrong.document, isLogged: true)

        #expect(try logged.checked(beside: logged) == logged)
        #expect(throws: ModelError.self) { try logged.checked() }
        var changed = logged
        changed.model.collections[3].pageSize = 7
        #expect(throws: ModelError.self) { try changed.checked(beside: logged) }
        changed.model.collections.removeSubrange(2...)
        #expect(try changed.checked(beside: logged) == changed)
    }

    @Test(arguments: [
        ("references", #"{"d":"drafts"}"#),
        ("choices", #"{"d":{"collection":"drafts","missing":"none"}}"#),
        ("lists", #"[{"from":{"d":{"collection":"drafts"}}}]"#),
        ("embeds", #"{"d":"drafts"}"#), ("listedAfter", #"["drafts"]"#),
    ])
    func `are what is synced and what names a collection that stays on the device`(
        _ member: String, _ value: String
    ) {
        let drafts = #"{"name":"drafts","localOnly":true}"#
        let entries = #"{"name":"entries","\#(member)":\#(value)}"#
        let error = #expect(throws: ModelError.self) {
            try ModelRegistration(parsing: Array(#"{"collections":[\#(drafts),\#(entries)]}"#.utf8))
        }
        #expect(error?.path == "collections[1].\(member)")
        #expect(error?.problem.contains("drafts is kept on this device alone") == true)
    }

    @Test func `two gates of one trigger are refused`() {
        var model = SyncModel(name: "m", collections: [])
        model.settings.gates = [
            .init("discover", count: 1, window: .minutes(1)),
            .init("discover", count: 2, window: .minutes(1)),
        ]
        let error = #expect(throws: ModelError.self) {
            try ModelRegistration(model: model).checked()
        }
        #expect(error?.path == "settings.gates.discover")
    }

    @Test(arguments: [
        #""lists":[{"parameters":{"p":"1"},"limit":5}]"#,
        #""lists":[{"parameters":{"p":"1"}},{"parameters":{"p":"2"}}],"listLimit":5"#,
    ])
    func `are none where a list with a limit goes by what is dropped`(_ lists: String) throws {
        let text = #"{"collections":[{"name":"a",\#(lists),"drops":["p"],"pushes":[]}]}"#
        let registration = try ModelRegistration(parsing: Array(text.utf8))
        #expect(registration.model["a"]?.drops == ["p"])
    }

    @Test func `have a test each`() {
        let tested = Set(ContradictingModel.all.map { [$0.member, $0.other] })
        #expect(Set(Contradiction.all.map { [$0.member, $0.other] }) == tested)
        #expect(tested.count == Contradiction.all.count)
    }

    @Test func `are taken from a log that learns of its server, and of nothing else`() throws {
        let wrong = #"{"collections":[{"name":"a","match":["x"]}]}"#
        let logged = try ModelRegistration(parsing: Array(wrong.utf8), isLogged: true)
        var bound = logged
        bound.remote = Remote(
            origin: "https://x.test", adapter: "x",
            defaults: AdapterDefaults(lastChangeField: "version"))

        #expect(
            try bound.checked(beside: logged).model["a"]?.lastChangeField == "version")
        bound.model.collections[0].lastChangeField = "at"
        #expect(throws: ModelError.self) { try bound.checked(beside: logged) }
    }
}

@Suite struct `what an adapter gives to collections` {
    private let remote = Remote(
        origin: "https://x.test", adapter: "x",
        defaults: AdapterDefaults(lastChangeField: "version"))

    @Test func `is filled in where a collection says nothing, and logged`() throws {
        let model = SyncModel(
            name: "m",
            collections: [CollectionModel("a"), CollectionModel("b", lastChangeField: "at")])

        let read = try ModelRegistration(model: model, remote: remote).checked()

        #expect(read.model.collections.map(\.lastChangeField) == ["version", "at"])
        #expect(try ModelRegistration(parsing: read.encoded, isLogged: true) == read)
        #expect(read.remote == remote)
    }

    @Test func `is kept from a log of before, so that the same model is no other`() throws {
        let older = #"""
            {"name":"m","collections":[{"name":"a","id":"id","lastChange":"version",
            "conflict":"serverWins"}],"remote":{"origin":"https://x.test","adapter":"x",
            "credentialsVariable":"TIDEMARK_CREDENTIALS"}}
            """#
        let logged = try ModelRegistration(parsing: Array(older.utf8), isLogged: true)
        let model = SyncModel(name: "m", collections: [CollectionModel("a")])

        let wanted = try ModelRegistration(model: model, remote: logged.remote)
            .checked(beside: logged)

        #expect(wanted == logged)
    }
}
