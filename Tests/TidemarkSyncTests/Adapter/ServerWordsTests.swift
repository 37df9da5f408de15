// ServerWordsTests.swift — header fields that a server's adapter has kept, and what they mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules

@testable import SyncSupport
@testable import TidemarkSync

@Suite struct `header fields of answers` {
    /// Another name for each meaning than any server here has.
    private let other = ServerWords(fields: [
        .init("X-Calm", .rest), .init("X-Notice", .notice), .init("X-More", .nextPage),
    ])

    private func record(
        _ fields: [(String, String)], _ words: ServerWords
    ) throws -> AnswerRecord {
        var head = HTTPResponse(status: .notModified)
        for (name, value) in fields {
            head.headerFields[try #require(HTTPField.Name(name))] = value
        }
        return AnswerRecord(
            TransportResponse(response: head, body: []), .unchanged, nil, words, uptime: 5)
    }

    private func text(_ record: AnswerRecord) -> String {
        String(decoding: record.payload(naming: KeptName()), as: UTF8.self)
    }

    @Test func `stand in the log in the order of the adapter's words, as they came`() throws {
        let kinto = KintoAdapter(origin: "https://x.test", bucket: "b").words
        let fields = [
            ("next-page", "/n"), ("Backoff", "soon"), ("Alert", "a"), ("ETag", "\"7\""),
            ("Date", "d"), ("Server", "x"),
        ]

        #expect(
            try text(record(fields, kinto))
                == #"{"status":304,"Date":"d","ETag":"\"7\"","Alert":"a","Backoff":"soon","#
                + #""Next-Page":"/n","uptime":5}"#)
        #expect(
            try text(record(fields, ServerWords()))
                == #"{"status":304,"Date":"d","ETag":"\"7\"","uptime":5}"#)
    }

    @Test func `mean what the adapter says`() throws {
        let fields = [("X-Notice", "n"), ("X-More", "/more"), ("X-Calm", "30"), ("Alert", "a")]
        let came = try record(fields, other)

        // How long to wait is told under one name, whatever the field is called.
        #expect(
            text(came)
                == #"{"status":304,"Backoff":"30","X-Notice":"n","X-More":"/more","uptime":5}"#)
        #expect(came.alert == "n")
        #expect(came.answered?.backoffSeconds == 30)
    }

    @Test func `whose meaning only the adapter knows are handed over and logged`() throws {
        let words = ServerWords(fields: [.init("X-Total", .other)])
        let came = try record([("X-Total", "12"), ("X-Notice", "n")], words)

        #expect(text(came) == #"{"status":304,"X-Total":"12"}"#)
        #expect(came.alert == nil && came.answered?.backoffSeconds == nil)
        var fields = HTTPFields()
        for name in ["X-Total", "X-Notice", "ETag"] {
            fields[try #require(HTTPField.Name(name))] = "v"
        }
        #expect(words.known(of: fields).map(\.name.rawName) == ["X-Total", "ETag"])
    }

    @Test func `of any server make whoever runs the app know, and the next run wait`()
        async throws
    {
        let adapter = HookedAdapter(otherWords: other)
        try await SyncDevice.with(SyncWorld(), adapter: adapter) { device in
            device.wire.tap { _, _, pass in
                await pass().map { answer in
                    var answer = answer
                    for (name, value) in [("X-Notice", "n"), ("X-Calm", "900"), ("Alert", "a")] {
                        if let name = HTTPField.Name(name) {
                            answer.response.headerFields[name] = value
                        }
                    }
                    return answer
                }
            }

            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.alert == "n")
            #expect(try device.gates().busy?.microseconds == 900_000_000)
        }
    }
}
