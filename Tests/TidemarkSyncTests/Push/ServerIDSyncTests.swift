// ServerIDSyncTests.swift — a server that numbers its entities: what is made here gets its number
// with the answer, and everything that refers to it is sent by it.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a server that numbers entities` {
    @Test func `PU-01, PU-07: what is made here is posted without an id and keeps its key`()
        async throws
    {
        let device = try NumberedDevice()
        try device.put("tags/a", #"{"id":"a","name":"tea","at":7}"#)

        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST tags"])
        #expect(device.server.document("tags/13") == #"{"name":"tea"}"#)
        #expect(try device.keys("tags") == ["a"])
        #expect(try device.status("tags/a") == .synced)
        #expect(try device.serverID("tags/a") == "13")
        #expect(try device.ids("tags/13") == ["a", "13"])
        #expect(try device.document("tags/13") == #"{"name":"tea"}"#)
        #expect(try await device.sync().counts.hasNews == false)
        try device.verify()
    }

    @Test func `an answer that does not say how the entity is now binds all the same`()
        async throws
    {
        let device = try NumberedDevice(adapter: NumberedAdapter(hidesStored: true))
        try device.put("entries/e", #"{"what":"tea"}"#)
        #expect(try await device.sync().isSynced)
        #expect(try device.serverID("entries/e") == "13")

        try device.patch("entries/e", #"{"what":"milk"}"#)
        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST entries", "PUT entries/13"])
        #expect(try device.keys("entries") == ["e"])
        try device.verify()
    }

    @Test func `references are sent as the server's numbers, in lists too, and also in edits`()
        async throws
    {
        let device = try NumberedDevice()
        device.server.make("workspaces", #"{"name":"theirs"}"#)
        try await device.sync()
        try device.put("workspaces/w", #"{"name":"mine"}"#)
        try device.put("tags/t", #"{"workspace":"w","name":"x"}"#)
        try device.put("tags/u", #"{"workspace":"13","name":"y"}"#)
        try device.put("projects/p", #"{"workspace":"w","name":"p"}"#)
        try device.put(
            "entries/e", #"{"workspace":"w","project":null,"tags":["t"],"start":1,"what":"z"}"#)
        try device.patch("entries/e", #"{"project":"p"}"#)

        #expect(try await device.sync().isSynced)
        try device.patch("entries/e", #"{"tags":["u","t"],"workspace":"w"}"#)
        #expect(try await device.sync().isSynced)

        #expect(
            device.server.writes == [
                "POST workspaces", "POST tags", "POST tags", "POST projects", "POST entries",
                "PUT entries/18",
            ])
        #expect(device.server.document("tags/15") == #"{"workspace":14,"name":"x"}"#)
        #expect(device.server.document("tags/16") == #"{"workspace":13,"name":"y"}"#)
        #expect(
            device.server.document("entries/18")
                == #"{"workspace":14,"project":17,"tags":[16,15],"start":1,"what":"z"}"#)
        #expect(try device.document("entries/e") == device.server.document("entries/18"))
        try device.verify()
    }

    @Test func `an update is sent whole, with the id as the number that it is`() async throws {
        let device = try NumberedDevice()
        device.server.make("entries", #"{"what":"tea","other":[1.0]}"#)
        try await device.sync()
        #expect(try device.keys("entries") == ["13"])
        try device.patch("entries/13", #"{"what":"milk"}"#)
        device.wire.tap { request, _, pass in
            #expect(request.method != .post)
            return await pass()
        }

        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["PUT entries/13"])
        #expect(device.server.document("entries/13") == #"{"what":"milk","other":[1.0]}"#)
        try device.verify()
    }

    @Test func `PU-03: what the server has is deleted by its number`() async throws {
        let device = try NumberedDevice()
        try device.put("entries/e", #"{"what":"tea"}"#)
        try await device.sync()
        try device.delete("entries/e")

        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST entries", "DELETE entries/13"])
        #expect(device.server.ids("entries") == [])
        #expect(try device.status("entries/e") == nil)
        try device.verify()
    }

    @Test func `PU-04, PU-22: what was deleted before it was sent is never sent`() async throws {
        let device = try NumberedDevice()
        try device.put("entries/e", #"{"what":"tea"}"#)
        try device.delete("entries/e")

        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == [])
        #expect(try device.mutations("entries/e") == ["annihilated", "annihilated"])
    }

    @Test func `a creation that is answered with 404 while it is deleted here is over`()
        async throws
    {
        let device = try NumberedDevice()
        try device.put("entries/e", #"{"what":"tea"}"#)

        try await device.sync(failing: "POST entries", status: 404) {
            try device.delete("entries/e")
        }

        #expect(try device.mutations("entries/e") == ["annihilated", "annihilated"])
        #expect(try device.outbox() == [])
        #expect(try device.problems() == [])
        try device.verify()
    }

    @Test func `PU-06: collections go in the model's order, and in each the oldest first`()
        async throws
    {
        let device = try NumberedDevice()
        device.server.make("preferences", #"{"format":1}"#, id: "me")
        try await device.sync()
        for key in ["entries/b", "entries/a", "projects/p", "tags/t", "workspaces/w"] {
            try device.put(key, #"{"name":"\#(key)"}"#)
        }
        try device.patch("preferences/me", #"{"format":2}"#)

        #expect(try await device.sync().isSynced)

        #expect(
            device.server.writes == [
                "POST workspaces", "PUT preferences/me", "POST tags", "POST projects",
                "POST entries", "POST entries",
            ])
        #expect(try device.serverID("entries/b") == "16" && device.serverID("entries/a") == "17")
        try device.verify()
    }

    @Test func `PU-08: what is edited while it is posted is put by its number after`()
        async throws
    {
        let device = try NumberedDevice()
        try device.put("entries/e", #"{"what":"tea"}"#)

        try await device.sync(failing: "POST entries", status: 200) {
            try device.patch("entries/e", #"{"what":"milk"}"#)
        }

        #expect(device.server.writes == ["POST entries", "PUT entries/13"])
        #expect(device.server.document("entries/13") == #"{"what":"milk"}"#)
        #expect(try device.status("entries/e") == .synced)
        #expect(try device.mutations("entries/e") == ["accepted", "accepted"])
        try device.verify()
    }

    @Test func `what is pulled may be referred to beside what was made here`() async throws {
        let device = try NumberedDevice()
        try device.put("tags/t", #"{"name":"tea"}"#)
        device.server.make("tags", #"{"name":"old"}"#)
        try await device.sync()
        try device.put("entries/e", #"{"tags":["13","t"]}"#)

        #expect(try await device.sync().isSynced)

        #expect(device.server.document("entries/15") == #"{"tags":[13,14]}"#)
        try device.verify()
    }
}

@Suite(.serialized) struct `what a model does not let be pushed` {
    @Test func `PU-28: is refused unsent, with the reason, and the rest goes on`() async throws {
        let device = try NumberedDevice()
        device.server.make("projects", #"{"name":"p"}"#)
        try await device.sync()
        try device.patch("projects/13", #"{"name":"q"}"#)
        try device.put("entries/e", #"{"project":"13"}"#)

        let outcome = try await device.sync()

        #expect(outcome.refused == 1 && outcome.failure == nil)
        #expect(device.server.writes == ["POST entries"])
        #expect(try device.status("projects/13") == .error)
        #expect(
            try device.problems()
                == ["projects/13 the model lets projects only be created, not updated here"])
        try device.verify()

        try device.discard("projects/13")
        #expect(try device.document("projects/13") == #"{"name":"p"}"#)
        #expect(try await device.sync().isSynced)
        #expect(device.server.writes == ["POST entries"])
    }

    @Test func `a creation that was edited before it was sent is one`() async throws {
        let device = try NumberedDevice()
        try device.put("projects/p", #"{"name":"p"}"#)
        try device.patch("projects/p", #"{"name":"q"}"#)

        #expect(try await device.sync().isSynced)

        #expect(device.server.document("projects/13") == #"{"name":"q"}"#)
    }

    @Test
    func `a deletion of what the server has is refused, and the entity comes back when it is`()
        async throws
    {
        let device = try NumberedDevice()
        device.server.make("projects", #"{"name":"p"}"#)
        try await device.sync()
        try device.delete("projects/13")

        #expect(try await device.sync().refused == 1)

        #expect(device.server.writes == [])
        #expect(try device.status("projects/13") == .error)
        try device.discard("projects/13")
        #expect(try device.status("projects/13") == .synced)
        try device.verify()
    }

    @Test func `preferences are only updated: neither made nor deleted`() async throws {
        let device = try NumberedDevice()
        try device.put("preferences/me", #"{"format":1}"#)

        #expect(try await device.sync().refused == 1)

        #expect(device.server.writes == [])
        #expect(
            try device.problems()
                == ["preferences/me the model lets preferences only be updated, not created here"])
    }
}

@Suite(.serialized) struct `a push answer while the user goes on` {
    private func preferences(
        _ edit: String?, _ body: (NumberedDevice) throws -> Void
    ) async throws {
        let device = try NumberedDevice()
        device.server.make("preferences", #"{"format":"a"}"#, id: "me")
        try await device.sync()
        try device.patch("preferences/me", #"{"format":"classic"}"#)
        try await device.sync(failing: "PUT", status: 200, times: 1) {
            if let edit { try device.patch("preferences/me", edit) }
        }
        try body(device)
        try device.verify()
    }

    @Test func `IC-01: is taken when nothing was edited meanwhile`() async throws {
        try await preferences(nil) { device in
            #expect(device.server.writes == ["PUT preferences/me"])
            #expect(try device.status("preferences/me") == .synced)
            #expect(try device.document("preferences/me") == #"{"format":"classic"}"#)
            try device.verify()
        }
    }

    @Test func `IC-02, IC-04: does not undo what was edited meanwhile, which is sent again`()
        async throws
    {
        try await preferences(#"{"format":"decimal"}"#) { device in
            #expect(device.server.writes == ["PUT preferences/me", "PUT preferences/me"])
            #expect(try device.document("preferences/me") == #"{"format":"decimal"}"#)
            #expect(device.server.document("preferences/me") == #"{"format":"decimal"}"#)
            #expect(try device.mutations("preferences/me") == ["accepted", "accepted"])
            try device.verify()
        }
    }
}
