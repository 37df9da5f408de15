// ModelRegistrationTests.swift — the model document: read, written, and refused with a path.

import Testing
import TidemarkEvents

private func parse(_ text: String) throws(ModelError) -> ModelRegistration {
    try ModelRegistration(parsing: Array(text.utf8))
}

@Suite struct `model documents` {
    static let whole = #"""
        {
          "name": "todo",
          "collections": [
            {"name": "lists", "idField": "key", "lastChangeField": "changed",
             "conflict": "serverWins"},
            {"name": "tasks", "conflict": "localWins", "pageSize": 50,
             "references": {"list": "lists", "parent": "tasks"}}
          ],
          "remote": {"origin": "https://kinto.example.org/base/", "adapter": "kinto",
                     "defaults": {"lastChangeField": "last_modified"}, "bucket": "todo",
                     "credentialsVariable": "MY_TOKEN"}
        }
        """#

    @Test func `a whole document is understood`() throws {
        let registration = try parse(Self.whole)

        let lists = CollectionModel("lists", idField: "key", lastChangeField: "changed")
        let tasks = CollectionModel(
            "tasks", lastChangeField: "last_modified", conflict: .localWins,
            references: [Reference("list", to: "lists"), Reference("parent", to: "tasks")],
            pageSize: 50)
        #expect(registration.model == SyncModel(name: "todo", collections: [lists, tasks]))
        #expect(
            registration.remote
                == Remote(
                    origin: "https://kinto.example.org/base", adapter: "kinto",
                    parameters: ["bucket": "todo"], credentialsVariable: "MY_TOKEN",
                    defaults: AdapterDefaults(lastChangeField: "last_modified")))
        #expect(registration.model["tasks"] == tasks)
        #expect(registration.model["nothing"] == nil)
        #expect(lists.serverFields == ["key", "changed"])
    }

    @Test func `a model of very many collections is read, and each is found by its name`() throws {
        let first = CollectionModel("c0")
        let others = (1..<1000).map { number in
            CollectionModel(
                CollectionName("c\(number)"),
                references: [Reference("up", to: CollectionName("c\(number - 1)"))])
        }
        let model = SyncModel(name: "many", collections: [first] + others)

        let read = try ModelRegistration(model: model).checked().model
        #expect(read == model)
        #expect(read["c0"] == first && read["c999"] == others.last && read["c1000"] == nil)
    }

    @Test func `what is left out has its usual value`() throws {
        let registration = try parse(#"{"collections":[{"name":"notes"}]}"#)

        #expect(registration.remote == nil)
        #expect(registration.model.name == "unnamed")
        #expect(registration.model.collections == [CollectionModel("notes")])
        #expect(registration.model.collections[0].serverFields == ["id"])
    }

    @Test(arguments: [
        (#""overwriteUnlessDirty""#, ConflictPolicy.overwriteUnlessDirty),
        (#""overwriteIfSynced""#, .overwriteIfSynced),
        (#"{"mergeFields":"localWins"}"#, .mergeFields(.localWins)),
        (#"{"mergeFields":"serverWins"}"#, .mergeFields(.serverWins)),
        (#"{"custom":"longest title"}"#, .custom("longest title")),
        (
            #"{"preferNewer":{"field":"at","margin":"PT5S"}}"#,
            .preferNewer(field: "at", margin: .seconds(5))
        ),
    ])
    func `every conflict policy is understood, and written as it was read`(
        _ text: String, _ policy: ConflictPolicy
    ) throws {
        let registration = try parse(#"{"collections":[{"name":"a","conflict":\#(text)}]}"#)

        #expect(registration.model.collections[0].conflict == policy)
        let written = String(decoding: registration.encoded, as: UTF8.self)
        #expect(written.contains(#""conflict":\#(text)"#))
        #expect(try ModelRegistration(parsing: registration.encoded) == registration)
    }

    @Test func `a margin that is left out is none`() throws {
        let registration = try parse(
            #"{"collections":[{"name":"a","conflict":{"preferNewer":{"field":"at"}}}]}"#)

        #expect(
            registration.model.collections[0].conflict
                == .preferNewer(field: "at", margin: .zero))
    }

    @Test func `equal models are equal bytes, and read back equal`() throws {
        for text in [Self.whole, #"{"collections":[{"name":"notes"}]}"#] {
            let registration = try parse(text)

            let again = try ModelRegistration(parsing: registration.encoded)

            #expect(again == registration)
            #expect(again.encoded == registration.encoded)
        }
        let remote = Remote(
            origin: "http://localhost", adapter: "x", parameters: ["c": "3", "a": "1", "b": ""])
        let one = ModelRegistration(
            model: SyncModel(name: "m", collections: [CollectionModel("a"), CollectionModel("b")]),
            remote: remote)
        #expect(try ModelRegistration(parsing: one.encoded) == one)
    }

    static let wrong: [(String, String, String)] = [
        ("", "", "not a JSON document"),
        ("[]", "", "an object is needed"),
        (#"{"name":"x"}"#, "collections", "at least one"),
        (#"{"collections":[]}"#, "collections", "at least one"),
        (#"{"collections":{}}"#, "collections", "at least one"),
        (#"{"collections":[{"name":"a"}],"colour":1}"#, "", "\"colour\" is none of"),
        (#"{"collections":[{"name":"a"}],"name":1}"#, "name", "a text"),
        (#"{"collections":[{"name":"a"}],"name":""}"#, "name", "a text"),
        (#"{"collections":[1]}"#, "collections[0]", "an object"),
        (#"{"collections":[{"id":"x"}]}"#, "collections[0].name", "1 to 100 bytes"),
        (#"{"collections":[{"name":"a/b"}]}"#, "collections[0].name", "1 to 100 bytes"),
        (#"{"collections":[{"name":"a"},{"name":"a"}]}"#, "collections[1].name", "twice"),
        (#"{"collections":[{"name":"a","idField":""}]}"#, "collections[0].idField", "a text"),
        (
            #"{"collections":[{"name":"a","lastChangeField":1}]}"#,
            "collections[0].lastChangeField", "a text"
        ),
        (
            #"{"collections":[{"name":"a","conflict":"newest"}]}"#, "collections[0].conflict",
            "\"newest\" is none of serverWins, localWins"
        ),
        (
            #"{"collections":[{"name":"a","conflict":{"newest":1}}]}"#, "collections[0].conflict",
            "\"newest\" is none of preferNewer, mergeFields, custom"
        ),
        (#"{"collections":[{"name":"a","conflict":{}}]}"#, "collections[0].conflict", "one of"),
        (
            #"{"collections":[{"name":"a","conflict":{"custom":""}}]}"#,
            "collections[0].conflict.custom", "a text"
        ),
        (
            #"{"collections":[{"name":"a","conflict":{"mergeFields":"newest"}}]}"#,
            "collections[0].conflict.mergeFields", "one of serverWins, localWins"
        ),
        (
            #"{"collections":[{"name":"a","conflict":{"preferNewer":{"margin":"PT1S"}}}]}"#,
            "collections[0].conflict.preferNewer.field", "The field of the server's document"
        ),
        (
            #"{"collections":[{"name":"a","conflict":{"preferNewer":{"field":"at","slack":1}}}]}"#,
            "collections[0].conflict.preferNewer", "\"slack\" is none"
        ),
        (
            #"{"collections":[{"name":"a","conflict":{"preferNewer":{"field":"at","#
                + #""margin":"P2D"}}}]}"#,
            "collections[0].conflict.preferNewer.margin", "a duration of at most P1D"
        ),
        (#"{"collections":[{"name":"a","policy":"x"}]}"#, "collections[0]", "\"policy\" is none"),
        (#"{"collections":[{"name":"a","pageSize":0}]}"#, "collections[0].pageSize", "1 to 10000"),
        (
            #"{"collections":[{"name":"a","pageSize":10001}]}"#, "collections[0].pageSize",
            "1 to 10000"
        ),
        (
            #"{"collections":[{"name":"a","pageSize":1.5}]}"#, "collections[0].pageSize",
            "1 to 10000"
        ),
        (
            #"{"collections":[{"name":"a","references":[]}]}"#, "collections[0].references",
            "an object"
        ),
        (
            #"{"collections":[{"name":"a","references":{"f":1}}]}"#,
            "collections[0].references.f", "a collection's name"
        ),
        (
            #"{"collections":[{"name":"a","references":{"f":"b"}},{"name":"b"}]}"#,
            "collections[0].references.f", "b must be a collection that stands earlier"
        ),
        (
            gates(#"{"discover":{"count":0,"window":"PT15M"}}"#), "settings.gates.discover.count",
            "1 to 1000"
        ),
        (gates(#"{"discover":{"count":3}}"#), "settings.gates.discover.window", "duration"),
        (
            gates(#"{"discover":{"count":3,"window":"P2M"}}"#), "settings.gates.discover.window",
            "from PT1S to P1D"
        ),
        (gates(#"{"timer":{"count":3,"window":"PT15M"}}"#), "settings.gates.timer", "another name"),
        (gates(#"{"":{"count":3,"window":"PT15M"}}"#), "settings.gates.", "100 bytes"),
        (gates("[]"), "settings.gates", "an object of trigger to gate"),
    ]

    private static func gates(_ gates: String) -> String {
        #"{"collections":[{"name":"a"}],"settings":{"gates":\#(gates)}}"#
    }

    @Test(arguments: wrong)
    func `a mistake is named with its path`(
        _ text: String, _ path: String, _ problem: String
    ) {
        #expect(throws: ModelError.self) { try parse(text) }
        do { _ = try parse(text) } catch {
            #expect(error.path == path)
            #expect(error.problem.contains(problem), "\(error)")
            #expect(error.description == (path.isEmpty ? "" : path + ": ") + error.problem)
        }
    }

    @Test(arguments: [
        ("1", "remote", "an object"),
        ("{}", "remote.origin", "http://"),
        (#"{"origin":"ftp://x","adapter":"a"}"#, "remote.origin", "http://"),
        (#"{"origin":"https://u:p@x","adapter":"a"}"#, "remote.origin", "credentials"),
        (#"{"origin":"https://x/?key=p","adapter":"a"}"#, "remote.origin", "a query"),
        (#"{"origin":"https://x#p","adapter":"a"}"#, "remote.origin", "a fragment"),
        (#"{"origin":"https://x"}"#, "remote.adapter", "server adapter"),
        (#"{"origin":"https://x","adapter":"a","bucket":1}"#, "remote.bucket", "a text"),
        (
            #"{"origin":"https://x","adapter":"a","credentialsVariable":1}"#,
            "remote.credentialsVariable", "a text"
        ),
        (
            #"{"origin":"https://x","adapter":"a","credentialsVariable":"open sesame"}"#,
            "remote.credentialsVariable", "the name of an environment variable is needed: letters"
        ),
        (
            #"{"origin":"https://x","adapter":"a","credentialsVariable":"1A"}"#,
            "remote.credentialsVariable", "no digit first"
        ),
        (
            #"{"origin":"https://x","adapter":"a","credentialsVariable":""}"#,
            "remote.credentialsVariable", "a text is needed"
        ),
    ])
    func `a mistake in the remote is named with its path`(
        _ remote: String, _ path: String, _ problem: String
    ) {
        do {
            _ = try parse(#"{"collections":[{"name":"a"}],"remote":\#(remote)}"#)
            Issue.record("it was taken")
        } catch {
            #expect(error.path == path)
            #expect(error.problem.contains(problem), "\(error)")
        }
    }

    @Test func `two rules of one name in a collection are refused, as one would be lost`() {
        func problem(_ change: (inout CollectionModel) -> Void) -> ModelError? {
            var tasks = CollectionModel("tasks")
            change(&tasks)
            let model = SyncModel(
                name: "m",
                collections: [CollectionModel("users"), CollectionModel("teams"), tasks])
            return #expect(throws: ModelError.self) {
                try ModelRegistration(model: model).checked()
            }
        }
        let errors = [
            problem { $0.references = [.init("n", to: "users"), .init("n", to: "teams")] },
            problem { $0.actions = [.init("n"), .init("n", waitsForTree: true)] },
            problem { $0.embeds = [.init("n", "users"), .init("n", "teams")] },
            problem { $0.contents = [.init("n"), .init("n", when: .all)] },
            problem { $0.keyed = [.init("n", by: "a"), .init("n", by: "b")] },
        ]
        #expect(
            errors.map { $0?.path } == [
                "collections[2].references.n", "collections[2].actions.n",
                "collections[2].embeds.n", "collections[2].contents.n", "collections[2].keyed.n",
            ])
        for error in errors {
            #expect(error?.problem == "there are two of that name; leave one of them out")
        }
    }
}
