// KintoInFlightTests.swift — what happens to an entity while its own push is under way, or lost.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `a push under way` {
        @Test(arguments: KintoTransport.Moment.allCases, FlightCase.all)
        func `an edit made meanwhile survives`(
            _ moment: KintoTransport.Moment, _ flight: FlightCase
        ) async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                if flight.isThere { try await world.client.put("tasks/t", #"{"title":"s","n":1}"#) }
                try await world.settle(a, b)
                try a.edit("tasks/t", flight.first)
                a.wire.once(moment, where: \.isWrite) {
                    try a.edit("tasks/t", flight.meanwhile)
                }

                let outcome = try await a.sync()
                try await world.settle(a, b)

                #expect(outcome.isSynced)
                let record = try await world.record("tasks/t")
                #expect(try record == flight.end.map { try JSONValue(parsing: Array($0.utf8)) })
                try await world.expectEqual(a, b)
            }
        }

        @Test(arguments: LostWrite.all, KintoTransport.Moment.allCases)
        func `a lost answer is asked after and nothing is sent twice`(
            _ write: LostWrite, _ lost: KintoTransport.Moment
        ) async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                if write.isThere { try await world.client.put(write.key, #"{"n":1}"#) }
                try await world.settle(a, b)
                try a.edit(write.key, write.edit)
                a.wire.once(lost, where: \.isWrite) { throw TransportError(.connectionLost) }
                let outcome = try await a.sync()
                #expect(outcome.failure == nil && outcome.unsettled == 1)
                #expect(try a.mutations(write.key) == ["unknown"])
                a.wire.forget()

                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let requests = a.wire.lines.filter { $0.target == write.key }
                #expect(requests.map(\.isWrite) == (lost == .answered ? [false] : [false, true]))
                #expect(try a.mutations(write.key) == ["accepted"])
            }
        }

        @Test(arguments: ["lists", "tasks"])
        func `what is made anew after a deletion whose answer was lost is not taken for a conflict`(
            _ collection: String
        ) async throws {
            try await KintoWorld.run { world in
                let a = try world.device("a")
                let key = "\(collection)/x"
                try await world.client.put(key, #"{"n":1}"#)
                try await world.settle(a)
                try a.delete(key)
                a.wire.once(.answered, where: \.isWrite) { throw TransportError(.timeout) }
                try await a.sync()

                try a.put(key, #"{"n":2}"#)
                try await world.settle(a)

                try await world.expectEqual(a)
                #expect(try a.mutations(key) == ["accepted", "accepted"])
                #expect(try await world.record(key) == JSONValue(parsing: Array(#"{"n":2}"#.utf8)))
            }
        }

        @Test(arguments: ["lists", "tasks"])
        func `a write that arrives after it was given up for lost is met once`(
            _ collection: String
        ) async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                let key = "\(collection)/x"
                try a.put(key, #"{"n":1}"#)
                a.wire.once(.leaving, where: \.isWrite) { throw TransportError(.timeout) }
                try await a.sync()
                // The read-back finds nothing; then the write arrives before the second attempt.
                let client = world.client
                a.wire.once(.leaving, where: \.isWrite) {
                    try await client.put(key, #"{"n":1}"#)
                }

                try await a.sync()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                #expect(try a.mutations(key) == ["accepted"])
                #expect(try await world.client.records(CollectionName(collection)).count == 1)
            }
        }
    }
}

/// A write whose answer is lost.
struct LostWrite: Sendable {
    var key: String
    var isThere = true
    var edit: KintoEdit

    static let all = ["lists", "tasks"].flatMap { collection in
        [
            LostWrite(
                key: "\(collection)/created", isThere: false, edit: .put(#"{"n":2}"#)),
            LostWrite(key: "\(collection)/updated", edit: .patch(#"{"n":2}"#)),
            LostWrite(key: "\(collection)/deleted", edit: .delete),
        ]
    }
}

/// An edit while the push of another one is under way.
struct FlightCase: Sendable {
    var isThere = true
    var first: KintoEdit
    var meanwhile: KintoEdit
    var end: String?

    static let all: [FlightCase] = [
        FlightCase(
            isThere: false, first: .put(#"{"title":"a"}"#), meanwhile: .patch(#"{"title":"b"}"#),
            end: #"{"title":"b"}"#),
        FlightCase(
            isThere: false, first: .put(#"{"title":"a"}"#), meanwhile: .delete, end: nil),
        FlightCase(
            first: .patch(#"{"title":"a"}"#), meanwhile: .patch(#"{"n":2}"#),
            end: #"{"title":"a","n":2}"#),
        FlightCase(
            first: .patch(#"{"title":"a"}"#), meanwhile: .patch(#"{"title":"s"}"#),
            end: #"{"title":"s","n":1}"#),
        FlightCase(first: .patch(#"{"title":"a"}"#), meanwhile: .delete, end: nil),
        FlightCase(
            first: .delete, meanwhile: .put(#"{"title":"new"}"#), end: #"{"title":"new"}"#),
    ]
}
