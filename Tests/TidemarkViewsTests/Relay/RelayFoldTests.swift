// RelayFoldTests.swift — what is pending was sent another way, or arrived: how its entity stands,
// and what the server says then.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

extension Event {
    fileprivate static func relayed(
        _ key: String, _ covers: UInt64, confirmed: Bool = false
    ) -> Event {
        .about(
            .pushRelayed, key,
            String(
                decoding: PushRelayed(via: "sms", isConfirmed: confirmed).encoded, as: UTF8.self),
            mutation: covers)
    }
}

@Suite struct `a mutation that went another way` {
    private let memory = MemoryFold()

    /// A task that the server has, with an edit of it (@3).
    private func edited(_ policy: ConflictPolicy = .serverWins) throws {
        try memory.apply([
            .model(policy), .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#),
        ])
    }

    private var row: EntityRow {
        get throws { try #require(try memory.entity(EntityKey("tasks", "1"))) }
    }

    @Test func `stays pending, and is relayed until it is edited, or sent`() throws {
        try edited()
        try memory.apply([.relayed("tasks/1", 3)])
        #expect(try row.status == .relayed && row.pending.count == 1)
        #expect(try memory.mutation(3)?.outcome == nil)

        try memory.apply([.about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#)])
        #expect(try row.status == .updated)
        try memory.apply([.relayed("tasks/1", 5, confirmed: true)])
        #expect(try row.status == .confirmed)

        try memory.apply([.about(.requestSent, "tasks/1", "{}", mutation: 5)])
        #expect(try row.status == .uploading)
        try memory.apply([.about(.pushAccepted, "tasks/1", nil, mutation: 5, call: 7)])
        #expect(try row.status == .synced && row.relay == nil)
    }

    @Test func `is relayed again where sending failed, and in error where it was refused`() throws {
        try edited()
        try memory.apply([
            .relayed("tasks/1", 3), .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(
                .requestFailed, "tasks/1", #"{"error":"offline","mayHaveArrived":false}"#, call: 5),
        ])
        #expect(try row.status == .relayed)
        try memory.apply([
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(
                .pushRejected, "tasks/1", #"{"status":400,"message":"no"}"#, mutation: 3, call: 7),
        ])
        #expect(try row.status == .error)
        try memory.apply([.about(.localDiscarded, "tasks/1")])
        #expect(try row.status == .synced && row.relay == nil)
    }

    @Test func `that made an entity is relayed, and its edit makes it created again`() throws {
        try memory.apply([
            .model(.serverWins), .about(.localCreated, "tasks/1", #"{"a":1}"#),
            .relayed("tasks/1", 2),
        ])
        #expect(try row.status == .relayed)
        try memory.apply([.about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#)])
        #expect(try row.status == .created)
    }

    @Test func `says nothing of what is settled, or was sent later another way`() throws {
        try edited()
        try memory.apply([
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .relayed("tasks/1", 4), .relayed("tasks/1", 3, confirmed: true),
        ])
        #expect(try row.status == .relayed)
        try memory.apply([.about(.localDiscarded, "tasks/1")])
        let before = memory.rows
        try memory.apply([.relayed("tasks/1", 4, confirmed: true), .relayed("tasks/9", 4)])
        #expect(memory.rows == before)
    }

    @Test(arguments: [ConflictPolicy.serverWins, .localWins, .overwriteUnlessDirty])
    func `meets the server's word as if it had not been, while it is not confirmed`(
        _ policy: ConflictPolicy
    ) throws {
        let word = Event.about(.serverUpserted, "tasks/1", #"{"a":3,"b":1}"#, asOf: 3)
        try edited(policy)
        let other = MemoryFold()
        try other.apply([
            .model(policy), .about(.serverUpserted, "tasks/1", #"{"a":1,"b":1}"#, asOf: 1),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#), word,
        ])
        try memory.apply([.relayed("tasks/1", 3), word])

        let plain = try #require(try other.entity(EntityKey("tasks", "1")))
        #expect(try text(row.content) == text(plain.content))
        #expect(try row.pending.map(\.position) == plain.pending.map(\.position))
        #expect(try memory.mutation(3)?.outcome == other.mutation(3)?.outcome)
    }

    @Test(arguments: [ConflictPolicy.serverWins, .localWins])
    func `ends with the server's next word once it is confirmed`(_ policy: ConflictPolicy) throws {
        try edited(policy)
        try memory.apply([.relayed("tasks/1", 3, confirmed: true)])
        // Asked before that was known: it may not be in it yet.
        try memory.apply([.about(.serverUpserted, "tasks/1", #"{"a":1,"b":7}"#, asOf: 3)])
        #expect(try row.status == .confirmed && text(row.content) == #"{"a":2,"b":7}"#)

        try memory.apply([.about(.serverUpserted, "tasks/1", #"{"a":2,"b":8}"#, asOf: 5)])
        #expect(try row.status == .synced && text(row.content) == #"{"a":2,"b":8}"#)
        #expect(try memory.mutation(3)?.outcome == .accepted)
        #expect(try memory.mutation(3)?.proof == Position(6))
        #expect(try memory.decisions(by: "relay").isEmpty && memory.fold.issues().isEmpty)
    }

    @Test(arguments: [ConflictPolicy.serverWins, .localWins, .overwriteUnlessDirty])
    func `that the server has otherwise is told as lost`(_ policy: ConflictPolicy) throws {
        try edited(policy)
        try memory.apply([
            .relayed("tasks/1", 3, confirmed: true),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":9}"#, asOf: 4),
        ])

        #expect(try row.status == .synced && text(row.content) == #"{"a":1,"b":9}"#)
        #expect(try memory.mutation(3)?.outcome == .superseded)
        let decision = try #require(try memory.decisions(by: "relay").first)
        #expect(decision.result == "serverWins" && decision.fields == ["a"])
        let issue = try #require(try memory.fold.issues().first)
        #expect(issue.kind == .conflict && issue.mutation == Position(3))
    }

    @Test func `ends where the server deleted the entity, and waits where it was edited since`()
        throws
    {
        try edited(.localWins)
        try memory.apply([
            .relayed("tasks/1", 3, confirmed: true),
            .about(.localUpdated, "tasks/1", #"{"set":{"b":2},"unset":[]}"#),
            .about(.serverUpserted, "tasks/1", #"{"a":1,"b":9}"#, asOf: 5),
        ])
        #expect(try row.status == .updated && text(row.content) == #"{"a":2,"b":2}"#)

        try memory.apply([
            .relayed("tasks/1", 5, confirmed: true),
            .about(.serverDeleted, "tasks/1", asOf: 7),
        ])
        #expect(try row.status == .synced && row.content == nil)
        #expect(try memory.mutation(5)?.outcome == .superseded)
    }
}
