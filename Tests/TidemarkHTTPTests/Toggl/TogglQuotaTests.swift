// TogglQuotaTests.swift — which of Toggl's answers are about a quota, the credentials, or a time
// that is too old, and which are about an entity.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `quotas of Toggl` {
    private let toggl = TogglCase()

    private func quota(_ remaining: String?, _ seconds: String?) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in [
            ("X-Toggl-Quota-Remaining", remaining), ("X-Toggl-Quota-Resets-In", seconds),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }

    @Test(arguments: [("0", "1800"), ("-3", "1800"), (nil, "1800")])
    func `a quota that is used up is too many requests, for reads and writes`(
        _ remaining: String?, _ seconds: String?
    ) {
        for call in toggl.reads + toggl.writes {
            #expect(
                toggl.failure(to: call, 402, "over", quota(remaining, seconds))
                    == .tooManyRequests(retryAfterSeconds: 1800))
        }
    }

    @Test func `a quota that does not say for how long is used up all the same`() {
        #expect(
            toggl.failure(to: toggl.writes[0], 402, "", quota("0", nil))
                == .tooManyRequests(retryAfterSeconds: nil))
        #expect(
            toggl.failure(to: toggl.writes[0], 402, "", quota("0", "soon"))
                == .tooManyRequests(retryAfterSeconds: nil))
    }

    @Test(arguments: [("-5", Int64(0)), ("90000", 86_400)])
    func `a wait is at least none and at most a day`(_ seconds: String, _ wait: Int64) {
        #expect(
            toggl.failure(to: toggl.reads[0], 402, "", quota("0", seconds))
                == .tooManyRequests(retryAfterSeconds: wait))
    }

    @Test func `a premium feature is refused with its words, whatever the quota`() {
        let words = "Billable is a premium feature"
        for fields in [quota(nil, nil), quota("12", "1800")] {
            for call in toggl.writes {
                #expect(
                    toggl.answer(to: call, 402, "\"\(words)\"", fields)
                        == .refused(ServerRefusal(status: 402, message: words)))
            }
            #expect(
                toggl.failure(to: toggl.list("tags"), 402, words, fields)
                    == .client(status: 402, words))
        }
    }

    @Test func `every list counts for the user, and what names a workspace for that`() {
        let user = RequestGroup("user")
        for collection in SyncModel.toggl.collections {
            #expect(toggl.adapter.group(of: toggl.list(collection.name)) == user)
        }
        #expect(toggl.adapter.group(of: toggl.read) == user)
        #expect(toggl.adapter.group(of: toggl.update("user", "1", "{}")) == user)
        #expect(toggl.adapter.group(of: toggl.refetch) == user)
        for call in toggl.writes {
            #expect(toggl.adapter.group(of: call) == RequestGroup("workspace", id: "1"))
        }
    }

    @Test func `a workspace whose id no key has room for is none of its own`() {
        let id = String(repeating: "7", count: 129)
        let call = toggl.create("time_entries", #"{"workspace_id":"\#(id)"}"#)
        #expect(toggl.adapter.group(of: call) == RequestGroup("workspace"))
    }

    @Test func `only an answer about a quota is one about a group`() {
        func exhausted(_ status: Int, _ fields: HTTPFields) -> RequestGroup? {
            toggl.adapter.exhausted(
                by: HTTPResponse(status: .init(code: status), headerFields: fields),
                to: toggl.writes[0])
        }
        let home = RequestGroup("workspace", id: "1")
        #expect(exhausted(402, quota("0", "60")) == home)
        #expect(exhausted(402, quota("3", "60")) == nil)
        #expect(exhausted(429, quota("3", "60")) == nil)
    }

    @Test(arguments: TogglPlan.allCases)
    func `the model has the limits of a plan`(_ plan: TogglPlan) {
        let limits = SyncModel.toggl(plan: plan).settings.limits
        #expect(limits.first { $0.group == "user" }?.requests == 30)
        #expect(limits.first { $0.group == "workspace" }?.requests == plan.workspaceRequests)
    }

    @Test func `what is said of the quota is handed over and kept`() {
        #expect(toggl.adapter.words.fields.map(\.name).allSatisfy { $0.hasPrefix("X-Toggl-Quota") })
        #expect(toggl.adapter.words.fields.map(\.meaning) == [.number, .number])
    }
}

@Suite struct `several lists of Toggl in one answer` {
    private let toggl = TogglCase()
    private let call = ServerCall.combined(
        ["workspaces", "user", "tags", "time_entries"].compactMap { SyncModel.toggl[$0] })

    @Test func `are asked for with the user`() throws {
        #expect(try toggl.line(call) == "GET /api/v9/me?with_related_data=true")
        #expect(toggl.adapter.group(of: call) == RequestGroup("user"))
    }

    @Test func `are the user without them, and each list as it would be by itself`() {
        let body = #"""
            {"id":9,"tags":[{"id":4,"name":"deep"},{"name":"x"}],"fullname":"Me",
            "time_entries":null,"projects":[{"id":3}],"workspaces":[]}
            """#

        guard case .combined(let pages) = toggl.answer(to: call, 200, body) else {
            Issue.record("it is no answer about several lists")
            return
        }
        #expect(pages.map(\.collection) == ["workspaces", "user", "tags", "time_entries"])
        #expect(pages[1].records.map(\.text) == [#"{"id":9,"fullname":"Me"}"#])
        #expect(pages[2].records.map(\.text) == [#"{"id":4,"name":"deep"}"#])
        #expect(pages[2].unreadable.count == 1)
        #expect(pages[0].records.isEmpty && pages[3].records.isEmpty)
    }

    @Test func `are foreign where a network's page came instead, whatever stands in it`() {
        let page = Array("<html><style>p{}</style>welcome</html>".utf8)
        let kept = toggl.adapter.dropping(from: page, of: call)
        #expect(kept == page)
        let failure = toggl.failure(to: call, 200, String(decoding: kept, as: UTF8.self))
        #expect(failure?.name == "foreign")
    }

    @Test func `say nothing of a list that is left out`() {
        guard case .combined(let pages) = toggl.answer(to: call, 200, #"{"id":9}"#) else {
            Issue.record("it is no answer about several lists")
            return
        }
        #expect(pages.map(\.collection) == ["user"])
    }

    @Test(arguments: ["[]", "null", #"{"id":9,"tags":{}}"#, #"{"fullname":"x"}"#])
    func `are malformed where they are no lists, or there is no user`(_ body: String) {
        #expect(toggl.answer(to: call, 200, body).isMalformed)
    }
}

@Suite struct `credentials of Toggl` {
    private let toggl = TogglCase()

    @Test func `a user who may not ask about himself has credentials that are not accepted`() {
        let user = ServerCall.read(toggl.collection("user"), id: "1")
        for call in [toggl.list("user"), toggl.list("tags"), toggl.list("workspaces"), user] {
            #expect(toggl.failure(to: call, 403) == .unauthorized)
        }
    }

    @Test(arguments: ["user", "preferences"] as [CollectionName])
    func `an edit of the user's own that is not allowed is refused`(_ name: CollectionName) {
        let call = toggl.update(name, "1", "{}")
        #expect(
            toggl.answer(to: call, 403, "Not allowed")
                == .refused(ServerRefusal(status: 403, message: "Not allowed")))
        #expect(
            toggl.failure(to: call, 403, "Incorrect username and/or password") == .unauthorized)
    }

    @Test func `a project or a workspace that may not be touched is no matter of credentials`() {
        let workspace = ServerCall.read(toggl.collection("workspaces"), id: "7")
        let words = "User cannot access workspace"
        #expect(toggl.answer(to: workspace, 403, words) == .absent)
        #expect(toggl.failure(to: toggl.read, 403) == .forbidden)
        for call in toggl.writes {
            #expect(
                toggl.answer(to: call, 403, words)
                    == .refused(ServerRefusal(status: 403, message: words)))
        }
    }

    @Test(arguments: [
        ("User cannot access the selected project", ["project_id"]),
        ("User cannot access selected task", ["task_id"]),
    ])
    func `what an entry names and is not seen is told by its fields`(
        _ words: String, _ fields: [String]
    ) {
        for call in toggl.writes {
            guard case .refused(let refusal) = toggl.answer(to: call, 403, words) else {
                Issue.record("\(call) is not refused")
                continue
            }
            #expect(refusal.message == words && refusal.unseen == fields)
        }
    }

    @Test func `a token that was reset is told by its words, also to a write`() {
        for call in toggl.reads + toggl.writes {
            #expect(
                toggl.failure(to: call, 403, "\"Incorrect username and/or password\"")
                    == .unauthorized)
        }
    }
}

@Suite struct `lists of Toggl since a time` {
    private let toggl = TogglCase()
    private let words = "\"'since' must not be older than 3 months\""

    @Test func `that is too old are asked for whole`() {
        let list = toggl.list("time_entries", after: "2026-01-01T00:00:00Z")
        #expect(toggl.answer(to: list, 400, words) == .cursorExpired)
    }

    @Test func `that are refused for another reason are not`() {
        let list = toggl.list("time_entries", after: "2026-01-01T00:00:00Z")
        #expect(toggl.failure(to: list, 400, "no")?.name == "client")
        #expect(toggl.failure(to: toggl.list("time_entries"), 400, words)?.name == "client")
    }
}
