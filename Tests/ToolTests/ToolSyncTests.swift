// ToolSyncTests.swift — `tidemark sync` against a server on the loopback address.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's sync` {
    private let me = [Remote.usualCredentialsVariable: "me:secret"]

    /// A server that listens, and a store that is to be synced with it.
    private func withServer(
        _ world: SyncWorld = SyncWorld(), _ body: (SyncWorld, String) async throws -> Void
    ) async throws {
        try await withOrigin(.live(world)) { world, store, _ in try await body(world, store) }
    }

    private func withOrigin(
        _ world: SyncWorld = SyncWorld(),
        _ body: (SyncWorld, String, String) async throws -> Void
    ) async throws {
        // Above the other tests, who may keep every thread of theirs busy.
        let listener = try await Task(priority: .high) {
            try await LoopbackServer.start(world.server)
        }.value
        do {
            try await SyncFolder.withStore(remote: listener.origin, model: world.model) {
                _, store in
                try await body(world, store, listener.origin)
            }
        } catch {
            await listener.stop()
            throw error
        }
        await listener.stop()
    }

    @Test func `says in one line what it did, and ends with 0 when both sides are equal`()
        async throws
    {
        try await withServer { world, store in
            world.rivalPuts("lists/home", #"{"title":"Home"}"#)
            _ = try await SyncTool.run("put", store, "tasks/t1", #"{"list":"home"}"#)

            let first = try await SyncTool.run("sync", store, environment: me)
            #expect(first.code == 0 && first.err == "")
            #expect(first.out == "synced: 1 pulled, 1 pushed\n")
            #expect(world.writes == ["PUT tasks/t1 * 201"])

            let second = try await SyncTool.run("sync", store, environment: me)
            #expect(second.code == 0 && second.out == "synced: nothing new\n")

            let outbox = try await SyncTool.run("outbox", store, "--all", "-o", "json").out
            let entry = try JSONValue(parsing: Array(outbox.utf8.dropLast()))
            #expect(entry["outcome"] == "accepted" && entry["attempts"] == 1)
            #expect(entry["proof"]?.int64Value != nil)
            let status = try await SyncTool.run("status", store).lines
            #expect(status.contains("outbox    0 pending, 0 refused"))
            #expect(status.contains { $0.hasPrefix("last run  synced (@") })
            #expect(try await SyncTool.run("verify", store).code == 0)
        }
    }

    @Test func `ends with 1 and the reason when something waits`() async throws {
        try await withServer { world, store in
            _ = try await SyncTool.run("put", store, "lists/bad", "{}")
            _ = try await SyncTool.run("put", store, "tasks/in", #"{"list":"bad"}"#)
            world.server.faults = FaultPlan([
                FaultRule(.answer(status: 400), method: .put, recordID: { $0 == "bad" })
            ])

            let result = try await SyncTool.run("sync", store, environment: me)

            #expect(result.code == 1 && result.err == "")
            #expect(result.out == "not synced: 1 pending, 1 refused\n")
            #expect(
                try await SyncTool.run("outbox", store).lines.map {
                    $0.split(separator: " ").prefix(5).joined(separator: " ")
                }.first == "@3 local.created lists/bad rejected by")
        }
    }

    @Test func `ends with 1 as long as entities are held, and status says how many`() async throws {
        try await withServer { world, store in
            for number in 0..<4 { world.rivalPuts("tasks/t\(number)", "{}") }
            _ = try await SyncTool.run("sync", store, environment: me)
            for number in 0..<4 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }

            for arguments in [["--full"], [], ["--until-quiet"]] {
                let result = try await SyncTool.run(["sync", store] + arguments, environment: me)
                #expect(result.code == 1, "\(arguments)")
                #expect(result.lines.first == "not synced: 4 held", "\(arguments)")
            }

            let status = try await SyncTool.run("status", store).lines
            #expect(status.contains("held      4 of tasks, see tidemark issues"))
            let json = try await SyncTool.run("status", store, "-o", "json").out
            #expect(try JSONValue(parsing: Array(json.utf8.dropLast()))["held"]?["tasks"] == 4)
        }
    }

    @Test func `ends with 1 while the server's time is in doubt, and status says what is expected`()
        async throws
    {
        try await withServer { world, store in
            world.rivalPuts("tasks/t1", "{}")
            #expect(try await SyncTool.run("sync", store, environment: me).code == 0)
            world.clock.advance(by: .seconds(3650 * 86_400))

            for _ in 0..<2 {
                let result = try await SyncTool.run("sync", store, environment: me)
                #expect(result.code == 1)
                #expect(
                    result.lines == [
                        "not synced: the server's time is in doubt",
                        "  nothing is removed until the server's time is known: see "
                            + "tidemark status",
                    ])
            }

            let said = world.clock.now.description.prefix(10)
            let status = try await SyncTool.run("status", store).lines
            #expect(status.contains { $0.hasPrefix("last run  incomplete (@") })
            let line = try #require(status.firstIndex { $0.hasPrefix("clock     in doubt: ") })
            #expect(status[line].contains("the server says \(said)T"))
            #expect(status[line + 1].hasSuffix("Z was expected; nothing is removed meanwhile"))
            let json = try await SyncTool.run("status", store, "-o", "json").out
            let doubt = try JSONValue(parsing: Array(json.utf8.dropLast()))["timeInDoubt"]
            #expect(doubt?["said"]?.stringValue?.hasPrefix(said) == true)

            world.clock.advance(by: .seconds(-3650 * 86_400))
            let result = try await SyncTool.run("sync", store, environment: me)
            #expect(result.code == 0 && result.out == "synced: nothing new\n")
        }
    }

    @Test func `says where a list goes on, and that it began anew`() async throws {
        try await withServer(SyncWorld.paging(1)) { world, store in
            for number in 0..<6 { world.rivalPuts("tasks/t\(number)", "{}") }
            world.server.faults = FaultPlan([
                FaultRule(
                    .answer(status: 503), method: .get, pathContains: "_token",
                    occurrences: 3...Int.max)
            ])
            #expect(try await SyncTool.run("sync", store, environment: me).code == 1)
            let status = try await SyncTool.run("status", store).lines
            #expect(
                status.last?.hasSuffix("synced; a list of everything goes on after page 3") == true)
            world.server.faults = FaultPlan([
                FaultRule(
                    .answer(status: 400, body: Array(#"{"code":400}"#.utf8)), method: .get,
                    pathContains: "_token", nth: 1)
            ])

            let result = try await SyncTool.run("sync", store, environment: me)

            #expect(result.code == 0)
            #expect(
                result.lines.last
                    == "  tasks: the server did not take the next page of the list that"
                    + " was cut off; it was listed from the beginning")
            #expect(
                try await SyncTool.run("status", store).lines
                    .contains("          listed from the beginning: tasks"))
        }
    }

    @Test func `ends with 1 and names the rule that only the app has`() async throws {
        try await withServer(.notes(.custom("longest"))) { world, store in
            world.rivalPuts("notes/a", #"{"title":"old"}"#)
            _ = try await SyncTool.run("sync", store, environment: me)
            _ = try await SyncTool.run("patch", store, "notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)

            let result = try await SyncTool.run(
                "sync", store, "--until-quiet", environment: me)

            #expect(result.code == 1 && result.err == "")
            #expect(result.lines.first == "not synced: 1 pending")
            #expect(
                result.lines.last
                    == "  notes: both sides changed an entity, and the app's rule \"longest\" that "
                    + "is to decide is not known here; sync with the app, which opens the replica "
                    + "with it")
            #expect(try await SyncTool.run("verify", store).code == 0)
        }
    }

    @Test func `ends with 1 without credentials that the server accepts`() async throws {
        try await withServer { world, store in
            let result = try await SyncTool.run("sync", store)

            #expect(result.code == 1)
            #expect(result.out.contains("does not accept the credentials"))
            let wrong = try await SyncTool.run(
                "sync", store, environment: [Remote.usualCredentialsVariable: "nocolon"])
            #expect(wrong.code == 2 && wrong.out == "")
            #expect(wrong.err.contains("holds neither NAME:PASSWORD nor"))
        }
    }

    @Test(arguments: [
        ("Ada Lovelace:secret", "Basic QWRhIExvdmVsYWNlOnNlY3JldA=="),
        ("ApiToken d2pat", "ApiToken d2pat"),
        ("Bearer a:b", "Bearer a:b"),
        ("AWS4-HMAC-SHA256 Credential=a/b:c", "AWS4-HMAC-SHA256 Credential=a/b:c"),
        ("X-Own-2 a", "X-Own-2 a"),
        ("Authorization: Custom id:secret", "Custom id:secret"),
        ("authorization:x", "Basic YXV0aG9yaXphdGlvbjp4"),
    ])
    func `takes a name, with blanks, too, and a password, or the whole header field`(
        _ text: String, _ sent: String
    ) async throws {
        try await withServer { world, store in
            world.server.withModel { $0.acceptedCredentials = [sent] }

            let result = try await SyncTool.run(
                "sync", store, environment: [Remote.usualCredentialsVariable: text])

            #expect(result.code == 0, "\(result.out)\(result.err)")
        }
    }

    @Test func `ends with 1 when nobody listens, and with 2 when there is no server to ask`()
        async throws
    {
        try await SyncFolder.withStore(remote: "http://127.0.0.1:9") { folder, store in
            let refused = try await SyncTool.run("sync", store, environment: me)
            #expect(refused.code == 1)
            #expect(refused.out.hasPrefix("not synced: the server can't be reached"))
        }
        try await SyncFolder.withStore { folder, store in
            let nowhere = try await SyncTool.run("sync", store, environment: me)
            #expect(nowhere.code == 2 && nowhere.out == "")
            #expect(nowhere.err.contains("names no remote"))
        }
    }

    @Test func `goes on until it is quiet, over lost answers and pauses`() async throws {
        try await withServer { world, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", "{}")
            world.server.faults = FaultPlan([
                FaultRule(.dropAfterHandling, method: .put, nth: 1),
                FaultRule(.tooManyRequests(retryAfterSeconds: 1), method: .get, nth: 4),
            ])

            let result = try await SyncTool.run(
                "sync", store, "--until-quiet", environment: me)

            #expect(result.code == 0)
            #expect(result.out == "synced: 1 read back\n")
            #expect(world.writes == ["PUT tasks/t1 * lost"])
        }
    }

    @Test func `says when automatic runs go on, and why not before`() async throws {
        try await withOrigin { world, store, origin in
            let steps: [(FaultAction, String, String)] = [
                (
                    .answer(status: 503), "next run  in",
                    "backoff   1 failed in a row (server), until"
                ),
                (
                    .tooManyRequests(retryAfterSeconds: 900), "next run  in 900 s",
                    "server    the server asked for a pause until"
                ),
                (
                    .answer(status: 401),
                    "next run  when the user asks, or gives other credentials",
                    "frozen    the server said unauthorized (@"
                ),
            ]
            for (fault, automatic, gate) in steps {
                try await SyncFolder.withStore(remote: origin) { _, store in
                    world.server.faults = FaultPlan([FaultRule(fault)])
                    let sync = try await SyncTool.run("sync", store, environment: me)
                    #expect(sync.code == 1)

                    let status = try await SyncTool.run("status", store).lines
                    #expect(status.contains { $0.hasPrefix(automatic) }, "\(status)")
                    #expect(status.contains { $0.hasPrefix(gate) }, "\(status)")
                    #expect(status.allSatisfy { $0.count <= 80 })
                    let json = try await SyncTool.run("status", store, "-o", "json").out
                    let summary = try JSONValue(parsing: Array(json.utf8.dropLast()))
                    guard case .array(let gates)? = summary["gates"] else {
                        Issue.record("\(json)")
                        return
                    }
                    #expect(gates.contains { gate.hasPrefix($0["name"]?.stringValue ?? "-") })
                }
            }
            #expect(try await !SyncTool.run("status", store).out.contains("next run"))
        }
    }

    @Test func `ends in time`() async throws {
        try await withServer { world, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", "{}")

            let result = try await SyncTool.run(
                "sync", store, "--deadline", "0", "--until-quiet", environment: me)

            #expect(result.code == 1)
            #expect(result.out.hasPrefix("not synced: the time for this run is over"))
            #expect(world.requests == [])

            let enough = try await SyncTool.run("sync", store, "--deadline", "60", environment: me)
            #expect(enough.out == "synced: 1 pushed\n")

            for wrong in ["--deadline=-1", "--deadline=\(Int.max)", "--for=-1", "--for=\(Int.max)"]
            {
                let refused = try await SyncTool.run("sync", store, wrong, environment: me)
                #expect(refused.code == 2, "\(wrong)")
                #expect(refused.err.contains("takes seconds, from 0 up to a century"), "\(wrong)")
            }
        }
    }

    @Test func `prints no secret, and keeps none`() async throws {
        try await withServer { world, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", "{}")
            _ = try await SyncTool.run("sync", store, environment: me)

            let bytes = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
            for secret in ["me:secret", "bWU6c2VjcmV0", "Authorization"] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil)
            }
        }
    }
}
