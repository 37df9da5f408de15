// EngineCancelTests.swift — a run that is cancelled wherever it can be: at each request, before and
// after each commit.

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
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a run that is cancelled anywhere` {
    /// Counts the moments at which a run looks at the clock, which it does for each request and
    /// for each commit, and cancels the task at one of them.
    private final class Moments: Sendable {
        private let state = Mutex<(count: Int, at: Int?)>((0, nil))

        var count: Int { state.withLock(\.count) }

        func cancel(at number: Int?) { state.withLock { $0 = (0, number) } }

        func pass() {
            let isNow = state.withLock { state in
                state.count += 1
                return state.count == state.at
            }
            if isNow { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
        }
    }

    /// A device that has everything to do that a run can do.
    private func scene(
        _ body: (SyncWorld, Replica, SyncEngine, Moments) async throws -> Void
    ) async throws {
        let world = SyncWorld.paging(2)
        for name in ["old", "gone", "both"] { world.rivalPuts("tasks/\(name)", #"{"n":1}"#) }
        let moments = Moments()
        var doors = Dependencies.seeded(1, clock: world.clock)
        doors.now = {
            moments.pass()
            return world.clock.now
        }
        let replica = try Replica.temporary(
            model: world.model, remote: SyncWorld.remote, dependencies: doors)
        let engine = SyncDevice.engine(
            replica, world.server, adapter: try SyncWorld.remote.makeAdapter())
        _ = try await engine.sync()
        func put(_ id: String, _ json: String) async throws {
            try await replica.write { tx in
                _ = try tx.put(EntityKey("tasks", id), Array(json.utf8))
            }
        }
        try await put("lost", #"{"n":1}"#)
        world.server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .put, nth: 1)])
        _ = try await engine.sync()
        world.server.faults = FaultPlan()
        try await put("new", #"{"n":1}"#)
        try await put("old", #"{"n":2}"#)
        try await put("both", #"{"n":2}"#)
        try await replica.write { tx in _ = try tx.delete(EntityKey("tasks", "gone")) }
        world.rivalPuts("tasks/both", #"{"n":1,"theirs":true}"#)
        for number in 1...3 { world.rivalPuts("tasks/theirs\(number)", #"{"n":1}"#) }
        world.server.clearRequestLog()
        try await body(world, replica, engine, moments)
        try replica.deleteTemporary()
    }

    /// What both sides must be in the end.
    private func check(_ world: SyncWorld, _ replica: Replica, _ place: String) throws {
        let wanted = [
            "both": #"{"n":2,"theirs":true}"#, "lost": #"{"n":1}"#, "new": #"{"n":1}"#,
            "old": #"{"n":2}"#, "theirs1": #"{"n":1}"#, "theirs2": #"{"n":1}"#,
            "theirs3": #"{"n":1}"#,
        ]
        var found: [String: String] = [:]
        try replica.read { context in
            try context.forEachDocument { key, bytes, status in
                let document = try JSONDocument(parsing: bytes)
                found[key.id] = String(
                    decoding: document.applying(set: [], unset: ["id", "last_modified"]),
                    as: UTF8.self)
                #expect(status == .synced, "\(place): \(key)")
                return true
            }
        }
        #expect(found == wanted, "\(place)")
        for (id, json) in wanted { #expect(world.record("tasks/\(id)") == json, "\(place)") }
        #expect(world.record("tasks/gone") == nil, "\(place)")
        let applied = world.server.requestLog.filter {
            $0.method != .get && $0.isApplied && $0.path.contains("/tasks/")
        }
        #expect(applied.count == 4, "\(place): nothing is written twice")
        try replica.journal.read { views in
            let unknown = try views.unknownAttempts()
            let open = try views.outbox(all: false)
            #expect(unknown == [] && open.isEmpty, "\(place)")
        }
        #expect(try replica.journal.verify(.deep).findings == [], "\(place)")
    }

    @Test(.enabled(if: TestRun.isWhole))
    func `leaves a log that the next run goes on with, to the same end`() async throws {
        var places = 0
        try await scene { world, replica, engine, moments in
            moments.cancel(at: nil)
            #expect(try await engine.sync().isSynced)
            places = moments.count
            try check(world, replica, "not cancelled")
        }
        #expect(places > 30)

        for place in 1...places {
            try await scene { world, replica, engine, moments in
                moments.cancel(at: place)
                // In a task of its own: also what its caller does may be cancelled.
                let outcome = try await Task { try await engine.sync() }.value
                let wasReached = moments.count >= place
                moments.cancel(at: nil)

                #expect(wasReached, "\(place)")
                #expect(outcome.failure == .cancelled || outcome.isSynced, "\(place): \(outcome)")
                #expect(try replica.journal.verify(.deep).findings == [], "\(place)")
                #expect(try await engine.sync().isSynced, "\(place)")
                try check(world, replica, "\(place)")
            }
        }
    }
}
