// KintoAnswerTests.swift — what the answers about one record mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `answers of a Kinto server about one record` {
    private let kinto = KintoCase()
    private static let record = #"{"id":"t1","title":"caf\u00e9" , "last_modified":17}"#
    private static let missing = #"{"code":404,"errno":110,"error":"Not Found"}"#
    private static let noCollection = #"{"code":404,"errno":111,"error":"Not Found"}"#

    private func data(_ inner: String) -> String { #"{"permissions":{}, "data": \#(inner) }"# }

    @Test func `a record comes with its version, its time and its bytes as they are`() {
        let expected = ServerRecord(
            id: "t1", revision: Revision("17"), serverTime: Timestamp(milliseconds: 17),
            document: Array(Self.record.utf8))

        #expect(kinto.answer(to: kinto.read, 200, data(Self.record)) == .record(expected))
        #expect(kinto.answer(to: kinto.create, 201, data(Self.record)) == .record(expected))
        #expect(kinto.answer(to: kinto.update, 200, data(Self.record)) == .record(expected))
    }

    @Test func `a deletion is answered with a tombstone`() {
        let tombstone = #"{"id":"t1","last_modified":18,"deleted":true}"#
        let expected = ServerRecord(
            id: "t1", revision: Revision("18"), serverTime: Timestamp(milliseconds: 18),
            document: Array(tombstone.utf8), isDeleted: true)

        #expect(kinto.answer(to: kinto.delete, 200, data(tombstone)) == .deleted(expected))
    }

    @Test func `a record of nothing but a deleted field is a record, whatever it looks like`() {
        let marked = #"{"deleted":true,"id":"t1","last_modified":18}"#
        let expected = ServerRecord(
            id: "t1", revision: Revision("18"), serverTime: Timestamp(milliseconds: 18),
            document: Array(marked.utf8))

        for call in [kinto.read, kinto.create, kinto.update] {
            #expect(kinto.answer(to: call, 200, data(marked)) == .record(expected))
        }
        let broken = #"{"code":412,"errno":114,"details":{"existing":\#(marked)}}"#
        #expect(kinto.answer(to: kinto.update, 412, broken) == .conflict(expected))
    }

    @Test func `a record that is not there is absent`() {
        for call in [kinto.read, kinto.update, kinto.delete] {
            #expect(kinto.answer(to: call, 404, Self.missing) == .absent)
        }
    }

    @Test(arguments: [Self.noCollection, "", "{}"])
    func `a 404 about something else is no absent record`(_ body: String) {
        #expect(kinto.failure(to: kinto.list, 404, body)?.name == "client")
        #expect(kinto.failure(to: kinto.read, 404, body)?.name == "client")
        for call in kinto.writes {
            #expect(kinto.failure(to: call, 404, body)?.name == "client")
        }
    }

    @Test func `a broken precondition brings the rival along`() {
        let body = #"{"code":412,"errno":114,"details":{"existing":\#(Self.record)}}"#
        let expected = ServerRecord(
            id: "t1", revision: Revision("17"), serverTime: Timestamp(milliseconds: 17),
            document: Array(Self.record.utf8))

        for call in kinto.writes {
            #expect(kinto.answer(to: call, 412, body) == .conflict(expected))
        }
    }

    @Test(arguments: [
        #"{"code":412,"errno":114,"error":"Precondition Failed"}"#, #"{"details":{}}"#, "",
        #"{"details":[{"existing":1}]}"#,
    ])
    func `a broken precondition without a rival says nothing else`(_ body: String) {
        for call in kinto.writes {
            #expect(kinto.answer(to: call, 412, body) == .conflictUnknown)
        }
    }

    @Test func `a rival that can't be read has the record read`() {
        let body = #"{"details":{"existing":{"id":"t1"}}}"#

        #expect(kinto.answer(to: kinto.update, 412, body) == .conflictUnknown)
    }

    @Test(arguments: [400, 403, 405, 409, 413, 415, 422])
    func `a record is refused with the server's words`(_ status: Int) {
        let body = #"{"code":400,"errno":107,"error":"Invalid parameters","message":"title: no"}"#

        for call in kinto.writes {
            #expect(
                kinto.answer(to: call, status, body)
                    == .refused(ServerRefusal(status: status, message: "title: no")))
        }
        #expect(
            kinto.answer(to: kinto.create, status, "")
                == .refused(ServerRefusal(status: status, message: "")))
    }

    @Test func `a read is never refused as if it were about the record`() {
        #expect(
            kinto.failure(to: kinto.read, 400, #"{"error":"Invalid"}"#)
                == .client(status: 400, "Invalid"))
    }

    @Test(arguments: [
        "", "{", "{}", #"{"data":null}"#, #"{"data":[]}"#, #"{"data":"x"}"#,
        #"{"data":{}}"#, #"{"data":{"last_modified":1}}"#,
        #"{"data":{"id":"t1"}}"#, #"{"data":{"id":"","last_modified":1}}"#,
        #"{"data":{"id":7,"last_modified":1}}"#, #"{"data":{"id":"t1","last_modified":"1"}}"#,
        #"{"data":{"id":"t1","last_modified":1.5}}"#,
        #"{"data":{"id":"a\u0000b","last_modified":1}}"#,
        #"{"data":{"id":"t1","last_modified":1}} trailing"#,
        #"{"data":{"id":"t1","id":"t2","last_modified":1}}"#,
        #"{"data":{"id":"t1","last_modified":99999999999999999999}}"#,
    ])
    func `a success that says nothing understandable is malformed, and nothing else`(
        _ body: String
    ) {
        for call in [kinto.read] + kinto.writes {
            #expect(kinto.answer(to: call, 200, body).isMalformed)
        }
    }

    @Test func `a status that no write is answered with is malformed`() {
        for status in [202, 204, 304] {
            #expect(kinto.answer(to: kinto.create, status).isMalformed)
        }
    }

    @Test(arguments: [200, 201, 302, 400, 404, 412, 511])
    func `what is not JSON comes from something else in between`(_ status: Int) {
        for body in ["<html>welcome to the hotel</html>", "[]", "null"] {
            for call in kinto.all {
                #expect(kinto.failure(to: call, status, body)?.name == "foreign")
            }
        }
    }

    @Test(arguments: [413, 414, 431])
    func `what is refused for its size is refused, whoever says so`(_ status: Int) {
        #expect(
            kinto.answer(to: kinto.create, status, "<html>")
                == .refused(ServerRefusal(status: status, message: "")))
    }
}

@Suite struct `answers of a Kinto server about the call itself` {
    private let kinto = KintoCase()

    @Test func `failures mean the same for every call`() {
        for call in kinto.all {
            #expect(kinto.failure(to: call, 401) == .unauthorized)
            let isWrite = kinto.writes.contains(call)
            #expect(isWrite || kinto.failure(to: call, 403) == .forbidden)
            #expect(kinto.failure(to: call, 410) == .apiDeprecated)
            #expect(
                kinto.failure(to: call, 409, "", [.retryAfter: "3"])
                    == .server(status: 409, retryAfterSeconds: 3))
            #expect(
                kinto.failure(to: call, 429, "", [.retryAfter: "30"])
                    == .tooManyRequests(retryAfterSeconds: 30))
            #expect(
                kinto.failure(to: call, 503, "", [.retryAfter: "30"])
                    == .server(status: 503, retryAfterSeconds: 30))
            #expect(
                kinto.failure(to: call, 500) == .server(status: 500, retryAfterSeconds: nil))
            #expect(
                kinto.failure(to: call, 599, "<html>")
                    == .server(status: 599, retryAfterSeconds: nil))
        }
    }

    @Test(
        arguments: [
            ("30", 30), (" 30 ", 30), ("0", 0), ("-5", 0), ("86401", 86_400),
            ("99999999999999999999999", 86_400), ("9223372036854775807", 86_400),
            ("Sat, 21 Nov 2026 11:45:37 GMT", 60), ("Sat, 21 Nov 2026 11:44:00 GMT", 0),
            ("Fri, 21 Nov 2036 11:44:37 GMT", 86_400),
        ] as [(String, Int64)])
    func `a pause is read as seconds or as a date, within a day`(_ text: String, _ seconds: Int64) {
        let fields: HTTPFields = [.retryAfter: text, .date: "Sat, 21 Nov 2026 11:44:37 GMT"]

        #expect(
            kinto.failure(to: kinto.list, 429, "", fields)
                == .tooManyRequests(retryAfterSeconds: seconds))
    }

    @Test(arguments: ["", "soon", "1.5", "Sat, 99 Foo 2026 11:45:37 GMT", "-"])
    func `a pause that means nothing is none`(_ text: String) {
        let fields: HTTPFields = [.retryAfter: text, .date: "Sat, 21 Nov 2026 11:44:37 GMT"]

        #expect(
            kinto.failure(to: kinto.list, 503, "", fields)
                == .server(status: 503, retryAfterSeconds: nil))
    }

    @Test func `a date without the server's own date is no pause, since no clock of ours enters`() {
        #expect(
            kinto.failure(
                to: kinto.list, 503, "", [.retryAfter: "Sat, 21 Nov 2026 11:45:37 GMT"])
                == .server(status: 503, retryAfterSeconds: nil))
    }
}
