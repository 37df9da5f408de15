// TransferPartsTests.swift — what came of a file that nothing fetches any more.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    /// The files in the making.
    fileprivate var parts: [String] { get throws { try ContentFiles(of: path).partNames() } }

    /// From now on nothing comes but the first part of each file.
    fileprivate func breakOff() {
        files.fault = { request, answer throws(TransportError) in
            guard request.headerFields[.range] == "bytes=0-3" else {
                throw TransportError(.file, detail: "a fault")
            }
            return answer
        }
    }
}

extension Replica {
    /// The server says by what a record names its file.
    fileprivate func take(_ source: String) throws {
        let document = JSONValue.object(["photo": .string(source)]).encoded()
        try write { tx in
            _ = try tx.draft.append(
                Event(
                    .serverUpserted, recordedAt: tx.draft.now, key: EntityKey("tasks", "1"),
                    json: document))
        }
    }
}

@Suite struct `a part of a file that is not fetched any more` {
    @Test(
        "goes once its request is over where another version was named meanwhile",
        arguments: [true, false])
    func renamed(_ fails: Bool) async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        world.serve("/files/2", "tea")
        let replica = world.replica
        try replica.take("/files/1")
        world.files.fault = { request, answer throws(TransportError) in
            guard request.headerFields[.range] == "bytes=4-7" else { return answer }
            do { try replica.take("/files/2") } catch {
                throw TransportError(.file, detail: "\(error)")
            }
            if fails { throw TransportError(.file, detail: "a fault") }
            return answer
        }

        _ = try await world.engine.transfer()

        #expect(try world.parts == [])
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(3600))
        _ = try await world.engine.transfer()
        #expect(try world.text() == "tea")
        #expect(try world.problems() == [])
    }

    @Test(
        "goes with the next sweep, and with the copies that are dropped", arguments: [true, false])
    func unwanted(_ isDropped: Bool) async throws {
        let world = try TransferWorld(ContentRule("photo"))
        let (key, clock) = (EntityKey("tasks", "1"), world.world.clock)
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        try await world.replica.write { tx in _ = try tx.wantFiles(of: key) }
        world.breakOff()
        #expect(try await world.engine.transfer().failed == 1)
        world.replica.journal.keepTidy(at: clock.now)
        // The next request goes on with it.
        #expect(try world.parts.count == 1)

        if isDropped {
            #expect(try await world.replica.dropFiles(of: key) == 0)
        } else {
            try await world.replica.write { tx in _ = try tx.wantFiles(of: key, isWanted: false) }
            clock.advance(by: .seconds(86_400))
            world.replica.journal.keepTidy(at: clock.now)
        }

        #expect(try world.parts == [])
        world.files.fault = nil
        try await world.replica.write { tx in _ = try tx.wantFiles(of: key) }
        clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked.count { $0.hasPrefix("bytes=0-3") } == 2)
        try await world.expectSound()
    }

    @Test("goes with the next opening, and another one stays")
    func opened() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        for id in ["1", "2"] {
            world.serve("/files/\(id)", "0123456789", tag: "\"a\"")
            try world.name("/files/\(id)", by: id)
            try await world.replica.write { tx in
                _ = try tx.wantFiles(of: EntityKey("tasks", id))
            }
        }
        world.breakOff()
        #expect(try await world.engine.transfer().failed == 2)
        #expect(try world.parts.count == 2)

        try await world.replica.write { tx in
            _ = try tx.wantFiles(of: EntityKey("tasks", "1"), isWanted: false)
        }
        try world.reopen()

        #expect(try world.parts.count == 1)
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked.count { $0.hasPrefix("bytes=0-3") } == 2)
        try await world.expectSound()
    }
}
