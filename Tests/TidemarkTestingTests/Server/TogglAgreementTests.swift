// TogglAgreementTests.swift — the adapter asks what the server answers.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@Suite struct `the adapter for Toggl and the server shaped like it` {
    private let world = TogglWorld(TogglServerModel(nextID: 13, nextEntryID: nil))

    private func page(_ call: ServerCall) async throws -> ListPage? {
        if case .page(let page) = try await world.call(call) { page } else { nil }
    }

    private func record(_ call: ServerCall) async throws -> ServerRecord? {
        if case .record(let record) = try await world.call(call) { record } else { nil }
    }

    @Test func `agree on the list of every collection, whole and of changes`() async throws {
        world.server.put("workspace_features/1", "{}")
        for collection in SyncModel.toggl.collections {
            let whole = try await page(.list(collection, after: nil, page: nil))
            let isEmpty = ["clients", "tasks"].contains(collection.name)
            #expect(whole?.records.count == (isEmpty ? 0 : 1), "\(collection.name)")
            #expect(whole?.unreadable == [])
            guard collection.since != nil else { continue }
            let since = whole?.records.first?.serverTime ?? world.clock.now
            let changes = try await page(
                .list(collection, after: Revision(since.description), page: nil))
            #expect(changes?.records == whole?.records)
        }
    }

    @Test func `agree on a window of time entries`() async throws {
        let entries = world.collection("time_entries")
        let now = world.clock.now

        let around = try await page(
            .listWindow(
                entries, from: now.adding(months: -2), to: now.adding(seconds: 172_800), page: nil))
        let later = try await page(
            .listWindow(entries, from: now, to: now.adding(seconds: 1), page: nil))

        #expect(around?.records.map(\.id) == ["7"])
        #expect(later?.records == [])
    }

    @Test func `agree on what is made, changed, read and deleted`() async throws {
        let entries = world.collection("time_entries")
        let body = Array(
            (#"{"workspace_id":1,"project_id":5,"tag_ids":[6],"created_with":"tests","#
                + #""start":"2026-11-18T10:00:00Z","duration":60}"#).utf8)

        let made = try #require(
            try await record(.create(entries, id: "here-1", body: body)))
        #expect(made.id == "13" && made.serverTime == world.clock.now)
        world.clock.advance(by: .seconds(1))
        let changed = try #require(
            try await record(
                .update(entries, id: "13", body: body, revision: made.revision ?? Revision(""))))
        #expect(changed.serverTime == world.clock.now)
        #expect(try await record(.read(entries, id: "13"))?.serverTime == changed.serverTime)
        let delete = ServerCall.delete(
            entries, id: "13", revision: changed.revision ?? Revision(""))
        let gone = ServerRecord(id: "13", revision: nil, document: nil)
        #expect(try await world.call(delete) == .deleted(gone))
        #expect(try await world.call(delete) == .absent)
        #expect(try await world.call(.read(entries, id: "13")) == .absent)

        let changes = try await page(
            .list(entries, after: Revision(world.clock.now.description), page: nil))
        #expect(changes?.records.map(\.isDeleted) == [true])
    }

    @Test func `agree on the user and on single workspaces`() async throws {
        let user = try await record(
            .update(
                world.collection("user"), id: "1",
                body: Array(#"{"default_workspace_id":1}"#.utf8), revision: Revision("-")))

        #expect(user?.id == "1" && user?.serverTime == world.clock.now)
        #expect(
            try await record(.read(world.collection("user"), id: "1")) == user)
        #expect(
            try await record(.read(world.collection("workspaces"), id: "1"))?.id == "1")
    }

    @Test func `agree on projects that are looked for`() async throws {
        world.server.archive("projects/5")
        let call = ServerCall.refetch(
            world.collection("projects"), ids: ["5", "99"], together: "1")

        guard case .records(let records) = try await world.call(call) else {
            Issue.record("no records")
            return
        }
        #expect(records.map(\.id) == ["5"])
    }

    @Test func `agree on refusals`() async throws {
        let entries = world.collection("time_entries")
        let body = Array(
            (#"{"workspace_id":1,"project_id":99,"created_with":"tests","#
                + #""start":"2026-11-18T10:00:00Z"}"#).utf8)

        var unseen = ServerRefusal(
            status: 403, message: "User cannot access the selected project")
        unseen.unseen = ["project_id"]
        #expect(
            try await world.call(.create(entries, id: "here-1", body: body)) == .refused(unseen))
        #expect(
            try await world.call(
                .update(entries, id: "99", body: body, revision: Revision("-")))
                == .refused(ServerRefusal(status: 404, message: "Time entry not found")))
        let ancient = Revision("2026-01-01T00:00:00Z")
        #expect(
            try await world.call(.list(entries, after: ancient, page: nil))
                == .cursorExpired)
    }
}
