// ProtocTests.swift — the headers in the log are the messages of event.proto, byte for byte.

import Foundation
import Testing

@Suite(
    .enabled(if: Outside.isThere, Outside.missing),
    .enabled(if: Outside.hasProtoc, "protoc is not installed"))
struct `event.proto` {
    let workshop: ReaderWorkshop

    init() throws { workshop = try ReaderWorkshop() }

    @Test func `protoc reads from every header what the tool prints, and writes it back`() throws {
        try workshop.makeSyncedStores()

        let ended = try workshop.python(ProtocScripts.headers, "first")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last?.hasSuffix(" headers") == true)
    }

    @Test func `protoc reads the headers of a golden store, those of newer versions among them`()
        throws
    {
        let ended = try workshop.python(
            ProtocScripts.headers, Project.root.path + "/Tests/Fixtures/v1/whole")

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `protoc reads the commits and the edge, and writes them back`() throws {
        try workshop.makeSyncedStores()

        let ended = try workshop.python(ProtocScripts.commits, "first")

        #expect(ended.status == 0, "\(ended.errors)")
    }
}

private enum ProtocScripts {
    private static let running =
        ReaderScripts.running + #"""
            import ast, base64

            def protoc(action, name, data):
                return subprocess.run(
                    ["protoc", f"--{action}=tidemark.v1.{name}", "-I", root + "/Schemas",
                     "tidemark/v1/event.proto"], input=data, capture_output=True, check=True).stdout

            def decoded(name, data):
                """The text of a message; checked to become the same bytes again."""
                text = protoc("decode", name, data)
                # What protoc knows no name for it shows, but does not take.
                known = b"".join(re.findall(rb"(?m)^[a-z }].*\n", text))
                again = protoc("encode", name, known)
                assert again == data[:len(again)], text
                assert len(again) == len(data) or known != text
                return text.decode("ascii")

            def scalars(text):
                """The fields of a message without others in it, by name."""
                values = {}
                for name, value in re.findall(r"^([a-z]\w*): (.*)$", text, re.M):
                    quoted = value.startswith('"')
                    values[name] = ast.literal_eval("b" + value) if quoted else value
                return values

            store = sys.argv[3]

            """#

    static let headers =
        running + #"""
            camel = lambda name: re.sub("_(.)", lambda match: match[1].upper(), name)
            printed = run("dump", store, "-o", "json")[1].splitlines()
            frames, kinds = events(store), set()
            assert len(frames) == len(printed) > 40
            for (position, frame), line in zip(frames, printed):
                header, payload, refers = read_log.frame(frame)
                fields = scalars(decoded("Event", header))
                kind = fields.pop("kind").lower().replace("_", ".")
                kind = f"kind-{kind}" if kind.isdecimal() else kind
                type_ = fields.pop("payload_type", "NONE")
                assert type_ == "OPAQUE" or type_ == ("JSON" if payload or refers else "NONE")
                key = fields.pop("idempotency_key", b"")
                fields.update({"idempotencyKey": base64.b64encode(key)} if key else {})
                shown = {"position": str(position).encode(), "kind": kind.encode()}
                for name, value in fields.items():
                    shown[camel(name)] = value if isinstance(value, bytes) else value.encode()
                event = json.loads(line)
                event.pop("payload", None), event.pop("payloadBase64", None)
                assert shown == {name: str(value).encode() for name, value in event.items()}, line
                kinds.add(kind)
            assert len(kinds) >= 15, kinds
            print(len(frames), "headers")
            """#

    static let commits =
        running + #"""
            first = 1
            for last, frame in commits(store):
                read_log.commit(frame)
                text = decoded("Commit", frame[8:])
                fields = scalars(text)
                assert fields["first"] == str(first) and len(fields["root"]) == 32
                assert text.count("views {") >= 1
                first = last + 1
            edge = dict(scalars(decoded("Edge", stored_edge(store))))
            assert edge["size"] == str(last)
            assert edge["commits"] == str(len(commits(store)))
            node, peaks = b"", edge["peaks"]
            while peaks:
                peaks, peak = peaks[:-32], peaks[-32:]
                node = read_log.sha256(b"\1" + peak + node).digest() if node else peak
            assert node == fields["root"]
            """#
}
