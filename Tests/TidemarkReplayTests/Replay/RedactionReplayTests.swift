// RedactionReplayTests.swift — redacted capsules, decided once more by today's engine; and the
// tool's way to make them.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `redacted capsules` {
    /// Decides the redacted capsules of a file's scenarios once more.
    ///
    /// - Returns: how much of each was compared.
    private func acts(of file: String) async throws -> [Int] {
        let acts = Lock<[Int]>([])
        try await RedactionSupport.capsules(file) { name, capsule in
            let redacted = try capsule.redactedByTool()
            let server = try #require(try redacted.adapter(), "\(name)")
            let report = try await decided(redacted, adapter: server)
            if let found = report.divergence { Issue.record("\(name): \(found.text)") }
            // No answer is in it as it came, by which a run could be decided, nor a write as it was
            // sent.
            let usual = [
                "as it came", "as it was sent", "the run began before", "the run was cut off",
                "is another text",
            ]
            let others = report.notDecided.map(\.why).filter { why in
                !usual.contains { why.contains($0) }
            }
            #expect(others == [], "\(name)")
            acts.withLock { $0.append(report.acts) }
        }
        return acts.withLock(\.self)
    }

    @Test(
        .enabled(if: TestRun.isWhole),
        arguments: RedactionSupport.scenarios.filter { $0.hasPrefix("kinto/") })
    func `are left undecided for want of answers alone`(file: String) async throws {
        #expect(try await acts(of: file).count >= 2)
    }

    @Test(
        .enabled(if: TestRun.isWhole),
        arguments: ["resume-1", "retry-1", "unfetched", "unfetched-shared"])
    func `are decided once more as they were where files were asked for, which needs no answers`(
        _ name: String
    ) async throws {
        let acts = try await acts(of: "contents/contents-\(name).json")
        #expect(acts.count == 2 && acts.allSatisfy { $0 > 0 })
    }

    @Test func `are decided once more by the version of their server`() async throws {
        let acts = try await acts(of: "dhis2/FR-sent.json")
        #expect(acts.count >= 2 && acts.contains { $0 > 0 })
    }

    @Test func `are left undecided where a run was cut off in its first write`() async throws {
        let scenario = #"""
            {"id": "cut", "title": "cut off", "model": "toggl", "clock": "2017-09-01T12:00:00Z",
             "server": {"kind": "toggl", "rows": {"workspaces": [
               {"id": 1, "name": "Mine", "at": "2017-08-01T00:00:00Z"}]}},
             "steps": [
               {"create": "time_entries/l7", "document": {"workspace_id": 1,
                 "description": "Reading", "start": "2017-09-01T10:00:00Z", "duration": 3600}},
               {"during": {"request": "P*", "nth": 1}, "do": [{"restart": true}]},
               {"sync": "push"}],
             "expect": {}}
            """#
        let reports = Lock<[RedecideReport]>([])
        try await RedactionSupport.capsules(of: Array(scenario.utf8), "cut.json") { name, capsule in
            let redacted = try capsule.redactedByTool()
            let server = try #require(try redacted.adapter(), "\(name)")
            let report = try await decided(redacted, adapter: server)
            if let found = report.divergence { Issue.record("\(name): \(found.text)") }
            reports.withLock { $0.append(report) }
        }

        let whole = try #require(reports.withLock(\.self).first)
        #expect(whole.notDecided.contains { $0.why.contains("not in it as it was sent") })
    }

    @Test func `of a server that heeds preconditions have an adapter`() throws {
        let remote = Remote.webdav(
            origin: "https://x.test", home: "/dav/", heedsPreconditions: true)
        let model = SyncModel(name: "m", collections: [CollectionModel("files")])
        let registration = ModelRegistration(model: model, remote: remote)
        let event = Event(
            .modelRegistered, recordedAt: Timestamp(rawValue: 1), json: registration.encoded)
        let entry = Capsule.Entry(position: Position(1), event: event)
        let capsule = Capsule(
            provenance: Capsule.Provenance(build: "test", last: Position(1), root: []),
            base: Capsule.Base(), commits: [Capsule.Commit(entries: [entry], views: [])])

        #expect(try capsule.redactedByTool().adapter() is WebDAVAdapter)
    }

    @Test func `are files like any other`() throws {
        let redacted = try SecretCapsule.make().redactedByTool()
        let read = try Capsule(parsing: redacted.encoded)

        #expect(read == redacted)
        #expect(read.provenance.isRedacted && !read.provenance.namesRemote)
        #expect(
            read.provenance.redaction
                == "texts, numbers, ids and tokens replaced; times kept")
    }
}

extension Capsule {
    /// The adapter of the last model that it knows.
    fileprivate func adapter() throws -> (any ServerAdapter)? {
        let model = events.last { $0.kind == .modelRegistered }?.payload
        let before = base.rows.first { $0.key == .store("model") }
        let fact = try before.map { try StoreFactRow(parsing: $0.value).payload }
        guard let model = model ?? fact else { return nil }
        return try ModelRegistration(parsing: model, isLogged: true).remote?.makeAdapter()
    }
}

@Suite(.enabled(if: BuiltTool.isThere)) struct `the tool redacts` {
    @Test func `a store, and says what it did`() async throws {
        try await RedactTool.inStore { store, folder in
            let made = try BuiltTool.run(
                "capsule", store, "-o", "a.capsule", "--redact", "--shift-times=-28", "--keep",
                "tasks.state", in: folder)
            let dump = try BuiltTool.run("dump", "a.capsule", "-o", "json", in: folder)

            #expect(made.code == 0, "\(made.complaints)")
            #expect(made.text.contains("redacted   texts, numbers, ids and tokens replaced;"))
            #expect(made.text.contains("; times shifted; "))
            #expect(dump.code == 0)
            #expect(dump.text.contains("\"state\":\"open\""))
            #expect(!dump.text.contains("Zebra") && !dump.text.contains("quagga"))
        }
    }

    @Test(arguments: ["harbour", "kinto"])
    func `without the words of a server that it does not know, and says so`(
        adapter: String
    ) async throws {
        let remote = Remote(origin: "https://x.test", adapter: adapter)
        try await RedactTool.inStore(remote) { store, folder in
            let made = try BuiltTool.run(
                "capsule", store, "-o", "a.capsule", "--redact", in: folder)

            #expect(made.code == 0, "\(made.complaints)")
            let isTold = made.complaints.contains("the adapter \"harbour\" is not known here")
            #expect(isTold == (adapter == "harbour"))
        }
    }

    @Test func `not without being told so, and no field that is none`() async throws {
        try await RedactTool.inStore { store, folder in
            let alone = try BuiltTool.run(
                "capsule", store, "-o", "a.capsule", "--keep", "tasks.state", in: folder)
            let wrong = try BuiltTool.run(
                "capsule", store, "-o", "a.capsule", "--redact", "--keep", "task.state",
                in: folder)

            #expect(alone.code == 2)
            #expect(alone.complaints.contains("go with --redact"))
            #expect(wrong.code == 2)
            #expect(wrong.complaints.contains("there is no such collection, but tasks"))
            #expect(!FileManager.default.fileExists(atPath: folder + "/a.capsule"))
        }
    }
}

private enum RedactTool {
    static func inStore(
        _ remote: Remote? = nil, _ body: (String, String) throws -> Void
    ) async throws {
        let folder = RedactionSupport.scratch()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let model = SyncModel(name: "m", collections: [CollectionModel("tasks")])
        try await Replica.withTemporary(model: model, remote: remote) { replica in
            try replica.write { tx in
                try tx.create(
                    EntityKey("tasks", "quagga"),
                    Array(#"{"title":"Zebra crossing","state":"open"}"#.utf8))
            }
            try body(replica.directory, folder)
        }
        try FileManager.default.removeItem(atPath: folder)
    }
}
