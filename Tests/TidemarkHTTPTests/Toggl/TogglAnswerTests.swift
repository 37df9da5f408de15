// TogglAnswerTests.swift — what Toggl's answers mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `lists of Toggl` {
    private let toggl = TogglCase()
    private let at = "2026-11-18T11:06:40.123+00:00"

    @Test func `an entity comes with its time and its bytes as they are`() {
        let row = #"{ "id":7,"name":"caf\u00e9", "workspace_id":2,"n":1.50, "at":"\#(at)" }"#

        let page = toggl.page("tags", "[ \(row) , {\"id\":8}]")

        #expect(
            page
                == ListPage(
                    records: [
                        ServerRecord(
                            id: "7", revision: Revision("\(at)@2"),
                            serverTime: Timestamp(milliseconds: 1_795_000_000_123),
                            document: Array(row.utf8)),
                        ServerRecord(
                            id: "8", revision: Revision("-"), document: Array(#"{"id":8}"#.utf8)),
                    ], next: nil, cursor: nil))
    }

    @Test func `one with the time of its deletion is gone, and its last words are kept`() {
        let gone = #"{"id":7,"at":"\#(at)","server_deleted_at":"\#(at)"}"#
        let here = #"{"id":8,"at":null,"server_deleted_at":null}"#

        let records = toggl.page("time_entries", "[\(gone),\(here)]")?.records

        #expect(records?.map(\.isDeleted) == [true, false])
        #expect(records?.map(\.text) == [gone, here])
        #expect(
            records?.map(\.serverTime) == [Timestamp(milliseconds: 1_795_000_000_123), nil])
    }

    @Test func `a tag says with another member that it is gone`() {
        let gone = #"{"id":7,"workspace_id":2,"at":"\#(at)","deleted_at":"\#(at)"}"#

        let record = toggl.page("tags", "[\(gone)]")?.records.first

        #expect(record?.isDeleted == true && record?.text == gone)
    }

    @Test(arguments: ["2026-11-18T11:06:40.123456Z", "2026-11-18T11:06:40+00:00"])
    func `a time has a fraction and Z, or neither`(_ at: String) {
        let record = toggl.page("tags", #"[{"id":7,"workspace_id":2,"at":"\#(at)"}]"#)?.records
            .first

        #expect(record?.revision == Revision("\(at)@2"))
        #expect(record?.serverTime?.milliseconds ?? 0 >= 1_795_000_000_000)
    }

    @Test func `an id may be longer than 31 bits`() {
        let row = #"{"id":4100000000123,"workspace_id":2}"#

        #expect(toggl.page("time_entries", "[\(row)]")?.records.map(\.id) == ["4100000000123"])
    }

    @Test func `a client names its workspace by its older name`() {
        let row = #"{"id":7,"wid":2,"name":"c","at":"\#(at)"}"#

        #expect(
            toggl.page("clients", "[\(row)]")?.records.map(\.revision) == [Revision("\(at)@2")])
    }

    @Test func `the user's version is of its last change, not of the request`() {
        let user = #"{"id":9,"at":"2026-11-19T00:00:00Z","updated_at":"\#(at)"}"#

        let record = toggl.page("user", user)?.records.first

        #expect(record?.revision == Revision(at))
        #expect(record?.serverTime == Timestamp(milliseconds: 1_795_000_000_123))
    }

    @Test func `the user is an object, and so are the preferences, without id and version`() {
        let user = #"{"id":9,"default_workspace_id":1,"at":"\#(at)"}"#
        let preferences = #"{"timeofday_format":"H:mm"}"#

        #expect(toggl.page("user", user)?.records.map(\.id) == ["9"])
        let records = toggl.page("preferences", preferences)?.records ?? []
        #expect(records.map(\.id) == ["preferences"] && records.map(\.revision) == [nil])
        #expect(records.first?.text == preferences)
        #expect(toggl.failure(to: toggl.list("user"), 200, "[]")?.name == "malformed")
    }

    @Test func `features go by their workspace`() {
        let row = #"{"workspace_id":4,"features":[{"feature_id":0,"enabled":true}]}"#

        #expect(toggl.page("workspace_features", "[\(row)]")?.records.map(\.id) == ["4"])
    }

    @Test(arguments: ["[]", "null", " null\n"])
    func `an empty list may be null`(_ body: String) {
        #expect(toggl.page("tags", body) == ListPage(records: [], next: nil, cursor: nil))
    }

    @Test func `what is no entity is passed over, and kept`() {
        let rows = [
            #"{"id":1}"#, #"{"name":"x"}"#, #"{"id":""}"#, #"{"id":1.5}"#, "5",
            #"{"id":2,"at":"soon"}"#, #"{"id":3,"at":5}"#, #"{"id":4}"#,
        ]
        let page = toggl.page("tags", "[\(rows.joined(separator: ","))]")

        #expect(page?.records.map(\.id) == ["1", "4"])
        #expect(page?.unreadable.map(\.id) == [nil, nil, nil, nil, "2", "3"])
        #expect(
            page?.unreadable.map { String(decoding: $0.bytes, as: UTF8.self) }
                == Array(rows[1...6]))
    }

    @Test(arguments: ["", "{}", "5", "[", "[1", "{\"data\":[]}", "\"x\""])
    func `a list that is no list is malformed`(_ body: String) {
        #expect(toggl.failure(to: toggl.list("tags"), 200, body)?.name == "malformed")
    }

    @Test func `projects that were looked for are as they are now; others are passed over`() {
        let row = #"{"id":5,"name":"archived","active":false}"#

        let answer = toggl.answer(to: toggl.refetch, 200, #"[{"id":4},\#(row),{"id":50}]"#)

        #expect(
            answer
                == .records([
                    ServerRecord(id: "5", revision: Revision("-"), document: Array(row.utf8))
                ]))
        #expect(toggl.answer(to: toggl.refetch, 200, "[]") == .records([]))
    }

    @Test func `failures are not the entities'`() {
        for call in toggl.reads {
            #expect(toggl.failure(to: call, 400, "no\n such") == .client(status: 400, "no such"))
            #expect(toggl.failure(to: call, 402)?.name == "client")
        }
        #expect(toggl.failure(to: toggl.list("tags"), 404)?.name == "client")
        #expect(toggl.failure(to: toggl.list("tags"), 304)?.name == "foreign")
    }
}

@Suite struct `answers of Toggl about one entity` {
    private let toggl = TogglCase()

    @Test func `a write is answered with the entity`() {
        let row = #"{"id":7, "workspace_id":1,"at":"2026-11-18T11:06:40Z"}"#
        let record = ServerRecord(
            id: "7", revision: Revision("2026-11-18T11:06:40Z@1"),
            serverTime: Timestamp(milliseconds: 1_795_000_000_000), document: Array(row.utf8))

        for status in [200, 201] {
            #expect(toggl.answer(to: toggl.writes[0], status, row) == .record(record))
            #expect(toggl.answer(to: toggl.writes[1], status, row) == .record(record))
        }
        #expect(toggl.answer(to: toggl.read, 200, row) == .record(record))
    }

    @Test func `one that is made may come in an array`() {
        let row = #"{"id":7,"workspace_id":1,"name":"t"}"#

        #expect(
            toggl.answer(to: toggl.create("tags", #"{"workspace_id":1}"#), 200, "[ \(row) ]")
                == .record(
                    ServerRecord(id: "7", revision: Revision("-@1"), document: Array(row.utf8))))
    }

    @Test(arguments: ["", "\"OK\"", "null", "[]"])
    func `preferences are stored, whatever text says so`(_ body: String) {
        let change = toggl.update("preferences", "preferences", "{}")

        #expect(toggl.answer(to: change, 200, body) == .stored(id: "preferences", nil))
        #expect(toggl.failure(to: change, 200, "<html>")?.name == "foreign")
        #expect(
            toggl.answer(to: change, 400, #""Invalid feature code(s)""#)
                == .refused(ServerRefusal(status: 400, message: "Invalid feature code(s)")))
    }

    @Test func `a workspace without access is absent where it is read`() {
        let read = ServerCall.read(toggl.collection("workspaces"), id: "2")

        #expect(toggl.answer(to: read, 403, "\"no access\"") == .absent)
        #expect(toggl.failure(to: toggl.read, 403) == .forbidden)
    }

    @Test(arguments: ["", "[7]", "\"OK\"", #"{"id":7}"#])
    func `a deletion is done, whatever comes with it`(_ body: String) {
        #expect(
            toggl.answer(to: toggl.writes[2], 200, body)
                == .deleted(ServerRecord(id: "7", revision: nil, document: nil)))
    }

    @Test func `another entity than the one that was changed is malformed`() {
        for call in [toggl.read, toggl.writes[1]] {
            #expect(toggl.answer(to: call, 200, #"{"id":8}"#).isMalformed)
        }
    }

    @Test(arguments: ["", "{", "[]", "null", "{}", #"{"id":null}"#, #"{"id":7} x"#])
    func `a success that says nothing understandable is malformed`(_ body: String) {
        for call in [toggl.read, toggl.writes[0], toggl.writes[1]] {
            #expect(toggl.answer(to: call, 200, body).isMalformed)
        }
    }

    @Test(arguments: [400, 402, 403, 404, 405, 409, 412, 413, 415, 422, 451, 499])
    func `an entity is refused with the server's words, by whatever status`(_ status: Int) {
        let refusal = ServerAnswer.refused(ServerRefusal(status: status, message: "too long"))

        for body in ["too long", "\"too\\nlong\"", " too\r\n long "] {
            #expect(toggl.answer(to: toggl.writes[0], status, body) == refusal)
            #expect(toggl.answer(to: toggl.writes[1], status, body) == refusal)
            if status != 404 { #expect(toggl.answer(to: toggl.writes[2], status, body) == refusal) }
        }
    }

    @Test func `long words are cut, and a page of HTML is none`() {
        let long = String(repeating: "é", count: 5000)
        let words = String(repeating: "é", count: 200)

        #expect(
            toggl.answer(to: toggl.writes[0], 400, long)
                == .refused(ServerRefusal(status: 400, message: words)))
        #expect(
            toggl.answer(to: toggl.writes[0], 413, "<html>")
                == .refused(ServerRefusal(status: 413, message: "")))
    }

    @Test func `what is to be deleted or read may be absent already`() {
        #expect(toggl.answer(to: toggl.writes[2], 404, "gone") == .absent)
        #expect(toggl.answer(to: toggl.read, 404) == .absent)
        let user = ServerCall.read(toggl.collection("user"), id: "9")
        #expect(toggl.failure(to: user, 404)?.name == "client")
    }

    @Test func `failures of the call mean the same for every call`() {
        for call in toggl.reads + toggl.writes {
            #expect(toggl.failure(to: call, 401) == .unauthorized)
            #expect(toggl.failure(to: call, 408)?.name == "timeout")
            #expect(toggl.failure(to: call, 410) == .apiDeprecated)
            #expect(toggl.failure(to: call, 418) == .clientDeprecated)
            #expect(
                toggl.failure(to: call, 429, "", [.retryAfter: "30"])
                    == .tooManyRequests(retryAfterSeconds: 30))
            for status in [500, 502, 503, 504, 505] {
                #expect(
                    toggl.failure(to: call, status, "<html>")
                        == .server(status: status, retryAfterSeconds: nil))
            }
            #expect(toggl.failure(to: call, 302)?.name == "foreign")
            #expect(toggl.failure(to: call, 511)?.name == "foreign")
            #expect(toggl.failure(to: call, 200, " <html>welcome</html>")?.name == "foreign")
            for status in [400, 403, 404, 405, 409, 422] {
                #expect(toggl.failure(to: call, status, "<html>no</html>")?.name == "foreign")
            }
        }
    }

    @Test func `a deprecated client ends the run, and waiting does not mend it`() {
        let failure = SyncFailure.clientDeprecated

        #expect(failure.name == "clientDeprecated")
        #expect(!failure.isTransient)
        #expect(failure.description.contains("update the app"))
        #expect(SyncPauseReason(rawValue: failure.name) == .clientDeprecated)
    }
}
