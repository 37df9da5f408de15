// ScratchDirectoryTests.swift — temporary folders are their process's own, and none stays behind.

import Foundation
import Testing
import Tidemark
import TidemarkStore

@testable import SyncSupport

@Suite(.serialized) struct `a temporary directory` {
    private let parent = FileManager.default.temporaryDirectory.path

    /// A folder such as a process leaves that dies, with a file in it.
    private func leftover(_ name: String) throws -> String {
        let path = "\(parent)/\(ScratchDirectory.prefix)\(name)"
        try FileManager.default.createDirectory(
            atPath: path + "/1", withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: URL(filePath: path + "/1/data.mdb"))
        return path
    }

    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    private func rights(_ path: String) throws -> Int {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return try #require(value as? NSNumber).intValue & 0o777
    }

    @Test func `lies in a folder that is its process's alone, and goes with its last use`() throws {
        let folder = try ScratchDirectory.with(nil) { directory in
            let folder = URL(filePath: directory).deletingLastPathComponent().path
            let name = URL(filePath: folder).lastPathComponent
            #expect(name.hasPrefix("\(ScratchDirectory.prefix)\(Waiting.processID)-"))
            #expect(URL(filePath: folder).deletingLastPathComponent().path == parent)
            #expect(try rights(folder) == 0o700)
            // Whoever looks for leftovers finds that it is held.
            #expect(DirectoryLock.abandoned(folder) == nil)
            try ScratchDirectory.with(nil) { other in
                #expect(other != directory && other.hasPrefix(folder + "/"))
            }
            #expect(isThere(directory))
            return directory
        }

        #expect(!isThere(folder))
    }

    @Test func `goes also when its use fails`() throws {
        struct Failed: Error {}
        var made = ""
        #expect(throws: Failed.self) {
            try ScratchDirectory.withLazily { directory in
                made = try directory()
                throw Failed()
            }
        }

        #expect(made != "" && !isThere(made))
    }

    @Test func `is named where it has no room, as the store's disk may have`() throws {
        func detail(of error: String, in directory: String?) throws -> String {
            let thrown = #expect(throws: StoreError.self) {
                try ScratchDirectory.with(directory) { _ in
                    throw StoreError(.diskFull, number: 28, during: "commit", detail: error)
                }
            }
            return try #require(thrown).detail
        }
        let own = "data.mdb: No space left on device"
        let needs = ", which needs about as much as the store (TMPDIR names another): "

        #expect(
            try detail(of: own, in: nil) == "in the temporary folder \(parent)\(needs)\(own)")
        #expect(
            try detail(of: own, in: "/scratch")
                == "in the temporary folder /scratch\(needs)\(own)")
        // Of what is written elsewhere meanwhile.
        let other = "/elsewhere/new.capsule: No space left on device"
        #expect(try detail(of: other, in: nil) == other)
    }

    @Test func `that a dead process left is removed by the next one that needs one`() throws {
        let dead = try leftover("1-dead")
        let held = try leftover("1-held")
        let lock = try #require(DirectoryLock.abandoned(held))
        // A link of that name leads to what nobody left.
        let target = "\(parent)/tidemark-target-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: target, withIntermediateDirectories: false)
        let link = "\(parent)/\(ScratchDirectory.prefix)link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        defer {
            for path in [held, link, target] { try? FileManager.default.removeItem(atPath: path) }
        }

        ScratchDirectory.removeAll()
        try ScratchDirectory.with(nil) { _ in }

        #expect(!isThere(dead) && isThere(held + "/1/data.mdb") && isThere(target))
        lock.release()
    }
}

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's temporary files` {
    @Test func `of one that was killed are removed by the next`() async throws {
        try await SyncFolder.withStore { folder, store in
            for number in 1...4 {
                _ = try await SyncTool.run("put", store, "tasks/t1", #"{"n":\#(number)}"#)
            }
            let temporary = folder / "temporary"
            try FileManager.default.createDirectory(
                atPath: temporary, withIntermediateDirectories: false)
            func left() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: temporary)
            }
            func bisect(_ check: String) async throws -> Int32 {
                try await SyncTool.run(
                    ["bisect", store, "--check", check], environment: ["TMPDIR": temporary]
                ).code
            }

            _ = try await bisect("kill -9 $PPID")
            #expect(try left().count == 1 && left()[0].hasPrefix(ScratchDirectory.prefix))

            _ = try await bisect("exit 1")
            #expect(try left() == [])
        }
    }

    @Test(arguments: [["verify"], ["status", "--as-of", "@3"], ["dump"]])
    func `do not stay`(_ verb: [String]) async throws {
        try await SyncFolder.withStore { folder, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", "{}")
            let temporary = folder / "temporary"
            try FileManager.default.createDirectory(
                atPath: temporary, withIntermediateDirectories: false)

            let result = try await SyncTool.run(
                [verb[0], store] + verb.dropFirst(), environment: ["TMPDIR": temporary])

            #expect(result.code == 0, "\(result.err)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        }
    }
}
