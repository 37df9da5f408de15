// OpeningCreationTests.swift — a store that was being made when the process ended.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite struct `a creation that was cut off` {
    let store: OpeningStore

    init() throws {
        store = try OpeningStore(commits: 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: store.path) {
            try store.remove(name)
        }
    }

    private func expectNew() throws {
        let replica = try store.open()
        #expect(try replica.read { $0.position } == Position(2))
        try OpeningStore.put(replica, 1)
        try replica.close()
        let identity = try store.identity
        #expect(identity.isInitialised && identity.position == Position(3))
        try store.open().close()
    }

    @Test func `before anything but the directory is begun anew`() throws { try expectNew() }

    @Test(arguments: [nil, 0, 1, 151, 4095, 4096, 8191, 8192, 12288])
    func `is begun anew whatever there is of data.mdb`(_ length: Int?) throws {
        try expectNew()
        let whole = try store.bytes(OpeningStore.dataName)
        try store.changeIdentity { $0 = StoreIdentity(storeID: $0.storeID) }
        try store.remove(OpeningStore.dataName)
        if let length {
            // Pages after the first two, so that the file is too short for what it says.
            try store.write(OpeningStore.dataName, Array(whole[..<length]))
        }
        if length == nil {
            expectRefusal(.noStore) { try OpeningStore.openExisting(store.path) }
        }
        try expectNew()
    }

    @Test func `with all its tables is finished`() throws {
        try StoreIdentity(storeID: "begun").write(to: store.path, isDurable: true)
        let environment = try Environment.open(
            at: store.path, Journal.options())
        try environment.close()
        try expectNew()
        #expect(try store.identity.storeID == "begun")
    }

    @Test func `is not what happened where there are events`() throws {
        try expectNew()
        try store.changeIdentity { $0 = StoreIdentity(storeID: $0.storeID) }
        expectRefusal(.unfitIdentity, "never finished", "@3") { try store.open() }
        #expect(try store.adopt().position == Position(3))
        try store.open().close()
    }

    @Test func `is not what happened where there is more than a creation leaves`() throws {
        try StoreIdentity(storeID: "begun").write(to: store.path, isDurable: true)
        let bytes = [UInt8](repeating: 7, count: 300_000)
        try store.write(OpeningStore.dataName, bytes)
        expectRefusal(.damaged, "too large") { try store.open() }
        #expect(try store.bytes(OpeningStore.dataName) == bytes)
    }
}
