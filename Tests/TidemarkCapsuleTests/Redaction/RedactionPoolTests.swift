// RedactionPoolTests.swift — what a log tells of reserved values, redacted: they are left and taken
// as before, and are the same as in the entities that use them.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `reserved values in a redacted capsule` {
    private static let key = PoolKey("numbers", ["attribute-1", "OSLO"])

    private var events: [Event] {
        let clock = Timestamp(milliseconds: 1_795_000_000_000)
        func event(_ kind: EventKind, _ json: [UInt8], _ key: EntityKey? = nil) -> Event {
            Event(kind, recordedAt: clock, key: key, json: json)
        }
        var added = ReservedAdded(Self.key, pattern: "PERSON(###)")
        added.values = ["card-17", "card-18", "card-19"]
        added.until = [clock.adding(seconds: 60), nil, clock.adding(seconds: 90)]
        var start = SyncStarted()
        start.run.triggers = [.userRequested]
        start.run.scope = .reserve([.init("numbers", Self.key.texts, count: 20)])
        var failed = RequestFailed()
        (failed.error, failed.mayHaveArrived, failed.detail) = ("timeout", true, "the moon")
        (failed.concern, failed.place) = (.pool, PoolPlace(Self.key))
        var started = event(.syncStarted, start.encoded)
        started.schemaVersion = 3
        return [
            started,
            event(.requestFailed, failed.encoded),
            event(.reservedAdded, added.encoded),
            event(.reservedTaken, ReservedTaken("card-17", of: Self.key).encoded),
            event(
                .localCreated, Array(#"{"card":"card-17"}"#.utf8), EntityKey("people", "p1")),
            event(.localWiped, LocalWiped(keeping: ["people"]).encoded),
            event(.localWiped, LocalWiped(keeping: []).encoded),
            event(
                .localCreated, Array(#"{"card":"card-18"}"#.utf8), EntityKey("people", "p2")),
        ]
    }

    @Test func `are the same as in entities, and as many are left`() async throws {
        let clock = ManualClock()
        let model = SyncModel(
            name: "m", collections: [CollectionModel("people")], pools: [.init("numbers")])
        try await Replica.withTemporary(
            model: model, dependencies: .seeded(1, clock: clock)
        ) { replica in
            for event in events {
                _ = try replica.journal.write(at: clock.now) { draft in try draft.append(event) }
            }
            for last in 2...(events.count + 2) {
                let capsule = try Capsule(
                    of: replica.journal, last: UInt64(last), build: "test",
                    scratch: RedactionSupport.scratch())
                for policy in [Redaction(), Redaction(names: [])] {
                    let redacted = try capsule.redactedByTool(policy)
                    // Rows that stand in the capsule are those that its events make.
                    #expect(try redacted.refolded() == redacted, "\(last)")
                    let held = redacted.everything
                    for secret in ["card-1", "OSLO", "attribute-1", "PERSON", "moon"] {
                        #expect(held.firstRange(of: secret.utf8) == nil, "\(last): \(secret)")
                    }
                    let taken = redacted.events.compactMap { $0.read(ReservedTaken.self) }
                    let made = redacted.events.filter { $0.kind == .localCreated }
                    guard let value = taken.first?.value, let document = made.first?.payload
                    else { continue }
                    let text = String(decoding: document, as: UTF8.self)
                    #expect(text.contains("\"\(value)\""), "\(text) \(value)")
                    #expect(taken.first?.place.pool == "numbers")
                }
            }
        }
    }
}
