// ReaderScripts.swift — what ReadLogTests does in Python, where LMDB and the reader are at hand.

enum ReaderScripts {
    /// Reads a store in this process, as from the command line.
    static let running = #"""
        import io, json, random, re, shutil, subprocess
        import lmdb

        def read(store):
            streams = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO()), io.StringIO()
            try:
                status = read_log.main([store])
                sys.stdout.flush()
                return status, sys.stdout.buffer.getvalue(), sys.stderr.getvalue()
            finally:
                sys.stdout, sys.stderr = streams

        def run(*arguments):
            ended = subprocess.run([tool, *arguments], capture_output=True)
            return ended.returncode, ended.stdout, ended.stderr.decode()

        def positions(text):
            return [int(number) for number in re.findall(r"^(?:tidemark: )?@(\d+)", text, re.M)]

        def records(store):
            with lmdb.open(store, readonly=True, lock=False, max_dbs=3) as env:
                with env.begin(env.open_db(b"log", create=False)) as transaction:
                    return list(transaction.cursor())

        def events(store):
            return [(int.from_bytes(key, "big"), value)
                    for key, value in records(store) if len(key) == 8]

        def commits(store):
            """The frame of each commit, by its last position."""
            return [(int.from_bytes(key[:8], "big"), value)
                    for key, value in records(store) if len(key) == 9]

        def stored_edge(store):
            with lmdb.open(store, readonly=True, lock=False, max_dbs=3) as env:
                with env.begin() as transaction:
                    return transaction.get(b"edge")

        def field(number, value):
            def varint(value):
                out = b""
                while value >= 128:
                    out, value = out + bytes([value & 127 | 128]), value >> 7
                return out + bytes([value])
            if isinstance(value, int):
                return varint(number << 3) + varint(value & (1 << 64) - 1)
            return varint(number << 3 | 2) + varint(len(value)) + value

        def framed(header, payload=b"", form=1, flags=0, length=None):
            start = bytes([form, flags])
            start += (len(header) if length is None else length).to_bytes(2, "little")
            crc = 0xFFFFFFFF
            for byte in start + header + payload:
                crc ^= byte
                for _ in range(8):
                    crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
            return start + (crc ^ 0xFFFFFFFF).to_bytes(4, "little") + header + payload

        def change(store, *changes):
            """Writes (table, key, value) into a copy of a store; None is the list of tables."""
            shutil.rmtree("copy", ignore_errors=True)
            shutil.copytree(store, "copy")
            with lmdb.open("copy", map_size=1 << 30, max_dbs=3) as env:
                for table, key, value in changes:
                    place = env.open_db(table) if table else None
                    with env.begin(place, write=True) as transaction:
                        transaction.put(key, value)
            return "copy"

        """#

    static let flips =
        running + #"""
            store = sys.argv[3]
            shutil.copytree(store, "copy")
            whole = open("copy/data.mdb", "rb").read()
            before = read(store)[1].splitlines()
            log = events(store)
            assert len(log) > 40 and len(before) == len(log)
            choose = random.Random(0x5EED01)
            for count in range(200):
                position, frame = log[count * len(log) // 200]
                prefix, header = 8, int.from_bytes(frame[2:4], "little")
                part = [(0, 8), (8, 8 + header), (8 + header, len(frame))][count % 3]
                low, high = part if part[0] < part[1] else (0, len(frame))
                offset, bit = choose.randrange(low, high), 1 << choose.randrange(8)
                places = [found.start() for found in re.finditer(re.escape(frame), whole)]
                assert places
                with open("copy/data.mdb", "r+b") as file:
                    for place in places:
                        file.seek(place + offset)
                        file.write(bytes([frame[offset] ^ bit]))
                name = f"seed 0x5EED01, @{position}, byte {offset}, bit {bit}"
                status, output, errors = read("copy")
                assert (status, positions(errors)) == (1, [position]), (name, errors)
                rest = before[:position - 1] + before[position:]
                assert output.splitlines() == rest, name
                if count % 8 == 3 and count < 192:
                    status, said, _ = run("verify", "copy")
                    assert (status, positions(said.decode())) == (1, [position]), (name, said)
                    status, said, errors = run("dump", "copy", "-o", "json")
                    assert (status, positions(errors)) == (1, [position]), (name, errors)
                    assert said == output, name
                with open("copy/data.mdb", "r+b") as file:
                    for place in places:
                        file.seek(place + offset)
                        file.write(frame[offset:offset + 1])
            assert open("copy/data.mdb", "rb").read() == whole
            print("200 flips read, 24 of them by the tool")
            """#

    static let strangers =
        running + #"""
            store, start = sys.argv[3], field(1, 10) + field(2, 5)
            end = len(events(store))
            good = [framed(header, payload) for header, payload in [
                (b"", b""), (field(1, 99), b"{}"), (field(1, 2**31 - 1), b""), (start, b"false"),
                (field(1, 10) + field(2, -5), b"[]"), (start + field(10, -(2**63)), b"null"),
                (start + field(11, b"\xff\xfe"), b""), (start + field(11, b"\1"), b""),
                (start + field(11, "\u2028\x7f\"\\".encode()), b'"\x7f"'),
                (start + field(3, "a\"\\\0\n\x1f\x7f\u2028\U0001F389".encode()), b'"\xe2\x80\xa8"'),
                (start + field(5, 2**64 - 1) + field(6, 1) + field(7, 2) + field(8, 3), b"1e400"),
                (start + field(9, 4) + field(12, 7) + field(13, 2**32 - 1), b"-0"),
                (start + field(17, 7) + field(17, b"") + field(18, b"x"), b"0.10"),
                (start + field(15, -7) + field(16, b"b"), b"{}"),
                (start + field(14, b"key\xff"), b"{}"),
                (start + field(2**29 - 1, 1), b'{"a":1,"a":2}'), (start, b'"\\ud800"'),
                (start, b"[" * 128 + b"]" * 128), (start, b"[" * 129 + b"]" * 129),
                (start, b"\xef\xbb\xbf{}"), (start, b"NaN"), (start, b"{}\n"), (start, b" {} "),
                (start, b"\xff"), (start, b'"\xed\xa0\x80"'), (start, b"01"), (start, b"{} {}"),
                (field(1, 41) + field(2, 5), b'{"bodyBytes":' + b"9" * 4301 + b"}"),
                (field(1, 91) + field(2, 5), b'{"bytes":' + b"9" * 4301 + b"}"),
                (start, b"\0" * 5000), (start, b'"\\u00e9\\ud83c\\udf89"'), (start, b"[1,]")]]
            bad = [framed(header) for header in [
                field(1, 0), field(14, 0), field(14, 7), field(3, b""), field(2, 5) + field(1, 10),
                field(1, 1) * 2, field(1, 2**31), field(1, 2**32), field(12, 2**31),
                field(13, 2**32), b"\x08\x81\x00", b"\x08" + b"\xff" * 9 + b"\x02",
                b"\x08" + b"\xff" * 10 + b"\x01", b"\x08\x80\x80", b"\x08", b"\x88\x00\x01",
                field(0, 1), field(2**29, 1), field(2**32 + 1, 1), field(3, 1), field(2, b"x"),
                field(4, b"\xff"), field(4, b"\xed\xa0\x80"), b"\x1a\x05abc", b"\x09" + b"\1" * 8,
                b"\x0d" + b"\1" * 4, b"\x0b\x0c", b"\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"]]
            bad += [b"", b"\1\0\0", framed(start, form=2), framed(start, flags=2),
                    framed(start, flags=1), framed(start, b"\1" * 41, flags=1),
                    framed(start, b"\1" * 40, flags=1),
                    framed(start, length=9), framed(start)[:-1], framed(start) + b"\0",
                    framed(b"", length=65535)]
            seed = 0x5EED02
            choose = random.Random(seed)
            model = start + field(3, b"tasks") + field(4, "é".encode()) + field(11, b'"1"')
            wild = []
            for _ in range(400):
                header = bytearray(model + field(12, 1))
                for _ in range(choose.randint(1, 3)):
                    header[choose.randrange(len(header))] = choose.randrange(256)
                wild.append(framed(bytes(header), b"{}"))
            for name, frames in ("good", good), ("bad", bad), ("wild", wild):
                copy = change(store, *(
                    (b"log", (end + 1 + index).to_bytes(8, "big"), frame)
                    for index, frame in enumerate(frames)))
                status, output, errors = read(copy)
                assert status == 1
                shown, said, complaints = run("dump", copy, "-o", "json")
                for left, right in zip(said.splitlines(), output.splitlines()):
                    assert left == right, (name, seed, left, right)
                assert said == output, (name, seed)
                damaged = positions(complaints)
                assert len(damaged) == len(frames) * (name == "bad") or name == "wild", complaints
                assert name != "wild" or 100 < len(damaged) < 390, len(damaged)
                # Beyond the damaged ones: no commit and no edge speaks of what was added.
                assert shown == 1
                assert positions(errors) == damaged + [end + len(frames), end + 1], (name, errors)
                shown, said, _ = run("verify", copy)
                # The tool begins with the end that the store is known to have.
                found = positions(said.decode())
                assert shown == 1 and found == ([end + 1] + damaged)[:100], (name, said)
            print("seed", seed)
            """#
}
