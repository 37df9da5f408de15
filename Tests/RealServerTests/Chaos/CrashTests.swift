// CrashTests.swift — a process that dies in the middle of a push, at every place where it can.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    struct `a process that is killed in the middle of a push` {
        @Test(arguments: Checkpoint.allCases, CrashWrite.allCases)
        func `loses nothing and repeats nothing`(_ place: Checkpoint, _ write: CrashWrite)
            async throws
        {
            try await KintoWorld.run { world in
                var (a, b) = (try world.device("a"), try world.device("b"))
                if write != .create {
                    try await world.client.put(Self.key, #"{"title":"s","n":1}"#)
                }
                try await world.settle(a, b)

                try a.edit(Self.key, write.onA)
                try b.edit(Self.key, write.onB)
                a = try await Self.crash(a, world, place)
                try await Self.recover(a, world, place, "a")
                b = try await Self.crash(b, world, place)
                try await Self.recover(b, world, place, "b")
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let record = try await world.record(Self.key)
                #expect(try record == JSONValue(parsing: Array(write.end.utf8)))
                #expect(try await world.client.records("tasks").count == 1)
            }
        }

        private static let key = "tasks/t"

        /// Lets a child sync the device's store and die; opens it again and looks at the outbox.
        private static func crash(
            _ device: RealDevice, _ world: KintoWorld, _ place: Checkpoint
        ) async throws -> RealDevice {
            try await device.replica.close()
            let crash = try await KintoCrash.run(world.path(device.name), place, user: device.name)
            #expect(crash == .at(place))
            let again = try world.device(device.name)
            switch place {
            case .beforeAppend: #expect(try again.mutations(key) == ["pending"])
            case .afterAppend, .beforeSend, .afterSend, .beforeAnswer:
                #expect(try again.mutations(key) == ["unknown"])
                #expect(try again.status(key) == .uploading)
            case .afterAnswer: #expect(try again.mutations(key) == ["accepted"])
            }
            try world.expectWhole(again)
            return again
        }

        /// Edits the same entity once more and syncs: what is unknown is asked after before
        /// anything of that entity is sent again, and what had arrived is not sent again.
        private static func recover(
            _ device: RealDevice, _ world: KintoWorld, _ place: Checkpoint, _ value: String
        ) async throws {
            let before = try device.replica.read { $0.position }
            if try device.documents("tasks")["t"] == nil {
                try device.put(key, #"{"title":"again","by-\#(value)":1}"#)
            } else {
                try device.patch(key, #"{"by-\#(value)":1}"#)
            }
            let outcome = try await device.sync()

            #expect(outcome.isSynced, "\(outcome)")
            let isUnknown = place != .beforeAppend && place != .afterAnswer
            let hasArrived = place == .afterSend || place == .beforeAnswer
            let requests = device.wire.lines.filter { $0.target == key }
            #expect(requests.map(\.isWrite) == (isUnknown ? [false, true] : [true]))
            #expect(requests.allSatisfy { $0.status != 412 })
            let sent = try device.events(of: key, after: before).filter {
                $0.event.kind == .requestSent
            }
            #expect(sent.map(\.event.method) == requests.map(\.method.rawValue))
            let first = try #require(
                try device.entries(all: true).first { $0.mutation.key.id == "t" })
            #expect(first.mutation.outcome == .accepted)
            let proof = try #require(first.mutation.proof)
            let lastSent = try #require(sent.last)
            #expect((proof < lastSent.position) == (hasArrived || place == .afterAnswer))
        }
    }
}

/// What is pending when the process dies.
enum CrashWrite: String, CaseIterable, Sendable {
    case create, update, delete

    var onA: KintoEdit {
        switch self {
        case .create: .put(#"{"title":"a"}"#)
        case .update: .patch(#"{"title":"a"}"#)
        case .delete: .delete
        }
    }

    var onB: KintoEdit {
        switch self {
        case .create: .put(#"{"note":"b"}"#)
        case .update: .patch(#"{"note":"b"}"#)
        case .delete: .delete
        }
    }

    var end: String {
        switch self {
        case .create: #"{"title":"a","note":"b","by-a":1,"by-b":1}"#
        case .update: #"{"title":"a","n":1,"note":"b","by-a":1,"by-b":1}"#
        // The second replica deletes what the first made anew, and makes it once more.
        case .delete: #"{"title":"again","by-b":1}"#
        }
    }
}

extension Event {
    /// The method of a request.
    fileprivate var method: String? {
        (try? JSONDocument(parsing: payload))?.value("method")?.stringValue
    }
}
