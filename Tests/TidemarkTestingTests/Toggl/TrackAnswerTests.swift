// TrackAnswerTests.swift — F1 to F5, F31: what all answers have, who is let in, and quotas.

import HTTPTypes
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `answers of a server like Toggl` {
    private let world = TrackWorld()

    @Test func `F1: are JSON, and an error is one JSON text`() {
        let answer = world.answer(.get, "/me/tags")
        let error = world.answer(.get, "/me/time_entries/99")

        #expect(answer.field("Content-Type") == "application/json; charset=utf-8")
        #expect(error.field("Content-Type") == "application/json; charset=utf-8")
        #expect(error.status == 404 && error.text == #""Time entry not found""#)
        #expect(world.answer(.get, "/nothing").field("Content-Type")?.hasPrefix("text/") == true)
    }

    @Test func `F1: escape ampersands and angle brackets`() throws {
        world.send(.post, "/workspaces/1/tags", #"{"name":"a & <b>"}"#)

        #expect(world.send(.get, "/me/tags").contains(#""name":"a \u0026 \u003cb\u003e""#))
    }

    @Test func `F2: are dated, numbered and not to be kept, without a version`() {
        let answer = world.answer(.get, "/me")

        #expect(answer.field("Date") == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(
            answer.field("Cache-Control")
                == "no-cache, private, no-store, must-revalidate, max-stale=0, post-check=0, "
                + "pre-check=0")
        #expect(answer.field("X-Toggl-Request-Id")?.count == 36)
        #expect(answer.field("X-Request-Id")?.count == 32)
        for name in ["ETag", "Last-Modified", "Retry-After"] { #expect(answer.field(name) == nil) }
    }

    @Test func `F3: no credentials are 401 without a body, wrong ones 403`() {
        let none = world.answer(.get, "/me", authorization: nil)
        world.model.acceptedCredentials = ["Basic dG9rZW46YXBpX3Rva2Vu"]
        let wrong = world.answer(.get, "/me", authorization: "Basic eDp5")

        #expect(none.status == 401 && none.body.isEmpty)
        #expect(none.field("X-Authorization-Missing") == "true")
        #expect(wrong.status == 403)
        #expect(wrong.text == #""Incorrect username and/or password""#)
        #expect(world.answer(.get, "/me").status == 200)
    }

    @Test func `F4: an older version is gone, and there is no address to make workspaces`() {
        #expect(world.answer(.get, "//api/v8/me").status == 410)
        #expect(world.answer(.post, "/workspaces", #"{"name":"new"}"#).status == 404)
        #expect(world.answer(.delete, "/me").status == 405)
    }

    @Test func `F4: a stopped entry can't be stopped, and a lost workspace not be entered`() throws
    {
        let id = try world.made(#""start":"2026-11-18T10:00:00Z","duration":60"#)

        #expect(world.send(.patch, "/workspaces/1/time_entries/\(id)/stop").hasPrefix("409 \""))
        #expect(
            world.send(.post, "/workspaces/77/tags", #"{"name":"x"}"#)
                == #"403 "User cannot access workspace""#)
    }
}

@Suite struct `quotas of a server like Toggl` {
    @Test func `F5: the thirty-first request about the user within an hour is 402`() {
        let world = TrackWorld(TogglServerModel(quotas: .free))
        for count in 1...30 {
            let answer = world.answer(.get, "/me/tags")
            #expect(answer.status == 200)
            #expect(answer.field("X-Toggl-Quota-Remaining") == "\(30 - count)")
        }
        world.wait(600.5)

        let refused = world.answer(.get, "/me")

        #expect(refused.status == 402)
        #expect(refused.field("X-Toggl-Quota-Remaining") == "0")
        #expect(refused.field("X-Toggl-Quota-Resets-In") == "3000")
        #expect(refused.field("Retry-After") == nil)
    }

    @Test func `F5: an hour after the first request the quota is whole again`() {
        let world = TrackWorld(
            TogglServerModel(quotas: TogglQuotaLimits(user: 2, organization: 30)))
        func ask() -> Int { world.answer(.get, "/me").status }

        #expect([ask(), ask(), ask()] == [200, 200, 402])
        world.wait(3599.999)
        #expect(ask() == 402)
        world.wait(0.001)
        #expect(world.answer(.get, "/me").field("X-Toggl-Quota-Remaining") == "1")
    }

    @Test func `F5: what names a workspace counts for its organization, reports too`() {
        let world = TrackWorld(
            TogglServerModel(quotas: TogglQuotaLimits(user: 30, organization: 2)))

        #expect(world.answer(.post, "/workspaces/1/tags", #"{"name":"x"}"#).status == 200)
        #expect(
            world.answer(.post, "//reports/api/v3/workspace/1/search/projects", #"{"ids":[5]}"#)
                .field("X-Toggl-Quota-Remaining") == "0")
        #expect(world.answer(.get, "/workspaces/1").status == 402)
        #expect(world.answer(.get, "/me").field("X-Toggl-Quota-Remaining") == "29")
        #expect(world.model.requestsByQuota == [.user: 1, .organization(2): 3])
    }

    @Test func `F5: plans differ in what an organization may ask`() {
        let limits: [TogglQuotaLimits] = [.free, .starter, .premium]

        #expect(limits.map(\.organization) == [30, 240, 600])
        #expect(limits.map(\.user) == [30, 30, 30])
    }

    @Test func `F5: the quotas can be asked for`() {
        let world = TrackWorld(TogglServerModel(quotas: .starter))
        world.send(.get, "/workspaces/1")
        world.wait(60)

        #expect(
            world.send(.get, "/me/quota")
                == #"200 [{"organization_id":null,"remaining":29,"resets_in_secs":3600,"#
                + #""total":30},{"organization_id":2,"remaining":239,"resets_in_secs":3540,"#
                + #""total":240}]"#)
    }

    @Test func `F5: more requests at once than the bucket holds are 429, until it has drained`() {
        let limit = SyncSettings.RequestLimit(requests: 3, within: .seconds(3))
        let world = TrackWorld(TogglServerModel(limit: limit))
        func ask() -> Int { world.answer(.get, "/me").status }

        #expect([ask(), ask(), ask(), ask()] == [200, 200, 200, 429])
        world.wait(1)
        #expect([ask(), ask()] == [200, 429])
        world.wait(3)
        #expect([ask(), ask(), ask(), ask()] == [200, 200, 200, 429])
    }

    @Test func `F31: everything of the user in one answer costs one request`() {
        let world = TrackWorld(TogglServerModel(quotas: .free))

        #expect(
            world.answer(.get, "/me?with_related_data=true").field("X-Toggl-Quota-Remaining")
                == "29")
    }

    @Test func `F5: without quotas nothing is refused, and requests are counted`() {
        let world = TrackWorld()
        for _ in 1...40 { world.send(.get, "/me") }

        #expect(world.model.requestsByQuota == [.user: 40])
        #expect(world.answer(.get, "/me").field("X-Toggl-Quota-Remaining") == nil)
    }
}
