// ReplicaTests.swift — reading and writing a store with documents.

import Dispatch
import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `writing documents` {
    private let key = EntityKey("tasks", "t1")

    @Test func `keeps the bytes of a new document as they came`() throws {
        try withReplica { replica in
            let json = "{ \"title\" :\t\"d\\u00e9j\\u00e0\",\n\"n\":1.0,\"id\":\"t1\"}"
            try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }

            #expect(try replica.text(key) == json)
            #expect(try replica.read { try $0.status(of: key) } == .created)
        }
    }

    @Test func `logs only the fields that differ`() throws {
        try withReplica { replica in
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"a":1,"b":2,"c":3}"#.utf8))
            }
            let written = try replica.write { tx in
                try tx.put(key, Array(#"{"c":4,"a":1.0,"d":null}"#.utf8))
            }
            let position = try #require(written)

            let event = try #require(
                try replica.journal.read { try $0.event(at: position) })
            #expect(event.kind == .localUpdated)
            #expect(
                String(decoding: event.payload, as: UTF8.self)
                    == #"{"set":{"c":4,"d":null},"unset":["b"]}"#)
            #expect(try replica.text(key) == #"{"a":1,"c":4,"d":null}"#)
        }
    }

    @Test(arguments: [
        #"{"a":1,"b":[1,{"x":null}]}"#, #"{ "b" : [1.0,{"x":null}], "a":1e0 }"#,
    ])
    func `logs nothing for an equal document`(_ same: String) throws {
        try withReplica { replica in
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"a":1,"b":[1,{"x":null}]}"#.utf8))
            }
            let position = try replica.position

            let written = try replica.write { tx in try tx.put(key, Array(same.utf8)) }
            let patched = try replica.write { tx in
                try tx.patch(key, Patch(settingAllOf: try JSONDocument(parsing: Array(same.utf8))))
            }

            #expect(written == nil && patched == nil)
            #expect(try replica.position == position)
        }
    }

    @Test func `takes the last of several values for one field`() throws {
        func field(_ name: String, _ json: String) -> Patch.Field {
            Patch.Field(name, Array(json.utf8))
        }
        try withReplica { replica in
            try replica.write { tx in _ = try tx.put(key, Array(#"{"a":1,"b":1}"#.utf8)) }
            let changed = try replica.write { tx in
                try tx.patch(
                    key, Patch(set: [field("a", "2"), field("b", "2"), field("a", "3")]))
            }
            let position = try #require(changed)
            let event = try #require(try replica.journal.read { try $0.event(at: position) })
            #expect(
                String(decoding: event.payload, as: UTF8.self)
                    == #"{"set":{"b":2,"a":3},"unset":[]}"#)
            #expect(try replica.text(key) == #"{"a":3,"b":2}"#)

            let same = try replica.write { tx in
                try tx.patch(
                    key, Patch(set: [field("a", "4"), field("a", "3")], unset: ["a"]))
            }
            #expect(same == nil)
            #expect(try replica.text(key) == #"{"a":3,"b":2}"#)
        }
    }

    @Test func `leaves alone what only the server sets`() throws {
        let world = SyncWorld()
        #expect(world.model["tasks"]?.serverFields == ["id", "last_modified"])
        try withReplica { replica in
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"id":"t1","last_modified":5,"a":1}"#.utf8))
            }

            let written = try replica.write { tx in try tx.put(key, Array(#"{"a":1}"#.utf8)) }

            #expect(written == nil)
            #expect(try replica.text(key) == #"{"id":"t1","last_modified":5,"a":1}"#)
        }
    }

    @Test func `a throw leaves nothing of the commit`() throws {
        struct Stop: Error {}
        try withReplica { replica in
            let position = try replica.position
            #expect(throws: Stop.self) {
                try replica.write { tx in
                    try tx.put(key, Array("{}".utf8))
                    try tx.put(EntityKey("lists", "l1"), Array("{}".utf8))
                    throw Stop()
                }
            }
            #expect(throws: TidemarkError.self) {
                try replica.write { tx in
                    try tx.put(key, Array("{}".utf8))
                    try tx.delete(EntityKey("tasks", "none"))
                }
            }

            #expect(try replica.position == position)
            #expect(try replica.text(key) == nil)
            #expect(try replica.read { try $0.outboxCount() } == 0)
        }
    }

    @Test func `a commit sees its own changes, and is one`() throws {
        try withReplica { replica in
            let commits = try replica.journal.stats().commits
            try replica.write { tx in
                try tx.put(key, Array(#"{"n":1}"#.utf8))
                #expect(
                    try tx.document(key).map { String(decoding: $0, as: UTF8.self) }
                        == #"{"n":1}"#)
                try tx.patch(key, Patch(set: [Patch.Field("n", Array("2".utf8))]))
                try tx.delete(key)
                #expect(try tx.document(key) == nil)
                try tx.create(key, Array(#"{"n":3}"#.utf8))
            }

            #expect(try replica.text(key) == #"{"n":3}"#)
            #expect(try replica.journal.stats().commits == commits + 1)
        }
    }

    @Test func `says what is wrong`() throws {
        try withReplica { replica in
            try replica.write { tx in _ = try tx.create(key, Array("{}".utf8)) }
            func write(_ body: sending (WriteContext) throws -> Void) throws {
                try replica.write { tx in try body(tx) }
            }
            let none = EntityKey("tasks", "none")
            let position = try replica.position

            expect(.alreadyExists) { try write { try $0.create(key, Array("{}".utf8)) } }
            expect(.notFound) { try write { try $0.delete(none) } }
            expect(.notFound) {
                try write { try $0.patch(none, Patch(set: [Patch.Field("n", Array("1".utf8))])) }
            }
            for text in ["[]", "1", "", "{", "{}x", #"{"a":1,"a":2}"#, "{\"a\":\u{0}}"] {
                expect(.invalidDocument) { try write { try $0.put(key, Array(text.utf8)) } }
                expect(.invalidDocument) { try write { try $0.create(none, Array(text.utf8)) } }
            }
            expect(.invalidDocument) {
                try write { try $0.patch(key, Patch(set: [Patch.Field("n", Array("{".utf8))])) }
            }
            expect(.noModel) {
                try write { try $0.put(EntityKey("unknown", "a"), Array("{}".utf8)) }
            }
            #expect(try replica.position == position)
        }
    }

    @Test(arguments: [
        EntityKey("tasks", ""), EntityKey("tasks", "a\u{0}b"), EntityKey("tasks", "a\nb"),
        EntityKey("", "a"), EntityKey("a/b", "c"),
        EntityKey("tasks", String(repeating: "é", count: 201)),
    ])
    func `refuses a key that can't name an entity`(_ key: EntityKey) throws {
        try withReplica { replica in
            expect(.invalidKey) {
                try replica.write { tx in _ = try tx.put(key, Array("{}".utf8)) }
            }
            expect(.invalidKey) { try replica.write { tx in _ = try tx.delete(key) } }
        }
    }

    @Test func `takes a key of the largest size`() throws {
        try withReplica { replica in
            let key = EntityKey("tasks", String(repeating: "é", count: 200))
            try replica.write { tx in _ = try tx.put(key, Array("{}".utf8)) }

            #expect(try replica.text(key) == "{}")
        }
    }

    @Test func `takes a document of any length up to a mebibyte, and not one byte more`() throws {
        func document(_ bytes: Int) -> [UInt8] {
            Array(#"{"t":""#.utf8) + Array(repeating: UInt8(ascii: "x"), count: bytes - 8)
                + Array("\"}".utf8)
        }
        try withReplica { replica in
            for bytes in [8, 2_000, 2_001, 2_020, 2_030, 4_080, 4_081, 1 << 20] {
                let key = EntityKey("tasks", "\(bytes)")
                try replica.write { tx in _ = try tx.put(key, document(bytes)) }

                let last = try replica.read { $0.position }
                let event = try replica.journal.read { try $0.event(at: last) }
                #expect(event?.payload == document(bytes))
                #expect(try replica.read { try $0.document(key) } == document(bytes))
            }
            #expect(try replica.journal.verify(.deep).findings == [])

            expect(.tooLarge) {
                try replica.write { tx in
                    _ = try tx.put(EntityKey("tasks", "t2"), document(1 << 20 + 1))
                }
            }
        }
    }
}

@Suite struct `reading` {
    @Test func `is of one point in time`() throws {
        try withReplica { replica in
            let key = EntityKey("tasks", "t1")
            try replica.write { tx in _ = try tx.put(key, Array(#"{"n":1}"#.utf8)) }
            try replica.read { context in
                let position = context.position
                try onAnotherThread {
                    try replica.write { tx in
                        try tx.put(key, Array(#"{"n":2}"#.utf8))
                        try tx.put(EntityKey("tasks", "t2"), Array("{}".utf8))
                    }
                }

                #expect(context.position == position)
                #expect(try context.document(key) == Array(#"{"n":1}"#.utf8))
                #expect(try context.document(EntityKey("tasks", "t2")) == nil)
                #expect(try context.outboxCount() == 1)
            }
            #expect(try replica.text(key) == #"{"n":2}"#)
        }
    }

    @Test func `walks by collection and id, without what is to be deleted, until told to stop`()
        throws
    {
        try withReplica { replica in
            try replica.write { tx in
                for id in ["b", "a", "c", "é", "B"] {
                    try tx.put(EntityKey("tasks", id), Array("{}".utf8))
                }
                try tx.put(EntityKey("lists", "l"), Array("{}".utf8))
                try tx.delete(EntityKey("tasks", "b"))
            }
            var keys: [String] = []
            try replica.read { context in
                try context.forEachDocument { key, _, status in
                    #expect(status == .created)
                    keys.append("\(key)")
                    return keys.count < 5
                }
            }

            #expect(keys == ["lists/l", "tasks/B", "tasks/a", "tasks/c", "tasks/é"])
        }
    }
}

@Suite struct `opening with a model` {
    @Test func `is refused by a code of its own where the remote can't be one`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let remote = Remote(origin: "https://me@kinto.test", adapter: "kinto")

        let error = #expect(throws: TidemarkError.self) {
            try Replica.open(at: folder / "store", model: SyncWorld.usualModel, remote: remote)
        }

        #expect(error?.code == .invalidModel)
        #expect(error?.message.hasPrefix("remote.origin: ") == true)
    }

    @Test func `and an engine by the same code`() throws {
        try withReplica { replica in
            let remote = Remote(origin: "https://x.test", adapter: "tuggl")
            expect(.invalidModel) {
                _ = try SyncEngine(replica, remote: remote, transport: SyncWorld().server) {
                    .bearer("secret")
                }
            }
        }
    }
}
