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
        fields[HTTPField.Name("X-Toggl-Quota-Remaining")!] = remaining
        fields[HTTPField.Name("X-Toggl-Quota-Resets-In")!] = seconds
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

    @Test func `what is said of the quota is handed over and kept`() {
        #expect(toggl.adapter.words.fields.map(\.name).allSatisfy { $0.hasPrefix("X-Toggl-Quota") })
        #expect(toggl.adapter.words.fields.map(\.meaning) == [.number, .number])
    }
}

@Suite struct `credentials of Toggl` {
    private let toggl = TogglCase()

    @Test func `a user who may not ask about himself has credentials that are not accepted`() {
        let user = ServerCall.read(toggl.collection("user"), id: "1")
        for call in [toggl.list("user"), toggl.list("tags"), toggl.list("workspaces"), user] {
            #expect(toggl.failure(to: call, 403) == .unauthorized)
        }
        #expect(toggl.failure(to: toggl.update("user", "1", "{}"), 403) == .unauthorized)
    }

    @Test func `a project or a workspace that may not be touched is no matter of credentials`() {
        let workspace = ServerCall.read(toggl.collection("workspaces"), id: "7")
        let words = "User cannot access the selected project"
        for call in [workspace, toggl.read] { #expect(toggl.failure(to: call, 403) == .forbidden) }
        #expect(toggl.failure(to: toggl.refetch, 403) == .forbidden)
        for call in toggl.writes {
            #expect(
                toggl.answer(to: call, 403, words)
                    == .refused(ServerRefusal(status: 403, message: words)))
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
