// FoldReplayTests.swift — recorded events folded by today's rules, and where that differs.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a fold replay` {
    /// What the engine of then did: an answer settles whatever is pending by now.
    private func losesEdits(_ fold: Fold, _ event: Event, _ position: Position) throws {
        var event = event
        if event.kind == .pushAccepted { event.mutation = position }
        try fold.apply(event, at: position)
    }

    @Test func `of what today's rules made is the same`() throws {
        let report = try FoldReplay(try ReplayLog.editDuringPush().capsule()).report

        #expect(report.isSame)
        #expect(report.remarks == [])
        #expect(
            report.headline
                == "folded 8 events in 7 commits @1 to @8: the same (11 digests compared)")
    }

    @Test func `names the commit and the row at which a mended bug shows`() throws {
        let capsule = try ReplayLog.editDuringPush().capsule(apply: losesEdits)
        let report = try FoldReplay(capsule).report

        #expect(
            report.description == """
                folded 7 events in 6 commits @1 to @7: differs at @7 (10 digests compared)
                @7: the same events make another row today than when recorded
                  differs in tasks/t1 in view entities: status, base, pending; 2 other rows
                  recorded   synced, base @7, {"title":"milk"}
                  replayed   updated, base @7, pending @5, {"title":"milk"}
                  came from  @7 push.accepted tasks/t1
                             @4 request.sent tasks/t1 PUT /tasks/t1
                             @3 sync.started userRequested
                             @2 local.created tasks/t1 {"title":"tea"}
                  look at    tidemark show FILE @7
                             tidemark why FILE tasks/t1
                """)
    }

    @Test func `says the checksum of a recorded row that can't be guessed`() throws {
        let capsule = try ReplayLog.conflict().capsule { fold, event, position in
            var event = event
            if position == Position(4) { event.payload = Array(#"{"title":"wine"}"#.utf8) }
            try fold.apply(event, at: position)
        }
        let divergence = try #require(try FoldReplay(capsule).report.divergence)

        #expect(divergence.kind == .digest)
        #expect(divergence.position == Position(4))
        #expect(divergence.entity == EntityKey("tasks", "t1"))
        #expect(divergence.recorded?.hasPrefix("another row: its checksum was ") == true)
        #expect(
            divergence.replayed == #"synced, base @4, {"id":"t1","title":"beer","n":2}"#)
    }

    @Test func `names a row that is not made any more, and one that was not made`() throws {
        let without = try ReplayLog.editDuringPush().capsule { fold, event, position in
            if event.kind != .localUpdated { try fold.apply(event, at: position) }
        }
        let extra = try #require(try FoldReplay(without).report.divergence)
        #expect(extra.position == Position(5))
        #expect(extra.field?.hasPrefix("tasks/t1 in view entities") == true)

        var capsule = try ReplayLog.editDuringPush().capsule()
        let digests = capsule.commits[4].views
        capsule.commits[4].entries[0].event.kind = EventKind(rawValue: 9)
        capsule.commits[4].views = digests
        let missing = try #require(try FoldReplay(capsule).report.divergence)
        #expect(missing.position == Position(5))
        #expect(missing.field == "tasks/t1 in view entities; 1 other row")
        #expect(
            missing.replayed
                == "not written; it stays uploading, unknown to the server, pending @2, "
                + #"sent by @4, {"title":"tea"}"#)
    }

    @Test func `does not compare views of other rules, and says which`() throws {
        var capsule = try ReplayLog.editDuringPush().capsule(apply: losesEdits)
        let old: [UInt8] = [0, 1, 2, 3]
        for index in capsule.commits.indices {
            for place in capsule.commits[index].views.indices
            where capsule.commits[index].views[place].view == View.entities.rawValue {
                capsule.commits[index].views[place].fingerprint = old
            }
        }
        let report = try FoldReplay(capsule).report

        #expect(report.divergence?.field?.contains("in view outbox") == true)
        #expect(
            report.remarks == [
                "view entities was made by rules that are not known, today's is version "
                    + "\(View.entities.version): not compared"
            ])
    }

    @Test func `says how many commits have nothing to be compared with`() throws {
        var capsule = try ReplayLog.editDuringPush().capsule(apply: losesEdits)
        for index in capsule.commits.indices { capsule.commits[index].views = [] }
        let report = try FoldReplay(capsule).report

        #expect(report.isSame)
        #expect(report.remarks == ["7 commits without recorded digests: not compared"])
    }

    @Test func `tells where a fold can't go on`() throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        let report = try FoldReplay(capsule) { fold, event, position in
            if position == Position(7) { throw ReplayMistake("a damaged row") }
            try fold.apply(event, at: position)
        }.report

        let divergence = try #require(report.divergence)
        #expect(divergence.kind == .threw)
        #expect(divergence.position == Position(7))
        #expect(divergence.recorded == "push.accepted tasks/t1")
        #expect(divergence.replayed == "a damaged row")
        #expect(report.range?.upperBound == Position(5))
    }

    @Test(arguments: [(1, 1), (5, 5), (6, 5), (7, 6), (99, 7)] as [(UInt64, Int)])
    func `goes to a position, by whole commits`(_ through: UInt64, _ commits: Int) throws {
        let capsule = try ReplayLog.editDuringPush().capsule(apply: losesEdits)
        let report = try FoldReplay(capsule, through: Position(through)).report

        #expect(report.commits == min(commits, 6))
        #expect(report.isSame == (through < 7))
    }

    @Test(arguments: [nil, 1, 7, 40] as [UInt64?])
    func `of a part of a store goes on from the views before`(_ last: UInt64?) async throws {
        let model = SyncModel(name: "notes", collections: [CollectionModel("notes")])
        try await Replica.withTemporary(model: model) { replica in
            for number in 1...40 {
                try await replica.write { tx in
                    try tx.create(EntityKey("notes", "n\(number)"), Array(#"{"n":1}"#.utf8))
                    if number > 3 { try tx.delete(EntityKey("notes", "n\(number - 3)")) }
                }
            }
            let scratch = FileManager.default.temporaryDirectory
                .appending(path: UUID().uuidString).path(percentEncoded: false)
            defer { try? FileManager.default.removeItem(atPath: scratch) }
            let capsule = try Capsule(
                of: replica.journal, last: last, build: "test", scratch: scratch)
            let replay = try FoldReplay(capsule)

            #expect(replay.report.isSame)
            #expect(replay.report.digests > 0)
            #expect(replay.report.skipped == [])
            #expect(try replay.faults() == [])
        }
    }
}
