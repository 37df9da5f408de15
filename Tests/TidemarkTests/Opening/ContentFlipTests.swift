// ContentFlipTests.swift — bits of contents that flipped on the disk: each is found and named.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a bit of a tree's contents that flipped` {
    /// `TIDEMARK_CONTENT_FLIPS=1-500` for more.
    private static let flips = TestSeeds.named("TIDEMARK_CONTENT_FLIPS", else: 1...60)

    /// A store of files in a tree; what they hold, by their digests.
    private func make(_ folder: SyncFolder) throws -> [String: Int] {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, content: "content"))
        files.contents = [.init("content")]
        let replica = try Replica.open(
            at: folder / "store", model: SyncModel(name: "files", collections: [files]))
        var random = SplitMix64(seed: 0xF11B)
        var made: [String: Int] = [:]
        for (number, count) in [1, 2, 64, 4095, 4096, 4097, 70_000, 300_000].enumerated() {
            try Data(random.bytes(count)).write(to: URL(filePath: folder / "file"))
            let name = try replica.importFile(at: folder / "file")
            try replica.write { tx in
                let document: JSONValue = .object([
                    "kind": "file", "name": .string("\(number)"), "content": name.json,
                ])
                _ = try tx.put(EntityKey("files", "\(number)"), document.encoded())
            }
            made[name.text] = count
        }
        try replica.close()
        return made
    }

    @Test func `is found, and the file is named`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let made = try make(folder)
        let store = folder / "store"
        let files = ContentFiles(of: store)
        func problems(_ level: VerifyLevel) throws -> [String] {
            try Journal.verifyStore(at: store, level).problems.map(\.detail)
        }
        #expect(try problems(.deep) == [])
        for digest in made.keys {
            // As a disk does, which asks nobody.
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: files.path(of: digest))
        }
        for flip in Self.flips {
            var random = SplitMix64(seed: 0xF11 + flip)
            let digest = random.pick(made.keys.sorted())
            let place = URL(filePath: try files.path(of: digest))
            let whole = try Data(contentsOf: place)
            var damaged = whole
            damaged[random.below(whole.count)] ^= 1 << UInt8(random.below(8))
            try damaged.write(to: place)
            #expect(
                try problems(.deep) == ["the file \(digest) is damaged: it has another hash"],
                "flip \(flip)")
            #expect(try problems(.full) == [], "lengths and names are what they were")
            try whole.write(to: place)
        }
        #expect(try problems(.deep) == [])
    }
}
