// RadicaleConvergenceTests.swift — two replicas and a plain client of calendars.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real CalDAV server` {
    @Suite struct `replicas and a plain client of calendars` {
        @Test func `offline edits on two replicas and by one plain client end equal on all three`()
            async throws
        {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for story in RadicaleCase.all {
                    if let start = story.start { try await world.client.write(story.key, start) }
                }
                try await world.settle(a, b)

                for story in RadicaleCase.all {
                    for edit in story.a { try a.carryOut(edit, on: story.key) }
                    for edit in story.b { try b.carryOut(edit, on: story.key) }
                    switch story.client {
                    case .some(.some(let summary)):
                        try await world.client.write(story.key, summary)
                    case .some(nil): try await world.client.remove(story.key)
                    case nil: break
                    }
                }
                try await a.sync()
                try await b.sync()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                for story in RadicaleCase.all {
                    #expect(try await world.summary(story.key) == story.end, "\(story.key)")
                    #expect(
                        try a.mutations(story.key) == story.fatesOfA.map(\.rawValue), "\(story.key)"
                    )
                    #expect(
                        try b.mutations(story.key) == story.fatesOfB.map(\.rawValue), "\(story.key)"
                    )
                }
            }
        }

        @Test func `what the server makes of an item is what a replica holds, after one more pull`()
            async throws
        {
            try await RadicaleWorld.run { world in
                let a = try world.device("a")
                try a.write("tasks/t", "tea")
                let sent = try #require(try a.documents("tasks")["t"])
                try await a.sync()

                try await world.settle(a)

                try await world.expectEqual(a)
                #expect(try a.documents("tasks")["t"] != sent)
                #expect(try a.mutations("tasks/t") == ["accepted"])
                let writes = a.wire.lines.filter(\.isWrite)
                #expect(writes.map(\.method) == [.put])
            }
        }

        @Test(arguments: ["lists", "tasks"])
        func `what the server made of a write is no conflict with an edit made since`(
            _ collection: String
        ) async throws {
            try await RadicaleWorld.run { world in
                let a = try world.device("a")
                let key = "\(collection)/x"
                try a.write(key, "one")
                try await a.sync()
                try a.write(key, "two")

                try await world.settle(a)

                try await world.expectEqual(a)
                #expect(try await world.summary(key) == "two")
                #expect(try a.mutations(key) == ["accepted", "accepted"])
                #expect(try a.decisions(key) == [])
            }
        }

        @Test func `names that differ only in how an accent is written are two items`() async throws
        {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let names = ["caf%C3%A9", "cafe%CC%81"]
                for name in names {
                    let item = RadicaleItem(uid: name, summary: name)
                    try await world.client.put("tasks/\(name).ics", item.text)
                }
                try await world.settle(a, b)
                for device in [a, b] {
                    #expect(try device.replica.keys(in: "tasks").count == 2)
                }

                try await world.client.delete("tasks/\(names[1]).ics")
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
            }
        }

        @Test func `a sync with nothing new on either side is one small event`() async throws {
            try await RadicaleWorld.run { world in
                let a = try world.device("a")
                try a.write("tasks/t", "tea")
                try await world.settle(a)

                let before = try a.replica.read { $0.position }
                let outcome = try await a.sync()

                #expect(outcome.isSynced)
                #expect(try a.replica.read { $0.position } == before.next)
            }
        }

        @Test func `names that other clients chose keep their items apart, and can be edited`()
            async throws
        {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let names = [
                    "caf%C3%A9%20%26%3C.txt", "no-suffix", "%3Dtea.ics", "tea.ics", "UP.ICS",
                ]
                for (number, name) in names.enumerated() {
                    let item = RadicaleItem(uid: "u\(number)", summary: "s\(number)")
                    try await world.client.put("tasks/\(name)", item.text)
                }
                try await world.settle(a, b)
                try await world.expectEqual(a, b)
                let ids = try a.documents("tasks").keys.sorted()
                #expect(ids == ["==tea.ics", "=UP.ICS", "=café &<.txt", "=no-suffix", "tea"])

                try a.put("tasks/=café &<.txt", RadicaleItem(uid: "u0", summary: "a"))
                try a.put("tasks/==tea.ics", RadicaleItem(uid: "u2", summary: "a"))
                try b.delete("tasks/=no-suffix")
                try b.delete("tasks/tea")
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let items = try await world.client.items("tasks")
                #expect(
                    items.mapValues { RadicaleItem.summary(of: $0) }
                        == ["café &<.txt": "a", "=tea.ics": "a", "UP.ICS": "s4"])
            }
        }

        @Test func `an item that is changed and changed back hinders nobody`() async throws {
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                for key in ["tasks/t", "lists/l"] { try await world.client.write(key, "one") }
                try await world.settle(a, b)
                for key in ["tasks/t", "lists/l"] {
                    try await world.client.write(key, "two")
                    if key == "tasks/t" { try await b.sync() }
                    try await world.client.write(key, "one")
                    try a.write(key, "three")
                }

                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                for key in ["tasks/t", "lists/l"] {
                    #expect(try await world.summary(key) == "three")
                    #expect(try a.mutations(key) == ["accepted"])
                }
            }
        }

        @Test(arguments: ["one", nil], ["two", nil])
        func
            `a calendar that is brought back to its token's state is not taken for unchanged`(
                _ before: String?, _ written: String?
            ) async throws
        {
            guard before != nil || written != nil else { return }
            try await RadicaleWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                if let before { try await world.client.write("tasks/t", before) }
                try await world.settle(a, b)
                try a.carryOut(written, on: "tasks/t")
                try await a.sync()

                if let before {
                    try await world.client.write("tasks/t", before)
                } else {
                    try await world.client.remove("tasks/t")
                }
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                #expect(try await world.summary("tasks/t") == before)
            }
        }

        @Test func `what the server refuses waits alone, with its words`() async throws {
            try await RadicaleWorld.run { world in
                let a = try world.device("a")
                try await world.client.write("tasks/t", "tea")
                try await world.settle(a)
                try a.put("tasks/twin", RadicaleItem(uid: "tasks-t", summary: "the same UID"))
                try a.put("tasks/broken", #"{"data":"hello"}"#)
                try a.put("tasks/extra", #"{"data":"BEGIN:VCALENDAR","colour":"red"}"#)
                try a.write("tasks/good", "good")

                let outcome = try await a.sync()

                #expect(outcome.counts.rejected == 3)
                #expect(try await world.summary("tasks/good") == "good")
                for (key, words) in [
                    ("tasks/twin", "no-uid-conflict"), ("tasks/broken", "Bad Request"),
                    ("tasks/extra", "would lose \\\"colour\\\""),
                ] {
                    #expect(try a.mutations(key) == ["rejected"])
                    let payload = try #require(
                        try a.events(of: key).last { $0.event.kind == .pushRejected }?.event.payload
                    )
                    #expect(String(decoding: payload, as: UTF8.self).contains(words), "\(key)")
                    try a.write(key, "mended")
                }
                try await world.settle(a)
                try await world.expectEqual(a)
                #expect(try await world.summary("tasks/twin") == "mended")
            }
        }
    }
}

extension RealDevice {
    /// Makes or replaces an item, or deletes it.
    func carryOut(_ edit: String?, on key: String) throws {
        if let edit { try write(key, edit) } else { try delete(key) }
    }
}
