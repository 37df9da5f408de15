// ShrinkTests.swift — the least part of a log that shows a failure.

import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `shrinking a log` {
    /// A store with other things, and in between the four events by which a task is refused.
    private func refused(seed: UInt64 = 7) throws -> (Capsule, [Position]) {
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: seed)
        let key = EntityKey.task("x")
        try maker.write(30, to: store)
        let created = try store.commit(.of(.localCreated, key, #"{"id":"x","title":"tea"}"#))
        try maker.write(30, to: store)
        let sent = try store.commit(
            .of(
                .requestSent, key, #"{"method":"PUT","covers":[\#(created.rawValue)]}"#,
                mutation: created))
        try maker.write(30, to: store)
        let rejected = try store.commit(
            .of(.requestAnswered, key, #"{"status":400}"#, call: sent),
            .of(.pushRejected, key, #"{"status":400}"#, call: sent, mutation: created))
        try maker.write(30, to: store)
        return (
            try store.capsule(),
            [created, sent, Position(rejected.rawValue - 1), rejected]
        )
    }

    private func positions(_ capsule: Capsule) -> [Position] {
        capsule.commits.flatMap(\.entries).map(\.position)
    }

    private func holds(_ predicate: StatePredicate, _ capsule: Capsule) throws -> Bool {
        var fold = CapsuleFold(capsule.base)
        for commit in capsule.commits { try fold.fold(commit.entries) }
        return try fold.read { try predicate.holds(in: $0) }
    }

    @Test(arguments: [7, 8, 9] as [UInt64])
    func `of four planted events just these are left`(_ seed: UInt64) throws {
        let (capsule, planted) = try refused(seed: seed)
        let result = try capsule.shrunk(to: .holds(try StatePredicate("tasks/x is error")))

        #expect(positions(result.capsule) == [Position(1), Position(2)] + planted)
        #expect(result.isMinimal)
        #expect(result.capsule.provenance.isShrunk)
        #expect(result.capsule.commits.count == 4)
    }

    @Test func `what is not named by the predicate is found as well`() throws {
        let (capsule, planted) = try refused()
        let result = try capsule.shrunk(to: .holds(try StatePredicate("refused > 1")))
        let all = try capsule.shrunk(
            to: .found { capsule in
                try self.holds(try StatePredicate("tasks/x is error"), capsule)
                    ? FailureSignature("exit 1") : nil
            })

        #expect(contradictions(in: result.capsule, of: capsule).isEmpty)
        #expect(result.capsule.commits.flatMap(\.entries).count <= 16)
        #expect(positions(all.capsule) == [Position(1), Position(2)] + planted)
    }

    @Test func `what was shrunk is as short as it gets`() throws {
        let (capsule, _) = try refused()
        let predicate = try StatePredicate("tasks/x is error and count(lists) > 1")
        let once = try capsule.shrunk(to: .holds(predicate))
        let twice = try once.capsule.shrunk(to: .holds(predicate))

        #expect(twice.capsule == once.capsule)
        for gone in positions(once.capsule).dropFirst(2) {
            var less = once.capsule
            for index in less.commits.indices {
                less.commits[index].entries.removeAll { $0.position == gone }
            }
            less.commits.removeAll { $0.entries.isEmpty }
            let canHappen = contradictions(in: less, of: once.capsule).isEmpty
            #expect(try !(canHappen && holds(predicate, less)), "without \(gone) it holds, too")
        }
    }

    @Test func `documents keep what matters of them`() throws {
        let store = try HistoryStore()
        try store.commit(
            .of(
                .serverUpserted, .task("x"),
                #"{"id":"x","note":"a long one","title":"tea","tags":["a","b","c"],"n":17}"#))
        let result = try store.capsule().shrunk(
            to: .holds(try StatePredicate(#"tasks/x.title == "tea" and tasks/x.tags exists"#)))

        let payload = try #require(result.capsule.commits.last?.entries.last?.event.payload)
        #expect(String(decoding: payload, as: UTF8.self) == #"{"id":"x","title":"tea","tags":[]}"#)
    }

    @Test func `of the rows that it begins with those that matter are left`() throws {
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: 3)
        try maker.write(40, to: store)
        let key = EntityKey.task("x")
        try store.commit(.of(.serverUpserted, key, #"{"id":"x","title":"old"}"#))
        try maker.write(40, to: store)
        let edit = try store.commit(.of(.localUpdated, key, #"{"set":{"title":"a"},"unset":[]}"#))
        try store.commit(.of(.serverUpserted, key, #"{"id":"x","title":"b"}"#))
        let capsule = try store.capsule(last: 2)
        let predicate = try StatePredicate("outcome(\(edit)) == superseded")
        let result = try capsule.shrunk(to: .holds(predicate))

        let entities = result.capsule.base.rows.filter { $0.key.tree == .rows }
        #expect(entities.map(\.key) == [.entity(key)])
        #expect(capsule.base.rows.filter { $0.key.tree == .rows }.count > 3)
        #expect(positions(result.capsule).count == 2)
        #expect(try holds(predicate, result.capsule))
    }

    @Test func `a log that does not show the failure is not shrunk`() throws {
        let (capsule, _) = try refused()
        #expect(throws: ShrinkError.passes(last: capsule.last)) {
            try capsule.shrunk(to: .holds(try StatePredicate("tasks/none exists")))
        }
        #expect(throws: ShrinkError.passes(last: capsule.last)) {
            try capsule.shrunk(to: .diverges())
        }
    }

    @Test func `cut short it gives the best so far`() throws {
        let (capsule, _) = try refused()
        let predicate = try StatePredicate("refused > 1")
        for tries in [12, 20, 40] {
            let result = try capsule.shrunk(to: .holds(predicate), triesMax: tries)
            #expect(result.tries <= tries)
            #expect(try holds(predicate, result.capsule))
        }
        var asked = 0
        #expect(throws: ShrinkError.stopped) {
            try capsule.shrunk(
                to: .holds(predicate),
                goesOn: {
                    asked += 1
                    return asked < 2
                })
        }
    }
}

@Suite struct `shrinking for a divergence` {
    /// A mistake of old: what a server said is taken however late it comes.
    private static func takesLatePages(
        _ fold: Fold, _ event: Event, _ position: Position
    ) throws {
        var event = event
        if event.kind == .serverUpserted, let key = event.key, let asOf = event.asOf,
            let known = try fold.entity(key).asOf
        {
            event.asOf = max(asOf, known)
        }
        try fold.apply(event, at: position)
    }

    private func recorded() throws -> (Capsule, Position) {
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: 11)
        try maker.write(20, to: store)
        let key = EntityKey.task("x")
        let deleted = try store.commit(.of(.serverDeleted, key))
        try maker.write(10, to: store)
        let late = try store.commit(
            .of(.serverUpserted, key, #"{"id":"x"}"#, asOf: Position(deleted.rawValue - 3)))
        try maker.write(10, to: store)
        return (try store.capsule(), late)
    }

    @Test func `the mistake is kept, with the fold that makes it at hand`() throws {
        let (capsule, _) = try recorded()
        let result = try capsule.shrunk(to: .diverges(recordedBy: Self.takesLatePages))

        let kinds = result.capsule.commits.flatMap(\.entries).map(\.event.kind)
        #expect(kinds == [.storeOpened, .modelRegistered, .serverDeleted, .serverUpserted])
        #expect(result.signature.description == "digest entities missing tasks")
        let today = try result.capsule.refolded()
        #expect(today.commits.dropLast() == result.capsule.commits.dropLast())
        #expect(today.commits.last != result.capsule.commits.last)
    }

    @Test func `the mistake is kept by what was recorded of it`() throws {
        let (capsule, late) = try recorded()
        let old = try capsule.refolded(apply: Self.takesLatePages)
        let result = try old.shrunk(to: .diverges())

        let entries = result.capsule.commits.flatMap(\.entries)
        #expect(entries.count <= 4)
        #expect(result.capsule.commits.last?.last == entries.last?.position)
        #expect(entries.contains { $0.position == late } || result.signature.position != late)
        let today = try result.capsule.refolded()
        #expect(today.commits.dropLast() == result.capsule.commits.dropLast())
        #expect(today.commits.last != result.capsule.commits.last)
        #expect(try result.capsule.shrunk(to: .diverges()).capsule == result.capsule)
    }

    @Test func `what was removed with the server's name is no divergence, and hides none`()
        async throws
    {
        let whole = try await SyncDevice.capsule(model: SyncWorld.paging(2).model) { recording in
            for number in 0..<5 {
                recording.world.server.put("lists/l\(number)", "{}")
                recording.world.server.put("tasks/t\(number)", "{}")
            }
            try await recording.mustSync()
        }
        let capsule = whole.withoutRemote()
        #expect(capsule.commits.flatMap(\.views).count < whole.commits.flatMap(\.views).count)
        #expect(try FoldReplay(capsule).report.divergence == nil)

        #expect(throws: ShrinkError.passes(last: capsule.last)) {
            try capsule.shrunk(to: .diverges())
        }

        var planted = capsule
        let entities = View.entities.rawValue
        let commit = try #require(
            planted.commits.lastIndex { $0.views.contains { $0.view == entities } })
        let view = try #require(
            planted.commits[commit].views.firstIndex { $0.view == entities })
        planted.commits[commit].views[view].digest[0] ^= 1
        let result = try planted.shrunk(to: .diverges())
        #expect(result.signature.description.hasPrefix("digest entities "))
    }
}

@Suite struct `shrinking logs of chance` {
    @Test(arguments: 1...12)
    func `what is left can have happened, and is true`(_ seed: Int) throws {
        let store = try HistoryStore(seed % 2 == 0 ? .serverWins : .localWins)
        var maker = HistoryMaker(seed: UInt64(seed))
        try maker.write(60, to: store)
        let last: UInt64? = seed % 3 == 0 ? 40 : nil
        let capsule = try store.capsule(last: last)
        for text in [
            "refused > 0", "pending > 2", "count(tasks) >= 3", "tasks/e1 missing and pending > 0",
            "tasks/e2.n == 3", "tasks/e4 is uploading", "not lists/e0 exists and lists/e3 exists",
        ] {
            let predicate = try StatePredicate(text)
            let result: ShrinkResult
            do { result = try capsule.shrunk(to: .holds(predicate)) } catch is ShrinkError {
                continue
            }
            let wrong = contradictions(in: result.capsule, of: capsule)
            #expect(wrong.isEmpty, "seed \(seed), \(text)")
            var fold = CapsuleFold(result.capsule.base)
            for commit in result.capsule.commits { try fold.fold(commit.entries) }
            #expect(try fold.read { try predicate.holds(in: $0) }, "seed \(seed), \(text)")
            let again = try result.capsule.shrunk(to: .holds(predicate))
            #expect(again.capsule == result.capsule, "seed \(seed), \(text)")
        }
    }
}
