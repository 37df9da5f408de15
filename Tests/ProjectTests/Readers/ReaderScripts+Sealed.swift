// ReaderScripts+Sealed.swift — blocks of sealed events, as they should be and otherwise.

extension ReaderScripts {
    static let sealed =
        running + #"""
            import zstandard
            store = sys.argv[3]
            with lmdb.open(store, readonly=True, lock=False, max_dbs=3) as env:
                table = env.open_db(b"sealed", create=False)
                with env.begin(table) as transaction:
                    parts = list(transaction.cursor())
            (key, _), last = parts[0], int.from_bytes(parts[-1][0][:8], "big")
            assert [part[0][:8] for part in parts] == [key[:8]] * len(parts)
            assert last == len(read(store)[1].splitlines()) - 3
            block = b"".join(value for _, value in parts)
            assert block[0] == 1 and all(len(value) == 3900 for _, value in parts[:-1])
            content = zstandard.ZstdDecompressor().decompress(block[1:])
            decoded = subprocess.run(
                ["protoc", "--decode=tidemark.v1.SealedRecords", "-I", root + "/Schemas",
                 root + "/Schemas/tidemark/v1/event.proto"],
                input=content, capture_output=True, check=True).stdout
            count = sum(line.startswith(b"records: ") for line in decoded.splitlines())
            records = [value for _, value, _ in read_log.fields(content)]
            assert count == len(records) > last
            assert sum(record[1] != 2 for record in records) == last
            packed = lambda records: b"\1" + zstandard.ZstdCompressor(write_checksum=True).compress(
                b"".join(field(1, record) for record in records))
            flipped = records[4][:-1] + bytes([records[4][-1] ^ 1])
            fifth = sum(record[1] != 2 for record in records[:5])
            turned = block[:99] + bytes([block[99] ^ 1]) + block[100:]
            cases = [
                ("a turned bit", turned, 1), ("another format", b"\2" + block[1:], 1),
                ("cut short", block[:-1], 1), ("an event too few", packed(records[1:]), 1),
                ("a damaged event", packed(records[:4] + [flipped] + records[5:]), fifth)]
            for name, changed, position in cases:
                cut = [changed[at:at + 3900] for at in range(0, len(changed), 3900)]
                copy = change(store, *(
                    (b"sealed", key[:8] + number.to_bytes(4, "big"), part)
                    for number, part in enumerate(cut)))
                with lmdb.open(copy, map_size=1 << 30, max_dbs=3) as env:
                    table = env.open_db(b"sealed")
                    with env.begin(table, write=True) as transaction:
                        for number in range(len(cut), len(parts)):
                            transaction.delete(key[:8] + number.to_bytes(4, "big"))
                status, output, errors = read(copy)
                shown, said, _ = run("verify", copy)
                assert (status, shown) == (1, 3 if name == "another format" else 1), (
                    name, status, shown, said)
                found = positions(errors)[0], positions(said.decode())[0]
                assert found == (position, position), (name, errors, said)
            print(len(cases), "kinds of damage")
            """#
}
