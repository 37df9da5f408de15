// ScenarioParsingTests.swift — what is wrong with a scenario's file, and where.

import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkTesting

@Suite struct `reading scenarios` {
    private static func toggl(_ model: String, _ rows: String) -> String {
        let server = #"{"kind":"toggl","rows":\#(rows)}"#
        return #"{"id":"a","title":"t","model":\#(model),"server":\#(server)}"#
    }

    private func problem(_ text: String) -> String? {
        do throws(ScenarioError) {
            _ = try ScenarioFile(parsing: Array(text.utf8), name: "file.json")
            return nil
        } catch { return error.description }
    }

    @Test(arguments: [
        (#""x":1"#, "x: not known here; known are "),
        (#""clock":"noon""#, "clock: a time is needed"),
        (#""seed":-1"#, "seed: a whole number from 0 to "),
        (#""given":{}"#, "given: a list is needed"),
        (#""steps":[1]"#, "steps[0]: an object is needed"),
        (#""steps":[{"x":1}]"#, "steps[0]: a step is needed, one of create, edit, "),
        (#""steps":[{"create":"tasks"}]"#, "steps[0].create: an entity is needed"),
        (#""steps":[{"create":"x/1"}]"#, "steps[0].create: the model has no collection x"),
        (#""steps":[{"create":"tasks/1","document":[]}]"#, "steps[0].document: an object is"),
        (#""steps":[{"create":"tasks/1","set":{}}]"#, "steps[0].set: not known here"),
        (#""steps":[{"create":"tasks/1","refused":"no"}]"#, "steps[0].refused: one of noStore"),
        (#""steps":[{"edit":"tasks/1"}]"#, "steps[0]: set or unset is needed"),
        (#""steps":[{"edit":"tasks/1","unset":[1]}]"#, "steps[0].unset[0]: a field's name"),
        (#""steps":[{"answer":"tasks/1"}]"#, "steps[0].with: is needed"),
        (
            #""steps":[{"attach":"tasks/1","field":"photo","text":"a"}]"#,
            "steps[0].field: a field is needed that names files by the model's contents"
        ),
        (#""steps":[{"want":"x/1"}]"#, "steps[0].want: the model has no collection x"),
        (#""steps":[{"want":"tasks/1","wanted":1}]"#, "steps[0].wanted: true or false is needed"),
        (#""steps":[{"sweep":1}]"#, "steps[0].sweep: true is needed"),
        (#""expect":{"files":{"tasks/1":[1]}}"#, "expect.files.tasks/1[0]: what the file holds"),
        (
            #""expect":{"files":{"tasks/1":[{"length":-1,"seed":1}]}}"#,
            "expect.files.tasks/1[0].length: a whole number from 0 to "
        ),
        (
            #""steps":[{"server":{}}]"#,
            "steps[0].server: one of put, delete, forget, archive and move"
        ),
        (#""steps":[{"server":{"put":"tasks/1"}}]"#, "steps[0].server.document: an object is"),
        (#""steps":[{"server":{"archive":"tasks/1"}}]"#, "steps[0].server.archive: such a server"),
        (#""steps":[{"advance":"24 hours"}]"#, "steps[0].advance: a number of seconds, or a text"),
        (#""steps":[{"fault":{"request":"*"}}]"#, "steps[0].fault: either status, drop"),
        (
            #""steps":[{"fault":{"request":"*","status":503,"drop":"after"}}]"#,
            "steps[0].fault: either status, drop or offline"
        ),
        (#""steps":[{"sync":"some"}]"#, #"steps[0].sync: "all", "push", "cleanUp", {"#),
        (#""steps":[{"sync":{"pull":["x"]}}]"#, "steps[0].sync.pull[0]: the name of a collection"),
        (#""steps":[{"restart":false}]"#, "steps[0].restart: true is needed"),
        (#""steps":[{"restart":true,"device":1}]"#, "steps[0].device: true or false is needed"),
        (#""steps":[{"during":{"request":"*"}}]"#, "steps[0].do: steps are needed"),
        (
            #""steps":[{"during":{"request":"*"},"do":[{"answers":["*"]}]}]"#,
            "steps[0].do[0].answers: can't happen while a request is on its way"
        ),
        (#""steps":[{"midnight":1}]"#, "steps[0].midnight: true is needed"),
        (#""steps":[{"background":false}]"#, "steps[0].background: true is needed"),
        (#""steps":[{"fault":{"request":"*","offline":1}}]"#, "steps[0].fault.offline: true is"),
        (
            #""steps":[{"fault":{"request":"*","offline":true,"drop":"after"}}]"#,
            "steps[0].fault: either status, drop or offline"
        ),
        (
            #""expect":{"rows":{"tasks/1":{"status":"sinced"}}}"#,
            #"expect.rows.tasks/1.status: "sinced" is never said; what is said is synced, "#
        ),
        (#""expect":{"outcome":"offlin"}"#, #"expect.outcome: "offlin" is never said"#),
        (#""steps":[{"show":"discover"}]"#, "steps[0].show: the model has no such gate"),
        (#""steps":[{"sync":"all","trigger":"discover"}]"#, "steps[0].trigger: one of userR"),
        (#""expect":{"held":{"discover":null}}"#, "expect.held.discover: the model has no such"),
        (
            #""expect":{"activity":["begun(timer)"]}"#,
            #"expect.activity[0]: "begun" is never said; what is said is started, "#
        ),
        (
            #""expect":{"activity":{"without":["pageApplied(taks)"]}}"#,
            #"expect.activity.without[0]: "taks" is never said"#
        ),
        (#""expect":{"activity":["finished"]}"#, "expect.activity[0]: an activity is needed"),
        (
            #""expect":{"progress":{"without":["push"]}}"#,
            #"expect.progress.without[0]: "push" is never said"#
        ),
        (
            #""expect":{"decisions":{"without":[{"result":"gaind"}]}}"#,
            #"expect.decisions.without[0].result: "gaind" is never said"#
        ),
        (
            #""expect":{"decisions":{"without":[{"rule":"preferNewer"}]}}"#,
            "expect.decisions.without[0].rule: \"preferNewer\" is never said; what is said is "
                + "serverWins, localWins, "
        ),
        (
            #""expect":{"outbox":{"without":[{"entity":"taks/1"}]}}"#,
            #"expect.outbox.without[0].entity: "taks" is never said"#
        ),
        (
            #""expect":{"mutations":{"without":[{"state":"accept"}]}}"#,
            #"expect.mutations.without[0].state: "accept" is never said"#
        ),
        (
            #""expect":{"issues":{"without":[{"kind":"reject"}]}}"#,
            #"expect.issues.without[0].kind: "reject" is never said"#
        ),
        (#""expect":{"requests":{"without":["PUTT *"]}}"#, "expect.requests.without[0]: a request"),
        (#""expect":{"requests":["x"]}"#, "expect.requests[0]: a request is needed"),
        (
            #""expect":{"log":{"without":["push.accept tasks/1"]}}"#,
            #"expect.log.without[0]: "push.accept" is never said"#
        ),
        (
            #""expect":{"log":{"without":["push.* taks/1"]}}"#,
            #"expect.log.without[0]: "taks" is never said"#
        ),
        (#""steps":[{"expect":{"row":{}}}]"#, "steps[0].expect.row: not known here"),
        (#""expect":{"rows":{"tasks":{}}}"#, "expect.rows.tasks: an entity is needed"),
        (#""expect":{"rows":{"tasks/1":{"state":1}}}"#, "expect.rows.tasks/1.state: not known"),
        (
            #""expect":{"server":{"tasks/1":{"n":{"$none":1}}}}"#,
            "expect.server.tasks/1.n.$none: alone and with its value, one of "
        ),
        (
            #""expect":{"server":{"tasks/1":{"$exactly":{"n":[{"$any":true}]}}}}"#,
            "expect.server.tasks/1.$exactly.n[0].$any: $exactly has no markers inside"
        ),
        (
            #""steps":[{"request":"copy","of":"tasks/1","parameters":["a"]}]"#,
            "steps[0].parameters: an object is needed"
        ),
        (#""expect":{"collections":{"tasks":[{}]}}"#, "expect.collections.tasks[0]: an id"),
        (#""expect":{"requests":1}"#, "expect.requests: a list, or an object with unordered"),
        (#""expect":{"requests":{}}"#, "expect.requests: one of unordered, including"),
        (#""expect":{"requests":[{"body":{}}]}"#, "expect.requests[0].request: is needed"),
        (#""expect":{"outbox":[{"x":1}]}"#, "expect.outbox[0].x: not known here"),
        (#""expect":{"waits":["1s"]}"#, "expect.waits[0]: a number of seconds is needed"),
        (#""expect":{"outcome":{"word":"synced"}}"#, "expect.outcome.word: not known here"),
        (#""expect":{"bindings":{"tasks/1":2}}"#, "expect.bindings.tasks/1: an entity is needed"),
        (
            #""expect":{"rows":{"taks/1":null}}"#,
            #"expect.rows.taks/1: "taks" is never said"#
        ),
        (
            #""expect":{"collections":{"taks":[]}}"#,
            #"expect.collections.taks: "taks" is never said"#
        ),
        (
            #""expect":{"server":{"taks/1":null}}"#,
            #"expect.server.taks/1: "taks" is never said"#
        ),
        (
            #""expect":{"watermarks":{"taks":null}}"#,
            #"expect.watermarks.taks: "taks" is never said"#
        ),
        (
            #""expect":{"bindings":{"taks/1":null}}"#,
            #"expect.bindings.taks/1: "taks" is never said"#
        ),
        (
            #""expect":{"outcome":{"paused":{"taks":"x"}}}"#,
            #"expect.outcome.paused: "taks" is never said"#
        ),
        (
            #""expect":{"outcome":{"held":{"taks":"x"}}}"#,
            #"expect.outcome.held: "taks" is never said"#
        ),
    ])
    func `the error names the file, the member and what is needed`(
        members: String, expected: String
    ) throws {
        let error = try #require(problem(scenarioText(members)))

        #expect(error.hasPrefix("file.json: " + expected), "\(error)")
    }

    @Test(arguments: [
        ("", "not a JSON document: "), ("{}", "id: is needed"), ("[]", "an object is needed"),
        (#"{"scenarios":[]}"#, "scenarios: at least one scenario is needed"),
        (#"{"scenarios":[{"id":"a"}]}"#, "scenarios[0].title: is needed"),
        (#"{"id":"a","title":"t","model":"toggl"}"#, "server: is needed"),
        (#"{"id":"a","title":"t","model":"x","server":{"kind":"kinto"}}"#, "model: no such model"),
        (
            #"{"id":"a","title":"t","model":"toggl","server":{"kind":"x"}}"#,
            "server.kind: one of kinto, toggl, dhis2, webdav is needed"
        ),
        (
            #"{"id":"a","title":"t","model":{"collections":[{"name":"programs"}]},"#
                + #""server":{"kind":"dhis2","readOnly":["P1",2]}}"#,
            "server.readOnly[1]: the id of a program, a stage or a type is needed"
        ),
        (
            #"{"id":"a","title":"t","model":"toggl","server":{"kind":"toggl","readOnly":[]}}"#,
            "server.readOnly: such a server has no readOnly"
        ),
        (
            #"{"id":"a","title":"t","model":{"collections":[{"name":"dataValues"}]},"#
                + #""server":{"kind":"dhis2","rows":{"dataValues":[{"id":"D1-2026"}]}}}"#,
            "server.rows.dataValues[0]: what a value is told by is needed as id: D1-"
        ),
        (
            #"{"id":"a","title":"t","model":{"collections":[{"name":"dataValues"}]},"#
                + #""server":{"kind":"dhis2"},"expect":{"server":{"dataValues/D1-2026":null}}}"#,
            "expect.server.dataValues/D1-2026: what a value is told by is needed as id: D1-"
        ),
        (
            fileScenarioText(rows: #"[{"id":"a","kind":"fil"}]"#, #""steps":[]"#),
            "server.rows.files[0].kind: one of folder, file is needed"
        ),
        (
            fileScenarioText(rows: #"[{"id":"a","text":"tea"}]"#, #""steps":[]"#),
            "server.rows.files[0].kind: is needed"
        ),
        (
            fileScenarioText(rows: #"[{"id":"a","kind":"file","txt":"tea"}]"#, #""steps":[]"#),
            "server.rows.files[0].txt: not known here; known are kind, text, link, id"
        ),
        (
            fileScenarioText(
                rows: "[]",
                #""steps":[{"server":{"put":"files/a","#
                    + #""document":{"kind":"folder","text":"tea"}}}]"#),
            "steps[0].server.document.text: a folder has none"
        ),
        (
            fileScenarioText(
                rows: "[]",
                #""steps":[{"server":{"put":"files/a","#
                    + #""document":{"kind":"file","id":"b"}}}]"#),
            "steps[0].server.document.id: not known here; known are kind, text, link"
        ),
        (
            #"{"id":"a","title":"t","model":{"collections":[]},"server":{"kind":"kinto"}}"#,
            "model.collections: a list of at least one"
        ),
        (
            toggl(#"{"base":"toggl","change":{"collections":{"tags":{"ids":1}}}}"#, "{}"),
            "model.change.collections[4].ids: "
        ),
        (
            toggl(#""toggl""#, #"{"tags":[{}]}"#),
            "server.rows.tags[0].id: a text or a whole number is needed"
        ),
        (
            toggl(#""toggl""#, #"{"tags":[{"id":"x"}]}"#),
            "server.rows.tags[0]: a number as id is needed"
        ),
    ])
    func `a file that is no scenario is refused`(text: String, expected: String) throws {
        let error = try #require(problem(text))

        #expect(error.hasPrefix("file.json: " + expected), "\(error)")
    }

    @Test(arguments: [
        (
            #""collections":{"time_entries":{"retention":{"months":null,"days":56}}}"#,
            #""collections":{"time_entries":{"retention":{"ageMax":"P56D"}}}"#
        ),
        (
            #""collections":{"workspaces":{"required":null,"push":[]},"#
                + #""user":{"after":["workspaces"]}}"#,
            #""collections":{"workspaces":{"access":{"missing":null},"pushes":[]},"#
                + #""user":{"listedAfter":["workspaces"]}}"#
        ),
        (
            #""collections":{"projects":{"placeholder":{"refetchHours":48}}}"#,
            #""collections":{"projects":{"placeholder":{"refetch":{"every":"P2D"}}}}"#
        ),
        (
            #""sync":{"fullPullDays":1,"limits":null,"backoffSecondsMax":60}"#,
            #""settings":{"fullPullEvery":"P1D","limits":null,"backoff":{"max":"PT1M"}}"#
        ),
        (
            #""collections":{"tags":{"since":{"months":3}},"user":{"lastChange":null}}"#,
            #""collections":{"tags":{"since":{"ageMax":"P3M"}},"user":{"lastChangeField":null}}"#
        ),
    ])
    func `changes of a model mean the same in the words of earlier versions`(
        older: String, today: String
    ) throws {
        let read = try [older, today].map { change in
            try scenarios(Self.toggl(#"{"base":"toggl","change":{\#(change)}}"#, "{}"))[0].model
        }
        #expect(read[0] == read[1])
        #expect(read[0] != .toggl)
    }

    @Test func `a file holds several scenarios, each with an id of its own`() throws {
        let one = scenarioText("")
        let other = one.replacing(#""id":"s""#, with: #""id":"t","source":"a page""#)

        let read = try scenarios(#"{"scenarios":[\#(one),\#(other)]}"#)

        #expect(read.map(\.id) == ["s", "t"])
        #expect(read.map(\.source) == ["", "a page"])
        #expect(
            problem(#"{"scenarios":[\#(one),\#(one)]}"#)
                == #"file.json: scenarios[1].id: "s" is there twice"#)
    }
}
