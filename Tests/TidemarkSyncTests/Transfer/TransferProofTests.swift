// TransferProofTests.swift — which answers show that the credentials of a pass over files are good.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import SyncSupport
@testable import TidemarkSync

@Suite struct `the credentials of a pass over files` {
    private static let one = ContentSource("tasks", "1")
    private static let other = ContentSource("tasks", "2")
    private static let sent = ContentSource("tasks", "abc")

    /// Credentials that were asked for once more, as one file was refused.
    private func renewed() async -> TransferProof {
        let asked = SyncCounter()
        let proof = TransferProof { Credentials.bearer("\(asked.count())") }
        await proof.begin()
        #expect(await proof.renew(0, for: Self.one))
        return proof
    }

    @Test func `are not good for a file by the answers of others`() async {
        let proof = await renewed()
        await proof.accepted(1, for: Self.other)
        await proof.accepted(1, for: Self.sent)
        #expect(await !proof.renew(1, for: Self.one))
        #expect(await proof.failure == .unauthorized)
    }

    @Test func `are not good for a file that is sent by the answers of others`() async {
        let asked = SyncCounter()
        let proof = TransferProof { Credentials.bearer("\(asked.count())") }
        await proof.begin()
        #expect(await proof.renew(0, for: Self.sent))
        await proof.accepted(1, for: Self.other)
        #expect(await !proof.renew(1, for: Self.sent))
        #expect(await proof.failure == .unauthorized)
    }

    @Test func `are good once the file is answered that was refused`() async {
        let proof = await renewed()
        await proof.accepted(1, for: Self.one)
        #expect(await proof.renew(1, for: Self.other))
        await proof.accepted(2, for: Self.one)
        #expect(await !proof.renew(2, for: Self.other))
    }

    @Test func `are good by any answer once that file got none`() async {
        let proof = await renewed()
        await proof.left(Self.one)
        await proof.accepted(1, for: Self.other)
        #expect(await proof.renew(1, for: Self.other))
    }

    @Test func `are good by the answers of many others, as that file may not be asked for again`()
        async
    {
        let proof = await renewed()
        for _ in 0..<16 { await proof.accepted(1, for: Self.other) }
        #expect(await proof.renew(1, for: Self.other))
        #expect(await proof.failure == nil)
        // The count begins anew.
        for _ in 0..<15 { await proof.accepted(2, for: Self.one) }
        #expect(await !proof.renew(2, for: Self.one))
    }
}
