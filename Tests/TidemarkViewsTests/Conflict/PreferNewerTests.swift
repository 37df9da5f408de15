// PreferNewerTests.swift — the newer side wins: the cases of Toggl's resolver, by their ids, and
// the times that a server's field may hold.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

/// A case of the resolver: what is here, what the server says, and what then is here.
struct PreferNewerCase: Sendable, CustomTestStringConvertible {
    enum Here: Sendable { case nothing, synced, edited, refused, deleted }
    enum End: Sendable { case created, nothing, gone, servers, local }

    var id: String
    var here: Here
    var editedAt = "2017-09-01T12:00:00.000Z"
    var serverAt = "2017-09-01T12:00:00.000Z"
    var isDeletedThere = false
    var margin = 5
    var end: End
    var testDescription: String { id }

    static let all = [
        PreferNewerCase(id: "PN-01", here: .nothing, end: .created),
        PreferNewerCase(id: "PN-02", here: .nothing, isDeletedThere: true, end: .nothing),
        PreferNewerCase(id: "PN-03", here: .synced, isDeletedThere: true, end: .gone),
        PreferNewerCase(
            id: "PN-04", here: .edited, editedAt: "2017-09-01T15:00:00.000Z",
            isDeletedThere: true, end: .gone),
        PreferNewerCase(
            id: "a synced row takes whatever comes", here: .synced,
            serverAt: "2017-09-01T11:00:00.000Z", end: .servers),
        PreferNewerCase(
            id: "PN-07", here: .edited, serverAt: "2017-09-01T12:00:04.999Z", end: .local),
        PreferNewerCase(
            id: "PN-08", here: .edited, serverAt: "2017-09-01T12:00:05.000Z", end: .servers),
        PreferNewerCase(
            id: "PN-09", here: .edited, serverAt: "2017-09-01T12:00:05.001Z", end: .servers),
        PreferNewerCase(id: "PN-10", here: .edited, margin: 0, end: .servers),
        PreferNewerCase(
            id: "a server older by a millisecond", here: .edited,
            serverAt: "2017-09-01T11:59:59.999Z", margin: 0, end: .local),
        PreferNewerCase(
            id: "PN-12", here: .edited, serverAt: "2017-09-01T12:00:00.500Z", margin: 0,
            end: .servers),
        PreferNewerCase(
            id: "PN-14", here: .refused, serverAt: "2017-09-01T12:00:06.000Z", end: .servers),
        PreferNewerCase(
            id: "PN-15", here: .deleted, editedAt: "2017-09-01T12:10:00.000Z", end: .local),
        PreferNewerCase(
            id: "PN-16", here: .deleted, editedAt: "2017-09-01T12:10:00.000Z",
            serverAt: "2017-09-01T12:20:00.000Z", end: .servers),
    ]
}

@Suite struct `the newer side` {
    private let key = EntityKey("tasks", "1")

    @Test(arguments: PreferNewerCase.all)
    func `wins as in Toggl's resolver`(_ story: PreferNewerCase) throws {
        let fold = MemoryFold()
        try fold.apply([.model(.preferNewer(field: "at", margin: .seconds(story.margin)))])
        if story.here != .nothing {
            try fold.apply([.about(.serverUpserted, "tasks/1", #"{"a":1,"at":"x"}"#, asOf: 1)])
        }
        var edit = Event.about(.localUpdated, "tasks/1", #"{"set":{"a":2},"unset":[]}"#)
        if story.here == .deleted { edit = .about(.localDeleted, "tasks/1") }
        edit.serverTime = RFC3339.parse(story.editedAt)
        switch story.here {
        case .nothing, .synced: break
        case .edited, .deleted: try fold.apply([edit])
        case .refused:
            try fold.apply([
                edit,
                .about(.requestSent, "tasks/1", "{}", mutation: 3),
                .about(.pushRejected, "tasks/1", #"{"status":400}"#, mutation: 3, call: 4),
            ])
        }

        try fold.apply([
            story.isDeletedThere
                ? .about(.serverDeleted, "tasks/1", asOf: 9)
                : .about(
                    .serverUpserted, "tasks/1", #"{"a":3,"at":"\#(story.serverAt)"}"#, asOf: 9)
        ])

        let row = try #require(try fold.entity(key))
        let document = row.document.flatMap { try? JSONDocument(parsing: $0) }
        switch story.end {
        case .created, .servers:
            #expect(document?.value("a") == 3)
            #expect((row.pending, row.status, row.refusal) == ([], .synced, nil))
            if story.here != .nothing, story.here != .synced {
                #expect(try fold.mutation(3)?.outcome == .superseded)
            }
        case .gone, .nothing: #expect((row.document, row.pending) == (nil, []))
        case .local where story.here == .deleted:
            #expect((row.document, row.status) == (nil, .deleted))
        case .local: #expect(document?.value("a") == 2 && row.pending.count == 1)
        }
        #expect(row.baseState == (story.isDeletedThere ? .deleted : .live))
    }

    @Test func `an edit whose time nobody knows loses, and so does one to a server without a time`()
        throws
    {
        let policy = ConflictPolicy.preferNewer(field: "at", margin: .seconds(86_400))
        var known = PendingChange.update(1, #"{"a":2}"#)
        known.editedAt = Timestamp(milliseconds: 1_000_000)
        let unknown = PendingChange.update(1, #"{"a":2}"#)
        func verdict(_ change: PendingChange, _ server: String) -> Verdict {
            Rebase([change], from: .live(#"{"a":1}"#), to: .live(server), policy).verdicts[0]
        }

        #expect(verdict(known, #"{"a":3,"at":1000}"#) == .stays)
        #expect(verdict(unknown, #"{"a":3,"at":1000}"#) == .superseded)
        for at in [#""soon""#, "null", "0", "[1000]", #""1000""#, "1e400"] {
            #expect(verdict(known, #"{"a":3,"at":\#(at)}"#) == .superseded, "\(at)")
        }
        #expect(verdict(known, #"{"a":3}"#) == .superseded)
    }

    @Test func `each change goes by its own time`() {
        var (early, late) = (
            PendingChange.update(1, #"{"a":2}"#), PendingChange.update(2, #"{"b":2}"#)
        )
        early.editedAt = Timestamp(milliseconds: 1_000_000)
        late.editedAt = Timestamp(milliseconds: 3_000_000)

        let rebase = Rebase(
            [early, late], from: .live(#"{"a":1,"b":1}"#),
            to: .live(#"{"a":3,"b":3,"at":2000}"#), .preferNewer(field: "at", margin: .zero))

        #expect(rebase.verdicts == [.superseded, .stays])
        #expect(rebase.conflicts.map(\.result) == [.serverWins, .localWins])
    }
}

@Suite struct `times in a server's field` {
    private func time(_ json: String) -> Timestamp? {
        PreferNewer.time(JSONDocument(#"{"at":\#(json)}"#), field: "at")
    }

    @Test(arguments: [
        (#""2017-09-01T12:00:00Z""#, 1_504_267_200_000_000),
        (#""2017-09-01T12:00:04.999Z""#, 1_504_267_204_999_000),
        (#""2017-09-01t12:00:00.1234567z""#, 1_504_267_200_123_456),
        (#""2017-09-01T14:30:00+02:30""#, 1_504_267_200_000_000),
        (#""2017-08-31 23:00:00-13:00""#, 1_504_267_200_000_000),
        ("1504267200", 1_504_267_200_000_000),
        ("1504267200.5", 1_504_267_200_500_000),
        ("99999999999", 99_999_999_999_000_000),
        ("100000000000", 100_000_000_000_000),
        ("1504267200000", 1_504_267_200_000_000),
        ("1.5042672e12", 1_504_267_200_000_000),
        ("-1", -1_000_000),
    ])
    func `are texts, seconds or milliseconds`(_ json: String, _ microseconds: Int64) {
        #expect(time(json)?.rawValue == microseconds)
    }

    @Test(arguments: [
        "2017-09-01", "2017-09-01T12:00", "2017-09-01T12:00:00", "2017-02-29T12:00:00Z",
        "2017-09-01T24:00:00Z", "2017-09-01T12:00:00.Z", "2017-09-01T12:00:00+24:00",
        "2017-09-01T12:00:00ZZ", "17-09-01T12:00:00Z", "", "Fri, 01 Sep 2017 12:00:00 GMT",
    ])
    func `are not guessed`(_ text: String) {
        #expect(time("\"\(text)\"") == nil)
    }
}
