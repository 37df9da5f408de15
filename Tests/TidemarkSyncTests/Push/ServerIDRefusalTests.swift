// ServerIDRefusalTests.swift — what a server that numbers entities refuses, and failures.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `a numbering server's errors` {
    /// A device with two entries that were edited, the first of which fails.
    private func fail(
        _ status: Int, _ body: (NumberedDevice, SyncOutcome) async throws -> Void
    ) async throws {
        let device = try NumberedDevice()
        device.server.make("entries", #"{"what":"a"}"#)
        device.server.make("entries", #"{"what":"b"}"#)
        try await device.sync()
        try device.patch("entries/13", #"{"what":"c"}"#)
        try device.patch("entries/14", #"{"what":"d"}"#)
        let outcome = try await device.sync(failing: "PUT entries/13", status: status)
        try await body(device, outcome)
        try device.verify()
    }

    @Test func `PU-13: a pause that is asked for stops the run, and both wait`() async throws {
        try await fail(429) { device, outcome in
            #expect(outcome.failure != nil && outcome.pending == 2)
            #expect(device.server.writes == ["PUT entries/13 lost"])
            #expect(try device.status("entries/13") == .updated)
            #expect(try device.status("entries/14") == .updated)

            #expect(try await device.sync().isSynced)
            #expect(device.server.documents("entries") == [#"{"what":"c"}"#, #"{"what":"d"}"#])
            try device.verify()
        }
    }

    @Test(arguments: [500, 503])
    func `PU-12: a failure is the one's own, and the other goes on`(_ status: Int) async throws {
        try await fail(status) { device, outcome async throws in
            #expect(outcome.failure == nil && outcome.pending == 1 && outcome.unsettled == 1)
            #expect(device.server.writes == ["PUT entries/13 lost", "PUT entries/14"])
            #expect(try device.status("entries/14") == .synced)

            #expect(try await device.sync().isSynced)
            #expect(device.server.documents("entries") == [#"{"what":"c"}"#, #"{"what":"d"}"#])
        }
    }

    @Test(arguments: [400, 402, 403, 404])
    func `PU-15, PU-16, PU-17: a refusal marks the one, and the other goes on`(_ status: Int)
        async throws
    {
        try await fail(status) { device, outcome in
            #expect(outcome.failure == nil && outcome.refused == 1)
            #expect(device.server.writes == ["PUT entries/13 lost", "PUT entries/14"])
            #expect(try device.status("entries/13") == .error)
            #expect(try device.status("entries/14") == .synced)
            #expect(try device.problems() == ["entries/13 \(status) no"])

            try device.retry("entries/13")
            #expect(try await device.sync().isSynced)
            #expect(device.server.document("entries/13") == #"{"what":"c"}"#)
        }
    }

    @Test func `PU-20: a row edited while it is refused is not marked, and is sent again`()
        async throws
    {
        let device = try NumberedDevice()
        device.server.make("entries", #"{"what":"a"}"#)
        try await device.sync()
        try device.patch("entries/13", #"{"what":"b"}"#)

        let outcome = try await device.sync(failing: "PUT", status: 400, times: 1) {
            try device.patch("entries/13", #"{"what":"c"}"#)
        }

        #expect(outcome.isSynced)
        #expect(device.server.writes == ["PUT entries/13 lost", "PUT entries/13"])
        #expect(try device.status("entries/13") == .synced)
        #expect(device.server.document("entries/13") == #"{"what":"c"}"#)
        try device.verify()
    }

    @Test func `entities that name each other are refused, and sent once that is mended`()
        async throws
    {
        var model = NumberedDevice.model
        model.collections[4].references.append(Reference("twin", to: "entries"))
        let device = try NumberedDevice(model: model)
        try device.put("entries/a", #"{"what":"a","twin":"b"}"#)
        try device.put("entries/b", #"{"what":"b","twin":"a"}"#)
        try device.put("entries/c", #"{"what":"c","twin":"c"}"#)

        let outcome = try await device.sync()

        #expect(outcome.refused == 3 && outcome.pending == 0)
        #expect(device.server.writes == [])

        for name in ["a", "c"] { try device.patch("entries/\(name)", #"{"twin":null}"#) }
        try device.retry("entries/b")
        #expect(try await device.sync().isSynced)
        // What is there waits for what it names, also where that names it.
        try device.patch("entries/a", #"{"twin":"d"}"#)
        try device.put("entries/d", #"{"what":"d","twin":"a"}"#)
        #expect(try await device.sync().isSynced)

        for (name, twin) in [("a", "d"), ("b", "a"), ("d", "a")] {
            let path = try "entries/" + device.serverID("entries/\(name)")
            let twin = try device.serverID("entries/\(twin)")
            #expect(device.server.document(path)?.contains(#""twin":\#(twin)"#) == true)
        }
        try device.verify()
    }

    @Test func `what names an entity on its way waits for it, also where that names it by now`()
        async throws
    {
        var model = NumberedDevice.model
        model.collections[4].references.append(Reference("twin", to: "entries"))
        let device = try NumberedDevice(model: model)
        try device.put("entries/a", #"{"what":"a"}"#)
        _ = try await device.sync(failing: "POST entries", reaches: true)
        try device.patch("entries/a", #"{"twin":"b"}"#)
        try device.put("entries/b", #"{"what":"b","twin":"a"}"#)

        #expect(try await device.engine.sync(scope: .push).refused == 0)
        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST entries", "POST entries", "PUT entries/13"])
        #expect(device.server.document("entries/13") == #"{"what":"a","twin":14}"#)
        #expect(device.server.document("entries/14") == #"{"what":"b","twin":13}"#)
        try device.verify()
    }

    @Test func `PU-23: a deletion of what is gone already is done`() async throws {
        let device = try NumberedDevice()
        device.server.make("entries", #"{"what":"a"}"#)
        try await device.sync()
        try device.delete("entries/13")

        let outcome = try await device.sync(failing: "DELETE", status: 404)

        #expect(outcome.isSynced)
        #expect(try device.status("entries/13") == nil)
        #expect(try device.mutations("entries/13") == ["accepted"])
        try device.verify()
    }

    @Test func `PU-24: a refused deletion marks the deletion, which is retried or given up`()
        async throws
    {
        for isRetried in [true, false] {
            let device = try NumberedDevice()
            device.server.make("entries", #"{"what":"a"}"#)
            try await device.sync()
            try device.delete("entries/13")

            let outcome = try await device.sync(failing: "DELETE", status: 403)

            #expect(outcome.refused == 1)
            #expect(try device.status("entries/13") == .error)
            #expect(try device.document("entries/13") == nil)
            #expect(try device.outbox() == ["entries/13 rejected"])
            if isRetried {
                try device.retry("entries/13")
                #expect(try await device.sync().isSynced)
                #expect(device.server.ids("entries") == [])
                #expect(try device.status("entries/13") == nil)
            } else {
                try device.discard("entries/13")
                #expect(try device.document("entries/13") == #"{"what":"a"}"#)
                #expect(try await device.sync().isSynced)
            }
            try device.verify()
        }
    }

    @Test(arguments: ["edit", "retry"])
    func `PU-25: what refers to a refused creation waits for it, until it is mended`(_ how: String)
        async throws
    {
        let device = try NumberedDevice()
        try device.put("workspaces/w", #"{"name":"w"}"#)
        try device.put("projects/p", #"{"workspace":"w","name":"p"}"#)
        try device.put("tags/t", #"{"workspace":"w","name":"t"}"#)
        try device.put("entries/e", #"{"project":"p","tags":["t"]}"#)
        try device.put("entries/f", #"{"tags":["t","u"]}"#)

        let outcome = try await device.sync(failing: "POST projects", status: 400)

        #expect(outcome.failure == nil && outcome.refused == 1 && outcome.pending == 1)
        #expect(
            device.server.writes
                == ["POST workspaces", "POST tags", "POST projects lost", "POST entries"])
        #expect(
            try device.outbox() == ["projects/p rejected", "entries/e blocked projects/p"])
        try device.verify()

        if how == "edit" {
            try device.patch("projects/p", #"{"name":"q"}"#)
        } else {
            try device.retry("projects/p")
        }
        #expect(try await device.sync().isSynced)
        let project = try #require(Int(try device.serverID("projects/p")))
        let tag = try #require(Int(try device.serverID("tags/t")))
        #expect(
            device.server.document("entries/\(try device.serverID("entries/e"))")
                == #"{"project":\#(project),"tags":[\#(tag)]}"#)
        try device.verify()
    }

    @Test func `a row on which the server chokes keeps no other waiting`()
        async throws
    {
        let device = try NumberedDevice()
        device.server.make("entries", #"{"what":"gone"}"#)
        try await device.sync()
        try device.put("tags/bad", #"{"name":"bad"}"#)
        try device.put("entries/e", #"{"what":"a"}"#)
        try device.delete("entries/13")

        for _ in 1...2 {
            let outcome = try await device.sync(failing: "POST tags", status: 500)
            #expect(outcome.failure == nil && outcome.unsettled == 1)
        }

        #expect(
            device.server.writes
                == ["POST tags lost", "POST entries", "DELETE entries/13", "POST tags lost"])
        #expect(try device.status("entries/e") == .synced)
        #expect(try await device.sync().isSynced)
        #expect(device.server.documents("tags") == [#"{"name":"bad"}"#])
        try device.verify()
    }
}

@Suite(.serialized) struct `a creation that was never answered` {
    /// A device whose posted entry got no answer.
    private func lose(
        reaches: Bool, status: Int = 0, _ body: (NumberedDevice) async throws -> Void
    ) async throws {
        let device = try NumberedDevice()
        try device.put("workspaces/w", #"{"name":"w"}"#)
        try await device.sync()
        try device.put("entries/e", #"{"workspace":"w","start":5,"what":"tea"}"#)
        device.server.clearWrites()

        let outcome = try await device.sync(
            failing: "POST entries", status: status, reaches: reaches)

        #expect(outcome.pending == 1 && outcome.unsettled == 1)
        #expect(try device.outbox() == ["entries/e unknown"])
        #expect(try device.status("entries/e") == .uploading)
        try await body(device)
        try device.verify()
    }

    @Test(arguments: [0, 500, 503, 408])
    func `is recognised in the next list, and not sent again`(_ status: Int) async throws {
        try await lose(reaches: true, status: status) { device in
            #expect(try await device.sync().isSynced)

            #expect(device.server.writes == ["POST entries"])
            #expect(try device.keys("entries") == ["e"])
            #expect(try device.serverID("entries/e") == "14")
            #expect(try device.mutations("entries/e") == ["accepted"])
            #expect(try device.status("entries/e") == .synced)
            #expect(try await device.sync().counts.hasNews == false)
            try device.verify()
        }
    }

    @Test(arguments: [0, 500, 503, 408])
    func `is sent again when the next list does not show it`(_ status: Int) async throws {
        try await lose(reaches: false, status: status) { device in
            #expect(try await device.sync().isSynced)

            #expect(device.server.writes == ["POST entries lost", "POST entries"])
            #expect(device.server.ids("entries") == ["14"])
            #expect(try device.keys("entries") == ["e"])
            try device.verify()
        }
    }

    @Test func `is sent again once though nothing new is in the list`() async throws {
        try await lose(reaches: false) { device in
            try device.restart()
            for _ in 1...2 {
                _ = try await device.sync(failing: "POST entries")
                #expect(try device.outbox() == ["entries/e unknown"])
            }
            #expect(try await device.sync().isSynced)
            #expect(device.server.ids("entries") == ["14"])
        }
    }

    @Test(arguments: [true, false])
    func `is settled by lists without a cursor, too`(_ reaches: Bool) async throws {
        let device = try NumberedDevice(adapter: NumberedAdapter(hidesCursor: true))
        try device.put("entries/e", #"{"start":5,"what":"tea"}"#)
        _ = try await device.sync(failing: "POST entries", reaches: reaches)

        #expect(try await device.sync().isSynced)

        #expect(device.server.ids("entries") == ["13"])
        #expect(try device.keys("entries") == ["e"])
        #expect(try await device.sync().counts.hasNews == false)
        try device.verify()
    }

    @Test func `waits while no list comes to its end`() async throws {
        try await lose(reaches: true) { device in
            for _ in 1...2 {
                _ = try await device.sync(failing: "GET entries", status: 500)
                #expect(try device.outbox() == ["entries/e unknown"])
            }
            #expect(device.server.writes == ["POST entries"])
            #expect(try await device.sync().isSynced)
            #expect(device.server.ids("entries") == ["14"])
        }
    }

    @Test func `keeps what was edited on top of it, which is sent by its number`() async throws {
        try await lose(reaches: true) { device in
            try device.patch("entries/e", #"{"what":"milk"}"#)
            #expect(try await device.sync().isSynced)

            #expect(device.server.writes == ["POST entries", "PUT entries/14"])
            #expect(
                device.server.document("entries/14")
                    == #"{"workspace":13,"start":5,"what":"milk"}"#)
            #expect(try device.keys("entries") == ["e"])
        }
    }

    @Test(arguments: [true, false])
    func `that was deleted since is deleted there when it is there`(_ reaches: Bool) async throws {
        try await lose(reaches: reaches) { device in
            try device.delete("entries/e")
            #expect(try await device.sync().isSynced)

            #expect(
                device.server.writes
                    == (reaches ? ["POST entries", "DELETE entries/14"] : ["POST entries lost"]))
            #expect(device.server.ids("entries") == [])
            #expect(try device.keys("entries") == [])
        }
    }

    @Test(arguments: [true, false])
    func `that was given up comes as the server's own when it is there`(_ reaches: Bool)
        async throws
    {
        try await lose(reaches: reaches) { device in
            try device.discard("entries/e")
            #expect(try await device.sync().isSynced)

            #expect(try device.keys("entries") == (reaches ? ["14"] : []))
            #expect(try device.outbox() == [])
        }
    }

    @Test func `is not taken for another one that differs in a field of the match`() async throws {
        try await lose(reaches: false) { device in
            device.server.make("entries", #"{"workspace":13,"start":6,"what":"tea"}"#)
            device.server.make("entries", #"{"workspace":12,"start":5,"what":"tea"}"#)
            #expect(try await device.sync().isSynced)

            #expect(try device.keys("entries") == ["14", "15", "e"])
            #expect(try device.serverID("entries/e") == "16")
            try device.verify()
        }
    }

    @Test func `is told from its twins in the order in which they were made`() async throws {
        try await lose(reaches: true) { device in
            try device.put("entries/f", #"{"workspace":"w","start":5,"what":"tea"}"#)
            _ = try await device.sync(failing: "POST entries", reaches: true)
            #expect(try await device.sync().isSynced)

            #expect(device.server.writes == ["POST entries", "POST entries"])
            #expect(try device.serverID("entries/e") == "14")
            #expect(try device.serverID("entries/f") == "15")
            #expect(try device.keys("entries") == ["e", "f"])
        }
    }

    @Test func `holds back what refers to it until it is known`() async throws {
        let device = try NumberedDevice()
        try device.put("projects/p", #"{"name":"p"}"#)
        try device.put("entries/e", #"{"project":"p"}"#)
        _ = try await device.sync(failing: "POST projects", reaches: true)
        #expect(device.server.writes == ["POST projects"])

        #expect(try await device.sync().isSynced)

        #expect(device.server.writes == ["POST projects", "POST entries"])
        #expect(device.server.document("entries/14") == #"{"project":13}"#)
        try device.verify()
    }

    @Test func `updates and deletions without an answer are settled by the list, too`()
        async throws
    {
        for (reaches, isDeletion) in [(true, true), (true, false), (false, true), (false, false)] {
            let device = try NumberedDevice()
            device.server.make("entries", #"{"what":"a","project":null}"#)
            try await device.sync()
            try device.put("projects/p", #"{"name":"p"}"#)
            try await device.sync()
            if isDeletion {
                try device.delete("entries/13")
            } else {
                try device.patch("entries/13", #"{"what":"b","project":"p"}"#)
            }
            let line = isDeletion ? "DELETE entries/13" : "PUT entries/13"
            device.server.clearWrites()
            _ = try await device.sync(failing: line, reaches: reaches)
            #expect(try device.outbox() == ["entries/13 unknown"])

            #expect(try await device.sync().isSynced)

            #expect(device.server.writes == (reaches ? [line] : ["\(line) lost", line]))
            #expect(try device.mutations("entries/13") == ["accepted"])
            #expect(try device.document("entries/13") == device.server.document("entries/13"))
            try device.verify()
        }
    }
}
