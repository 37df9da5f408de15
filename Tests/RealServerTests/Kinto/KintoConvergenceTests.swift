// KintoConvergenceTests.swift — two replicas and a plain client, edited apart, end equal.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkViews

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `replicas and a plain client on a real server` {
        @Test func `offline edits on two replicas and by one plain client end equal on all three`()
            async throws
        {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for story in KintoCase.all { try await world.begin(story) }
                try await world.settle(a, b)

                for story in KintoCase.all {
                    for edit in story.a { try a.edit(story.key, edit) }
                    for edit in story.b { try b.edit(story.key, edit) }
                    try await world.clientEdits(story)
                }
                try await a.sync()
                try await b.sync()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                for story in KintoCase.all {
                    let record = try await world.record(story.key)
                    #expect(
                        try record == story.end.map { try JSONValue(parsing: Array($0.utf8)) },
                        "\(story.key)")
                    #expect(
                        try a.mutations(story.key) == story.fatesOfA.map(\.rawValue), "\(story.key)"
                    )
                    #expect(
                        try b.mutations(story.key) == story.fatesOfB.map(\.rawValue), "\(story.key)"
                    )
                }
            }
        }

        @Test func `every conflict is kept with both sides and who won`() async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for story in KintoCase.all { try await world.begin(story) }
                try await world.settle(a, b)
                try a.patch("lists/same-field", #"{"title":"a"}"#)
                try b.patch("tasks/same-field", #"{"title":"b"}"#)
                try await world.client.put("lists/same-field", #"{"title":"c"}"#)
                try await world.client.put("tasks/same-field", #"{"title":"c"}"#)
                try await world.settle(a, b)

                #expect(try a.decisions("lists/same-field") == ["serverWins title"])
                #expect(try b.decisions("tasks/same-field") == ["localWins title"])
                #expect(try a.decisions("tasks/same-field") == [])
                try await world.expectEqual(a, b)
            }
        }

        @Test func `a sync with nothing new on either side is one small event`() async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                try a.put("lists/l", #"{"title":"l"}"#)
                try await world.settle(a)

                let before = try a.replica.read { $0.position }
                let outcome = try await a.sync()

                #expect(outcome.isSynced)
                #expect(try a.replica.read { $0.position } == before.next)
                try await world.expectEqual(a)
            }
        }

        @Test func `a store that is opened again with the same model logs nothing`() async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                try await world.settle(a)
                let before = try a.replica.read { $0.position }
                try await a.replica.close()

                let again = try world.device("a")

                #expect(try again.replica.read { $0.position } == before)
            }
        }

        @Test func `a server's bytes are kept as they came, whatever the answer they came in`()
            async throws
        {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                try await world.client.put(
                    "lists/l", #"{"é/\u0001":"ü\/😀","n":1.50,"big":1e30,"z":0}"#)
                try await world.settle(a, b)
                try a.patch("lists/l", #"{"z":1}"#)
                try b.patch("lists/l", #"{"y":2.0}"#)
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let text = try #require(try a.documents("lists")["l"])
                #expect(text.contains(#""n":1.5"#) && text.contains(#""z":1"#))
            }
        }
    }
}

extension KintoWorld {
    /// Puts what a story starts from on the server.
    func begin(_ story: KintoCase) async throws {
        switch story.start {
        case .nothing: break
        case .record(let json): try await client.put(story.key, json)
        case .tombstone:
            try await client.put(story.key, #"{"title":"gone"}"#)
            try await client.delete(story.key)
        }
    }

    func clientEdits(_ story: KintoCase) async throws {
        switch story.client {
        case .put(let json): try await client.put(story.key, json)
        case .delete: try await client.delete(story.key)
        case .patch, nil: break
        }
    }

    /// A record without what the server sets, or nil when there is none.
    func record(_ key: String) async throws -> JSONValue? {
        let key = try #require(EntityKey(key))
        guard let text = try await client.records(key.collection)[key.id] else { return nil }
        var object = try #require(try JSONValue(parsing: Array(text.utf8)).object)
        object["id"] = nil
        object["last_modified"] = nil
        object["schema"] = nil
        return .object(object)
    }
}

extension RealDevice {
    /// Who won each conflict about an entity, and which fields it was about.
    func decisions(_ key: String) throws -> [String] {
        try replica.read { store in
            var found: [String] = []
            try store.views.forEachDecision { _, decision in
                if decision.key.description == key {
                    found.append(([decision.result] + decision.fields).joined(separator: " "))
                }
                return true
            }
            return found
        }
    }
}
