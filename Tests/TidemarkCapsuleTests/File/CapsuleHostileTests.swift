// CapsuleHostileTests.swift — capsules that nobody should have written: each is refused, with the
// reason and the place.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a capsule from a stranger` {
    private func code(_ file: [UInt8]) throws -> CapsuleError.Code? {
        do {
            _ = try Capsule(parsing: file)
            return nil
        } catch let error as CapsuleError {
            #expect(!error.description.contains("\n"))
            return error.code
        }
    }

    private static let provenance = message { $0.string(1, "0.1.0") }
    private static let base = message { $0.bytes(2, View.allFingerprints) }

    private static func header(_ body: (inout Event) -> Void = { _ in }) -> [UInt8] {
        var event = Event(.localDeleted, recordedAt: Timestamp(rawValue: 5))
        event.collection = "notes"
        event.entity = "n1"
        body(&event)
        return event.headerBytes
    }

    private static func event(
        at position: UInt64 = 7, _ header: [UInt8] = header(), _ payload: [UInt8] = []
    ) -> [UInt8] {
        message {
            $0.varint(1, position)
            $0.bytes(2, header)
            $0.bytes(3, payload)
        }
    }

    private static func commit(_ events: [UInt8]...) -> [UInt8] {
        message { for event in events { $0.message(1, event) } }
    }

    private static func digest(
        view: UInt64 = 1, fingerprint: Int = 4, digest: Int = 16, rows: Int = 8
    ) -> [UInt8] {
        message {
            $0.varint(1, view)
            $0.bytes(2, [UInt8](repeating: 1, count: fingerprint))
            $0.bytes(3, [UInt8](repeating: 2, count: digest))
            $0.bytes(4, [UInt8](repeating: 3, count: rows))
        }
    }

    private static func commit(digests: [UInt8]...) -> [UInt8] {
        message {
            $0.message(1, event())
            for digest in digests { $0.message(2, digest) }
        }
    }

    private static func row(_ key: String, _ value: String = "v") -> [UInt8] {
        message {
            $0.string(1, key)
            $0.string(2, value)
        }
    }

    private static func raw(_ records: (UInt32, [UInt8])...) -> RawCapsule {
        var raw = RawCapsule()
        raw.records = [(2, provenance), (3, base)] + records.map { (field: $0.0, bytes: $0.1) }
        return raw
    }

    /// Nothing but a head, one record of which is another.
    private static func head(_ index: Int, _ bytes: [UInt8]) -> RawCapsule {
        var head = raw()
        head.records[index].bytes = bytes
        return head
    }

    private static func without(_ index: Int) -> RawCapsule {
        var head = raw()
        head.records.remove(at: index)
        return head
    }

    @Test func `is taken where nothing is wrong with it`() throws {
        let raw = Self.raw(
            (4, Self.row("notes\0n1")), (5, Self.row("x\0")), (6, Self.commit(Self.event())),
            (6, Self.commit(digests: Self.digest(), Self.digest(view: 2))), (7, [1]))
        var moved = raw
        moved.records[4].bytes = Self.commit(Self.event(at: 3))
        let capsule = try Capsule(parsing: try moved.file)
        #expect(capsule.commits.map(\.last) == [Position(3), Position(7)])
        #expect(try code(try raw.file) == .invalid)
    }

    static let invalid: [(String, RawCapsule)] = [
        (
            "no provenance",
            without(0)
        ),
        (
            "no base",
            without(1)
        ),
        ("two bases", raw((3, base))),
        ("rows behind commits", raw((6, commit(event())), (4, row("notes\0n1")))),
        ("a field behind the checksum's", raw((16, [1]))),
        ("a row without a key", raw((5, message { $0.string(2, "v") }))),
        ("a row of no view", raw((5, row("F\0")))),
        ("a row of no entity", raw((4, row("notes")))),
        ("a row of an entity of no id", raw((4, row("notes\0")))),
        ("a row with a control character in its key", raw((4, row("notes\0n\u{7}1")))),
        (
            "a row with too long an id",
            raw((4, row("notes\0" + String(repeating: "a", count: 401))))
        ),
        ("rows out of order", raw((4, row("notes\0n2")), (4, row("notes\0n1")))),
        ("one row twice", raw((4, row("notes\0n1")), (4, row("notes\0n1")))),
        ("a row with a key twice", raw((4, row("notes\0n1") + row("notes\0n1")))),
        ("a commit without events", raw((6, message { $0.message(2, digest()) }))),
        ("an event at 0", raw((6, commit(event(at: 0))))),
        ("an event at 2⁵³", raw((6, commit(event(at: 1 << 53))))),
        ("an event at 2⁶⁴ - 1", raw((6, commit(event(at: .max))))),
        ("two events at one position", raw((6, commit(event(), event())))),
        ("events out of order", raw((6, commit(event(at: 8), event(at: 7))))),
        ("commits out of order", raw((6, commit(event(at: 8))), (6, commit(event(at: 7))))),
        ("an event without a header", raw((6, commit(message { $0.varint(1, 7) })))),
        ("an event of no kind", raw((6, commit(event(header { $0.kind = .init(rawValue: 0) }))))),
        ("a header that is none", raw((6, commit(event([0xFF, 0xFF]))))),
        ("a header with a field twice", raw((6, commit(event(header() + header()))))),
        ("a cause at 2⁵³", raw((6, commit(event(header { $0.cause = Position(1 << 53) }))))),
        ("a call at 2⁶⁴ - 1", raw((6, commit(event(header { $0.call = Position(.max) }))))),
        (
            "a time out of reach",
            raw((6, commit(event(header { $0.recordedAt = Timestamp(rawValue: .min) }))))
        ),
        (
            "a server's time out of reach",
            raw((6, commit(event(header { $0.serverTime = Timestamp(rawValue: .max) }))))
        ),
        ("a collection of no name", raw((6, commit(event(header { $0.collection = "a/b" }))))),
        (
            "an id of 401 bytes",
            raw((6, commit(event(header { $0.entity = String(repeating: "a", count: 401) }))))
        ),
        ("a payload that is none", raw((6, commit(event(header(), [1]))))),
        (
            "a payload that is no JSON",
            raw((6, commit(event(header { $0.payloadType = .json }, Array("{".utf8)))))
        ),
        (
            "a payload of 129 levels",
            raw(
                (
                    6,
                    commit(
                        event(
                            header { $0.payloadType = .json },
                            Array(
                                (String(repeating: "[", count: 129)
                                    + String(repeating: "]", count: 129)).utf8)))
                ))
        ),
        (
            "a header of 64 KiB",
            raw(
                (
                    6,
                    commit(
                        event(
                            header {
                                $0.revision = .init(rawValue: [UInt8](repeating: 1, count: 65_600))
                            }))
                ))
        ),
        ("a digest of view 0", raw((6, commit(digests: digest(view: 0))))),
        ("digests out of order", raw((6, commit(digests: digest(view: 2), digest(view: 1))))),
        ("two digests of a view", raw((6, commit(digests: digest(), digest())))),
        ("a short fingerprint", raw((6, commit(digests: digest(fingerprint: 3))))),
        ("a long digest", raw((6, commit(digests: digest(digest: 32))))),
        ("rows of no whole number", raw((6, commit(digests: digest(rows: 12))))),
        ("a digest of no rows", raw((6, commit(digests: digest(rows: 0))))),
        ("a body of nothing", raw((7, []))),
        ("a file without a hash", raw((9, message { $0.bytes(2, [1]) }))),
        (
            "fingerprints of no whole number",
            head(1, message { $0.bytes(2, [1, 2, 3]) })
        ),
        (
            "a note that is a command for a terminal",
            head(0, message { $0.string(8, "\u{1B}]0;x") })
        ),
        (
            "a note that turns text around",
            head(0, message { $0.string(8, "a\u{202E}b") })
        ),
        (
            "a root of 31 bytes",
            head(0, message { $0.bytes(3, [UInt8](repeating: 1, count: 31)) })
        ),
        (
            "a flag of 2",
            head(0, message { $0.varint(4, 2) })
        ),
    ]

    @Test(arguments: invalid.map(\.0).indices)
    func `says what no store can say`(_ index: Int) throws {
        let (name, raw) = Self.invalid[index]
        #expect(try code(try raw.file) == .invalid, "\(name)")
    }

    @Test(
        arguments: [(0, nil), (999, nil), (1_000, .invalid), (.max, .invalid)]
            as [(UInt64, CapsuleError.Code?)])
    func `holds an answer with a status, as HTTP has them`(
        _ status: UInt64, _ found: CapsuleError.Code?
    ) throws {
        let answer = message {
            $0.varint(4, status)
            $0.string(6, "timeout")
        }
        let kept = message {
            $0.varint(1, 7)
            $0.message(2, message { $0.message(1, answer) })
        }
        let raw = Self.raw((6, Self.commit(Self.event())), (8, kept))

        #expect(try code(try raw.file) == found)
    }

    @Test func `is refused by redaction where the key of a row breaks off`() throws {
        var capsule = try Capsule(parsing: try Self.raw((6, Self.commit(Self.event()))).file)
        capsule.base.rows = [SnapshotRow(key: RowKey(.ledger, Array("P".utf8)), value: [])]

        let error = #expect(throws: RedactionError.self) {
            try capsule.redacted(Redaction(), key: [UInt8](repeating: 7, count: 32))
        }

        #expect(error?.code == .unknown)
    }

    @Test func `is of a newer format, and the rest is not looked at`() throws {
        var raw = RawCapsule()
        raw.format = 2
        raw.records = [(2, [0xFF])]
        #expect(try code(try raw.file) == .newerFormat)
    }

    @Test func `is something else`() throws {
        let other = [
            [], [0x28], Array("a text".utf8), try Zstd.compress([]),
            try Zstd.compress(Array("a text".utf8)), try Zstd.compress([8]),
            try Zstd.compress([UInt8](repeating: 0, count: 1_000)),
        ]
        for (index, file) in other.enumerated() {
            let found = try code(file)
            #expect(found == (index == 3 ? .invalid : .notACapsule), "\(index): \(file.count)")
        }
    }

    @Test func `lacks its end`() throws {
        var raw = Self.raw((6, Self.commit(Self.event())))
        let whole = raw.content
        raw.isSealed = false
        #expect(try code(try raw.file) == .truncated)
        for count in 2..<whole.count {
            let found = try code(try Zstd.compress(Array(whole[..<count])))
            #expect(found == .truncated, "\(count) of \(whole.count) bytes")
        }
        let file = try raw.file
        for count in 5..<file.count {
            #expect(try code(Array(file[..<count])) == .truncated, "\(count) of \(file.count)")
        }
    }

    @Test func `has another checksum, or something behind it`() throws {
        var raw = Self.raw((6, Self.commit(Self.event())))
        var content = raw.content
        content[content.count - 1] ^= 1
        #expect(try code(try Zstd.compress(content)) == .damaged)
        let file = try raw.file
        #expect(try code(file + [0]) == .damaged)
        #expect(try code(file + (try Zstd.compress([]))) == .invalid)
        #expect(try code(file + (try Zstd.compress([1]))) == .invalid)
        raw.isSealed = false
        #expect(try code(try Zstd.compress(raw.content + raw.content)) == .invalid)
    }

    @Test func `holds more than is taken from strangers`() throws {
        let mebibyte = try Zstd.compress([UInt8](repeating: 0, count: 1 << 20))
        #expect(try code((0..<1_024).flatMap { _ in mebibyte }) == .tooLarge)
        #expect(
            try code(try Zstd.compress([UInt8](repeating: 0, count: 1 << 24 | 1))) == .tooLarge)
        let byte = try Zstd.compress([8])
        #expect(try code((0...65_536).flatMap { _ in byte }) == .tooLarge)
        // A record that says that it is larger than any may be, and one that is not there.
        let head: [UInt8] = [8, 1]
        #expect(
            try code(try Zstd.compress(head + [0x3A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F])) == .tooLarge)
        #expect(try code(try Zstd.compress(head + [0x3A, 0xFF, 0xFF, 0xFF, 0x1F])) == .truncated)
    }

    @Test(arguments: [("eventsMax", 2), ("rowsMax", 2), ("bodiesMax", 2)])
    func `is held to the limits that the caller sets`(_ name: String, _ most: Int) throws {
        var limits = CapsuleLimits()
        switch name {
        case "eventsMax": limits.eventsMax = most
        case "rowsMax": limits.rowsMax = most
        default: limits.bodiesMax = most
        }
        let raw = Self.raw(
            (4, Self.row("n\0a")), (4, Self.row("n\0b")), (4, Self.row("n\0c")),
            (6, Self.commit(Self.event(at: 1), Self.event(at: 2))),
            (6, Self.commit(Self.event(at: 3))), (7, [1]), (7, [2]), (7, [3]))
        let file = try raw.file
        #expect(throws: Never.self) { try Capsule(parsing: file) }
        #expect { try Capsule(parsing: file, limits: limits) } throws: { error in
            (error as? CapsuleError)?.code == .tooLarge
        }
    }

    @Test func `is told where it is wrong`() throws {
        let raw = Self.raw(
            (6, Self.commit(Self.event(at: 12))), (6, Self.commit(Self.event(at: 11))))
        let error = #expect(throws: CapsuleError.self) { try Capsule(parsing: try raw.file) }
        #expect(error?.place == "commit 2")
        #expect(error?.position == Position(11))
        let told = try #require(error?.description)
        #expect(told.hasPrefix("capsule invalid: @11, commit 2, byte "))
        #expect(
            told.hasSuffix("; no version of Tidemark writes that; don't trust where it is from"))
    }
}
