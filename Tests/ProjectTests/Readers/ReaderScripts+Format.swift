// ReaderScripts+Format.swift — commits, roots and the edge; the page about them; a live writer.

extension ReaderScripts {
    static let misfits =
        running + #"""
            store = sys.argv[3]
            log, edge = events(store), stored_edge(store)
            (last, record), final = commits(store)[3], log[-1][0]
            key = lambda position: position.to_bytes(8, "big")
            ending = lambda position: key(position) + b"C"
            record = record[8:]
            again = lambda data: framed(b"", data, flags=2)
            cut = lambda edge: edge[:-34] + edge[-2:]  # behind the peaks stands how many commits
            flip = lambda data, place: data[:place] + bytes([data[place] ^ 1]) + data[place + 1:]
            header, payload, _ = read_log.frame(log[last - 1][1])
            payload = payload or b""
            assert read_log.message(record, read_log.COMMIT)["first"] == last > 3
            assert read_log.message(edge, [("size", "uint64")])["size"] == final < 127
            for name, position, change_of in [
                ("another payload", last, (b"log", key(last), framed(header, payload + b" "))),
                ("another header", last, (b"log", key(last), framed(header[:-2], payload))),
                ("another root", last, (b"log", ending(last), again(flip(record, 9)))),
                ("no root", last, (b"log", ending(last), again(field(1, last)))),
                ("another beginning", last, (b"log", ending(last), again(flip(record, 1)))),
                ("no message", last, (b"log", ending(last), again(b"\xff"))),
                ("another checksum", last, (b"log", ending(last), flip(again(record), 5))),
                ("a commit too many", final + 9, (b"log", ending(final + 9), again(record))),
                ("a hole", final + 1, (b"log", key(final + 3), log[-1][1])),
                ("another size", final + 1, (None, b"edge", field(1, 2 * final) + edge[2:])),
                ("another peak", final, (None, b"edge", flip(edge, 9))),
                ("a peak too few", 0, (None, b"edge", cut(edge))),
                ("no edge", 1, (None, b"edge", b"")),
            ]:
                copy = change(store, change_of)
                status, output, errors = read(copy)
                shown, said, _ = run("verify", copy)
                assert status == shown == 1, (name, errors, said)
                found = positions(errors)[0], positions(said.decode())[0]
                # The tool begins with the end that the store is known to have.
                ends = {"a commit too many": final + 1}
                assert found == (position, ends.get(name, position)), (name, errors, said)
            """#

    static let besideWriter =
        running + #"""
            store, seen = sys.argv[3], []
            for count in range(10):
                writer = subprocess.Popen(
                    [tool, "put", store, f"lists/w{count % 3}", "-"], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE)
                seen.append(read(store))  # the store is open there, or about to be
                writer.stdin.write(b'{"title":"%d"}' % count)
                writer.stdin.close()
                while writer.poll() is None:
                    seen.append(read(store))
                writer.stdout.close()
                assert writer.returncode == 0
                seen.append(read(store))
            whole = run("dump", store, "-o", "json")[1]
            for status, output, errors in seen:
                assert (status, errors) == (0, ""), errors
                assert whole.startswith(output)
            lengths = [len(output) for _, output, _ in seen]
            assert lengths == sorted(lengths) and len(set(lengths)) >= 10
            assert seen[-1][1] == whole
            """#

    static let swept =
        running + #"""
            store, digest = sys.argv[3], "0" * 64
            files = {digest: (1, 5)}  # as the log told before
            assert list(read_log.missing(store, files)) == []
            read_log.told = lambda now, position, text: now.update(files)
            (found,) = read_log.missing(store, files)
            assert found[:2] == (1, None) and digest in found[2], found
            """#

    static let example =
        running + #"""
            from hashlib import sha256
            page = open(root + "/Schemas/FORMAT.md", encoding="utf-8").read()
            block = next(text for text in page.split("```text\n") if text.startswith("@1"))
            block = block.split("```")[0]
            events = []
            for text in block.split("\n"):
                name, _, value = text[3:].partition(" ")
                if text.startswith("@"):
                    assert text[1:2] == str(len(events) + 1)
                    events.append({})
                if name:
                    events[-1][name] = value.strip()
            leaves = []
            for number, event in enumerate(events, 1):
                header, payload = bytes.fromhex(event["header"]), event["payload"].encode()
                assert read_log.frame(bytes.fromhex(event["frame"])) == (header, payload, None)
                assert framed(header, payload).hex() == event["frame"]
                hashed = sha256(payload).digest()
                leaf = b"\0" + number.to_bytes(8, "big") + header + hashed
                leaves.append(sha256(leaf).digest())
                assert leaves[-1].hex() == event["leaf"]
            node = lambda left, right: sha256(b"\1" + left + right).digest()
            pair = node(leaves[0], leaves[1])
            roots = {1: pair, 2: node(pair, leaves[2])}
            for index, first in (1, 1), (2, 3):
                assert roots[index].hex() == events[index]["root"]
                record = field(1, first) + field(2, roots[index])
                assert framed(b"", record, flags=2).hex() == events[index]["commit"]
            edge = field(1, 3) + field(2, pair + leaves[2]) + field(3, 2)
            assert edge.hex() == events[2]["edge"]
            assert read_log.message(header, read_log.EVENT) == {
                "kind": 12, "recordedAt": 1795262744428763, "collection": "tasks", "entity": "t1"}
            row = lambda number, name: (
                number.to_bytes(8, "big"), bytes.fromhex(events[number - 1][name]))
            log = [row(n, "frame") for n in (1, 2, 3)]
            for number in 2, 3:
                key, value = row(number, "commit")
                log.append((key + b"C", value))
            audited = list(read_log.audit(sorted(log), edge, [], []))
            assert [what for _, _, what in audited] == [None] * 3
            print(len(leaves), "events")
            """#

    static let kinds =
        running + #"""
            proto = open(root + "/Schemas/tidemark/v1/event.proto").read()
            listed = re.findall(r"^  ([A-Z_]+) = (\d+);\s*// ([a-z.]+)$", proto, re.M)
            assert all(word == name.upper().replace(".", "_") for word, _, name in listed)
            kinds = {number: name for _, number, name in listed}
            assert kinds == read_log.KINDS
            schema = json.load(open(root + "/Schemas/dump.schema.json"))
            assert schema["$defs"]["knownKind"]["enum"] == list(kinds.values())
            status, _, errors = run("dump", sys.argv[3], "--kind", "no such kind")
            assert status == 2
            assert errors.split("there are ")[1].strip() == ", ".join(kinds.values())
            fields = re.findall(r"^  \S+ (\w+) = (\d+);$", proto.split("}")[0], re.M)
            camel = lambda name: re.sub("_(.)", lambda match: match[1].upper(), name)
            assert [(camel(name), int(number)) for name, number in fields] == [
                (name, number) for number, (name, _) in enumerate(read_log.EVENT, 1)]
            print(len(kinds), "kinds")
            """#
}
