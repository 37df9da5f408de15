// NumericIDTests.swift — where the server gives numbers, what is made here has an id that is none.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

private struct Tag: Entity, Equatable {
    static let collection: CollectionName = "tags"
    let id: Tidemark.ID<Tag>
    var name: String
}

@Suite(.serialized) struct `an id that is a number` {
    private func key(_ id: String) -> EntityKey { EntityKey("tags", id) }
    private let document = Array(#"{"name":"mine"}"#.utf8)

    @Test(arguments: ["0", "7", "1000", "-5", "9223372036854775808"])
    func `is refused for what is made here`(_ id: String) throws {
        let device = try NumberedDevice()
        let before = try device.replica.position

        try device.replica.write { tx in
            expect(.invalidKey) { try tx.create(key(id), document) }
            expect(.invalidKey) { _ = try tx.put(key(id), document) }
            expect(.invalidKey) { try tx.create(Tag(id: Tidemark.ID(id), name: "mine")) }
            expect(.invalidKey) { try tx.save(Tag(id: Tidemark.ID(id), name: "mine")) }
        }

        #expect(try device.replica.position == before)
    }

    @Test func `says what to do`() throws {
        let device = try NumberedDevice()
        #expect {
            try device.replica.write { tx in _ = try tx.create(key("7"), document) }
        } throws: { error in
            guard let error = error as? TidemarkError else { return false }
            return error.key == key("7") && error.message.contains("makeID()")
        }
    }

    @Test(arguments: ["007", "1.5", "1e3", "7a", "+7", " 7", "-"])
    func `is none where no server gives such a one`(_ id: String) throws {
        let device = try NumberedDevice()
        try device.replica.write { tx in _ = try tx.create(key(id), document) }
        #expect(try device.keys("tags") == [id])
    }

    @Test func `stays fine where it names an entity that is known here`() async throws {
        let device = try NumberedDevice()
        let theirs = device.server.make("entries", #"{"what":"tea"}"#)
        try device.put("entries/e", #"{"what":"milk"}"#)
        #expect(try await device.sync().isSynced)
        let mine = try device.serverID("entries/e")

        try device.put("entries/\(theirs)", #"{"what":"green tea"}"#)
        try device.put("entries/\(mine)", #"{"what":"oat milk"}"#)
        try device.delete("entries/\(theirs)")
        try device.put("entries/\(theirs)", #"{"what":"tea again"}"#)

        #expect(try device.document("entries/e") == #"{"what":"oat milk"}"#)
        #expect(try device.document("entries/\(theirs)") == #"{"what":"tea again"}"#)
    }

    @Test func `is one as good as another where the server takes the ids of the app`() throws {
        try withReplica { replica in
            try replica.write { tx in
                _ = try tx.create(EntityKey("tasks", "7"), Array("{}".utf8))
            }
        }
    }
}
