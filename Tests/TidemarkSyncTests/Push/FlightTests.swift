// FlightTests.swift — writes of a tree that are on their way at the same time: how many, and what
// one that fails leaves of the others.

import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `writes of a tree that are on their way at the same time` {
    /// A replica of files, and what was on its way to the server.
    private final class World: Sendable {
        let clock = ManualClock()
        let server: WebDAVServer
        let wire: SyncWire
        let replica: Replica
        let engine: SyncEngine
        private let traffic = Mutex(OpenRequests())
        private let signIns = SyncCounter()
        /// How many answers to writes were logged.
        private let logged = SyncCounter()

        init(_ budgets: TransferBudgets, limits: [RequestLimit] = []) throws {
            var options = WebDAVOptions()
            options.hasFileIDs = true
            server = WebDAVServer(WebDAVServerModel(options), clock: clock)
            let model = SyncModel.files(
                .init("content", when: .all), SyncSettings(limits: limits, budgets: budgets))
            let remote = Remote.webdav(origin: "http://files.test", home: "/")
            var dependencies = Dependencies.seeded(1, clock: clock)
            let logged = logged
            dependencies.reach = { if $0 == .afterAnswer { _ = logged.count() } }
            replica = try Replica.temporary(
                model: model, remote: remote, dependencies: dependencies)
            wire = SyncWire(server)
            let signIns = signIns
            engine = try SyncEngine(replica, remote: remote, transport: wire) {
                .basic(user: "me", password: "secret \(signIns.count())")
            }
        }

        var signedIn: Int { signIns.value }

        /// Counts the writes that are open, and has some wait for each other; a write may be
        /// answered otherwise, by its number from 1, and those from one on after the first answer.
        func watch(
            together: Range<Int> = 0..<0, late: Int = .max,
            _ answer: @escaping @Sendable (Int) -> SyncWire.Answer? = { _ in nil }
        ) {
            let open = OpenRequests(together: together)
            traffic.withLock { $0 = open }
            let (logged, before) = (logged, logged.value)
            wire.tap { request, _, pass in
                guard request.method == .put || request.method.rawValue == "MKCOL" else {
                    return await pass()
                }
                let number = await open.begin(request.path ?? "")
                defer { open.end() }
                while number >= late, logged.value == before { await Task.yield() }
                if let other = answer(number) { return other }
                return await pass()
            }
        }

        var openMax: Int { traffic.withLock(\.most) }
        var sent: Int { traffic.withLock(\.asked.count) }

        func make(_ count: Int, kind: String = "folder", from first: Int = 0) async throws {
            for number in first..<(first + count) {
                let name = "n\(number)"
                try await replica.write { tx in
                    _ = try tx.create(
                        EntityKey("files", name),
                        Array("{\"name\":\"\(name)\",\"kind\":\"\(kind)\"}".utf8))
                }
            }
        }

        func end() async throws {
            #expect(try replica.journal.verify(.deep).findings.isEmpty)
            await engine.stop()
            try replica.deleteTemporary()
        }
    }

    private static func offline(_ number: Int, from first: Int) -> SyncWire.Answer? {
        number >= first ? .failure(TransportError(.offline, detail: "")) : nil
    }

    @Test(arguments: [1, 2, 4])
    func `are as many as the model says`(_ actions: Int) async throws {
        let world = try World(.init(actions: actions))
        try await world.make(12)
        world.watch(together: 1..<1 + actions)
        let outcome = try await world.engine.sync()
        #expect(outcome.isSynced && outcome.counts.pushed == 12)
        #expect(world.openMax == actions)
        #expect(world.server.entries.count == 12)
        try await world.end()
    }

    @Test func `are one after another where requests are limited`() async throws {
        let world = try World(
            .init(actions: 4), limits: [RequestLimit(requests: 1_000, within: .seconds(60))])
        try await world.make(6)
        world.watch()
        #expect(try await world.engine.sync().isSynced)
        #expect(world.openMax == 1)
        try await world.end()
    }

    @Test func `wait for the folder that they go into`() async throws {
        let world = try World(.init(actions: 8))
        try await world.make(1)
        for number in 1...6 {
            try await world.replica.write { tx in
                _ = try tx.create(
                    EntityKey("files", "f\(number)"),
                    Array(#"{"parent":"n0","name":"f\#(number)","kind":"file"}"#.utf8))
            }
        }
        world.watch(together: 2..<8)
        #expect(try await world.engine.sync().isSynced)
        #expect(world.openMax == 6)
        #expect(world.server.entries.count == 7)
        try await world.end()
    }

    @Test func `are all answered before the run ends, and none is sent twice`() async throws {
        let world = try World(.init(actions: 4))
        try await world.make(12)
        world.watch { Self.offline($0, from: 3) }
        let outcome = try await world.engine.sync()
        #expect(outcome.failure == .offline(""))
        #expect(world.sent <= 6)
        #expect(outcome.pending == 12 - outcome.counts.pushed)
        world.clock.advance(by: .seconds(7_200))
        world.watch()
        #expect(try await world.engine.sync().isSynced)
        #expect(world.server.entries.count == 12)
        try await world.end()
    }

    @Test func `are sent again with other credentials, which are asked for once`() async throws {
        let world = try World(.init(actions: 4))
        try await world.make(8)
        world.watch(together: 1..<5) { number in
            (2...4).contains(number)
                ? .success(
                    TransportResponse(response: HTTPResponse(status: .unauthorized), body: []))
                : nil
        }
        let before = world.signedIn
        let outcome = try await world.engine.sync()
        #expect(outcome.isSynced && outcome.counts.pushed == 8)
        #expect(world.signedIn == before + 2)
        #expect(world.server.entries.count == 8)
        try await world.end()
    }

    private static let lost = SyncWire.Answer.failure(TransportError(.connectionLost, detail: ""))

    @Test func `ask for other credentials also where the others are lost after that`() async throws
    {
        let world = try World(.init(actions: 4))
        try await world.make(8)
        world.watch(together: 1..<5, late: 2) { number in
            switch number {
            case 1:
                .success(
                    TransportResponse(response: HTTPResponse(status: .unauthorized), body: []))
            case 2...4: Self.lost
            default: nil
            }
        }
        let before = world.signedIn
        _ = try await world.engine.sync()
        #expect(world.signedIn == before + 2)
        #expect(world.server.entries.count == 5)
        try await world.end()
    }

    @Test func `are a failure of one entity where all of them are lost`() async throws {
        let world = try World(.init(actions: 4))
        try await world.make(4)
        world.watch(together: 1..<5) { _ in Self.lost }
        let outcome = try await world.engine.sync()
        #expect(outcome.pending == 4 && outcome.unsettled == 1, "\(outcome)")
        world.watch()
        world.clock.advance(by: .seconds(7_200))
        #expect(try await world.engine.sync().isSynced)
        #expect(world.server.entries.count == 4)
        try await world.end()
    }

    @Test func `stay where they are when one of them is refused`() async throws {
        let world = try World(.init(actions: 4))
        try await world.make(8)
        world.watch { number in
            number == 2
                ? .success(TransportResponse(response: HTTPResponse(status: .forbidden), body: []))
                : nil
        }
        let outcome = try await world.engine.sync()
        #expect(outcome.counts.pushed == 7 && outcome.refused == 1)
        try await world.end()
    }
}
