// RedactionWordsTests.swift — words of a server stay where its adapter says so, and only there.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@testable import CapsuleSupport

@Suite struct `words of a server` {
    /// Those of a server that nobody else knows.
    private let harbour = ServerWords(
        fields: [.init("X-Notice", .notice), .init("X-Calm", .rest), .init("X-More", .nextPage)],
        segments: ["quays", "moored"], suffixes: [".boat"],
        parameters: [
            "tide": .version, "least": .count, "ebb": .seconds, "any": .flag, "named": .ids,
        ],
        members: [
            "berth": .anything, "cargo": .content, "knots": .number, "route": .path,
            "hull": .base64,
        ],
        constants: ["quays": ["mine"], "quay": ["mine"]], remoteVersions: ["built"],
        others: ["MOOR", "SHIP"],
        versions: .init(separator: "~", unknown: "?"),
        lines: [
            .init(
                beginnings: ["AHOY:"], structure: ["AHOY"], times: ["SAILED"], names: ["CAPTAIN"])
        ])

    /// What there is of it in a log.
    private func capsule() -> Capsule {
        let model = """
            {"name":"m","collections":[{"name":"ships"}],"remote":{"origin":"https://x.test",\
            "adapter":"harbour","quay":"mine","built":"2.41.0-zeppelin"}}
            """
        let query = "tide=1795264562378&least=50&ebb=1795264562&any=true&named=%22zeppelin%22"
        let lines = "AHOY:SHIP\nCAPTAIN:zeppelin\nSAILED:20261121T120544Z"
        let events: [(EventKind, String, String?)] = [
            (.modelRegistered, model, nil),
            (
                .requestSent,
                #"{"method":"MOOR","path":"/quays/mine/moored/zeppelin.boat?\#(query)"}"#, nil
            ),
            (
                .requestAnswered,
                """
                {"status":400,"X-Notice":"zeppelin","Backoff":"30","X-More":\
                "https://zeppelin.test/quays/mine/moored?tide=zeppelin","body":{"knots":7,\
                "route":"/quays/zeppelin","cargo":{"knots":1234,"berth":"zeppelin"}}}
                """, nil
            ),
            (
                .serverUpserted,
                #"{"berth":"zeppelin","hull":"\#(Base64.encode(Array(lines.utf8)))"}"#, "ships/a"
            ),
        ]
        let commits = events.enumerated().map { index, event in
            var made = Event(
                event.0, recordedAt: Timestamp(rawValue: 1_795_262_744_000_000),
                key: event.2.flatMap { EntityKey($0) }, json: Array(event.1.utf8))
            if event.0 == .serverUpserted { made.revision = Revision("1795264562378~zeppelin") }
            return Capsule.Commit(
                entries: [Capsule.Entry(position: Position(UInt64(index + 1)), event: made)],
                views: [])
        }
        return Capsule(
            provenance: Capsule.Provenance(
                build: "test", last: Position(UInt64(events.count)), root: []),
            base: Capsule.Base(), commits: commits)
    }

    private func payload(_ kind: EventKind, of capsule: Capsule) throws -> JSONValue {
        let event = try #require(capsule.events.last { $0.kind == kind })
        return try JSONValue(parsing: event.payload)
    }

    @Test func `stay where its adapter says so, and what they are about does not`() throws {
        let policy = Redaction(times: .shifted(days: 1), words: harbour)
        let new = try capsule().redacted(policy, key: RedactionSupport.key)
        let secret = RedactionSecret("zeppelin")

        #expect(secret.found(in: new.everything) == nil)
        let remote = try #require(try new.remote())
        #expect(remote.parameters["quay"] == "mine")
        let built = try #require(remote.parameters["built"])
        #expect(built.wholeMatch(of: /2\.41\.0-\w{8}/) != nil, "\(built)")
        let sent = try payload(.requestSent, of: new)
        #expect(sent["method"] == "MOOR")
        let path = try #require(sent["path"]?.stringValue)
        #expect(path.wholeMatch(of: self.path) != nil, "\(path)")
        let answered = try payload(.requestAnswered, of: new)
        #expect(answered["X-Notice"]?.stringValue?.utf8.count == 8)
        #expect(answered["Backoff"] == "30")
        let more = try #require(answered["X-More"]?.stringValue)
        #expect(more.hasPrefix("https://redacted.invalid/quays/mine/moored?tide="))
        let body = answered["body"]
        #expect(body?["knots"] == 7 && body?["cargo"]?["knots"] != 1234)
        #expect(body?["route"]?.stringValue?.hasPrefix("/quays/") == true)
        #expect(body?["cargo"]?["berth"]?.stringValue?.utf8.count == 8)
        let hull = try payload(.serverUpserted, of: new)["hull"]?.stringValue
        let lines = String(
            decoding: try #require(hull.flatMap(Base64.decode)), as: UTF8.self)
        #expect(lines.wholeMatch(of: self.lines) != nil, "\(lines)")
        let revision = try #require(new.events.last?.revision).description
        #expect(revision.hasPrefix("1795350962378~") && revision.utf8.count == 22)
    }

    private let path =
        #/
        /quays/mine/moored/\w{8}\.boat\?tide=1795350962378&least=50&ebb=1795350962
        &any=true&named=%22\w{8}%22
        /#
    private let lines = /AHOY:SHIP\nCAPTAIN:\w{8}\nSAILED:20261122T120544Z/

    @Test(arguments: ["kinto", "caldav", "toggl", "of nobody"])
    func `of another one are replaced like any text`(adapter: String) throws {
        let words = Remote(origin: "https://x.test", adapter: adapter).words
        let new = try capsule().redacted(Redaction(words: words), key: RedactionSupport.key)
        let text = String(decoding: new.everything, as: UTF8.self)

        for word in [
            "MOOR", "quays", "mine", "moored", ".boat", "tide", "least", "ebb", "1795264562", "any",
            "named", "X-Notice", "X-More", "berth", "cargo", "knots", "route", "hull", "zeppelin",
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        // What makes the next run wait is a word of ours.
        #expect(try payload(.requestAnswered, of: new)["Backoff"] == "30")
    }

    @Test func `are told by what a capsule's server speaks`() throws {
        #expect(try capsule().remote()?.adapter == "harbour")
        #expect(try capsule().remote()?.words == ServerWords())
        for adapter in ["kinto", "caldav", "carddav", "webdav", "toggl"] {
            #expect(Remote(origin: "https://x.test", adapter: adapter).words != ServerWords())
        }
    }
}
