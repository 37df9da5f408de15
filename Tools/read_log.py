#!/usr/bin/env python3
"""read_log.py STORE: prints a Tidemark log, and proves that it is what was written.

Written from Schemas/FORMAT.md and the messages of events and answers in Schemas/tidemark/v1, with
none of Tidemark's code; needs Python 3.9 and the packages lmdb and zstandard. Prints the bytes that
the command `tidemark dump STORE -o json` prints, damaged events passed over; what is wrong goes to
standard error, as `@position: what`. Changes nothing, and may run beside a writer. Looks at no file
whose events were dropped. Exit codes: 0 fine, 1 findings, 2 usage or I/O.
"""
import base64
import itertools
import json
import os
import re
import signal
import sys
from hashlib import sha256

try:
    import lmdb
    import zstandard
except ImportError as error:
    print(f"read_log.py: {error}; it needs the packages lmdb and zstandard", file=sys.stderr)
    sys.exit(2)

KINDS = dict(pair.split(":") for pair in """
    1:store.opened 2:model.registered 10:local.created 11:local.updated 12:local.deleted
    13:local.requested 14:local.discarded 15:local.retried 16:issue.answered 17:local.wiped
    20:trigger.received 21:timer.fired 22:reachability.changed 23:cancelled 24:rule.answered
    30:sync.started 31:sync.finished 40:request.sent 41:request.answered 42:request.failed
    50:server.upserted 51:server.deleted 52:server.described 53:server.unreadable 60:pull.page
    61:pull.completed 70:push.accepted 71:push.rejected 72:push.deferred 73:push.relayed
    80:reserved.added 81:reserved.taken 90:asset.wanted 91:asset.stored 92:asset.removed
    93:asset.used 100:payload.erased 101:log.truncated
    """.split())
EVENT = [pair.split(":") for pair in (  # the fields of tidemark.v1.Event, from number 1 on
    "kind:enum recordedAt:int64 collection:string entity:string cause:uint64 sync:uint64 "
    "mutation:uint64 call:uint64 asOf:uint64 serverTime:int64 revision:bytes payloadType:enum "
    "schemaVersion:uint32 idempotencyKey:bytes uptime:int64 boot:string").split()]
TABLES = [b"log", b"bodies", b"answers", b"commits", b"sealed", b"meta"]
LIMITS = {"enum": 1 << 31, "uint32": 1 << 32}
COMMIT = [("first", "uint64"), ("root", "bytes"), ("views", "repeated")]
EDGE = [("size", "uint64"), ("peaks", "bytes"), ("commits", "uint64"), ("sealed", "uint64"),
        ("kept", "uint64")]
BASE = [("edge", "bytes"), ("views", "bytes")]
HASH = re.compile("[0-9a-f]{64}")
VARINT = re.compile(rb"[\x00-\x7f]|[\x80-\xff]{1,8}[\x01-\x7f]|[\x80-\xff]{9}\x01")
CRC_TABLE = list(range(256))
for _ in range(8):
    CRC_TABLE = [crc >> 1 ^ (0x82F63B78 if crc & 1 else 0) for crc in CRC_TABLE]
quoted = json.JSONEncoder(ensure_ascii=False).encode
# Python refuses to make a number of some thousand digits.
parsed = json.JSONDecoder(parse_int=lambda text: int(text) if len(text) < 20 else text).decode


def need(condition, what):
    if not condition:
        raise ValueError(what)


def frame(data):
    """The header in the frame of an event, and the payload or else its length and hash."""
    check_sum(data)
    need(data[0] == 1 and data[1] <= 1, f"format {data[0]}, flags {data[1]} are not known here")
    end = 8 + int.from_bytes(data[2:4], "little")
    need(end <= len(data), f"a header of {end - 8} bytes does not fit")
    need(data[1] == 0 or len(data) == end + 40, f"{len(data) - end} bytes are no reference")
    refers = (int.from_bytes(data[end:end + 8], "little"), data[end + 8:]) if data[1] else None
    return data[8:end], None if refers else data[end:], refers


def check_sum(data):
    """Whether a frame's bytes are what was written."""
    need(len(data) >= 8, f"{len(data)} bytes are too few for a frame")
    crc = 0xFFFFFFFF
    for byte in data[:4] + data[8:]:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    need(crc ^ 0xFFFFFFFF == int.from_bytes(data[4:8], "little"), "the checksum differs")


def commit(data):
    """The message in the frame of a commit."""
    check_sum(data)
    need(data[:4] == b"\1\2\0\0", f"format {data[0]}, flags {data[1]} are not known here")
    return message(data[8:], COMMIT)


def joined(table, key):
    """What the records of a table hold under a key and the numbers from 0 on."""
    keys = (key + number.to_bytes(4, "big") for number in itertools.count())
    return b"".join(itertools.takewhile(lambda part: part is not None, map(table.get, keys)))


def unpacked(data, most, what):
    """The content of one zstd frame that says how long it is."""
    try:
        need(0 <= zstandard.frame_content_size(data) <= most, f"{what} is of another length")
        reader = zstandard.ZstdDecompressor(max_window_size=1 << 23)
        return reader.decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(f"{what}: {error}") from None


def unsealed(last, data):
    """The records of the log, with their keys, that a block of the table `sealed` holds."""
    need(data[:1] == b"\1", "the sealed events are of a newer format")
    content = unpacked(data[1:], 1 << 26, f"the sealed events up to @{last}")
    records = [value for number, value, _ in fields(content) if number == 1]
    position = last - sum(record[1:2] != b"\2" for record in records)
    for record in records:
        position += record[1:2] != b"\2"
        yield position.to_bytes(8, "big") + (b"C" if record[1:2] == b"\2" else b""), record


def stored(bodies, count, hashed):
    """The body of that length and hash, from the records of the table `bodies`."""
    data, what = joined(bodies, hashed), f"body {hashed.hex()}"
    need(len(data) >= 18, f"{what} is missing")
    need(data[0] == 1 and data[1] <= 1, f"{what} is of a newer format")
    sizes = [int.from_bytes(data[at:at + 8], "little") for at in (2, 10)]
    need(sizes == [count, len(data) - 18], f"{what} is of another length")
    body = unpacked(data[18:], count, what) if data[1] else data[18:]
    need((len(body), sha256(body).digest()) == (count, hashed), f"{what} differs")
    return body


def named(event, payload, word, *kinds):
    """The length and hash that a payload of these kinds names by a word, or nothing."""
    fits = event.get("kind") in kinds and valid(payload)
    value = parsed(payload.decode("utf-8")) if fits else None
    value = value if isinstance(value, dict) else {}
    count, digits = value.get(word + "Bytes"), str(value.get(word + "SHA256"))
    return [(count, bytes.fromhex(digits))] if type(count) is int and HASH.fullmatch(digits) else []


def fields(data):
    """The number, the value and the bytes of each field of a message, also of repeated ones."""
    at = 0
    while at < len(data):
        start, (tag, at) = at, varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        need(at <= len(data) and tag & 7 in (0, 2), "a field can't be read")
        yield tag >> 3, value, data[start:at]


def field(number, content):
    """A field of that content."""
    size, start = len(content), bytes([number << 3 | 2])
    while size >= 0x80:
        start, size = start + bytes([size & 0x7F | 0x80]), size >> 7
    return start + bytes([size]) + content


def whole(answer, payload):
    """A message KeptAnswer with its body in one part; `payload` knows what events hold of it."""
    head, body = b"", b""
    for number, value, raw in fields(answer):
        head += raw if number != 8 else b""
        for kind, part, _ in fields(value) if number == 8 else []:
            body += payload(part) if kind == 2 else part
    return head + (field(8, field(1, body)) if body else b"")


def check_kept(answers, payload, run, position, count, hashed):
    """Whether the answers that are kept of an event, where they are there, are those it names."""
    data = joined(answers, run.to_bytes(8, "big") + position.to_bytes(8, "big"))
    if not data:
        return  # those of older runs are gone, which is no damage
    need(data[0] == 1, "the answer that is kept of it is of a newer format")
    content = unpacked(data[1:], 1 << 30, "the answer that is kept of it")
    try:
        parts = [whole(value, payload) for number, value, _ in fields(content) if number == 1]
    except LookupError:
        return  # an event that holds a part of it is damaged
    content = b"".join(field(1, part) for part in parts)
    need((len(content), sha256(content).digest()) == (count, hashed),
         "the answer that is kept of it differs")


def varint(data, at):
    """An integer in as few bytes as it can be, and the offset behind it."""
    found = VARINT.match(data, at)
    need(found, "a varint is cut off, too large, or longer than it need be")
    return sum((byte & 0x7F) << 7 * index for index, byte in enumerate(found[0])), found.end()


def message(data, shape):
    """The fields of a message of the canonical subset, by name; unknown ones are passed over."""
    values, at, last = {}, 0, 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 2:
            value, at = data[at:at + value], at + value
        need(at <= len(data) and (wire == 2 or not wire and value), f"field {number} can't be read")
        name, kind = shape[number - 1] if 0 < number <= len(shape) else ("", "repeated")
        need(last < number < 1 << 29 or number == last > 0 and kind == "repeated",
             f"field {number} is out of order or out of range")
        last = number
        if kind != "repeated":
            need((wire == 2) == (kind in ("string", "bytes")), f"field {number} has another type")
            need(value and (wire or value < LIMITS.get(kind, 1 << 64)),
                 f"field {number} is out of range")
            value = value.decode("utf-8") if kind == "string" else value
            values[name] = value - (1 << 64) if kind == "int64" and value >= 1 << 63 else value
    return values


def valid(raw):
    """Whether bytes are one JSON text: unique keys, nested up to 128, no half surrogates."""
    def unique(members):
        need(len(dict(members)) == len(members), "a key is there twice")
        return members

    brackets = re.sub(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[^][{}"]+', b"", raw, flags=re.DOTALL)
    depths = itertools.accumulate(1 if byte in b"[{" else -1 for byte in brackets)
    try:
        need(max(depths, default=0) <= 128, "nested too deep")
        value = json.loads(raw.decode("utf-8"), parse_int=str, parse_float=str,
                           parse_constant=lambda name: need(False, name), object_pairs_hook=unique)
        return quoted(value).encode("utf-8") != b""
    except ValueError:
        return False


def line(event, payload):
    """An event as a line of JSON, its members sorted by name."""
    kind, revision = event.get("kind", 0), event.get("revision", b"")
    key = base64.b64encode(event.get("idempotencyKey", b"")).decode("ascii")
    shown = {"recordedAt": 0, **event, "kind": KINDS.get(str(kind), f"kind-{kind}")}
    members = {name: quoted(value) for name, value in shown.items() if not isinstance(value, bytes)}
    members.pop("payloadType", None)
    members.update({"idempotencyKey": quoted(key)} if key else {})
    if payload and min(payload) >= 0x20 and valid(payload):
        members["payload"] = payload.decode("utf-8")
    elif payload:
        members["payloadBase64"] = quoted(base64.b64encode(payload).decode("ascii"))
    text = revision.decode("utf-8", "ignore")
    if revision and min(revision) >= 0x20 and text.encode("utf-8") == revision:
        members["revision"] = quoted(text)
    elif revision:
        members["revisionBase64"] = quoted(base64.b64encode(revision).decode("ascii"))
    return "{" + ",".join(f'"{name}":{members[name]}' for name in sorted(members)) + "}"


def grown(peaks, size, node):
    """The right edge of a tree of `size` leaves, with one more leaf."""
    while size & 1:
        peaks, node, size = peaks[:-1], sha256(b"\1" + peaks[-1] + node).digest(), size >> 1
    return peaks + [node]


def begun(stored_base):
    """The number of events that were dropped, and the right edge over them."""
    edge = {"size": 0, "peaks": b"", **message(message(stored_base, BASE).get("edge", b""), EDGE)}
    need(len(edge["peaks"]) == 32 * bin(edge["size"]).count("1"), "stray peak")
    return edge["size"], [edge["peaks"][at:at + 32] for at in range(0, len(edge["peaks"]), 32)]


def audit(log, stored_edge, bodies, answers, former=(), sealed=(), base=b""):
    """Yields (position, line, None) for each event, (position, None, what) for what is wrong.

    `former` are the commits that were made in format 1, in a table of their own."""
    records, edge, holds, (size, peaks) = {}, {}, True, begun(base)
    first = expected = size + 1
    before, blocks = [], {}
    for key, value in sealed:
        blocks.setdefault(int.from_bytes(key[:8], "big"), []).append(value)
    for start, last in zip([size, *blocks], blocks):
        try:
            before += unsealed(last, b"".join(blocks[last]))
        except ValueError as error:
            yield start + 1, None, error
    kept = [key for key, _ in log if key[:8] <= max(blocks, default=0).to_bytes(8, "big")]
    log = log[len(kept):]  # what there is of sealed events besides is no part of the log
    ends = [[(key[:8], value, commit) for key, value in part if key[8:] == b"C"]
            for part in (before, log)]
    counts = [len(part) for part in (*ends, kept)]
    former = [(key, value, lambda data: message(data, COMMIT)) for key, value in former]
    log = [(key, value) for key, value in before + log if key[8:] != b"C"]
    bodies, answers, frames = dict(bodies), dict(answers), dict(log)

    def payload_at(position):
        value = frames.get(position.to_bytes(8, "big"))
        need(value is not None, f"the answer that is kept of it needs @{position}")
        try:
            _, found, refers = frame(value)
            return stored(bodies, *refers) if refers else found
        except ValueError:
            raise LookupError from None  # it is told of by itself

    for key, value, read in ends[0] + former + ends[1]:
        last = int.from_bytes(key, "big")
        try:
            records[last] = read(value)
        except ValueError as error:
            yield last, None, error
    for key, value in log:
        position = int.from_bytes(key, "big")
        if position != expected:
            yield expected, None, f"the next event is @{position}"
        expected = position + 1
        try:
            header, payload, refers = frame(value)
            hashed = refers[1] if refers else sha256(payload).digest()
            leaf = b"\0" + position.to_bytes(8, "big") + header + hashed
            peaks, size = grown(peaks, size, sha256(leaf).digest()), size + 1
            root = peaks[-1]
            for left in reversed(peaks[:-1]):
                root = sha256(b"\1" + left + root).digest()
            event = {**message(header, EVENT), "position": position}
            payload = stored(bodies, *refers) if refers else payload
            yield position, line(event, payload), None
            for refers in named(event, payload, "body", 41):
                stored(bodies, *refers)
            for name in named(event, payload, "kept", 31, 41, 42) if event.get("sync") else []:
                check_kept(answers, payload_at, event["sync"], position, *name)
        except ValueError as error:
            yield position, None, error
        if holds and size == position in records and records[position].get("root") != root:
            yield position, None, "the commit's root differs"
            holds = False  # no later root can be told right from wrong
    starts = [first, *(last + 1 for last in records)]
    for start, (last, record) in zip(starts, records.items()):
        if record.get("first") != start:
            yield last, None, f"the commit does not begin at @{start}"
    if starts[-1] != expected:
        yield expected - 1, None, f"the commits end before @{starts[-1]}"
    try:
        edge = message(stored_edge, EDGE)
        need(len(edge.get("peaks", b"")) == 32 * bin(edge.get("size", 0)).count("1"), "stray peak")
    except ValueError as error:
        yield 0, None, error
    if edge.get("size", 0) != expected - 1:
        yield min(edge.get("size", 0) + 1, expected), None, "the right edge is of another size"
    elif holds and size == expected - 1 and edge.get("peaks", b"") != b"".join(peaks):
        yield expected - 1, None, "the right edge differs"
    elif [edge.get(name, 0) for name in ("sealed", "commits", "kept")] != counts:
        yield expected - 1, None, f"the right edge counts other records than there are, {counts}"


def told(files, position, text):
    """Notes what an event says of a file: which are there, and by which event."""
    event = parsed(text) if text.partition('"kind":"')[2].startswith("asset.") else {}
    kind, payload = event.get("kind"), event.get("payload")
    digest = str(payload.get("sha256")) if isinstance(payload, dict) else ""
    if kind == "asset.stored" and HASH.fullmatch(digest):
        files[digest] = position, payload.get("bytes")
    elif kind == "asset.removed":
        files.pop(digest, None)


def missing(store, files):
    """The files in `contents` that are not what their last events say, those of now, too."""
    found = list(unlike(store, files))
    for position, digest, what in found and still(store, files, found):
        yield position, None, f"the file {digest} {what}"


def still(store, files, found):
    """What was found of files of which the log says the same now: others went meanwhile."""
    now = {}
    log, edge, others, base = tables(store)
    for position, text, _ in audit(log, edge, *others, base=base):
        if text is not None:
            told(now, position, text)
    return [(position, digest, what) for position, digest, what in found
            if now.get(digest) == files[digest]]


def unlike(store, files):
    """The files that are not what a reading of the log said."""
    for digest, (position, length) in files.items():
        try:
            with open(os.path.join(store, "contents", digest[:2], digest), "rb") as file:
                hashing = sha256()
                for part in iter(lambda: file.read(1 << 20), b""):
                    hashing.update(part)
                size = file.tell()
            if (hashing.hexdigest(), size) != (digest, length):
                yield position, digest, f"is another one, of {size} bytes"
        except OSError as error:
            yield position, digest, f"can't be read: {error.strerror}"


def tables(store):
    """The log, its edge, the tables beside it and its base, in one moment."""
    lock = os.access(os.path.join(store, "lock.mdb"), os.W_OK)  # never makes one
    with lmdb.open(store, readonly=True, create=False, lock=lock, map_size=0, max_dbs=6) as env:
        room = (env.info()["last_pgno"] + 1) * env.stat()["psize"]  # LMDB may touch
        need(os.path.getsize(os.path.join(store, "data.mdb")) >= room, "data.mdb is cut off")
        with env.begin() as moment:
            names = {name: moment.get(name) for name in TABLES}  # older stores have others
        opened = {name: env.open_db(name, create=False) for name in names if names[name]}
        with env.begin() as moment:  # short, because a writer can't reuse the pages it sees
            rows = {name: list(moment.cursor(table)) for name, table in opened.items()}
            base = moment.get(b"base") or b""
            edge = moment.get(b"edge") or dict(rows.get(b"meta", [])).get(b"edge", b"")
        need(b"log" in rows, "there is no table log")
    log, *others = (rows.get(name, []) for name in TABLES[:5])
    return log, edge, others, base


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    store, status, files = arguments[0], 0, {}
    try:
        log, edge, others, base = tables(store)
        events = audit(log, edge, *others, base=base)
        for position, text, what in itertools.chain(events, missing(store, files)):
            if text is None:
                print(f"@{position}: {what}", file=sys.stderr)
                status = 1
            else:
                told(files, position, text)
                sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    except (OSError, ValueError, lmdb.Error) as error:
        print(f"read_log.py: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `head` may end early
    sys.exit(main(sys.argv[1:]))
