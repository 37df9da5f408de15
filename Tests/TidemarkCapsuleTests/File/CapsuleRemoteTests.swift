// CapsuleRemoteTests.swift — what a capsule leaves out of a store, and the one call of an app.

import Foundation
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `a capsule without its remote` {
    private func names(in capsule: Capsule) throws -> [String] {
        let content = String(
            decoding: try RawCapsule.content(try capsule.encoded), as: UTF8.self)
        return [CapsuleWorld.host, CapsuleWorld.account, "8888"].filter(content.contains)
    }

    @Test(arguments: [100_000, 40])
    func `names neither server nor account nor device`(_ last: Int) async throws {
        try await CapsuleWorld.with { world in
            let whole = try world.capsule(last: last)
            let capsule = whole.withoutRemote()
            let device = try #require(
                try world.replica.journal.read { try $0.fact("opened") }
                    .map { try JSONValue(parsing: $0.payload) }?["device"]?.stringValue)
            let content = String(
                decoding: try RawCapsule.content(try capsule.encoded), as: UTF8.self)

            #expect(try names(in: whole).count == 3)
            #expect(try names(in: capsule) == [])
            #expect(!content.contains(device))
            if last > 40 {
                #expect(content.contains("https://redacted.invalid/v1/buckets/b/collections/tasks"))
            }
            #expect(whole.provenance.namesRemote && !capsule.provenance.namesRemote)
            #expect(capsule.withoutRemote() == capsule)
        }
    }

    @Test func `tells one device from another, as values that were reserved go with the first one`()
        async throws
    {
        try await CapsuleWorld.with { world in
            let known = try #require(
                try world.replica.journal.read { try $0.fact("opened") }
                    .map { try JSONValue(parsing: $0.payload) }?.object)
            for device in ["other", "third", "other"] {
                var opened = known
                opened["device"] = .string(device)
                let payload = JSONValue.object(opened).encoded()
                try await world.replica.write { tx in
                    _ = try tx.draft.append(
                        Event(.storeOpened, recordedAt: tx.draft.now, json: payload))
                }
            }
            let capsule = try world.capsule().withoutRemote()
            let devices = capsule.commits.flatMap(\.entries)
                .filter { $0.event.kind == .storeOpened }
                .map { try? JSONValue(parsing: $0.event.payload)["device"]?.stringValue }
            #expect(devices == ["redacted", "redacted 2", "redacted 3", "redacted 2"])
        }
    }

    /// A capsule of a server at an origin, whose only answer that is kept has a body.
    private func capsule(at origin: String, _ body: String) async throws -> Capsule {
        try await CapsuleWorld.with { world in
            var capsule = try world.capsule()
            for (index, commit) in capsule.commits.enumerated() {
                for (place, entry) in commit.entries.enumerated() {
                    guard entry.event.kind == .modelRegistered else { continue }
                    let text = String(decoding: entry.event.payload, as: UTF8.self)
                        .replacing("http://\(CapsuleWorld.host):8888", with: origin)
                    capsule.commits[index].entries[place].event.payload = Array(text.utf8)
                }
            }
            var answer = KeptAnswer()
            answer.status = 200
            answer.body = Array(body.utf8)
            let position = try #require(capsule.answers.first?.position)
            capsule.answers = [Capsule.Answers(position: position, answers: [answer])]
            return capsule
        }
    }

    @Test(arguments: [
        (
            origin: "http://data", body: #"{"data":["data",{"next":"http://data/p2?q=data"}]}"#,
            nameless: #"{"data":["data",{"next":"https://redacted.invalid/p2?q=data"}]}"#
        ),
        (
            origin: "http://data:81", body: #"{"data":"http:\/\/data:81\/x http:\/\/data\/y"}"#,
            nameless: #"{"data":"https:\/\/redacted.invalid\/x http:\/\/redacted.invalid\/y"}"#
        ),
        (
            origin: "http://data", body: #"{"data":"http://database.example ://data.x"}"#,
            nameless: #"{"data":"http://database.example ://data.x"}"#
        ),
        (
            origin: "http://[::1]:81", body: #"{"data":["http://[::1]/x","[::1]:81"]}"#,
            nameless: #"{"data":["http://redacted.invalid/x","redacted.invalid"]}"#
        ),
    ])
    func `keeps an answer's document what it is, whatever the server is called`(
        _ expected: (origin: String, body: String, nameless: String)
    ) async throws {
        let capsule = try await capsule(at: expected.origin, expected.body).withoutRemote()
        let body = try #require(capsule.answers.first?.answers.first?.body)
        #expect(String(decoding: body, as: UTF8.self) == expected.nameless)
    }

    @Test func `has the same name in cursors and in the answers that they came with`() async throws
    {
        try await CapsuleWorld.with { world in
            let cursor = "http://\(CapsuleWorld.host):8888/sync/9"
            var whole = try world.capsule()
            for (index, commit) in whole.commits.enumerated() {
                for (place, entry) in commit.entries.enumerated()
                where entry.event.kind == .pullCompleted {
                    whole.commits[index].entries[place].event.revision = Revision(cursor)
                }
            }
            let body = #"{"token":"\#(cursor)","escaped":"http:\/\/\#(CapsuleWorld.host):8888\/"}"#
            whole.answers[0].answers[0].body = Array(body.utf8)

            let capsule = whole.withoutRemote()

            let cursors = capsule.commits.flatMap(\.entries).map(\.event)
                .filter { $0.kind == .pullCompleted }.map(\.revision)
            #expect(cursors.count > 1)
            #expect(Set(cursors) == [Revision("https://redacted.invalid/sync/9")])
            #expect(
                String(decoding: capsule.answers[0].answers[0].body, as: UTF8.self)
                    == #"{"token":"https://redacted.invalid/sync/9","#
                    + #""escaped":"https:\/\/redacted.invalid\/"}"#)
        }
    }

    @Test func `leaves answers and cursors as they are where a document names the server`()
        async throws
    {
        try await CapsuleWorld.with { world in
            var whole = try world.capsule()
            let index = try #require(
                whole.commits.firstIndex { commit in
                    commit.entries.contains { $0.event.kind == .serverUpserted }
                })
            let place = try #require(
                whole.commits[index].entries.firstIndex { $0.event.kind == .serverUpserted })
            whole.commits[index].entries[place].event.payload = Array(
                #"{"uid":"1@\#(CapsuleWorld.host)"}"#.utf8)

            let capsule = whole.withoutRemote()

            let (before, after) = (
                whole.answers.flatMap(\.answers), capsule.answers.flatMap(\.answers)
            )
            #expect(after.map(\.body) == before.map(\.body))
            #expect(after.map(\.fields) == before.map(\.fields))
            #expect(!after.contains { $0.detail.contains(CapsuleWorld.host) })
            let kept = try #require(
                capsule.commits.flatMap(\.entries).last { $0.event.kind == .modelRegistered })
            #expect(
                !String(decoding: kept.event.payload, as: UTF8.self).contains(CapsuleWorld.host))
        }
    }

    @Test(arguments: [100_000, 40])
    func `has the digests of what is in it, and all others as they were`(_ last: Int) async throws {
        try await CapsuleWorld.with { world in
            let whole = try world.capsule(last: last)
            #expect(try whole.refolded() == whole)
            let capsule = whole.withoutRemote()
            let refolded = try capsule.refolded()
            var runs = 0
            for index in capsule.commits.indices {
                let views = capsule.commits[index].views
                let missing = refolded.commits[index].views.filter { !views.contains($0) }
                let open = [View.syncRuns.rawValue, View.watermarks.rawValue]
                #expect(missing.allSatisfy { open.contains($0.view) })
                #expect(views.count + missing.count == whole.commits[index].views.count)
                runs += missing.count { $0.view == View.syncRuns.rawValue }
            }
            #expect(runs == 1)
        }
    }

    @Test func `keeps what differs from today's rules`() async throws {
        try await CapsuleWorld.with { world in
            var whole = try world.capsule()
            let store = try #require(
                whole.commits[0].views.firstIndex { $0.view == View.store.rawValue })
            let other = whole.commits[0].views.indices.first { $0 != store } ?? store
            whole.commits[0].views[store].digest[0] ^= 1
            whole.commits[0].views[other].fingerprint[0] ^= 1
            let capsule = whole.withoutRemote()
            #expect(capsule.commits[0].views == whole.commits[0].views)
        }
    }

    @Test func `is what an app writes, unless it asks for all`() async throws {
        try await CapsuleWorld.with { world in
            let path = scratchPath()
            try await world.replica.writeCapsule(
                to: path, last: 30, note: "the tea came back", redaction: nil)
            let capsule = try Capsule(file: path)
            try FileManager.default.removeItem(atPath: path)

            #expect(try names(in: capsule) == [])
            #expect(capsule.provenance.note == "the tea came back")
            #expect(capsule.provenance.build == Replica.version)
            #expect((30...45).contains(capsule.commits.flatMap(\.entries).count))
            let bytes = try await world.replica.capsule(namesRemote: true, redaction: nil)
            #expect(try Capsule(parsing: bytes) == (try world.capsule()))
        }
    }

    @Test func `can't be written where there is no folder`() async throws {
        try await CapsuleWorld.with { world in
            let path = scratchPath() + "/none/a.capsule"
            #expect(throws: TidemarkError.self) {
                try world.replica.writeCapsule(to: path, redaction: nil)
            }
        }
    }

    @Test func `has the words of whoever reports, but nothing that a terminal takes as a command`()
        async throws
    {
        try await CapsuleWorld.with { world in
            for (note, kept) in [
                ("a\tb\r\nc\rd", "a b\nc\nd"),
                ("👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌روم \u{200E}שלום soft\u{AD}ly", nil),
                ("\u{1B}[2J \u{202E}evil\u{2069}", " [2J  evil "),
            ] {
                let capsule = try await Capsule(
                    parsing: world.replica.capsule(note: note, redaction: nil))
                #expect(Array(capsule.provenance.note.utf8) == Array((kept ?? note).utf8))
            }
        }
    }

    @Test(arguments: ["http://server:8080", "http://app", "http://sync.example.com"])
    func `has Tidemark's own sentences as they were, whatever the server is called`(
        _ origin: String
    ) async throws {
        let sentences = [
            "the server can't be reached (", "the server failed with 503", "app server",
        ]
        for sentence in sentences {
            var capsule = try await capsule(at: origin, "{}")
            let host = String(origin.dropFirst(7).prefix { $0 != ":" })
            let said = sentence.hasSuffix("(") ? sentence + "no route to \(host))" : sentence
            var finished = 0
            for (index, commit) in capsule.commits.enumerated() {
                for (place, entry) in commit.entries.enumerated()
                where entry.event.kind == .syncFinished {
                    var object = try JSONValue(parsing: entry.event.payload).object ?? [:]
                    object["detail"] = .string(said)
                    capsule.commits[index].entries[place].event.payload =
                        JSONValue.object(object).encoded()
                    finished += 1
                }
            }
            try #require(finished > 0)
            for event in capsule.withoutRemote().commits.flatMap(\.entries).map(\.event)
            where event.kind == .syncFinished {
                let detail = try JSONValue(parsing: event.payload)["detail"]?.stringValue
                #expect(
                    detail == said.replacing("to \(host)", with: "to redacted.invalid"))
            }
        }
    }

    @Test(arguments: [
        (
            said: "failed (target: [IPv4]sync.example.com/192.0.2.7:8443, error: no (errno: 111))",
            nameless: "failed (target: [IPv4]redacted.invalid, error: no (errno: 111))"
        ),
        (
            said: "target: [IPv6]2001:db8::7:8443), target: [IPv4]192.0.2.7:8443",
            nameless: "target: [IPv6]redacted.invalid), target: [IPv4]redacted.invalid"
        ),
        (
            said: "no connection to sync.example.com port 8443 after 2 ms",
            nameless: "no connection to redacted.invalid port 0 after 2 ms"
        ),
        (
            said: "to https://sync.example.com, as the server wants https: give its address so",
            nameless: "to https://redacted.invalid, as the server wants https: give its address so"
        ),
        (
            said: "to http://www.example.com:8080",
            nameless: "to http://redacted.invalid"
        ),
        (
            said: "unknown for host sync.example.com, port 8443",
            nameless: "unknown for host redacted.invalid, port 0"
        ),
    ])
    func `has no address in numbers that a client wrote down of the server`(
        _ expected: (said: String, nameless: String)
    ) async throws {
        var capsule = try await capsule(at: "http://sync.example.com:8443", "{}")
        capsule.answers[0].answers[0].detail = expected.said
        var finished = 0
        for (index, commit) in capsule.commits.enumerated() {
            for (place, entry) in commit.entries.enumerated()
            where entry.event.kind == .syncFinished {
                var object = try JSONValue(parsing: entry.event.payload).object ?? [:]
                object["detail"] = .string("the server can't be reached (\(expected.said))")
                capsule.commits[index].entries[place].event.payload =
                    JSONValue.object(object).encoded()
                finished += 1
            }
        }
        try #require(finished > 0)

        let nameless = capsule.withoutRemote()

        #expect(nameless.answers.first?.answers.first?.detail == expected.nameless)
        for event in nameless.commits.flatMap(\.entries).map(\.event)
        where event.kind == .syncFinished {
            let detail = try JSONValue(parsing: event.payload)["detail"]?.stringValue
            #expect(detail == "the server can't be reached (\(expected.nameless))")
        }
    }

    @Test func `is of one moment while a writer goes on`() async throws {
        try await Replica.withTemporary(model: CapsuleWorld.model) { replica in
            let isDone = Mutex(false)
            async let written = Task {
                for number in 0..<400 where !isDone.withLock({ $0 }) {
                    try await replica.write { tx in
                        try tx.create(EntityKey("lists", "l\(number)"), Array("{}".utf8))
                        try tx.create(EntityKey("tasks", "t\(number)"), Array("{}".utf8))
                    }
                }
            }.value
            var last = Position.start
            for round in 0..<12 {
                let bytes = try await replica.capsule(
                    last: round % 2 == 0 ? 100_000 : 7, redaction: nil)
                let capsule = try Capsule(parsing: bytes)
                #expect(try capsule.refolded() == capsule)
                #expect(capsule.last >= last)
                #expect(capsule.last == capsule.provenance.last)
                last = capsule.last
            }
            isDone.withLock { $0 = true }
            try await written
        }
    }
}
