// ToolAdoptTests.swift — `tidemark adopt`: looks first, and accepts only what is whole; `tidemark
// copy` makes what it accepts.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `tidemark adopt` {
    @Test func `says why a store is refused, and accepts it only with --force`() async throws {
        let store = try OpeningStore()
        try store.changeIdentity { identity in
            identity.device = "elsewhere"
            identity.position = Position(20)
            identity.root = Array(repeating: 1, count: 32)
            identity.opening = .init(process: 1, attempts: 2)
        }
        let before = try store.contents()
        #expect(try await SyncTool.run("put", store.path, "tasks/a", "{}").code == 2)

        let look = try await SyncTool.run("adopt", store.path)
        #expect(look.code == 0, "\(look.err)")
        #expect(look.lines.filter { $0.hasPrefix("was: ") }.count == 3)
        #expect(look.out.contains("events up to @7, all verified"))
        #expect(look.out.contains("--force"))
        #expect(try store.contents() == before)

        let adopted = try await SyncTool.run("adopt", store.path, "--force")
        #expect(adopted.lines.last == "adopted")
        #expect(try await SyncTool.run("put", store.path, "tasks/a", "{}").code == 0)
        #expect(try await SyncTool.run("verify", store.path).code == 0)
        let again = try await SyncTool.run("adopt", store.path)
        #expect(!again.out.contains("was: "), "nothing is left to accept")
    }

    @Test func `refuses damage anywhere in the log`() async throws {
        let store = try OpeningStore()
        try store.changeTables { transaction, log in
            let key = Position(2).bigEndianBytes
            var frame = try #require(try transaction.get(log.log, key))
            frame[frame.count - 1] ^= 1
            try transaction.put(log.log, key, frame)
        }
        let before = try store.contents()

        let refused = try await SyncTool.run("adopt", store.path, "--force")
        #expect(refused.code == 1)
        #expect(refused.err.contains("@2"))
        #expect(try store.contents() == before)
    }

    @Test func `gives a store its id back, and makes the marks agree`() async throws {
        let store = try OpeningStore()
        let storeID = try store.identity.storeID
        try store.changeIdentity { $0.storeID = "another" }
        #expect(try await SyncTool.run("adopt", store.path, "--force").code == 0)
        #expect(try store.identity.storeID == storeID)

        // One that was made before stores had an identity.
        try store.remove(OpeningStore.identityName)
        try store.changeTables { transaction, log in
            try transaction.delete(log.catalog.table, CatalogKey.identity.bytes)
        }
        #expect(try await SyncTool.run("adopt", store.path, "--force").code == 0)
        let made = try store.identity.storeID
        #expect(made != storeID && !made.isEmpty)
        #expect(try await SyncTool.run("put", store.path, "tasks/a", "{}").code == 0)
    }

    @Test func `has nothing to accept where there is no store, or its data is gone`() async throws {
        let store = try OpeningStore()
        try store.remove(OpeningStore.dataName)
        let lost = try await SyncTool.run("adopt", store.path, "--force")
        #expect(lost.code == 2)
        #expect(lost.err.contains("data.mdb is missing"))
        let none = try await SyncTool.run("adopt", store.folder / "none", "--force")
        #expect(none.code == 2)
        #expect(none.err.contains("there is no store"))
    }
}

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `tidemark copy` {
    @Test func `copies a store that another process has open, to be adopted`() async throws {
        let store = try OpeningStore()
        let replica = try store.open()
        try OpeningStore.put(replica, 100)
        let last = try replica.read { $0.position }
        let copy = store.folder / "copy"

        let made = try await SyncTool.run("copy", store.path, "-o", copy)

        #expect(made.code == 0, "\(made.err)")
        #expect(made.lines == ["copied     events up to \(last)", "made       \(copy)"])
        let again = try await SyncTool.run("copy", store.path, "-o", copy)
        #expect(again.code == 2 && again.err.contains("is there already"))
        try await replica.close()
        #expect(try await SyncTool.run("verify", copy, "--deep").code == 0)
        // Of another device than this one.
        #expect(try await SyncTool.run("put", copy, "tasks/a", "{}").code == 2)
        #expect(try await SyncTool.run("adopt", copy, "--force").code == 0)
        #expect(try await SyncTool.run("put", copy, "tasks/a", "{}").code == 0)
    }
}
