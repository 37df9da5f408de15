// CredentialEchoTests.swift — a server that gives the credentials back: in messages, in header
// fields, as ids, versions and pages, and in documents.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkLog
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

/// One way to give the credentials back.
struct CredentialEcho: Sendable, CustomTestStringConvertible {
    enum Place: Sendable { case everywhere, writes, lists }

    var testDescription: String
    var place: Place = .everywhere
    /// What becomes of the usual answer; gets the header's value, and what it says in plain.
    var answer: @Sendable (SyncWire.Answer, _ value: String, _ plain: String) -> SyncWire.Answer

    private static func head(
        _ status: Int, _ fields: [String: String], _ body: String = "{}"
    ) -> SyncWire.Answer {
        var head = HTTPResponse(status: .init(code: status))
        for (name, value) in fields { HTTPField.Name(name).map { head.headerFields[$0] = value } }
        return .success(TransportResponse(response: head, body: Array(body.utf8)))
    }

    private static func json(_ text: String) -> String {
        String(decoding: JSONValue.string(text).encoded(), as: UTF8.self)
    }

    private static func message(_ status: Int, _ text: String) -> SyncWire.Answer {
        head(status, [:], #"{"code":\#(status),"errno":999,"message":\#(json(text))}"#)
    }

    static let all: [CredentialEcho] =
        [400, 401, 403, 404, 409, 413, 429, 500].map { status in
            CredentialEcho(testDescription: "a message with \(status)") { _, value, _ in
                message(status, "your header was Authorization: \(value)")
            }
        }
        + [200, 401, 502].map { status in
            CredentialEcho(testDescription: "a page with \(status)") { _, value, _ in
                head(status, [:], "<html>Authorization: \(value)</html>")
            }
        }
        + [200, 304, 503].map { status in
            CredentialEcho(testDescription: "a head with \(status)") { _, value, _ in
                let names = ["Next-Page", "Alert", "Backoff", "Retry-After", "Location", "Date"]
                let fields = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
                return head(
                    status, fields.merging(["ETag": "\"\(value)\""]) { $1 }, #"{"data":[]}"#)
            }
        }
        + [200, 400, 412, 500].map { status in
            CredentialEcho(testDescription: "\(status) to a write", place: .writes) { _, value, _ in
                message(status, "bad: \(value)")
            }
        }
        + [
            CredentialEcho(testDescription: "what they stand for, in plain") { _, _, plain in
                message(400, "that is \(plain)")
            },
            CredentialEcho(testDescription: "the name alone") { _, _, plain in
                message(400, "\(plain.prefix { $0 != " " }) may not")
            },
            CredentialEcho(testDescription: "a redirect") { _, value, _ in
                .failure(TransportError(.redirectRefused, detail: "to http://other/?a=\(value)"))
            },
            CredentialEcho(testDescription: "a connection that breaks") { _, _, plain in
                .failure(TransportError(.connectionLost, detail: "proxy \(plain)"))
            },
            CredentialEcho(testDescription: "a list's version", place: .lists) { usual, value, _ in
                usual.map { $0.with(.eTag, "\"\(value)\"") }
            },
            CredentialEcho(testDescription: "a list's next page", place: .lists) {
                usual, value, _ in
                let path = "http://kinto.test/v1/buckets/b/collections/lists/records?_token="
                let token = value.replacing(" ", with: "+").replacing("=", with: "%3D")
                return usual.map { $0.with(HTTPField.Name("Next-Page"), path + token) }
            },
            CredentialEcho(testDescription: "an id", place: .lists) { usual, value, _ in
                usual.map { answer in
                    answer.with(body: #"{"data":[{"id":\#(json(value)),"last_modified":1}]}"#)
                }
            },
            CredentialEcho(testDescription: "an alert", place: .everywhere) { usual, value, _ in
                usual.map { $0.with(HTTPField.Name("Alert"), #"{"message":"\#(value)"}"#) }
            },
        ]
}

extension TransportResponse {
    fileprivate func with(_ name: HTTPField.Name?, _ value: String) -> TransportResponse {
        var answer = self
        if let name { answer.response.headerFields[name] = value }
        return answer
    }
}

@Suite(.serialized) struct `credentials that a server gives back` {
    private static let name = "alice-reader"
    private static let password = "open-sesame-123"
    private static let token = "token-0123456789"

    private static let pair = Base64.encode(Array("\(name):\(password)".utf8))

    /// A device that shows who it is, and whom the server answers in a way of its own.
    private func scene(
        isBasic: Bool, _ echo: CredentialEcho? = nil, world: SyncWorld = SyncWorld(),
        _ body: (SyncDevice, SyncEngine) async throws -> Void
    ) async throws {
        let credentials: Credentials =
            isBasic
            ? .basic(user: Self.name, password: Self.password) : .bearer(Self.token)
        let value = isBasic ? "Basic \(Self.pair)" : "Bearer \(Self.token)"
        let plain = isBasic ? "\(Self.name) with \(Self.password)" : Self.token
        world.server.withModel { $0.acceptedCredentials = [value] }
        try await SyncDevice.with(world) { device in
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) { credentials }
            device.wire.tap { request, _, pass in
                let usual = await pass()
                guard let echo else { return usual }
                switch echo.place {
                case .writes where !request.isWrite: return usual
                case .lists where request.isWrite: return usual
                default: return echo.answer(usual, value, plain)
                }
            }
            try await body(device, engine)
        }
    }

    /// What the store's files, the log in words and an outcome hold of the credentials.
    private func leaks(_ device: SyncDevice, _ outcome: SyncOutcome) throws -> [String] {
        let secrets = [Self.name, Self.password, Self.token, Self.pair].map { Array($0.utf8) }
        var texts = ["outcome": Array("\(outcome) \(outcome.failed) \(outcome.alert ?? "")".utf8)]
        texts["log"] = try device.dump().flatMap { Array($0.utf8) }
        // In the file they are compressed.
        let kept = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
        texts["kept answers"] = kept.answers.flatMap(\.answers.encoded)
        for file in ["data.mdb", "identity.json"] {
            let url = URL(filePath: device.replica.directory).appending(path: file)
            texts[file] = Array(try Data(contentsOf: url))
        }
        return texts.filter { text in
            secrets.contains { text.value.firstRange(of: $0) != nil }
        }.map(\.key)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: CredentialEcho.all, [true, false])
    func `reach neither the log nor whoever reads the outcome`(
        _ echo: CredentialEcho, _ isBasic: Bool
    ) async throws {
        try await scene(isBasic: isBasic, echo) { device, engine in
            try device.put("tasks/a", "{}")
            try device.put("tasks/b", "{}")

            let outcome = try await engine.sync()

            #expect(device.wire.problem == nil && device.wire.count > 0)
            #expect(try leaks(device, outcome) == [])
            try device.verify()
            let log = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
            try await Replay(.capsule(log)).run()
        }
    }

    @Test(arguments: ["a list's version", "a list's next page", "an id"])
    func `name nothing: such an answer is malformed`(_ name: String) async throws {
        let echo = try #require(CredentialEcho.all.first { $0.testDescription == name })
        try await scene(isBasic: true, echo) { device, engine in
            let outcome = try await engine.sync()

            #expect(outcome.failed == ["lists": .holdsCredentials, "tasks": .holdsCredentials])
            #expect(try device.cursor("lists") == nil && device.document("lists/x") == nil)
        }
    }

    @Test func `are masked in whichever header field they are sent`() async throws {
        let key = "key-0123456789abcdef"
        let name = try #require(HTTPField.Name("X-API-Key"))
        let world = SyncWorld()
        world.server.withModel { $0.acceptedCredentials = [""] }
        try await SyncDevice.with(world) { device in
            let engine = SyncEngine(
                device.replica, remote: SyncWorld.remote,
                adapter: try SyncWorld.remote.makeAdapter(), transport: device.wire
            ) { .field("X-API-Key", key) }
            device.wire.tap { request, _, _ in
                let sent = request.headerFields[name] ?? "none"
                let text = #"{"code":400,"errno":999,"message":"your key is \#(sent)"}"#
                return .success(
                    TransportResponse(
                        response: HTTPResponse(status: 400), body: Array(text.utf8)))
            }

            let outcome = try await engine.sync()

            let texts = try device.dump() + ["\(outcome.failed)"]
            #expect(texts.contains { $0.contains("your key is [credentials]") })
            #expect(!texts.contains { $0.contains(key) })
        }
    }

    @Test(arguments: [1, 10])
    func `stay in documents as they came, and are told of`(_ batchSize: Int) async throws {
        var model = SyncWorld.usualModel
        model.settings.batchSize = batchSize
        let world = SyncWorld(model: model)
        world.rivalPuts("lists/l1", #"{"note":"\#(Self.password)"}"#)
        world.rivalPuts("lists/l2", #"{"note":"for \#(Self.name)"}"#)
        try await scene(isBasic: true, world: world) { device, engine in
            #expect(try await engine.sync().exposed == ["lists"])
            #expect(try device.document("lists/l1") == #"{"note":"\#(Self.password)"}"#)
            #expect(try await engine.sync().exposed == [])

            // A list without news of it, and answers to writes: to both, to one of both.
            for name in ["a", "b"] {
                try device.put("tasks/\(name)", #"{"n":"\#(Self.password)"}"#)
            }
            world.rivalPuts("tasks/b", #"{"n":"theirs, \#(Self.password)"}"#)
            device.wire.tap { request, _, pass in
                let usual = await pass()
                guard request.isWrite else { return usual }
                return usual.map { $0.with(HTTPField.Name("Alert"), Self.pair) }
            }
            let outcome = try await engine.sync(.userRequested, scope: .push)
            #expect(outcome.exposed == ["tasks"] && outcome.alert == "[credentials]")
            #expect(try await engine.sync().isSynced)
            #expect(try device.document("tasks/a") == #"{"n":"\#(Self.password)"}"#)
            #expect(world.record("tasks/b") == #"{"n":"\#(Self.password)"}"#)
            try device.verify()
            let log = try device.replica.journal.capsule(last: 1000, note: "", namesRemote: true)
            try await Replay(.capsule(log)).run()
        }
    }
}
