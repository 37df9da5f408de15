// FoldPreferNewerTests.swift — the newer side wins: the cases of Toggl's resolver, by their
// ids.

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
}
