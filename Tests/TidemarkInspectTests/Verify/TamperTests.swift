// TamperTests.swift — events changed, removed, inserted, exchanged or cut off by somebody who keeps
// every checksum right: each is found and its place named.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite struct `a log that was tampered with` {
    private static let cases = 5000
    private static let seed: UInt64 = 0x5EED_0F00

    private let store: ScratchStore
    private let frames: [[UInt8]]
    private let commits: [CommitRecord]

    init() throws {
        store = try ScratchStore()
        var maker = LogMaker(seed: 0x5EED_0F01, isHostile: false)
        try maker.write(about: 40, to: store.journal)
        let log = store.journal.log
        commits = try store.commits()
        let last = try #require(commits.last).last.rawValue
        frames = try store.journal.environment.read { transaction in
            try (1...last).map {
                try transaction.get(log.log, Position($0).bigEndianBytes) ?? []
            }
        }
    }

    @Test func `is found at the event or at the commit that holds it`() throws {
        var random = SplitMix64(seed: Self.seed)
        var sorts: [String: Int] = [:]
        for number in 0..<Self.cases {
            let tampering = Tampering(&random, frames: frames)
            guard !tampering.changesNothing(frames) else { continue }
            sorts[tampering.name, default: 0] += 1
            let findings = try findings { transaction in
                try tampering.apply(frames, store.journal.log, transaction)
            }

            let first = findings.map(\.position).min()
            let place: Comment = "seed \(Self.seed), case \(number): \(tampering) \(findings)"
            let end = commits.first { $0.last >= tampering.first }?.last ?? tampering.first
            try #require(first.map { $0 >= tampering.first && $0 <= end } == true, place)
        }
        #expect(sorts.count == 5, "\(sorts)")
    }

    @Test func `and cut with its edge and commits is found with an older checkpoint only`() throws {
        let whole = try store.journal.checkpoint()
        for commit in commits.dropLast() {
            let older = try store.journal.checkpoint(at: commit.last)
            let (plain, checked, early) = try store.undoing { transaction in
                let log = store.journal.log
                var edge = MerkleEdge()
                var left = try log.edge(transaction).commits
                for number in 1...frames.count {
                    let position = Position(UInt64(number))
                    if position <= commit.last {
                        let bytes = frames[number - 1]
                        let frame = try EventFrame(parsing: bytes.span)
                        edge.append(
                            leaf: MerkleEdge.leaf(
                                position: position, header: frame.header,
                                payloadHash: frame.payload.hash))
                    } else {
                        try transaction.delete(log.log, position.bigEndianBytes)
                        if try transaction.delete(log.log, CommitRecord.key(position)) {
                            left -= 1
                        }
                    }
                }
                edge.commits = left
                try log.catalog.set(.edge, edge.encoded, transaction)
                return (
                    try verify([], transaction), try verify([whole], transaction),
                    try verify([older], transaction)
                )
            }

            #expect(plain == [] && early == [])
            #expect(checked.map(\.code) == [.otherCheckpoint])
            #expect(checked.first?.description.contains("covers \(whole.size) events") == true)
        }
    }

    @Test func `and written anew with right roots is found with an older checkpoint only`() throws {
        let whole = try store.journal.checkpoint()
        let other = try ScratchStore()
        try other.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for (index, bytes) in frames.enumerated() {
                let frame = try EventFrame(parsing: bytes.span)
                var event = try Event(header: frame.header, payload: inline(frame))
                if index == 3 { event.recordedAt = Timestamp(rawValue: 77) }
                try draft.append(event)
            }
        }

        #expect(try other.journal.verify(.deep).findings == [])
        let findings = try other.journal.verify(.full, against: [whole]).problems
        #expect(findings.map(\.code) == [.otherCheckpoint])
    }

    private func verify(
        _ checkpoints: [LogCheckpoint], _ transaction: borrowing WriteTransaction
    ) throws -> [LogError] {
        var check = try LogCheck(store.journal.log, checkpoints: checkpoints, transaction)
        while try check.step(bytesMax: 700, transaction) {}
        return check.finished().findings
    }

    private func findings(
        after change: (borrowing WriteTransaction) throws -> Void
    ) throws -> [LogError] {
        try store.undoing { transaction in
            try change(transaction)
            return try verify([], transaction)
        }
    }
}

extension ScratchStore {
    /// What `body` makes of a transaction that is undone before anything is stored.
    func undoing<R>(_ body: (borrowing WriteTransaction) throws -> R) throws -> R {
        var result: R?
        do {
            try journal.environment.write { (transaction) throws in
                result = try body(transaction)
                throw Undo()
            }
        } catch is Undo {}
        return try #require(result)
    }
}

private struct Undo: Error {}

/// One change of a log.
private struct Tampering: CustomStringConvertible {
    enum Sort: CaseIterable { case edit, delete, insert, exchange, truncate }
    let sort: Sort
    /// The first position that is not as it was.
    let first: Position
    private let second: Position
    private let event: [UInt8]

    var name: String { "\(sort)" }
    var description: String { "\(sort) \(first) \(second)" }

    init(_ random: inout SplitMix64, frames: [[UInt8]]) {
        sort = random.pick(Sort.allCases)
        let (a, b) = (random.below(frames.count), random.below(frames.count))
        first = Position(UInt64(min(a, b == a ? (a + 1) % frames.count : b)) + 1)
        second = Position(UInt64(max(a, b == a ? (a + 1) % frames.count : b)) + 1)
        event = Self.edited(frames[Int(first.rawValue) - 1], &random)
    }

    /// The same event with one thing changed, and a right checksum.
    private static func edited(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        guard let frame = try? EventFrame(parsing: bytes.span),
            var event = try? Event(header: frame.header, payload: inline(frame))
        else { return [] }
        switch random.below(4) {
        case 0: event.recordedAt = Timestamp(rawValue: event.recordedAt.rawValue + 1)
        case 1: event.payload.append(0x20)
        case 2 where !event.payload.isEmpty:
            event.payload[random.below(event.payload.count)] ^= 1 << UInt8(random.below(8))
        default: event.cause = Position((event.cause?.rawValue ?? 0) + 1)
        }
        return EventFrame(event).encoded
    }

    /// Whether two equal events would change places.
    func changesNothing(_ frames: [[UInt8]]) -> Bool {
        sort == .exchange && frames[Int(first.rawValue) - 1] == frames[Int(second.rawValue) - 1]
    }

    func apply(
        _ frames: [[UInt8]], _ log: EventLog, _ transaction: borrowing WriteTransaction
    ) throws {
        func frame(_ position: Position) -> [UInt8] { frames[Int(position.rawValue) - 1] }
        let last = UInt64(frames.count)
        switch sort {
        case .edit: try transaction.put(log.log, first.bigEndianBytes, event)
        case .delete: try transaction.delete(log.log, first.bigEndianBytes)
        case .exchange:
            try transaction.put(log.log, first.bigEndianBytes, frame(second))
            try transaction.put(log.log, second.bigEndianBytes, frame(first))
        case .insert:
            for number in first.rawValue...last {
                try transaction.put(
                    log.log, Position(number + 1).bigEndianBytes, frame(Position(number)))
            }
            try transaction.put(log.log, first.bigEndianBytes, event)
        case .truncate:
            for number in first.rawValue...last {
                try transaction.delete(log.log, Position(number).bigEndianBytes)
                try transaction.delete(log.log, CommitRecord.key(Position(number)))
            }
        }
    }
}

/// The payload of a frame that holds it.
private func inline(_ frame: EventFrame) -> [UInt8] {
    if case .inline(let bytes) = frame.payload { bytes } else { [] }
}
