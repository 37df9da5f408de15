// BatchAnswerTests.swift — what is taken, and kept, of the answers to several writes at once.

import HTTPTypes
import Testing
import TidemarkEvents

@testable import TidemarkSync

@Suite struct `an answer to writes of several collections` {
    private static func judged(
        _ calls: [ServerCall], _ body: String, by adapter: any ServerAdapter
    ) -> JudgedAnswer {
        JudgedAnswer(
            TransportResponse(response: HTTPResponse(status: .ok), body: Array(body.utf8)),
            to: .batch(calls), by: adapter, CredentialMask([]))
    }

    @Test func `tells no version of another's of which members were cut out`() {
        let calls = [
            ServerCall.create(CollectionModel("users", drops: ["token"]), id: "1", body: []),
            ServerCall.create(CollectionModel("games"), id: "2", body: []),
        ]
        let body =
            #"{"parts":[{"id":"1","token":"feedface","n":1},{"id":"2","token":"known","n":2}]}"#

        let judged = Self.judged(calls, body, by: MetAdapter())

        let user = ServerRecord(
            id: "1", revision: nil, document: Array(#"{"id":"1","n":1}"#.utf8))
        #expect(
            judged.answer
                == .batch([
                    BatchedAnswer(status: 412, .conflict(user)),
                    // Its own token would seem to be gone on the server.
                    BatchedAnswer(status: 412, .conflictUnknown),
                ]))
    }

    @Test func `is not taken where a member that is dropped can't be cut out`() {
        let calls = [
            ServerCall.create(CollectionModel("games"), id: "2", body: []),
            ServerCall.create(CollectionModel("users", drops: ["token"]), id: "1", body: []),
        ]

        let judged = Self.judged(calls, "TOKEN:feedface", by: LinesAdapter())

        guard case .failure(.client(0, let message)) = judged.answer else {
            Issue.record("\(judged.answer)")
            return
        }
        #expect(message.contains("leave drops out"))
        #expect(judged.response.body == [] && judged.kept == nil)
    }
}

@Suite struct `the record of an answer` {
    private static let year: Int64 = 365 * 86_400

    @Test func `keeps a pause up to a day, of a whole answer and of one write's`() {
        let failure = SyncFailure.server(status: 503, retryAfterSeconds: Self.year)
        let whole = AnswerRecord(
            TransportResponse(response: HTTPResponse(status: 503), body: []), .failure(failure),
            nil, ServerWords(), uptime: 7)
        let part = AnswerRecord(BatchedAnswer(status: 503, .failure(failure)), uptime: 7)

        for record in [whole, part] {
            #expect(record.answered?.retryAfter == 86_400)
            // By the clock that nobody sets.
            #expect(record.answered?.uptime == 7)
        }
    }

    @Test func `has no negative pause, and no uptime where nothing waits`() {
        let failure = SyncFailure.tooManyRequests(retryAfterSeconds: -5)
        let part = AnswerRecord(BatchedAnswer(status: 429, .failure(failure)), uptime: 7)
        #expect(part.answered?.retryAfter == 0)
        let taken = AnswerRecord(BatchedAnswer(status: 200, .stored(id: "1", nil)), uptime: 7)
        #expect(taken.answered?.uptime == nil && taken.answered?.retryAfter == nil)
    }
}

/// Answers each write of a batch with another version that it met.
private struct MetAdapter: ServerAdapter {
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        ServerRequest(method: .post, path: "/")
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let items = (try? JSON.arrayElements(of: body, at: "parts")) ?? []
        return .batch(
            items.map { item in
                let bytes = Array(body[item])
                let id = JSON.value("id", of: bytes)?.stringValue ?? ""
                return BatchedAnswer(
                    status: 412, .conflict(ServerRecord(id: id, revision: nil, document: bytes)))
            })
    }
}

/// Makes documents of what is no JSON: of the second write one with a token.
private struct LinesAdapter: ServerAdapter {
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        ServerRequest(method: .post, path: "/")
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let text = String(decoding: body, as: UTF8.self)
        let documents = [#"{"id":"2"}"#, #"{"id":"1","token":"\#(text)"}"#]
        return .batch(
            zip(["2", "1"], documents).map { id, document in
                let record = ServerRecord(id: id, revision: nil, document: Array(document.utf8))
                return BatchedAnswer(status: 200, .record(record))
            })
    }
}
