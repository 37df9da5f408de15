// DroppedMembersTests.swift — members that the model drops: secrets are nowhere in the store, and
// what changes with every request is no news.

import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import TidemarkSync

/// Toggl's user, workspaces and preferences as they are; all other lists are empty.
private final class UserServer: DeviceServer, Transport, Sendable {
    typealias Wire = UserServer

    static var serverFields: [String] { ["id", "at"] }
    static let secret = "feedfacecafe0123"
    let remote = Remote.toggl(origin: "http://toggl.test")
    let clock = ManualClock()
    private let count = Mutex(0)
    /// The bodies of writes.
    let written = Mutex<[String]>([])
    /// What stands for the user, where that is no user.
    let instead = Mutex<(status: Int, body: String)?>(nil)

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if let body { written.withLock { $0.append(String(decoding: body, as: UTF8.self)) } }
        let path = (request.path ?? "").prefix { $0 != "?" }
        var answer = (status: 200, body: "[]")
        let isCombined = request.path?.contains("with_related_data=true") == true
        switch path {
        case "/api/v9/me" where isCombined:
            let user = instead.withLock(\.self)?.body ?? user(number)
            answer.body =
                user.dropLast() + #","workspaces":[\#(workspace(number))],"# + Self.related
        case "/api/v9/me": answer = instead.withLock(\.self) ?? (200, user(number))
        case "/api/v9/me/workspaces": answer.body = "[\(workspace(number))]"
        case "/api/v9/me/preferences":
            answer.body = request.method == .post ? #""OK""# : #"{"date_format":"DD.MM."}"#
        default: break
        }
        return TransportResponse(
            response: HTTPResponse(status: .init(code: answer.status)),
            body: Array(answer.body.utf8))
    }

    /// What comes with the user beside his workspaces.
    private static let related =
        #""tags":[{"id":4,"workspace_id":1,"name":"tea","#
        + #""at":"2026-11-10T00:00:00Z"}],"time_entries":null}"#

    private func user(_ number: Int) -> String {
        """
        {"id":9,"api_token":"\(Self.secret)\(number)","email":"a@x.test","fullname":"A",\
        "default_workspace_id":1,"at":"2026-11-18T11:06:\(10 + number % 50)Z",\
        "updated_at":"2026-11-01T00:00:00Z","intercom_hash":"\(number)"}
        """
    }

    private func workspace(_ number: Int) -> String {
        """
        {"id":1,"name":"w","api_token":"\(Self.secret)\(number)","at":"2026-11-01T00:00:00+00:00",\
        "ical_url":"/ical/\(Self.secret)\(number)"}
        """
    }
}

private typealias UserDevice = Device<UserServer>

@Suite struct `members that the model drops` {
    private func device(_ server: UserServer) throws -> UserDevice {
        var model = SyncModel.toggl
        model.settings.limits = []
        return try UserDevice(
            of: server, over: server, model: model,
            dependencies: .seeded(1, clock: server.clock))
    }

    private func events(_ device: UserDevice) throws -> [Event] {
        try device.replica.journal.read { views in
            try (1...views.last.rawValue).compactMap { try views.event(at: Position($0)) }
        }
    }

    /// The files of a store that hold the secret.
    private func holders(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { name in
            let file = URL(filePath: directory).appending(path: name)
            return try Data(contentsOf: file).firstRange(of: Data(UserServer.secret.utf8)) != nil
        }
    }

    @Test func `are nowhere in the store, and an idle run brings no entity`() async throws {
        let server = UserServer()
        try await device(server).lendAndVerify { device in
            #expect(try await device.sync().isSynced)
            let before = try events(device).count
            for _ in 0..<3 {
                server.clock.advance(by: .seconds(900))
                #expect(try await device.sync().isSynced)
            }

            let since = try events(device).dropFirst(before)
            #expect(since.filter { $0.kind == .serverUpserted } == [])
            let user = try #require(
                try device.replica.journal.read { try $0.entity(EntityKey("user", "9")) })
            let document = try JSONDocument(parsing: user.base)
            #expect(
                document.keys == ["id", "email", "fullname", "default_workspace_id", "updated_at"])
            #expect(try holders(device.replica.directory) == [])
        }
    }

    @Test(arguments: [true, false])
    func `are in no answer about several lists, of which others keep members of that name`(
        _ isUserDue: Bool
    ) async throws {
        let server = UserServer()
        var model = SyncModel.toggl
        model.settings.limits = []
        // The user comes with the lists all the same.
        for index in model.collections.indices
        where isUserDue && model.collections[index].name == "user" {
            model.collections[index].listEvery = .zero
        }
        try await UserDevice(
            of: server, over: server, model: model,
            dependencies: .seeded(1, clock: server.clock)
        ).lendAndVerify { device in
            #expect(try await device.sync().isSynced)
            server.clock.advance(by: .seconds(900))
            #expect(try await device.engine.sync(.timer).isSynced)
            let before = try events(device)
            #expect(before.last { $0.kind == .serverUpserted }?.entity == "4")
            let tag = try #require(
                try device.replica.journal.read { try $0.entity(EntityKey("tags", "4")) })
            #expect(try JSONDocument(parsing: tag.base).rawValue("at") != nil)
            for _ in 0..<2 {
                server.clock.advance(by: .seconds(900))
                #expect(try await device.engine.sync(.timer).isSynced)
            }

            let since = try events(device).dropFirst(before.count)
            #expect(since.filter { $0.kind == .serverUpserted } == [])
            #expect(try holders(device.replica.directory) == [])
        }
    }

    @Test func `are not in an answer about several lists that is cut off`() throws {
        let user = try #require(SyncModel.toggl["user"])
        let tags = try #require(SyncModel.toggl["tags"])
        for body in [#"{"api_token":"feed"#, #"{"id":1,"tags":[{"api_token":"feed"}]"#] {
            for lists in [[tags], [user, tags]] {
                let kept = TogglAdapter().dropping(from: Array(body.utf8), of: .combined(lists))
                #expect(kept == [])
            }
        }
    }

    @Test(arguments: [
        (200, #"{"id":9,"updated_at":"soon","api_token":"feedfacecafe0123"}"#),
        (200, #"{"id":null,"api_token":"feedfacecafe0123"}"#),
        (200, #"{"id":9,"api_token":"feedfacecafe0123"#),
        (400, #"{"api_token": "feedfacecafe0123"}"#), (500, #"[{"api_token":"feedfacecafe0123"}]"#),
    ])
    func `are in no failure that is kept either`(
        _ answer: (status: Int, body: String)
    ) async throws {
        let server = UserServer()
        server.instead.withLock { $0 = answer }
        try await device(server).lendAndVerify { device in
            #expect(try await device.sync().isSynced == false)

            #expect(try holders(device.replica.directory) == [])
            let kept = try events(device).map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(!kept.contains { $0.contains(UserServer.secret) })
        }
    }

    @Test func `are not sent, and neither is what did not change`() async throws {
        let server = UserServer()
        try await device(server).lendAndVerify { device in
            try await device.sync()
            try device.patch("user/9", #"{"fullname":"B"}"#)
            try device.patch("preferences/preferences", #"{"date_format":"YYYY"}"#)

            #expect(try await device.sync().isSynced)

            #expect(
                server.written.withLock(\.self)
                    == [#"{"fullname":"B"}"#, #"{"date_format":"YYYY"}"#])
        }
    }

    @Test func `are not in the answer that is kept for a replay`() throws {
        let body = #"[{"id":1,"name":"w","api_token":"feedfacecafe0123"}]"#
        let call = ServerCall.list(
            try #require(SyncModel.toggl["workspaces"]), after: nil, page: nil)
        let response = TransportResponse(
            response: HTTPResponse(status: .ok), body: Array(body.utf8))

        let judged = JudgedAnswer(response, to: call, by: TogglAdapter(), CredentialMask([]))

        let kept = try #require(judged.kept)
        #expect(String(decoding: kept.body, as: UTF8.self) == #"[{"id":1,"name":"w"}]"#)
        #expect(!judged.isExposing)
    }

    @Test func `are not taken where they can't be cut out, and the answer is not kept`() throws {
        var notes = CollectionModel("notes", drops: ["secret"])
        notes.pushes = []
        let call = ServerCall.read(notes, id: "1")
        let response = TransportResponse(
            response: HTTPResponse(status: .ok), body: Array("SECRET:feedface".utf8))

        let judged = JudgedAnswer(response, to: call, by: TextAdapter(), CredentialMask([]))

        guard case .failure(.client(0, let message)) = judged.answer else {
            Issue.record("\(judged.answer)")
            return
        }
        #expect(message.contains("leave drops out"))
        #expect(judged.response.body == [] && judged.kept == nil)
    }

    @Test(arguments: [false, true], [false, true])
    func `are in no answer to writes of several collections, whichever comes first`(
        _ isFirst: Bool, _ isPromised: Bool
    ) throws {
        let secret = #"{"id":"1","token":"feedface","n":1}"#
        let kept = #"{"id":"2","token":"known","n":2}"#
        let calls = [
            ServerCall.create(CollectionModel("users", drops: ["token"]), id: "1", body: []),
            ServerCall.create(CollectionModel("games"), id: "2", body: []),
        ]
        let documents = isFirst ? [secret, kept] : [kept, secret]
        let writes = isFirst ? calls : calls.reversed()
        let response = TransportResponse(
            response: HTTPResponse(status: .ok),
            body: Array(#"{"parts":[\#(documents.joined(separator: ","))]}"#.utf8))

        let judged = JudgedAnswer(
            response, to: isPromised ? .poll("p", of: writes) : .batch(writes), by: PartsAdapter(),
            CredentialMask([]))

        let user = ServerRecord(
            id: "1", revision: nil, document: Array(#"{"id":"1","n":1}"#.utf8))
        let parts = [
            BatchedAnswer(status: 200, .record(user)),
            // What its own collection does not drop may be missing in the document.
            BatchedAnswer(status: 200, .stored(id: "2", nil)),
        ]
        let expected = ServerAnswer.batch(isFirst ? parts : parts.reversed())
        #expect(judged.answer == expected)
        let body = try #require(judged.kept).body
        #expect(!String(decoding: body, as: UTF8.self).contains("feedface"))
    }

    @Test func `are cut out of each write's answer where all collections drop the same`() throws {
        let writes = ["users", "games"].enumerated().map { index, name in
            ServerCall.create(
                CollectionModel(CollectionName(name), drops: ["token"]), id: "\(index)", body: [])
        }
        let body = #"{"parts":[{"id":"0","token":"a"},{"id":"1","n":1,"token":"b"}]}"#
        let response = TransportResponse(
            response: HTTPResponse(status: .ok), body: Array(body.utf8))

        let judged = JudgedAnswer(
            response, to: .batch(writes), by: PartsAdapter(), CredentialMask([]))

        let documents = [#"{"id":"0"}"#, #"{"id":"1","n":1}"#]
        let parts = documents.enumerated().map { index, text in
            BatchedAnswer(
                status: 200,
                .record(
                    ServerRecord(id: "\(index)", revision: nil, document: Array(text.utf8))))
        }
        #expect(judged.answer == .batch(parts))
    }

    /// A task with notes that the model drops, and then a model that does not.
    private func withNotesAgain(
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        var model = SyncWorld.usualModel
        model.collections[1].drops = ["notes"]
        model.collections[1].pushes = []
        let world = SyncWorld(model: model)
        world.rivalPuts("tasks/t1", #"{"title":"a","notes":"kept"}"#)
        world.rivalPuts("tasks/t2", #"{"title":"a"}"#)
        try await SyncDevice.with(world) { device async throws in
            #expect(try await device.sync().isSynced)
            #expect(try device.document("tasks/t1") == #"{"title":"a"}"#)
            let known = try #require(try device.replica.registration)
            try device.replica.register(
                ModelRegistration(model: SyncWorld.usualModel, remote: known.remote))
            try await body(world, device)
            try device.verify()
        }
    }

    @Test func `stay on the server where a new model drops them no more, and an edit is sent`()
        async throws
    {
        try await withNotesAgain { world, device in
            try device.patch("tasks/t1", #"{"title":"b"}"#)

            try await device.sync(.push)

            let sent = try #require(world.record("tasks/t1"))
            #expect(sent.contains(#""title":"b""#) && sent.contains(#""notes":"kept""#), "\(sent)")
            #expect(try device.outbox() == [])
        }
    }

    @Test func `come by a new model that drops them no more, though nothing changed since`()
        async throws
    {
        try await withNotesAgain { world, device in
            #expect(try await device.sync().isSynced)

            let here = try #require(try device.document("tasks/t1"))
            #expect(here.contains(#""notes":"kept""#), "\(here)")
            #expect(try device.document("tasks/t2") == #"{"title":"a"}"#)
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `make an adapter that replaces documents refuse updates`() async throws {
        var model = SyncWorld.usualModel
        for index in model.collections.indices { model.collections[index].updates = .changes }
        let world = SyncWorld(model: model)
        try await SyncDevice.with(world) { device async throws in
            try device.put("tasks/t1", #"{"title":"a"}"#)
            #expect(try await device.sync().isSynced)
            try device.patch("tasks/t1", #"{"title":"b"}"#)

            _ = try await device.sync()

            let issue = try #require(try device.replica.read { try $0.issues() }.first)
            #expect("\(issue)".contains("the model has tasks send changes"), "\(issue)")
        }
    }
}

/// Makes documents of what is no JSON.
private struct TextAdapter: ServerAdapter {
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        ServerRequest(method: .get, path: "/")
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let text = String(decoding: body, as: UTF8.self)
        let document = Array(#"{"id":"1","secret":"\#(text)"}"#.utf8)
        return .record(ServerRecord(id: "1", revision: nil, document: document))
    }
}

/// Answers each write of a batch with the record that its answer has for it.
private struct PartsAdapter: ServerAdapter {
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        ServerRequest(method: .post, path: "/")
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let items = (try? JSON.arrayElements(of: body, at: "parts")) ?? []
        return .batch(
            items.map { item in
                let bytes = Array(body[item])
                let id = JSON.value("id", of: bytes)?.stringValue ?? ""
                let record = ServerRecord(id: id, revision: nil, document: bytes)
                return BatchedAnswer(status: 200, .record(record))
            })
    }
}
