// EventProtoTests.swift — swift-protobuf reads and writes the same bytes as we do.
//
// Tests/EventProto/event.pb.swift is made by protoc 3.21.12 and the protoc-gen-swift that swift-
// protobuf 1.39.0 builds (`swift build --product protoc-gen-swift`), from the project's root:
//
//   protoc --plugin=PATH/protoc-gen-swift -I Schemas --swift_out=Tests/EventProto \
//     --swift_opt=Visibility=Package --swift_opt=FileNaming=DropPath \
//     --swift_opt=UseAccessLevelOnImports=true tidemark/v1/event.proto

import EventProto
import Foundation
import SwiftProtobuf
import TestSupport
import Testing
import TidemarkEvents

@testable import TidemarkLog

extension SplitMix64 {
    fileprivate mutating func coin() -> Bool { below(2) == 0 }

    fileprivate mutating func number() -> UInt64 { coin() ? 0 : next() >> UInt64(below(64)) }

    fileprivate mutating func text() -> String {
        guard coin() else { return "" }
        return String(
            String.UnicodeScalarView(
                (0..<below(20)).compactMap { _ in
                    Unicode.Scalar(UInt32(next() >> UInt64(43 + below(20))))
                }))
    }

    fileprivate mutating func some(_ count: Int) -> [UInt8] { coin() ? [] : bytes(below(count)) }

    /// A header as swift-protobuf has it, each field with a value about every other time.
    fileprivate mutating func header() -> Tidemark_V1_Event {
        var header = Tidemark_V1_Event()
        header.kind =
            coin()
            ? pick(Tidemark_V1_Kind.allCases) : .init(rawValue: below(1 << 31)) ?? .unspecified
        header.recordedAt = Int64(bitPattern: number())
        header.collection = text()
        header.entity = text()
        header.cause = number()
        header.sync = number()
        header.mutation = number()
        header.call = number()
        header.asOf = number()
        header.serverTime = Int64(bitPattern: number())
        header.revision = .init(some(200))
        header.payloadType = pick(Tidemark_V1_PayloadType.allCases)
        header.schemaVersion = UInt32(truncatingIfNeeded: number())
        header.idempotencyKey = .init(some(40))
        header.uptime = Int64(bitPattern: number())
        header.boot = text()
        return header
    }

    fileprivate mutating func digest() -> Tidemark_V1_ViewDigest {
        var digest = Tidemark_V1_ViewDigest()
        digest.view = UInt32(truncatingIfNeeded: number())
        digest.fingerprint = .init(some(9))
        digest.digest = .init(some(20))
        digest.rows = .init(some(300))
        return digest
    }
}

/// What swift-protobuf reads of an event's header must be what the event says.
private func same(_ event: Event, _ header: Tidemark_V1_Event) -> Bool {
    func number(_ position: Position?) -> UInt64 { position?.rawValue ?? 0 }
    return Int(event.kind.rawValue) == header.kind.rawValue
        && event.recordedAt.rawValue == header.recordedAt
        && event.collection?.rawValue ?? "" == header.collection
        && event.entity ?? "" == header.entity && number(event.cause) == header.cause
        && number(event.sync) == header.sync && number(event.mutation) == header.mutation
        && number(event.call) == header.call && number(event.asOf) == header.asOf
        && event.serverTime?.rawValue ?? 0 == header.serverTime
        && event.revision?.rawValue ?? [] == Array(header.revision)
        && Int(event.payloadType.rawValue) == header.payloadType.rawValue
        && event.schemaVersion == header.schemaVersion
        && event.idempotencyKey ?? [] == Array(header.idempotencyKey)
        && event.uptime ?? 0 == header.uptime && event.bootID ?? "" == header.boot
}

@Suite struct `swift-protobuf and we` {
    @Test(arguments: [0x5EED_0601] as [UInt64])
    func `write the same headers, both ways`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<3_000 {
            let header = random.header()
            let theirs: [UInt8] = try header.serializedBytes()

            let event = try Event(header: theirs, payload: [])
            let ours = event.headerBytes
            let read = try Tidemark_V1_Event(serializedBytes: ours)

            #expect(same(event, header), "seed \(seed), round \(round)")
            #expect(ours == theirs, "seed \(seed), round \(round)")
            #expect(read == header, "seed \(seed), round \(round)")
            #expect(try read.serializedBytes() == ours, "seed \(seed), round \(round)")
        }
    }

    @Test func `keep the fields of newer versions where they are`() throws {
        var random = SplitMix64(seed: 0x5EED_0602)
        for _ in 0..<500 {
            var newer = ProtoWriter()
            newer.varint(17, random.next() | 1)
            newer.bytes(200, random.bytes(1 + random.below(9)))
            let known: [UInt8] = try random.header().serializedBytes()

            let event = try Event(header: known + newer.bytes, payload: [])
            let read = try Tidemark_V1_Event(serializedBytes: known + newer.bytes)

            #expect(event.headerBytes == known)
            #expect(try read.serializedBytes() == known + newer.bytes)
        }
    }

    @Test(arguments: [0x5EED_0603] as [UInt64])
    func `write the same commits, both ways`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<2_000 {
            var commit = Tidemark_V1_Commit()
            commit.first = random.number()
            commit.root = .init(random.some(40))
            for _ in 0..<random.below(5) { commit.views.append(random.digest()) }
            let theirs: [UInt8] = try commit.serializedBytes()

            let record = try CommitRecord(parsing: theirs, last: Position(9))

            #expect(record.encoded == theirs, "seed \(seed), round \(round)")
            #expect(record.first.rawValue == commit.first && record.root == Array(commit.root))
            #expect(record.views.map(\.view) == commit.views.map(\.view))
            #expect(record.views.map(\.fingerprint) == commit.views.map { Array($0.fingerprint) })
            #expect(record.views.map(\.digest) == commit.views.map { Array($0.digest) })
            #expect(record.views.map(\.rows) == commit.views.map { Array($0.rows) })
        }
    }

    @Test func `write the same identity`() throws {
        var random = SplitMix64(seed: 0x5EED_0604)
        for _ in 0..<300 {
            var identity = Tidemark_V1_Identity()
            identity.store = random.text()
            identity.format = UInt32(truncatingIfNeeded: random.number())
            identity.salvagedFrom = random.text()
            if !identity.salvagedFrom.isEmpty { identity.proven = random.number() }
            let theirs: [UInt8] = try identity.serializedBytes()

            let mark = try EventLog.Mark(parsing: theirs)

            #expect(mark.encoded == theirs)
            #expect(mark.storeID == identity.store && mark.format == identity.format)
            #expect(mark.origin?.storeID ?? "" == identity.salvagedFrom)
            #expect(mark.origin?.proven.rawValue ?? 0 == identity.proven)
        }
    }

    @Test func `write the same edge at every size`() throws {
        var random = SplitMix64(seed: 0x5EED_0604)
        var ours = MerkleEdge()
        for _ in 0..<300 {
            let read = try Tidemark_V1_Edge(serializedBytes: ours.encoded)

            #expect(read.size == ours.size && Array(read.peaks) == ours.peaks.flatMap(\.self))
            #expect(try read.serializedBytes() == ours.encoded)
            ours.append(leaf: random.bytes(32))
        }
    }

    @Test func `have the same kinds`() {
        #expect(
            EventKind.all.map { Int($0.rawValue) }
                == Tidemark_V1_Kind.allCases.map(\.rawValue).filter { $0 != 0 })
    }

    @Test func `take an enumeration up to 2³¹ − 1, and we nothing above`() throws {
        var newest = ProtoWriter()
        newest.varint(1, 1 << 31 - 1)
        var tooNew = ProtoWriter()
        tooNew.varint(1, 1 << 31)

        let read = try Tidemark_V1_Event(serializedBytes: newest.bytes)
        #expect(read.kind.rawValue == 1 << 31 - 1)
        #expect(try read.serializedBytes() == newest.bytes)
        #expect(try Event(header: newest.bytes, payload: []).headerBytes == newest.bytes)
        #expect(throws: ProtoError.valueOutOfRange(1)) {
            try Event(header: tooNew.bytes, payload: [])
        }
    }
}
