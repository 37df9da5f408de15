// PreconditionTests.swift — whether a real server of files heeds preconditions is found out by the
// first upload, and nothing is replaced that was not seen, whatever it does.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized)
struct `the preconditions of a real server of files` {
    /// A server that is to be there, and what it does.
    struct Case: CustomTestStringConvertible {
        var name: String
        var address: String
        /// Nil where it can't be found out, as no answer to an upload tells a version.
        var isHeeding: Bool?

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        ("wsgidav", PathChaos.wsgidav, true), ("mod_dav_svn", PathChaos.davsvn, nil),
        ("rclone", PathChaos.rclone, false),
    ].compactMap { name, address, isHeeding in
        address.map { Case(name: name, address: $0, isHeeding: isHeeding) }
    }

    @Test(arguments: Self.cases)
    func `are found out, and what another client wrote is not replaced`(
        _ server: Case
    ) async throws {
        let folder = RealPathServer(
            address: "\(server.address)/preconditions-\(UUID().uuidString.lowercased())")
        try await folder.make()
        var tree = PathChaos.tree
        tree.content = "content"
        let world = try PathWorld(PathChaos.setting(4, folder, tree))
        let device = world.devices[0]
        try await device.write("a.txt", "made here")

        var outcome = try await device.engine.sync()

        #expect(outcome.isSynced)
        #expect(outcome.ignoresPreconditions == (server.isHeeding == false))
        let found = try device.replica.journal.read { try $0.preconditions()?.areHeeded }
        #expect(found == server.isHeeding)
        #expect(try await folder.content("a.txt") == "made here")
        // What was sent twice is no other client's.
        outcome = try await device.engine.sync()
        #expect(outcome.isSynced && outcome.counts.conflicts == 0)
        // Where the answer told no version, as Apache's, it is fetched.
        _ = try await device.engine.transfer()
        #expect(try device.text(of: "a.txt") == "made here")

        try await folder.put("a.txt", "written by another client meanwhile")
        try await device.write("a.txt", "written here, too")
        // Nothing is listed: only the write itself can tell.
        outcome = try await device.engine.sync(.userRequested, scope: .push)

        #expect(outcome.counts.pushed == 0)
        #expect(try await folder.content("a.txt") == "written by another client meanwhile")
        try await world.end()
        try await folder.remove()
    }
}

extension PathWorld.Device {
    /// What is here of a file; nil where it is not.
    fileprivate func text(of name: String) throws -> String? {
        let file = try replica.read { try $0.files(of: EntityKey("files", name)) }.first
        return try file?.stored?.path.map {
            String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self)
        }
    }

    /// Makes a file, or gives it another content.
    fileprivate func write(_ name: String, _ text: String) async throws {
        let content = try replica.importText(text).encoded()
        try await replica.write { tx in
            let key = EntityKey("files", name)
            if try tx.document(key) == nil {
                let document: JSONObject = ["kind": "file", "name": .string(name)]
                try tx.create(key, JSONValue.object(document).encoded())
            }
            try tx.patch(key, Patch(set: [.init("content", content)]))
        }
    }
}
