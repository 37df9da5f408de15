// RedecidePlantedTests.swift — one thing of a record is changed: the replay names it.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `a planted difference` {
    private func found(in capsule: Capsule) async throws -> Divergence? {
        let adapter = try SyncWorld.remote.makeAdapter()
        return try await decided(capsule.withoutDigests, adapter: adapter).divergence
    }

    /// Two pulls, an edit that is pushed, two that are pushed one after the other, nothing new.
    private func recorded() async throws -> Capsule {
        try await SyncDevice.capsule { recording in
            recording.world.server.put("lists/a", #"{"title":"home"}"#)
            try await recording.mustSync()
            try recording.patch("lists/a", #"{"title":"mine"}"#)
            try await recording.mustSync()
            recording.world.server.put("lists/b", #"{"title":"theirs"}"#)
            try recording.create("tasks/t1", #"{"title":"one"}"#)
            try recording.create("tasks/t2", #"{"title":"two"}"#)
            try await recording.mustSync()
            try await recording.mustSync()
        }
    }

    private static func isWrite(_ event: Event) -> Bool { event.mutation != nil }

    @Test(arguments: [
        ("records\\/a", "records\\/x", "payload.path"), ("push/", "push/9", "payload.rule"),
        ("\"mine\"", "\"yours\"", "payload.body.data.title"),
    ])
    func `in what is sent is named by its field`(
        _ old: String, _ new: String, _ field: String
    ) async throws {
        let capsule = try await recorded()
        let sent = try #require(capsule.last(.requestSent) { $0.entity == "a" })
        let old = old.replacing("\\", with: "")
        let planted = capsule.changing(sent.position) {
            $0.replace(old, new.replacing("\\", with: ""))
        }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.position == sent.position)
        #expect(divergence.kind == .different)
        #expect(divergence.field == field)
        #expect(divergence.recorded?.hasPrefix("request.sent lists/a PUT ") == true)
        #expect(divergence.replayed?.hasPrefix("request.sent lists/a PUT ") == true)
        #expect(divergence.causes.first?.position == sent.position)
        #expect(divergence.causes.count > 1)
    }

    @Test func `in what a write covers is named`() async throws {
        let capsule = try await recorded()
        let sent = try #require(capsule.last(.requestSent) { $0.entity == "a" })
        let edit = try #require(capsule.last(.localUpdated))
        let planted = capsule.changing(sent.position) {
            $0.replace("[\(edit.position.rawValue)]", "[\(edit.position.rawValue),99]")
        }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.position == sent.position)
        #expect(divergence.field == "payload.covers")
    }

    @Test func `in where a list goes on is named`() async throws {
        let capsule = try await recorded()
        let end = try #require(capsule.last(.pullCompleted))
        let planted = capsule.changing(end.position) { $0.revision = Revision("\"7\"") }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.position == end.position)
        #expect(divergence.kind == .different)
        #expect(divergence.field == "revision")
    }

    @Test func `in what a read asks is named`() async throws {
        let capsule = try await recorded()
        let sent = try #require(
            capsule.last(.requestSent) { $0.collection == "lists" && $0.entity == nil })
        let planted = capsule.changing(sent.position) { $0.replace("_since=", "_until=") }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.position == sent.position)
        #expect(divergence.kind == .different)
        #expect(divergence.field == "payload.path")
    }

    @Test func `a write that today's engine does not send is missing`() async throws {
        let capsule = try await recorded()
        let edit = try #require(capsule.last(.localUpdated))
        let sent = try #require(capsule.last(.requestSent) { $0.entity == "a" })
        let divergence = try #require(
            try await found(in: capsule.without { $0.position == edit.position }))
        #expect(divergence.position == sent.position)
        #expect(divergence.kind == .missing)
        #expect(divergence.recorded?.hasPrefix("request.sent lists/a PUT ") == true)
    }

    @Test func `a write that only today's engine sends is extra`() async throws {
        let capsule = try await recorded()
        let last = try #require(capsule.last(.requestSent) { $0.entity == "t2" })
        let before = try #require(capsule.last(.pushAccepted) { $0.entity == "t1" })
        let planted = capsule.without {
            $0.position == last.position || $0.event.call == last.position
        }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.kind == .extra)
        #expect(
            divergence.position >= before.position && divergence.position < last.position,
            "\(divergence)")
        #expect(divergence.replayed?.hasPrefix("request.sent tasks/t2 PUT ") == true)
    }

    @Test func `another order of writes is a difference in the first of them`() async throws {
        let capsule = try await recorded()
        let first = try #require(capsule.last(.requestSent) { $0.entity == "t1" })
        let second = try #require(capsule.last(.requestSent) { $0.entity == "t2" })
        let planted = capsule.changing(first.position) { $0 = second.event }
            .changing(second.position) { $0 = first.event }
        let divergence = try #require(try await found(in: planted))
        #expect(divergence.position == first.position)
        #expect(divergence.kind == .different)
        #expect(divergence.field == "entity")
    }

    @Test func `in a digest names the view`() async throws {
        var capsule = try await recorded()
        capsule.commits[2].views[0].digest[0] ^= 1
        let adapter = try SyncWorld.remote.makeAdapter()
        let divergence = try #require(try await decided(capsule, adapter: adapter).divergence)
        #expect(divergence.kind == .digest)
        #expect(divergence.position == capsule.commits[2].last)
    }
}
