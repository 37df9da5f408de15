// BindingTests.swift — ids that a server gives become aliases, and keys that are found to be one
// are merged, in whatever order their events come.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

/// A fold over projects that a server numbers, and entries that refer to them.
struct NumberedFold {
    let memory = MemoryFold()

    init(_ policy: ConflictPolicy = .localWins) throws {
        func numbered(_ name: CollectionName, _ references: [Reference] = []) -> CollectionModel {
            var collection = CollectionModel(
                name, conflict: policy, references: references)
            collection.ids = .serverNumber
            collection.match = ["name", "project"]
            return collection
        }
        let model = SyncModel(
            name: "numbers",
            collections: [
                numbered("projects"),
                numbered("entries", [Reference("project", to: "projects")]),
            ])
        try apply(.registered(model))
    }

    /// Folds an event; answers its position.
    @discardableResult
    func apply(_ event: Event) throws -> UInt64 {
        try memory.apply([event])
        return memory.last.rawValue
    }

    func row(_ key: String) throws -> EntityRow? { try memory.entity(try key.key) }

    /// The ids that an entity goes by.
    func ids(_ key: String) throws -> [String] { try memory.fold.ids(of: try key.key) }

    /// Sends what is pending on an entity up to a mutation; answers the position.
    @discardableResult
    func send(_ key: String, _ covers: UInt64) throws -> UInt64 {
        try apply(.about(.requestSent, key, "{}", mutation: covers))
    }

    /// Has a creation taken by the server under an id.
    func accept(_ key: String, _ covers: UInt64, call: UInt64, id: String) throws {
        try apply(
            .about(.pushAccepted, key, #"{"serverID":"\#(id)"}"#, mutation: covers, call: call))
    }

    /// The end of a list of entries that began at a position.
    func end(_ collection: CollectionName, asOf: UInt64) throws {
        try apply(
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: collection,
                asOf: Position(asOf), revision: Revision("1"), json: Array("{}".utf8)))
    }

    /// Takes note that asking for an entity failed.
    func failRead(_ key: String) throws {
        let call = try apply(.about(.requestSent, key, "{}"))
        try apply(
            .about(
                .requestAnswered, key, #"{"status":500,"failure":"server","concerns":"entity"}"#,
                call: call))
    }

    /// The ledger's rows under a letter.
    func ledger(_ letter: String) -> Int {
        memory.rows.keys.count { $0.tree == .ledger && $0.bytes.first == Array(letter.utf8)[0] }
    }
}

extension String {
    var key: EntityKey { get throws { try #require(EntityKey(self)) } }
}

@Suite struct `a server's id` {
    @Test func `becomes an alias, looked up in both directions`() throws {
        let fold = try NumberedFold()
        let made = try fold.apply(.about(.localCreated, "projects/p", #"{"name":"p"}"#))
        let call = try fold.send("projects/p", made)
        try fold.accept("projects/p", made, call: call, id: "13")

        #expect(try fold.ids("projects/p") == ["p", "13"])
        #expect(try fold.ids("projects/13") == ["p", "13"])
        #expect(fold.ledger("b") == 1 && fold.ledger("y") == 1 && fold.ledger("e") == 0)
    }

    @Test func `that comes anew is the last, and the one before still names the entity`() throws {
        let fold = try NumberedFold()
        let made = try fold.apply(.about(.localCreated, "projects/p", #"{"name":"p"}"#))
        try fold.accept("projects/p", made, call: try fold.send("projects/p", made), id: "13")
        let deleted = try fold.apply(.about(.serverDeleted, "projects/13"))
        #expect(deleted > 0)
        let again = try fold.apply(.about(.localCreated, "projects/p", #"{"name":"q"}"#))
        try fold.accept("projects/p", again, call: try fold.send("projects/p", again), id: "27")

        #expect(try fold.ids("projects/13") == ["p", "13", "27"])
        #expect(try fold.ids("projects/27") == ["p", "13", "27"])
    }
}

@Suite struct `a discarded edit of a reference that arrived` {
    @Test func `is no other side's change, however the reference is written`() throws {
        let fold = try NumberedFold(.serverWins)
        try fold.apply(.about(.serverUpserted, "projects/57", #"{"id":57}"#))
        try fold.apply(.about(.serverUpserted, "projects/58", #"{"id":58}"#))
        try fold.apply(.about(.serverUpserted, "entries/1", #"{"id":1,"project":57}"#))
        let edit = #"{"set":{"project":"58"},"unset":[]}"#
        try fold.send("entries/1", try fold.apply(.about(.localUpdated, "entries/1", edit)))
        try fold.apply(.about(.localDiscarded, "entries/1"))
        let later = #"{"set":{"project":"59"},"unset":[]}"#
        try fold.apply(.about(.localUpdated, "entries/1", later))
        try fold.apply(.about(.serverUpserted, "entries/1", #"{"id":1,"project":58}"#))

        #expect(try fold.row("entries/1")?.pending.map { text($0.payload) } == [later])
        #expect(fold.ledger("i") == 0)
    }
}

@Suite struct `two keys that are one entity` {
    /// A project that was made here and pulled before the answer, each with an edit.
    private func merge(_ body: (NumberedFold) throws -> Void = { _ in }) throws -> NumberedFold {
        let fold = try NumberedFold()
        let made = try fold.apply(.about(.localCreated, "projects/p", #"{"name":"p"}"#))
        let call = try fold.send("projects/p", made)
        // Another name, so that it is not recognised.
        let asOf = call + 1
        try fold.apply(.about(.syncFinished, "projects/x"))
        try fold.apply(
            .about(.serverUpserted, "projects/13", #"{"id":13,"name":"P","n":1}"#, asOf: asOf))
        #expect(try fold.row("projects/13") != nil)
        try body(fold)
        try fold.accept("projects/p", made, call: call, id: "13")
        return fold
    }

    @Test func `become the one that was made here, with the fresher base`() throws {
        let fold = try merge()

        #expect(try fold.row("projects/13") == nil)
        let row = try #require(try fold.row("projects/p"))
        #expect(text(row.document) == #"{"id":13,"name":"P","n":1}"#)
        #expect(row.pending == [] && row.attempt == nil && !row.isAssumed)
        #expect(try fold.ids("projects/13") == ["p", "13"])

        // The answer itself is older than what was pulled.
        try fold.apply(
            .about(.serverUpserted, "projects/13", #"{"id":13,"name":"p"}"#, mutation: 2, asOf: 3))
        #expect(try fold.row("projects/p") == row)
    }

    @Test func `are asked for by the one id only`() throws {
        let fold = try NumberedFold()
        try fold.apply(.about(.serverUpserted, "entries/20", #"{"id":20,"name":"a"}"#))
        try fold.failRead("entries/20")
        #expect(fold.ledger("z") == 1)
        let made = try fold.apply(.about(.localCreated, "entries/e", #"{"name":"b"}"#))
        let call = try fold.send("entries/e", made)

        try fold.accept("entries/e", made, call: call, id: "20")

        #expect(try fold.ids("entries/20") == ["e", "20"])
        #expect(fold.ledger("z") == 0)
    }

    @Test func `keep what is pending on either, in order`() throws {
        var edits: [UInt64] = []
        let fold = try merge { fold in
            for (key, name) in [("13", "a"), ("p", "b"), ("13", "c")] {
                edits.append(
                    try fold.apply(
                        .about(
                            .localUpdated, "projects/\(key)", #"{"set":{"\#(name)":1},"unset":[]}"#)
                    ))
            }
        }

        let row = try #require(try fold.row("projects/p"))
        #expect(row.pending.map(\.position.rawValue) == edits)
        #expect(text(row.document) == #"{"id":13,"name":"P","n":1,"a":1,"b":1,"c":1}"#)
        for edit in edits {
            #expect(try fold.memory.mutation(edit)?.key == "projects/p".key)
        }
    }

    @Test func `keep an attempt of the other one, whose answer still counts`() throws {
        var (edit, call): (UInt64, UInt64) = (0, 0)
        let fold = try merge { fold in
            edit = try fold.apply(
                .about(.localUpdated, "projects/13", #"{"set":{"n":2},"unset":[]}"#))
            call = try fold.send("projects/13", edit)
        }
        #expect(try fold.row("projects/p")?.attempt?.call == Position(call))

        try fold.apply(
            .about(.pushAccepted, "projects/13", "{}", mutation: edit, call: call))

        let row = try #require(try fold.row("projects/p"))
        #expect(row.pending == [] && row.attempt == nil)
        #expect(text(row.document) == #"{"id":13,"name":"P","n":2}"#)
        #expect(fold.ledger("u") == 0 && fold.ledger("e") == 0)
    }

    @Test func `hold what either was granted, also by names that are too long for a key`() throws {
        let fold = try NumberedFold()
        let action = "override-for-a-visit"
        var projects = CollectionModel(
            CollectionName(String(repeating: "c", count: CollectionName.bytesMax)))
        projects.actions = [.init(action, grants: .hours(2))]
        try fold.apply(.registered(SyncModel(name: "grants", collections: [projects])))
        let id = String(repeating: "1", count: EntityKey.idBytesMax)
        let (here, there) = ("\(projects.name)/p", "\(projects.name)/\(id)")
        try fold.apply(.about(.serverUpserted, there, #"{"name":"P"}"#))

        let asked = try fold.apply(
            .about(.localRequested, there, #"{"action":"\#(action)"}"#))
        let call = try fold.send(there, asked)
        try fold.apply(.about(.pushAccepted, there, "{}", mutation: asked, call: call))

        #expect(try fold.memory.fold.grant(action, of: there.key) != nil)
        #expect(try fold.memory.fold.grant("override", of: there.key) == nil)
        #expect(fold.memory.rows.keys.allSatisfy { $0.bytes.count <= RowKey.bytesMax })

        let made = try fold.apply(.about(.localCreated, here, #"{"name":"p"}"#))
        try fold.accept(here, made, call: try fold.send(here, made), id: id)

        #expect(try fold.memory.fold.resolve(there.key) == here.key)
        #expect(try fold.memory.fold.grant(action, of: here.key) != nil)
        #expect(fold.ledger("G") == 1)
    }

    @Test func `that were both made here and both got the same id are one`() throws {
        let fold = try NumberedFold()
        for key in ["projects/a", "projects/b"] {
            let made = try fold.apply(.about(.localCreated, key, #"{"name":"p"}"#))
            try fold.accept(key, made, call: try fold.send(key, made), id: "13")
        }

        #expect(try fold.row("projects/a") == nil)
        for id in ["a", "b", "13"] {
            #expect(Set(try fold.ids("projects/\(id)")) == ["a", "b", "13"])
            #expect(try fold.memory.fold.resolve("projects/\(id)".key) == "projects/b".key)
        }
        #expect(fold.ledger("y") == 1)
    }
}
