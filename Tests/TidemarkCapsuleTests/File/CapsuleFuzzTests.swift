// CapsuleFuzzTests.swift — whatever the bytes of a capsule are, there is a value or an error.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

extension SplitMix64 {
    /// The bytes with a few of them changed, cut off, doubled, put in, or taken from elsewhere.
    fileprivate mutating func mutated(_ bytes: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(3) {
            let place = below(bytes.count + 1)
            switch below(8) {
            case 0: bytes.insert(UInt8(below(256)), at: place)
            case 1: bytes.removeSubrange(place..<min(place + below(9), bytes.count))
            case 2 where once(in: 4): bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: bytes[place..<min(place + 40, bytes.count)], at: place)
            case 4:
                let from = below(other.count)
                bytes.insert(
                    contentsOf: other[from..<min(from + below(60), other.count)], at: place)
            case _ where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
            default: bytes.append(0)
            }
        }
        return bytes
    }

    private static let numbers = [
        "0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
        "9007199254740993", "1e308", "0.5", "1e-400",
    ]

    /// Another JSON value of any type.
    private mutating func value() -> String {
        switch below(6) {
        case 0: pick(["null", "true", "false"])
        case 1: "\"" + String(repeating: pick(["a", "é", "/", "@"]), count: below(600)) + "\""
        case 2: pick(["[]", "{}", "[1,[2]]", #"{"id":"x"}"#, #"["t1","=",null]"#])
        default: pick(Self.numbers)
        }
    }

    /// A JSON text with a value in it exchanged, or a member taken out.
    fileprivate mutating func otherJSON(_ bytes: [UInt8]) -> [UInt8] {
        guard let value = try? JSONValue(parsing: bytes) else { return bytes }
        return other(value).encoded()
    }

    private mutating func other(_ value: JSONValue) -> JSONValue {
        if once(in: 8) { return (try? JSONValue(parsing: Array(self.value().utf8))) ?? value }
        if var object = value.object, !object.isEmpty {
            let key = pick(object.keys)
            object[key] = once(in: 5) ? .none : object[key].map { other($0) }
            return .object(object)
        }
        if var list = value.array, !list.isEmpty {
            let index = below(list.count)
            if once(in: 5) { list.remove(at: index) } else { list[index] = other(list[index]) }
            return .array(list)
        }
        return (try? JSONValue(parsing: Array(self.value().utf8))) ?? value
    }

    private mutating func position() -> Position {
        Position(pick([0, 1, 2, 3, 7, 30, 100, 231, 1 << 53 - 1, UInt64(below(260))]))
    }

    /// An event that differs in one member.
    fileprivate mutating func changed(_ event: Event) -> Event {
        var event = event
        let moments: [Int64] = [0, 1, -1, 1 << 58, -1 << 58, 1_795_332_718_882_917]
        switch below(14) {
        case 0: event.cause = position()
        case 1: event.sync = position()
        case 2: event.mutation = position()
        case 3: event.call = position()
        case 4: event.asOf = position()
        case 5: event.recordedAt = Timestamp(rawValue: pick(moments))
        case 6: event.serverTime = Timestamp(rawValue: pick(moments))
        case 7: event.kind = pick(EventKind.all)
        case 8: event.entity = pick(["t1", "t2", "l1", "x", String(repeating: "i", count: 400)])
        case 9:
            event.collection = CollectionName(
                pick(["tasks", "lists", "none", String(repeating: "c", count: 100)]))
        case 10: event.revision = Revision(rawValue: bytes(below(40)))
        case 11: (event.collection, event.entity) = (nil, nil)
        default: event.payload = otherJSON(event.payload)
        }
        event = event.checked
        event.normalize()
        return event
    }
}

@Suite(.serialized) struct `a capsule of bytes that nobody wrote` {
    private func whole(_ last: Int = 40) async throws -> Capsule {
        try await CapsuleWorld.with { try $0.capsule(last: last) }
    }

    /// Does with a capsule what is done with one.
    ///
    /// It is folded and written; errors are an answer.
    private func use(_ capsule: Capsule) throws {
        _ = try? capsule.withoutRemote().refolded()
        let bytes = try capsule.encoded
        #expect(try Capsule(parsing: bytes) == capsule)
    }

    @Test(arguments: [0x5EED_3101] as [UInt64])
    func `is the capsule that was written, or an error`(_ seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let capsules = [try await whole(3), try await whole(40)]
        let files = try capsules.map { try $0.encoded }
        var equal = 0
        for _ in 0..<20_000 {
            let index = random.below(2)
            let bytes = random.mutated(files[index], files[1 - index])
            do {
                let capsule = try Capsule(parsing: bytes)
                #expect(capsules.contains(capsule))
                equal += 1
            } catch is CapsuleError {}
        }
        #expect(equal < 2_000)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: [0x5EED_3102] as [UInt64])
    func `is an error, or a capsule like any other`(_ seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let capsule = try await whole(40)
        let other = try RawCapsule(try await whole(3)).content
        var raw = try RawCapsule(capsule)
        var taken = 0
        for round in 0..<3_000 {
            let file: [UInt8]
            if round % 2 == 0 {
                raw.isSealed = false
                file = try Zstd.compress(RawCapsule.sealed(random.mutated(raw.content, other)))
            } else {
                // Within one record, whose length then fits.
                var changed = raw
                changed.isSealed = true
                let index = random.below(raw.records.count)
                changed.records[index].bytes = random.mutated(raw.records[index].bytes, other)
                file = try changed.file
            }
            do {
                let capsule = try Capsule(parsing: file)
                taken += 1
                if taken % 8 == 0 { try use(capsule) }
            } catch is CapsuleError {}
        }
        #expect(taken > 100)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: [0x5EED_3103, 0x5EED_3104] as [UInt64])
    func `says what never happened, and is folded all the same`(_ seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let capsules = [try await whole(100_000), try await whole(60)]
        var folded = 0
        for round in 0..<200 {
            var capsule = capsules[round % 2]
            for _ in 0...random.below(6) {
                let commit = random.below(capsule.commits.count)
                let entry = random.below(capsule.commits[commit].entries.count)
                let event = capsule.commits[commit].entries[entry].event
                capsule.commits[commit].entries[entry].event = random.changed(event)
            }
            for _ in 0..<random.below(2) where !capsule.base.rows.isEmpty {
                let row = random.below(capsule.base.rows.count)
                let value = capsule.base.rows[row].value
                capsule.base.rows[row].value = random.mutated(value, [1, 2, 3])
            }
            try use(capsule)
            if (try? capsule.refolded()) != nil { folded += 1 }
            guard round % 10 == 0 else { continue }
            let directory = scratchPath()
            let journal = try? capsule.unpacked(in: directory)
            _ = try? journal?.read { views in
                try views.forEachEntity { key, row in
                    _ = try views.document(key)
                    _ = row.status
                    return true
                }
                _ = try views.outbox(all: true)
            }
            try journal?.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
        #expect(folded > 50)
    }
}
