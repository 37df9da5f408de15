// SchemaTests.swift — Schemas/*.json say what the tool prints and what it takes, and no more.

import Foundation
import Testing

@Suite(.enabled(if: Outside.isThere, Outside.missing))
struct `the schemas` {
    let workshop: ReaderWorkshop

    init() throws { workshop = try ReaderWorkshop() }

    @Test func `every line of a dump conforms, and so do the examples of the page`() throws {
        try workshop.makeSyncedStores()
        try workshop.makeNastyStore()

        let golden = Project.root.path + "/Tests/Fixtures/v1/whole"
        let demo = try workshop.tool("demo", "--store", "demo")
        #expect(demo.status == 0)
        let ended = try workshop.python(
            SchemaScripts.lines, golden, "first", "second", "nasty", "demo/phone", "demo/laptop")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last == "35 kinds of lines, as many of them as the page has")
    }

    @Test func `a line with something more, less or else does not conform`() throws {
        let golden = Project.root.path + "/Tests/Fixtures/v1/whole"

        let ended = try workshop.python(SchemaScripts.badLines, golden)

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `the models of the help and of the schema conform, and the tool takes them`() throws
    {
        let help = try workshop.tool("init", "--help")
        try workshop.write(String(decoding: help.output, as: UTF8.self), to: "help")

        let ended = try workshop.python(SchemaScripts.goodModels, "help")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last == "1 of the help, 4 of the schema, 11 more")
    }

    @Test func `a model that does not conform is refused by the tool, which names the place`()
        throws
    {
        let ended = try workshop.python(SchemaScripts.badModels)

        #expect(ended.status == 0, "\(ended.errors)")
    }
}

private enum SchemaScripts {
    private static let validating = #"""
        import copy, json, os, re, subprocess
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource

        def schema(name):
            with open(f"{root}/Schemas/{name}.schema.json", encoding="utf-8") as file:
                value = json.load(file)
            Draft202012Validator.check_schema(value)
            return value

        model_schema = schema("model")
        registry = Registry().with_resource(
            "model.schema.json", Resource.from_contents(model_schema))
        lines = Draft202012Validator(schema("dump"), registry=registry)
        models = Draft202012Validator(model_schema)

        def dump(store):
            ended = subprocess.run([tool, "dump", store, "-o", "json"], capture_output=True)
            assert ended.returncode == 0, ended.stderr
            return [json.loads(text) for text in ended.stdout.splitlines()]

        def init(text):
            with open("model.json", "w", encoding="utf-8") as file:
                file.write(text)
            init.count += 1
            ended = subprocess.run(
                [tool, "init", f"made-{init.count}", "--model", "model.json"],
                capture_output=True, encoding="utf-8")
            assert (ended.returncode == 0) == os.path.exists(f"made-{init.count}"), ended
            return ended.returncode, ended.stderr
        init.count = 0

        def collection(**members):
            return {"collections": [{"name": "tasks", **members}]}

        def remote(**members):
            usual = {"origin": "http://localhost", "adapter": "kinto", "bucket": "b"}
            given = {**usual, **members}
            return {**collection(), "remote": {
                name: value for name, value in given.items() if value is not ...}}

        """#

    static let lines =
        validating + #"""
            events = [event for store in sys.argv[3:] for event in dump(store)]
            # A real server sends no such thing.
            said = [event for event in events if event["kind"] == "pull.page"][-1]
            events.append({**{name: said[name] for name in ("position", "recordedAt", "sync",
                "call", "collection")}, "kind": "server.unreadable", "asOf": 1, "payload": {
                    "name": "t9", "sha256": "0" * 64, "problem": "no", "bodyBase64": "AA=="}})
            for event in events:
                errors = [error.message for error in lines.iter_errors(event)]
                assert not errors, (event, errors)
            kinds = {event["kind"]: event for event in events if "schemaVersion" not in event}
            assert {kinds.pop("kind-110")["position"], kinds.pop("kind-9999")["position"]}
            assert any("payloadBase64" in event for event in events)
            # No program here has a rule of an app's.
            kinds["rule.answered"] = {
                "kind": "rule.answered", "position": 9, "recordedAt": 1, "sync": 1, "call": 7,
                "collection": "tasks", "entity": "t1"}
            # Nor does anything go wrong here that somebody would answer.
            kinds["issue.answered"] = {
                "kind": "issue.answered", "position": 9, "recordedAt": 1, "cause": 7,
                "collection": "tasks"}
            # And nothing is so old that it would be pruned.
            kinds["timer.fired"] = {
                "kind": "timer.fired", "position": 9, "recordedAt": 1, "sync": 1}
            # Nor are there files beside entities.
            for kind in "wanted", "stored", "removed", "used":
                kinds["asset." + kind] = {
                    "kind": "asset." + kind, "position": 9, "recordedAt": 1,
                    "collection": "tasks", "entity": "t1"}
            # Nor does a server here answer later.
            kinds["push.deferred"] = {
                "kind": "push.deferred", "position": 9, "recordedAt": 1, "sync": 1, "call": 7,
                "collection": "tasks"}
            # Nor is a server here asked to do anything.
            kinds["local.requested"] = {
                "kind": "local.requested", "position": 9, "recordedAt": 1,
                "collection": "tasks", "entity": "t1"}
            # Nor does a server here reserve values.
            kinds["reserved.added"] = {
                "kind": "reserved.added", "position": 9, "recordedAt": 1, "sync": 1, "call": 7}
            kinds["reserved.taken"] = {
                "kind": "reserved.taken", "position": 9, "recordedAt": 1}
            # Nor is anything sent another way.
            kinds["push.relayed"] = {
                "kind": "push.relayed", "position": 9, "recordedAt": 1, "mutation": 7,
                "collection": "tasks", "entity": "t1"}
            # Nor does anybody begin anew.
            kinds["local.wiped"] = {"kind": "local.wiped", "position": 9, "recordedAt": 1}
            # Nor is there a gate that would count what begins a run.
            kinds["trigger.received"] = {
                "kind": "trigger.received", "position": 9, "recordedAt": 1}
            # Nor is anything dropped.
            kinds["log.truncated"] = {
                "kind": "log.truncated", "position": 9, "recordedAt": 1}
            # The examples of the page, each in a line that was printed.
            shown = set()
            page = open(root + "/Schemas/FORMAT.md", encoding="utf-8").read()
            table = page.split("| kind | payload |")[1].split("\n\n")[0]
            for name, words in re.findall(r"^\| `([a-z.]+)` \| (.*) \|$", table, re.M):
                for example in re.findall(r"`(\{.*?\})`", words):
                    event = {**kinds[name], "payload": json.loads(example)}
                    event.pop("payloadBase64", None)
                    if "begunAt" in example and name == "sync.finished":
                        event.pop("sync", None)
                    if "sweep" in example:
                        event.pop("sync")
                    if "writes" in example:
                        for member in "entity", "mutation", "cause":
                            event.pop(member, None)
                    if "covers" in example:
                        event.update(entity="l1", mutation=3)
                    if "remedies" in example:
                        for member in "mutation", "cause":
                            event.pop(member, None)
                    if '"file' in example:
                        # It is of no run.
                        for member in "sync", "mutation", "cause":
                            event.pop(member, None)
                        event["collection"] = "lists"
                    errors = [error.message for error in lines.iter_errors(event)]
                    assert not errors, (name, example, errors)
                    shown.add(name)
            empty = {"local.deleted", "local.discarded", "local.retried"}
            assert shown == set(kinds) - empty, shown
            print(len(kinds), "kinds of lines, as many of them as the page has")
            """#

    static let badLines =
        validating + #"""
            events, count = dump(sys.argv[3]), 0
            known = {event["kind"] for event in events} - {"kind-9999", "kind-110"}
            assert len(known) == 18, known
            events = [event for event in events
                      if event["kind"] in known and "schemaVersion" not in event]
            def refuse(event, *what):
                global count
                count += 1
                assert not lines.is_valid(event), (event, what)
            for event in events:
                for other in {**event, "x": 1}, {**event, "payloadBase64": "e30="}, [event]:
                    refuse(other) if "payload" in event or "payloadBase64" not in other else None
                optional = {"serverTime", "mutation", "revision", "entity", "idempotencyKey",
                            "uptime", "boot"}
                if event["kind"] in ("push.accepted", "server.deleted"):
                    optional.add("payload")
                if event["kind"] in ("push.rejected", "pull.completed"):
                    optional.add("call")
                if event["kind"].startswith("request."):
                    optional.add("collection")
                if event["kind"] == "request.answered":
                    optional.add("cause")
                # That no answer came may also be about a file, in no run.
                if event["kind"] in ("sync.finished", "request.failed"):
                    optional.add("sync")
                for name in set(event) - optional:
                    refuse({key: event[key] for key in event if key != name}, "without", name)
                for name in set(event) - {"payload"}:
                    for value in None, [], {}, True, 1.5, "":
                        refuse({**event, name: value}, name, value)
                payload = event.get("payload")
                free = event["kind"] in ("local.created", "server.upserted", "server.deleted")
                if payload is not None and not free:
                    refuse({**event, "payload": {**payload, "x": "x"}})
                    for name in payload:
                        if name not in ("body", "name"):
                            refuse({**event, "payload": {**payload, name: {"x": None}}}, name) if (
                                name not in ("set", "remote")) else None
                for value in 1, "x", [], None:
                    if payload is not None:
                        refuse({**event, "payload": value}, value)
                if event["kind"] in ("local.deleted", "local.discarded", "local.retried"):
                    refuse({**event, "payload": {}})
                if event["kind"] == "request.answered":
                    whole = {"bodyBytes": 2001, "bodySHA256": "0" * 64}
                    assert lines.is_valid({**event, "payload": {"status": 500, **whole}})
                    for more in [
                        {"bodyBytes": 2001}, {"bodySHA256": "0" * 64}, {**whole, "bodyBytes": 2000},
                        {**whole, "bodySHA256": "A" * 64}, {**whole, "bodySHA256": "0" * 63},
                        {**whole, "body": {}}, {**whole, "bodyText": "x"}]:
                        refuse({**event, "payload": {"status": 500, **more}})
            usual = {"position": 1, "recordedAt": 1}
            for kind in "local.create", "kind-", "kind-01", "kind-1 ", "KIND-1", "kind-99999999999":
                refuse({**usual, "kind": kind})
            for kind in "kind-4294967295", "reachability.changed":
                assert lines.is_valid({**usual, "kind": kind, "payload": None})
            # What a later version writes under a kind of this one is its own matter.
            later = {**usual, "kind": "sync.started", "payload": ["?"]}
            assert not lines.is_valid(later) and lines.is_valid({**later, "schemaVersion": 6})
            answered = {**usual, "kind": "rule.answered", "sync": 1, "call": 1,
                        "collection": "c", "entity": "e"}
            said = {"rule": "r", "version": 1, "inputs": "0" * 64, "answer": "local"}
            assert lines.is_valid({**answered, "payload": said})
            for more in [{"answer": "both"}, {"answer": {}}, {"answer": {"document": 1}},
                         {"inputs": "0"}, {"version": "1"}, {"rule": ""}, {"more": 1}]:
                refuse({**answered, "payload": {**said, **more}}, more)
            for name in {*answered, "payload"} - {"kind"}:
                line = {**answered, "payload": said}
                refuse({key: line[key] for key in line if key != name}, "without", name)
            unread = {**usual, "kind": "request.failed", "sync": 1, "cause": 1,
                      "collection": "c", "entity": "e"}
            said = {"error": "client", "mayHaveArrived": False, "detail": "no such call",
                    "concerns": "entity"}
            assert lines.is_valid({**unread, "payload": said})
            for more in {"mayHaveArrived": True}, {"error": "unheard of"}, {"uptime": 1}:
                refuse({**unread, "payload": {**said, **more}}, more)
            for name in {*unread, "payload"} - {"kind"}:
                line = {**unread, "payload": said}
                refuse({key: line[key] for key in line if key != name}, "without", name)
            for kind in "deleted", "discarded", "retried":
                line = {**usual, "collection": "c", "entity": "e", "kind": "local." + kind}
                assert lines.is_valid({**line, "serverTime": 5}) == (kind == "deleted"), kind
            assert count > 500, count
            """#

    static let goodModels =
        validating + #"""
            text = open(sys.argv[3], encoding="utf-8").read()
            found, decoder = [], json.JSONDecoder()
            for start in re.finditer(r"^ *\{", text, re.M):
                try:
                    value = decoder.raw_decode(text, start.end() - 1)[0]
                except ValueError:
                    continue
                if "collections" in value:
                    found.append(value)
            more = [
                collection(name="a" * 100), collection(name="é ü\u2028"), collection(pageSize=1.0),
                collection(references={"": "tasks"}), remote(region="x", bucket=""),
                remote(origin="https://[::1]:8888/base/"),
                collection(conflict="overwriteIfSynced"), collection(conflict={"custom": "é"}),
                collection(conflict={"preferNewer": {"field": "at", "margin": "PT5S"}}),
                collection(conflict={"preferNewer": {"field": "at"}}),
                collection(conflict={"mergeFields": "serverWins"})]
            for model in [*found, *model_schema["examples"], *more]:
                errors = [error.message for error in models.iter_errors(model)]
                assert not errors, (model, errors)
                status, said = init(json.dumps(model, ensure_ascii=False))
                assert status == 0, (model, said)
                logged = dump(f"made-{init.count}")[1]
                assert logged["kind"] == "model.registered"
                assert models.is_valid(logged["payload"]) and lines.is_valid(logged)
                assert init(json.dumps(logged["payload"]))[0] == 0
                assert dump(f"made-{init.count}")[1]["payload"] == logged["payload"]
            print(f"{len(found)} of the help, {len(model_schema['examples'])} of the schema,",
                  len(more), "more")
            """#

    static let badModels =
        validating + #"""
            place = "collections[0]"
            for path, model in [
                ("object", []), ("object", None), ("x", {**collection(), "x": 1}),
                ("collections", {}), ("collections", {"collections": []}),
                ("collections", {"collections": {}}), ("name", {**collection(), "name": ""}),
                ("name", {**collection(), "name": 1}), (place, {"collections": [1]}),
                (place, {"collections": [{}]}), (place + ".name", collection(name="")),
                (place + ".name", collection(name="a/b")), (place + ".name", collection(name="\n")),
                (place + ".name", collection(name="\x7f")), (place + ".name", collection(name=7)),
                (place + ".name", collection(name="a" * 101)),
                (place + ".idField", collection(idField="")),
                (place + ".idField", collection(id=None)), (place, collection(pagesize=1)),
                (place + ".lastChangeField", collection(lastChange=[])),
                (place + ".conflict", collection(conflict="newest")),
                (place + ".conflict", collection(conflict=None)),
                (place + ".conflict", collection(conflict={})),
                (place + ".conflict", collection(conflict={"newest": 1})),
                (place + ".conflict", collection(conflict={
                    "custom": "x", "mergeFields": "localWins"})),
                (place + ".conflict.custom", collection(conflict={"custom": ""})),
                (place + ".conflict.mergeFields", collection(conflict={"mergeFields": "x"})),
                (place + ".conflict.preferNewer", collection(conflict={"preferNewer": "at"})),
                (place + ".conflict.preferNewer.field", collection(conflict={"preferNewer": {}})),
                (place + ".conflict.preferNewer.margin", collection(
                    conflict={"preferNewer": {"field": "at", "margin": "5s"}})),
                (place + ".references", collection(references=["tasks"])),
                (place + ".references.f", collection(references={"f": ""})),
                (place + ".references.f", collection(references={"f": None})),
                (place + ".pageSize", collection(pageSize=0)),
                (place + ".pageSize", collection(pageSize=10_001)),
                (place + ".pageSize", collection(pageSize=1.5)),
                (place + ".pageSize", collection(pageSize="10")),
                ("remote", {**collection(), "remote": None}), ("remote.origin", remote(origin=...)),
                ("remote.origin", remote(origin="localhost")), ("remote.origin", remote(origin="")),
                ("remote.origin", remote(origin="ftp://localhost")),
                ("remote.origin", remote(origin="http://")),
                ("remote.origin", remote(origin="http:///v1")),
                ("remote.origin", remote(origin="http://me:secret@localhost")),
                ("remote.origin", remote(origin="https://@localhost")),
                ("remote.origin", remote(origin="http://@localhost")),
                ("remote.adapter", remote(adapter=...)), ("remote.adapter", remote(adapter="")),
                ("remote.bucket", remote(bucket=...)), ("remote.bucket", remote(bucket=1)),
                ("remote.home", remote(adapter="caldav")), ("remote.home", remote(home=1)),
                ("remote.home", remote(adapter="carddav")),
                ("remote.credentialsVariable", remote(credentialsVariable="")),
                ("remote.x", remote(x={})),
            ]:
                assert not models.is_valid(model), model
                status, said = init(json.dumps(model))
                assert status == 2 and path in said and said.count("\n") == 1, (model, said)
            # What a schema can't say, the tool refuses all the same.
            two = lambda *members: {"collections": [{"name": "a"}, *members]}
            for path, model in [
                ("collections[1].name", two({"name": "a"})),
                (place + ".name", collection(name="é" * 51)),
                (place + ".references.f", {"collections": [
                    {"name": "a", "references": {"f": "b"}}, {"name": "b"}]}),
                ("remote.adapter", remote(adapter="other")),
            ]:
                assert models.is_valid(model), model
                status, said = init(json.dumps(model))
                assert status == 2 and path in said and said.count("\n") == 1, (model, said)
            for text in "", "{", '{"collections":[{"name":"a"}],"collections":[]}', "\ufeff{}":
                status, said = init(text)
                assert status == 2 and "not a JSON document" in said, (text, said)
            """#
}
