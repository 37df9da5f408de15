// ScenarioSchemaTests.swift — Schemas/scenario.schema.json says what the tool takes, and no more;
// all scenarios pass, and so do the examples of Schemas/SCENARIOS.md.

import Foundation
import Testing

@Suite(
    .enabled(
        if: !Outside.python.isEmpty && !Outside.programs.isEmpty,
        "TIDEMARK_PYTHON and TIDEMARK_BIN are not set; Tools/test sets them"))
struct `the schema of scenarios` {
    let workshop: ReaderWorkshop

    init() throws { workshop = try ReaderWorkshop() }

    @Test func `every file of scenarios conforms, and so do the examples of the page, which pass`()
        throws
    {
        let ended = try workshop.python(Self.validating + Self.good)

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `what does not conform is refused by the tool, which names the place`() throws {
        let ended = try workshop.python(Self.validating + Self.bad)

        #expect(ended.status == 0, "\(ended.errors)")
    }

    /// Many lines have the same members, with values of the same types: one of them is looked at.
    @Test func `all scenarios pass, and each shape of line that they log is one of the schema's`()
        throws
    {
        let ended = try workshop.python(Self.validating + Self.logged)

        #expect(ended.status == 0, "\(ended.errors)")
    }

    private static let validating = #"""
        import glob, json, re, subprocess
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource

        def schema(name):
            with open(f"{root}/Schemas/{name}.schema.json", encoding="utf-8") as file:
                value = json.load(file)
            Draft202012Validator.check_schema(value)
            return value

        registry = Registry().with_resource(
            "model.schema.json", Resource.from_contents(schema("model")))
        scenarios = Draft202012Validator(schema("scenario"), registry=registry)

        def run(value):
            with open("scenario.json", "w", encoding="utf-8") as file:
                json.dump(value, file)
            ended = subprocess.run(
                [tool, "scenario", "scenario.json"], capture_output=True, encoding="utf-8")
            return ended.returncode, ended.stdout + ended.stderr

        """#

    private static let good = #"""
        names = glob.glob(root + "/Tests/Scenarios/**/*.json", recursive=True)
        assert len(names) >= 10, names
        for name in names:
            value = json.load(open(name, encoding="utf-8"))
            errors = [error.message for error in scenarios.iter_errors(value)]
            assert not errors, (name, errors)
        page = open(root + "/Schemas/SCENARIOS.md", encoding="utf-8").read()
        blocks = re.findall(r"^```json\n(.*?)^```$", page, re.M | re.S)
        assert len(blocks) == 2, len(blocks)
        for block in blocks:
            value = json.loads(block)
            errors = [error.message for error in scenarios.iter_errors(value)]
            assert not errors, (block, errors)
            status, said = run(value)
            assert status == 0 and "1 passed, 0 failed" in said, said
        """#

    private static let logged = #"""
        import concurrent.futures, os

        ended = subprocess.run(
            [tool, "scenario", root + "/Tests/Scenarios", "--quiet", "--keep", "kept"],
            capture_output=True, encoding="utf-8")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        stores = sorted(os.listdir("kept"))
        page = open(root + "/Schemas/SCENARIOS.md", encoding="utf-8").read()
        assert f"\n{len(stores)} passed, 0 failed\n" in page, len(stores)

        def dump(store):
            ended = subprocess.run(
                [tool, "dump", "kept/" + store, "-o", "json"], capture_output=True)
            assert ended.returncode == 0, (store, ended.stderr)
            return ended.stdout.splitlines()

        # A word may be one of those that a member allows.
        def shape(value):
            if isinstance(value, dict):
                return tuple((name, shape(value[name])) for name in sorted(value))
            if isinstance(value, list):
                return tuple(sorted({shape(item) for item in value}, key=repr))
            is_word = isinstance(value, str) and re.fullmatch("[a-z][A-Za-z]*", value)
            return value if is_word else type(value).__name__

        # What stands in documents and in bodies of answers is the server's own matter.
        free = {"local.created", "server.upserted", "server.deleted"}
        def line_shape(event):
            payload = event.get("payload")
            kind = event["kind"]
            if payload is not None and kind not in free and isinstance(payload, dict):
                payload = {name: {} if name in ("body", "set") else payload[name]
                           for name in payload}
            elif payload is not None:
                payload = type(payload).__name__
            return kind, shape({**event, "payload": payload})

        lines = Draft202012Validator(schema("dump"), registry=registry)
        seen = {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for store, dumped in zip(stores, pool.map(dump, stores)):
                for event in map(json.loads, dumped):
                    seen.setdefault(line_shape(event), (store, event))
        for store, event in seen.values():
            errors = [error.message for error in lines.iter_errors(event)]
            assert not errors, (store, event, errors)
        print(len(seen), "shapes of", len({kind for kind, _ in seen}), "kinds")
        """#

    private static let bad = #"""
        def scenario(**members):
            usual = {"id": "s", "title": "t", "model": {"collections": [{"name": "tasks"}]},
                     "server": {"kind": "kinto"}}
            given = {**usual, **members}
            return {name: value for name, value in given.items() if value is not ...}

        def step(**members):
            return scenario(steps=[members])

        def expect(**members):
            return scenario(expect=members)

        assert scenarios.is_valid(scenario()) and run(scenario())[0] == 0
        place = "steps[0]"
        for path, value in [
            ("object", []), ("id", scenario(id=...)), ("title", scenario(title="")),
            ("model", scenario(model=...)), ("model", scenario(model="other")),
            ("model.remote", scenario(model={
                "collections": [{"name": "a"}],
                "remote": {"origin": "http://a", "adapter": "kinto", "bucket": "b"}})),
            ("model.change.x", scenario(model={"base": "toggl", "change": {"x": 1}})),
            ("server", scenario(server=...)), ("server.kind", scenario(server={"kind": "x"})),
            ("server.rows", scenario(server={"kind": "kinto", "rows": []})),
            ("server.nextID", scenario(server={"kind": "kinto", "nextID": 1})),
            ("scenarios", {"scenarios": []}), ("x", scenario(x=1)), ("seed", scenario(seed=1.5)),
            ("clock", scenario(clock="today")), ("given", scenario(given={})),
            (place, step()), (place, step(x=1)), (place, step(advance=1, sync="all")),
            (place + ".create", step(create="tasks")),
            (place + ".set", step(edit="tasks/1", set=1)),
            (place, step(edit="tasks/1")), (place + ".with", step(answer="tasks/1")),
            (place + ".refused", step(delete="tasks/1", refused="gone")),
            (place + ".server", step(server={"delete": "tasks/1", "forget": "tasks/1"})),
            (place + ".server.document", step(server={"put": "tasks/1"})),
            (place + ".advance", step(advance="1 h")),
            (place + ".fault", step(fault={"request": "*"})),
            (place + ".fault.status", step(fault={"request": "*", "status": 99})),
            (place + ".sync", step(sync="none")),
            (place + ".trigger", step(sync="all", trigger="x")),
            (place + ".restart", step(restart=1)), (place + ".do", step(during={"request": "*"})),
            (place + ".do[0].answers", step(during={"request": "*"}, do=[{"answers": ["*"]}])),
            (place + ".midnight", step(midnight=1)), (place + ".background", step(background=0)),
            (place + ".foreground", step(foreground=False)),
            (place + ".fault", step(fault={"request": "*", "offline": True, "status": 500})),
            (place + ".fault.offline", step(fault={"request": "*", "offline": False})),
            ("expect.rows.tasks", expect(rows={"tasks": None})),
            ("expect.rows.tasks/1", expect(rows={"tasks/1": {"state": "x"}})),
            ("expect.rows.tasks/1.document.n", expect(rows={"tasks/1": {
                "document": {"n": {"$absent": False}}}})),
            ("expect.rows.tasks/1.document.n", expect(rows={"tasks/1": {
                "document": {"n": {"$any": False}}}})),
            ("expect.rows.tasks/1.status", expect(rows={"tasks/1": {"status": "sinced"}})),
            ("expect.outcome", expect(outcome="sinced")),
            ("expect.outcome", expect(outcome={"result": "sinced"})),
            (place + ".show", step(show=1)),
            ("expect.held.discover", expect(held={"discover": 1})),
            ("expect.activity[0]", expect(activity=["begun"])),
            ("expect.progress.without[0]", expect(progress={"without": ["push"]})),
            ("expect.decisions.without[0].result", expect(decisions={
                "without": [{"result": "gaind"}]})),
            ("expect.mutations[0].state", expect(mutations=[{"state": "accept"}])),
            ("expect.outbox[0].kind", expect(outbox=[{"kind": "creation"}])),
            ("expect.issues.including[0].kind", expect(issues={"including": [{"kind": "x"}]})),
            ("expect.collections.tasks", expect(collections={"tasks": 1})),
            ("expect.outcome", expect(outcome={"x": 1})), ("expect.requests", expect(requests={})),
            ("expect.requests", expect(requests=[{"status": 1}])),
            ("expect.outbox[0]", expect(outbox=[{"x": 1}])),
            ("expect.waits[0]", expect(waits=["1"])),
            ("expect.log[0]", expect(log=[1])), ("expect.x", expect(x=[])),
        ]:
            assert not scenarios.is_valid(value), value
            status, said = run(value)
            assert status == 2 and path in said and said.count("\n") == 1, (value, status, said)
        """#
}
