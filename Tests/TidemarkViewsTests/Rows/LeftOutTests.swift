// LeftOutTests.swift — what a write that makes an entity leaves out stays pending, whatever becomes
// of the write.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what a creation leaves out` {
    private static let key = EntityKey("tasks", "1")
    private static let photo = #"{"set":{"photo":{"sha256":"0f","bytes":2}},"unset":[]}"#

    private static func model(_ policy: ConflictPolicy, field: String = "photo") -> Event {
        var tasks = CollectionModel("tasks", conflict: policy)
        tasks.contents = [ContentRule(field, upload: "/tasks/{id}/photos")]
        if field != "photo" { tasks.migrations = [.rename("photo", to: field)] }
        return .registered(SyncModel(name: "test", collections: [tasks]))
    }

    /// A task that was made, given a photo and edited, all of which was sent.
    private static func sent(
        _ policy: ConflictPolicy = .localWins
    ) throws -> (fold: MemoryFold, call: UInt64) {
        let fold = MemoryFold()
        try fold.apply([model(policy)])
        try fold.apply([.about(.localCreated, "tasks/1", #"{"title":"a"}"#)])
        try fold.apply([.about(.localUpdated, "tasks/1", photo)])
        try fold.apply([.about(.localUpdated, "tasks/1", #"{"set":{"n":1},"unset":[]}"#)])
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: fold.last.rawValue)])
        return (fold, fold.last.rawValue)
    }

    private static func accept(_ fold: MemoryFold, _ call: UInt64) throws {
        try fold.apply([.about(.pushAccepted, "tasks/1", mutation: call - 1, call: call)])
    }

    @Test func `counts as carried by no attempt`() throws {
        let (fold, call) = try Self.sent()

        let row = try #require(try fold.entity(Self.key))
        #expect(row.pending.map(\.leftOut) == [[], ["photo"], []])
        #expect(row.pending.map(\.isLeftOut) == [false, true, false])
        let sent = try (2...4).map { try fold.mutation($0)?.attempts }
        #expect(sent == [1, 0, 1])
        try fold.apply([
            .about(
                .requestFailed, "tasks/1", #"{"error":"timeout","mayHaveArrived":true}"#,
                call: call)
        ])
        try fold.apply([.about(.requestSent, "tasks/1", "{}")])
        try fold.apply([
            .about(
                .requestAnswered, "tasks/1", #"{"status":404}"#, cause: call,
                call: fold.last.rawValue)
        ])
        #expect(try fold.entity(Self.key)?.pending.map(\.mayHaveArrived) == [true, false, true])
    }

    @Test func `is pending once the rest is accepted, and no part of the base`() throws {
        let (fold, call) = try Self.sent()

        try Self.accept(fold, call)

        let row = try #require(try fold.entity(Self.key))
        #expect(text(row.base) == #"{"title":"a","n":1}"#)
        #expect(row.pending.map { text($0.payload) } == [Self.photo])
        let outcomes = try (2...4).map { try fold.mutation($0)?.outcome }
        #expect(outcomes == [.accepted, nil, .accepted])
        #expect(
            text(row.document) == #"{"title":"a","n":1,"photo":{"sha256":"0f","bytes":2}}"#)
    }

    @Test func `is pending also where a list has the entity before the answer comes`() throws {
        let (fold, call) = try Self.sent()

        // Somebody else wrote the title: that of here stays, and its attempt goes on.
        try fold.apply([
            .about(
                .serverUpserted, "tasks/1", #"{"title":"b","n":1,"photo":null}"#, asOf: call)
        ])
        #expect(try fold.entity(Self.key)?.attempt != nil)
        try Self.accept(fold, call)

        let row = try #require(try fold.entity(Self.key))
        #expect(row.pending.map(\.position.rawValue) == [3] && row.attempt == nil)
        #expect(try fold.mutation(3)?.outcome == nil)
        // It goes with the next write, and is settled by that.
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 3)])
        #expect(try fold.entity(Self.key)?.pending.map(\.leftOut) == [[]])
        try fold.apply([
            .about(.pushAccepted, "tasks/1", mutation: 3, call: fold.last.rawValue)
        ])
        #expect(try fold.entity(Self.key)?.pending == [])
    }

    @Test func `goes by its new name where the model gave it one before the answer came`() throws {
        let (fold, call) = try Self.sent()
        try fold.apply([Self.model(.localWins, field: "picture")])

        try Self.accept(fold, call)

        let row = try #require(try fold.entity(Self.key))
        #expect(text(row.base) == #"{"title":"a","n":1}"#)
        #expect(row.pending.map(\.position.rawValue) == [3])
        #expect(text(row.document)?.contains(#""picture":{"sha256""#) == true)
    }

    @Test func `is only what the last edit of a field sets, and the edits before it are left out`()
        throws
    {
        let fold = MemoryFold()
        try fold.apply([Self.model(.localWins)])
        try fold.apply([.about(.localCreated, "tasks/1", #"{"title":"a"}"#)])
        for number in 1...9 {
            let text = #"{"set":{"photo":[{"sha256":"0\#(number)","bytes":2}]},"unset":[]}"#
            try fold.apply([.about(.localUpdated, "tasks/1", text)])
        }
        var tasks = CollectionModel("tasks", conflict: .localWins)
        tasks.contents = [ContentRule("/photo/*", upload: "/tasks/{id}/photos")]
        try fold.apply([.registered(SyncModel(name: "test", collections: [tasks]))])
        let covers = fold.last.rawValue - 1
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: covers)])
        let call = fold.last.rawValue

        let row = try #require(try fold.entity(Self.key))
        #expect(row.pending.map(\.isLeftOut) == Array(repeating: false, count: 9) + [true])
        #expect(!row.pending.filter(\.isOvertaken).isEmpty)
        try fold.apply([.about(.pushAccepted, "tasks/1", mutation: covers, call: call)])
        let left = try #require(try fold.entity(Self.key))
        #expect(left.pending.count == 1)
        let outcomes = try (3...10).map { try fold.mutation($0)?.outcome }
        #expect(outcomes.allSatisfy { $0 == .coalesced })
        #expect(fold.overtakenPlaces.isEmpty)
    }

    @Test func `stays taken away where a list tells which record of the server's it is of`() throws
    {
        let fold = MemoryFold()
        var tasks = CollectionModel("tasks", conflict: .serverWins)
        tasks.contents = [ContentRule("photo", upload: "/tasks/{id}/photos")]
        (tasks.ids, tasks.match) = (.serverNumber, ["title"])
        try fold.apply([.registered(SyncModel(name: "test", collections: [tasks]))])
        try fold.apply([.about(.localCreated, "tasks/1", #"{"title":"a","n":1}"#)])
        try fold.apply([.about(.localUpdated, "tasks/1", Self.photo)])
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: 3)])
        try fold.apply([
            .about(.localUpdated, "tasks/1", #"{"set":{"m":2},"unset":["photo"]}"#)
        ])

        try fold.apply([
            .about(
                .serverUpserted, "tasks/20", #"{"id":20,"title":"a","n":2,"photo":null}"#, asOf: 4)
        ])

        let row = try #require(try fold.entity(Self.key))
        #expect(row.baseState == .live && row.pending.map(\.position.rawValue) == [3, 5])
        #expect(text(row.document) == #"{"id":20,"title":"a","n":2,"m":2}"#)
    }
}
