// IssueReadingTests.swift — an open issue is found by the event that raised it.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an issue that is asked for` {
    /// The server refuses an edit of each of some tasks, and wins against another one.
    private func events(refused: Int) -> [Event] {
        var events: [Event] = [.model(.serverWins)]
        for id in 1...refused {
            let key = "tasks/\(id)"
            let last = UInt64(events.count)
            events += [
                .about(.serverUpserted, key, #"{"a":1}"#, asOf: last, revision: "1"),
                .about(.localUpdated, key, #"{"set":{"a":2},"unset":[]}"#),
                .about(.requestSent, key, "{}", mutation: last + 2),
                .about(.requestAnswered, key, #"{"status":400}"#, call: last + 3),
                .about(
                    .pushRejected, key, #"{"status":400,"message":"no"}"#, mutation: last + 2,
                    call: last + 3),
            ]
        }
        let last = UInt64(events.count)
        events += [
            .about(.serverUpserted, "lists/1", #"{"a":1}"#, asOf: last, revision: "1"),
            .about(.localUpdated, "lists/1", #"{"set":{"a":2},"unset":[]}"#),
            .about(.serverUpserted, "lists/1", #"{"a":3}"#, asOf: last + 2, revision: "2"),
        ]
        return events
    }

    @Test(arguments: [2, 40])
    func `is found without a look at all that waits`(_ refused: Int) throws {
        let memory = MemoryFold()
        let events = events(refused: refused)
        try memory.apply(events)
        let all = try memory.fold.issues()
        #expect(all.count == refused + 1)
        #expect(all.map(\.kind).last == .conflict)

        let before = memory.walked
        for issue in all {
            let key = events[Int(issue.position.rawValue) - 1].key
            let found = try memory.fold.issue(at: issue.position, index: issue.index, about: key)
            #expect(found == issue)
        }
        #expect(memory.walked == before)
    }

    @Test func `is none where it was answered, or never was`() throws {
        let store = try ScratchStore()
        for event in events(refused: 2) { try store.write(event) }
        try LogChecks(store: store, place: "issues").all()

        try store.journal.read { views in
            let issue = try #require(try views.issues().first)
            #expect(try views.issue(at: issue.position, index: 0) == issue)
            #expect(try views.issue(at: issue.position, index: 1) == nil)
            #expect(try views.issue(at: Position(1), index: 0) == nil)
            #expect(try views.issue(at: Position(1000), index: 0) == nil)
        }
        try store.write(.about(.localDiscarded, "tasks/1"))
        #expect(try store.journal.read { try $0.issue(at: Position(6), index: 0) } == nil)
    }
    @Test(arguments: [-1, 1, 255, 256, 65_535, 65_536, 65_537, Int.max, Int.min])
    func `is none by a number that no issue has`(_ index: Int) throws {
        let store = try ScratchStore()
        for event in events(refused: 1) { try store.write(event) }
        let issue = try #require(try store.journal.read { try $0.issues() }.last)
        #expect(issue.kind == .conflict && issue.index == 0)

        let found = try store.journal.read { try $0.issue(at: issue.position, index: index) }
        #expect(found == nil)
    }
}
