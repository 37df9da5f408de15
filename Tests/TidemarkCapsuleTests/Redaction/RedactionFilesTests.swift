// RedactionFilesTests.swift — what a log tells of files, redacted: counted as before.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `files in a redacted capsule` {
    private static let digest = String(repeating: "0f", count: 32)
    private static let name = "/files/\(digest)"
    private static let long = "/files/" + String(repeating: "x", count: 250)

    private func event(_ kind: EventKind, _ key: String, _ text: String) -> Event {
        Event(
            kind, recordedAt: Timestamp(milliseconds: 1_795_000_000_000), key: EntityKey(key),
            json: Array(text.utf8))
    }

    private func model() -> SyncModel {
        var tasks = CollectionModel("tasks")
        tasks.contents = [
            ContentRule("photo", quotaBytes: 10, upload: "/files/{sha256}"),
            ContentRule("/files/*/url"),
        ]
        return SyncModel(name: "m", collections: [tasks])
    }

    private var events: [Event] {
        let own = #"{"sha256":"\#(Self.digest)","bytes":5}"#
        return [
            event(.localCreated, "tasks/1", #"{"photo":\#(own),"title":"Tea"}"#),
            event(
                .assetStored, "tasks/1",
                AssetStored(digest: Self.digest, bytes: 5, .imported).text),
            event(
                .serverUpserted, "tasks/2",
                #"{"photo":17,"files":[{"url":"\#(Self.long)1"},{"url":"\#(Self.long)2"}]}"#),
            event(.assetWanted, "tasks/2", AssetWanted("/files/*/url", by: "gallery").text),
            event(.assetWanted, "tasks/2", AssetWanted("photo", by: "user").text),
            // Two name a file, and another one is refused, which is an issue.
            event(.serverUpserted, "tasks/4", #"{"photo":17,"files":[{"url":"\#(Self.long)2"}]}"#),
            event(
                .requestSent, "tasks/2",
                #"{"method":"GET","path":"\#(Self.long)1","fileSource":"\#(Self.long)1"}"#),
            event(.requestAnswered, "tasks/2", #"{"status":404,"fileResult":"refused"}"#),
            event(
                .assetStored, "tasks/2",
                AssetStored(
                    digest: String(repeating: "a", count: 64), bytes: 7, .download,
                    source: Self.long + "2"
                ).text),
            event(.assetUsed, "tasks/1", AssetUsed(digest: Self.digest).text),
            event(
                .requestSent, "tasks/1",
                #"{"method":"PUT","path":"\#(Self.name)","fileSHA256":"\#(Self.digest)"}"#),
            event(
                .requestAnswered, "tasks/1",
                #"{"status":201,"fileResult":"sent","fileName":"\#(Self.name)"}"#),
            event(.serverUpserted, "tasks/3", #"{"photo":\#(own)}"#),
            event(.serverDeleted, "tasks/2", ""),
            event(.timerFired, "tasks/1", TimerFired(.sweep, now: Timestamp(rawValue: 9)).text),
            event(
                .assetRemoved, "tasks/1",
                AssetRemoved(digest: String(repeating: "a", count: 64), .unused).text),
        ]
    }

    @Test func `are counted as before, whether rows or events tell of them`() async throws {
        let clock = ManualClock()
        try await Replica.withTemporary(
            model: model(), dependencies: .seeded(1, clock: clock)
        ) { replica in
            for event in events {
                try replica.journal.write(at: clock.now) { draft in
                    var event = event
                    if event.kind == .requestAnswered {
                        event.call = Position(draft.nextPosition.rawValue - 1)
                    }
                    if event.kind == .timerFired { (event.collection, event.entity) = (nil, nil) }
                    try draft.append(event)
                }
            }
            for last in 1...events.count {
                let capsule = try Capsule(
                    of: replica.journal, last: UInt64(last), build: "test",
                    scratch: RedactionSupport.scratch())
                for policy in [Redaction(), Redaction(names: [])] {
                    let redacted = try capsule.redactedByTool(policy)
                    #expect(try redacted.refolded() == redacted, "\(last)")
                    let held = redacted.everything
                    for secret in [Self.digest, Self.long, "gallery", "Tea"] {
                        #expect(held.firstRange(of: secret.utf8) == nil, "\(last): \(secret)")
                    }
                    #expect(redacted.events.count == capsule.events.count)
                }
            }
        }
    }
}

extension MemberPayload {
    fileprivate var text: String { String(decoding: encoded, as: UTF8.self) }
}
