// VerifyIdentityTests.swift — a verification compares the log with what identity.json knows of it.

import Foundation
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite struct `verifying a store beside its identity` {
    let store: OpeningStore

    init() throws { store = try OpeningStore() }

    private func findings(_ level: VerifyLevel) throws -> [String] {
        try Journal.verifyStore(at: store.path, level).findings
    }

    @Test(arguments: VerifyLevel.allCases)
    func `finds nothing where they fit, or where there is none`(_ level: VerifyLevel) throws {
        #expect(try findings(level) == [])

        try store.remove(OpeningStore.identityName)
        #expect(try findings(level) == [])
    }

    @Test(arguments: VerifyLevel.allCases)
    func `finds that they are of different stores`(_ level: VerifyLevel) throws {
        try store.changeIdentity { $0.storeID = "another" }

        let findings = try findings(level)
        #expect(findings.count == 1 && findings[0].hasPrefix("@0: otherStore: data.mdb is of the"))
    }

    @Test(arguments: VerifyLevel.allCases)
    func `finds that the log has lost its end, or has another root`(_ level: VerifyLevel) throws {
        let known = try store.identity.position
        try store.changeIdentity { $0.position = known.next }
        #expect(
            try findings(level) == [
                "@0: rolledBack: the log ends at \(known), and was known to reach \(known.next)"
            ])

        try store.changeIdentity { identity in
            identity.position = known
            identity.root[0] ^= 1
        }
        let findings = try findings(level)
        #expect(findings.count == 1 && findings[0].hasPrefix("@0: rolledBack: the log is another"))
    }

    @Test func `says where there is an identity that can't be read`() throws {
        try store.write(OpeningStore.identityName, Array("{".utf8))

        let result = try Journal.verifyStore(at: store.path)
        #expect(result.isFine && result.notes.count == 1)
    }

    @Test func `names the log by the id of the store`() throws {
        let journal = try Journal.open(at: store.path, readOnly: true)
        defer { try? journal.close() }

        #expect(try journal.checkpoint().origin == "tidemark/\(try store.identity.storeID)")
    }
}
