// AccountTests.swift — one store for each account below a root.

import Foundation
import Testing
import Tidemark
import TidemarkTesting

@testable import SyncSupport

/// A folder for the time of a test.
struct AccountRoot: ~Copyable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "/tidemark-accounts-" + Dependencies.live.makeID()
    }

    func open(
        _ account: String, model: SyncModel = SyncWorld.usualModel,
        clock: ManualClock = ManualClock()
    ) throws -> Replica {
        try Replica.open(
            in: path, account: account, model: model, dependencies: .seeded(0, clock: clock))
    }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite struct `accounts below one root` {
    @Test func `have a store each, and are listed`() throws {
        let root = AccountRoot()
        #expect(try Replica.accounts(in: root.path) == [])
        let long = String(repeating: "ä/", count: 80)
        let accounts = ["Zoë", "bob", "Bob", "../up", "a.b@c", long, long + "x", ".", "100%"]
        for (index, account) in accounts.enumerated() {
            let replica = try root.open(account)
            let directory = try Replica.directory(in: root.path, account: account)
            #expect(replica.directory == directory)
            try replica.put(Errand("a", "\(index)"))
            try replica.close()
        }

        #expect(try Replica.accounts(in: root.path) == accounts.sorted())
        #expect(try root.names.allSatisfy { $0.utf8.count <= 200 })
        #expect(Set(try root.names.map { $0.lowercased() }).count == accounts.count)
        for (index, account) in accounts.enumerated() {
            let replica = try root.open(account)
            #expect(try replica.read { try $0.get(Errand.self, ID("a")) }?.title == "\(index)")
            try replica.close()
        }
    }

    @Test func `need a name`() throws {
        let root = AccountRoot()
        let error = #expect(throws: TidemarkError.self) { try root.open("") }
        #expect(error?.code == .invalidPath)
        // It would be the folder of all accounts.
        #expect(throws: TidemarkError.self) { try Replica.directory(in: root.path, account: "") }
    }

    @Test func `are swept of what an interrupted removal left`() throws {
        let root = AccountRoot()
        let clock = ManualClock()
        let gone = try root.open("gone", clock: clock)
        let here = try root.open("here", clock: clock)
        try gone.close()
        try here.close()
        let rest = gone.directory + ".tidemark-removed"
        try FileManager.default.moveItem(atPath: gone.directory, toPath: rest)
        #expect(try Replica.accounts(in: root.path) == ["here"])

        try root.open("here", clock: clock).close()
        #expect(FileManager.default.fileExists(atPath: rest), "looked for a moment ago")
        clock.advance(by: .seconds(3600))
        try root.open("here", clock: clock).close()

        #expect(try root.names == ["here"])
        let again = try root.open("gone", clock: clock)
        #expect(try again.read { try $0.all(Errand.self) } == [])
        try again.close()
    }

    @Test func `are listed when their identity is lost`() throws {
        let root = AccountRoot()
        let replica = try root.open("a b")
        try replica.close()
        try FileManager.default.removeItem(atPath: replica.directory + "/identity.json")

        #expect(try Replica.accounts(in: root.path) == ["a b"])
    }

    @Test func `are listed beside one of a newer version, and one whose identity is a link`()
        throws
    {
        let root = AccountRoot()
        var folders: [String] = []
        for account in ["ann", "b b", "cid"] {
            let replica = try root.open(account)
            folders.append(replica.directory)
            try replica.close()
        }
        try Data(#"{"format":99}"#.utf8).write(to: URL(filePath: folders[1] + "/identity.json"))
        try FileManager.default.removeItem(atPath: folders[2] + "/identity.json")
        try FileManager.default.createSymbolicLink(
            atPath: folders[2] + "/identity.json", withDestinationPath: folders[0])

        #expect(try Replica.accounts(in: root.path) == ["ann", "b b", "cid"])
    }
}
