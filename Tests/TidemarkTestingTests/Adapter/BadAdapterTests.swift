// BadAdapterTests.swift — an adapter with as many mistakes as can be made: each is named.

import HTTPTypes
import Synchronization
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `the check of a bad adapter` {
    private static let notes = CollectionModel(
        "notes", actions: [.init("pin")], since: .init(ageMax: .days(60)),
        contents: [.init("photo", upload: "/files")])
    private static let tags = CollectionModel("tags", ids: .serverText, updates: .changes)

    private static let problems = AdapterCheck(
        BadAdapter(), model: SyncModel(name: "bad", collections: [notes, tags]),
        samples: [
            EntityKey("notes", "n1"): #"{"id":"n1","title":"Tea","photo":"ftp://a/b"}"#,
            EntityKey("notes", "n3"): #"{"id":"n3","title":"Tea"}"#,
            EntityKey("tags", "g1"): #"{"id":"g1","name":"home"}"#,
            EntityKey("lists", "l1"): "{}",
        ],
        deleted: [EntityKey("notes", "n2")]
    ) { call, _ in
        switch call {
        case .list: TransportResponse(status: 200, body: #"[{"id":"n1","uid":"x1"}]"#)
        case .read(_, let id): TransportResponse(status: 200, body: #"{"id":"\#(id)"}"#)
        case .create: TransportResponse(status: 201)
        case .update, .delete: TransportResponse(status: 200)
        default: nil
        }
    }.problems()

    @Test(arguments: [
        // Requests.
        ("the sample lists/l1", "no such collection"),
        ("the list of notes", "api_key looks like credentials"),
        ("the read of notes/n1", "another one each time"),
        ("the read of notes/a/b", "does not come back out of its path"),
        ("the read of notes/a#b", "does not come back out of its path"),
        ("the read of notes/a b", "does not come back out of its path"),
        ("the update of notes", "\"..\" the path leads elsewhere"),
        ("the update of notes", "names no version"),
        ("the list of changes of notes", "asks for everything"),
        ("the deletion of tags", "waits for ever"),
        ("the action pin of notes", "without a word"),
        ("tags send changes", "say sendsChanges"),
        ("the file that notes/n1 names", "no address"),
        ("the form of a file in notes.photo", "does not stand around"),
        // Errors.
        ("the list of notes", "401 is a failure"),
        ("the list of notes", "404 is told as what such a call can't have"),
        ("the update of notes", "410 is told as what such a call can't have"),
        ("the update of notes", "400 is a failure"),
        ("the update of notes", "422 is a refusal without the server's words"),
        ("the update of notes", "409 is \"stored\": the server refuses"),
        ("the update of notes", "412 is a failure"),
        ("the update of notes", "429 is a failure"),
        ("the update of notes", "500 is a refusal"),
        ("the list of notes", "304 is a page of 0"),
        ("the read of notes/n1", "403 is a failure"),
        // Bodies.
        ("the update of notes", "a page of HTML with 200, as a network's sign-in page, is"),
        ("the list of notes", "an empty body is a page of 0"),
        ("the list of notes", "half of the sample answer is a page of 0"),
        // Successes.
        ("the list of notes", "has the id n1 in its document"),
        ("the list of notes", "n3 is not in it"),
        ("the list of notes", "has no time"),
        ("the lists of notes", "none tells that n2 is deleted"),
        ("the read of notes/n1", "tells no version"),
        ("the creation of tags", "has the device's id"),
    ])
    func `names its mistake`(_ call: String, _ mistake: String) {
        #expect(
            Self.problems.contains { $0.contains(call) && $0.contains(mistake) },
            "\(Self.problems.filter { $0.contains(call) }.joined(separator: "\n"))")
    }

    @Test func `names no mistake twice`() {
        #expect(Set(Self.problems).count == Self.problems.count)
    }
}

private final class BadAdapter: ServerAdapter {
    private let number = Mutex(0)

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list: return ServerRequest(method: .get, path: "/notes?api_key=8f3a")
        case .read(let collection, let id):
            let count = number.withLock { number in
                number += 1
                return number
            }
            return ServerRequest(
                method: .get, path: "/\(collection.name)/\(id)",
                headers: [.userAgent: "\(count)"])
        case .create(let collection, _, let body):
            return ServerRequest(method: .post, path: "/\(collection.name)", body: body)
        case .update(let collection, let id, let body, _, _):
            return ServerRequest(method: .put, path: "/\(collection.name)/\(id)", body: body)
        case .delete(let collection, let id, _):
            // As if the disk had to be freed first.
            guard collection.name != "tags" else { throw .diskFull("no room") }
            return ServerRequest(method: .delete, path: "/\(collection.name)/\(id)")
        default: throw .client(status: 0, "")
        }
    }

    func refusal(of call: ServerCall) -> ServerRefusal? {
        guard case .perform = call else { return nil }
        return ServerRefusal(status: 0, message: "")
    }

    func form(ofFile sha256: String, head: [UInt8]) -> FileForm? {
        FileForm(
            contentType: "multipart/form-data; boundary=b", before: Array("--a\r\n\r\n".utf8),
            after: Array("\r\n--b--\r\n".utf8), name: ["id"])
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        switch response.status.code {
        case 404: return .absent
        case 410: return .cursorExpired
        case 422: return .refused(ServerRefusal(status: 422, message: "no"))
        case 500: return .refused(ServerRefusal(status: 500, message: "failed"))
        case 401, 403, 412, 429: return .failure(.client(status: response.status.code, ""))
        case 400: return .failure(.client(status: 400, ""))
        default: break
        }
        switch call {
        case .list: return page(body)
        case .read(_, let id):
            return .record(ServerRecord(id: id, revision: nil, document: body))
        case .create(_, let id, _), .update(_, let id, _, _, _), .perform(_, let id, _, _, _):
            return .stored(id: id, nil)
        default: return .failure(.malformed("not asked for"))
        }
    }

    /// What can't be read counts as nothing, and the id is that of another member.
    private func page(_ body: [UInt8]) -> ServerAnswer {
        var page = ListPage(records: [], next: nil, cursor: nil)
        for range in (try? JSON.arrayElements(of: body)) ?? [] {
            let bytes = Array(body[range])
            guard let id = JSON.value("uid", of: bytes)?.stringValue else { continue }
            page.records.append(ServerRecord(id: id, revision: nil, document: bytes))
        }
        return .page(page)
    }
}
