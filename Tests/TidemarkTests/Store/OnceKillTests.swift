// OnceKillTests.swift — a process killed between a commit and its acknowledgement: whoever asks
// again with the same key makes the commit once, whether it was made before or not.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

@Suite(
    .serialized, .enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)")
)
struct `a write under a key, by a process that is killed` {
    private static let seed: UInt64 = 0x5EED_0F00
    private static let rounds = 80

    @Test func `is made once when it is asked for again`() throws {
        var random = SplitMix64(seed: Self.seed)
        let folder = try SyncFolder()
        defer { folder.delete() }
        let path = folder / "store"
        try Replica.open(at: path, model: SyncWorld.usualModel).close()
        var asked: [OnceWrite] = []
        var (repeated, made) = (0, 0)
        for round in 0..<Self.rounds {
            let place: Comment = "seed \(Self.seed), round \(round)"
            // Most die at any moment, some just after the commit or just before it.
            let delay = round % 10 == 0 ? 0 : round % 10 == 5 ? -1 : 1 + random.below(15_000)
            let child = try Command.run(
                try #require(BuiltProgram.crashChild.path),
                ["once", path, "\(asked.count)", "\(delay)"],
                environment: ["SWIFT_BACKTRACE": "enable=no"])
            try #require(child.signal == 9, "\(child.text) \(child.complaints) \(place)")
            let writes = OnceWrite.said(in: child.text)
            #expect(writes.dropLast().allSatisfy { $0.position != nil }, place)

            let replica = try Replica.open(existing: path)
            // The key of the last one is known, and nothing else of it.
            for (index, write) in writes.enumerated() {
                let receipt = try #require(try write.make(in: replica), place)
                if let position = write.position {
                    #expect(receipt.isRepeated && receipt.first == position, place)
                } else {
                    #expect(index == writes.count - 1, place)
                    if receipt.isRepeated { repeated += 1 } else { made += 1 }
                }
                asked.append(OnceWrite(write.key, write.number, receipt.first))
            }
            if round % 10 == 9 {
                #expect(try Self.written(replica) == asked.map(\.event), place)
                #expect(try replica.journal.verify(.deep).findings == [], place)
            }
            try replica.close()
        }
        print(
            "killed \(Self.rounds) times, seed \(Self.seed): of \(asked.count) writes the last one "
                + "was there \(repeated) times, and was made \(made) times by asking again")
        #expect(repeated >= Self.rounds / 10, "killed between a commit and its acknowledgement")
        #expect(made >= Self.rounds / 10, "killed before a commit")
    }

    /// The first events of commits under a key, in order; checks that the others follow them.
    private static func written(_ replica: Replica) throws -> [OnceWrite.Event] {
        var found: [OnceWrite.Event] = []
        var expected: [String] = []
        let damaged = try replica.journal.dump(EventFilter()) { position, event in
            guard event.kind == .localCreated, let id = event.entity else { return }
            if let key = event.idempotencyKey {
                #expect(expected.isEmpty, "@\(position): half of a commit")
                found.append(OnceWrite.Event(key: key, position: position))
                expected = NumberedWrite(found.count - 1).ids
            }
            #expect(expected.first == id, "\(position)")
            expected = Array(expected.dropFirst())
        }
        #expect(damaged == [] && expected == [])
        return found
    }
}

/// A write that a child asked for, and where it was when that was acknowledged.
private struct OnceWrite {
    struct Event: Equatable {
        var key: [UInt8]
        var position: Position
    }

    let key: IdempotencyKey
    let number: Int
    let position: Position?

    init(_ key: IdempotencyKey, _ number: Int, _ position: Position?) {
        (self.key, self.number, self.position) = (key, number, position)
    }

    var event: Event { Event(key: Array(key.bytes), position: position ?? .start) }

    func make(in replica: Replica) throws -> CommitReceipt? {
        let write = NumberedWrite(number)
        return try replica.write(once: key) { tx in
            for id in write.ids { try tx.create(EntityKey("tasks", id), write.document) }
        }
    }

    /// What a child's lines say; the last line may have been cut.
    static func said(in text: String) -> [OnceWrite] {
        var writes: [OnceWrite] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3 else { continue }
            if words[0] == "asks", let key = IdempotencyKey(words[1]), let number = Int(words[2]) {
                writes.append(OnceWrite(key, number, nil))
            } else if words[0] == "wrote", let position = UInt64(words[2]),
                let last = writes.popLast(), String(last.number) == words[1]
            {
                writes.append(OnceWrite(last.key, last.number, Position(position)))
            }
        }
        return writes
    }
}
