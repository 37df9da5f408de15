// RedactionSecretTests.swift — secrets in all places where one can be, and not one of them in the
// redacted capsule, however it is written.

import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkSync
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `secrets` {
    @Test func `are in the capsule before`() throws {
        let bytes = SecretCapsule.make().everything
        for place in SecretCapsule.places where !["escaped", "unreadable"].contains(place) {
            #expect(
                RedactionSecret(SecretCapsule.secret(place)).found(in: bytes) != nil, "\(place)")
        }
        #expect(
            RedactionSecret(SecretCapsule.secret("unreadable")).found(in: bytes)?.hasPrefix(
                "base64") == true
        )
        #expect(RedactionSecret(SecretCapsule.secret("escaped")).found(in: bytes) == "JSON escapes")
    }

    @Test(
        arguments: [Redaction(), Redaction(times: .shifted(days: 700)), Redaction(names: nil)],
        ["kinto", "caldav", "toggl", "of nobody"])
    func `are nowhere in it afterwards`(policy: Redaction, adapter: String) throws {
        var policy = policy
        policy.words = Remote(origin: "https://x.test", adapter: adapter).words
        let redacted = try SecretCapsule.make().redacted(policy, key: RedactionSupport.key)
        let bytes = redacted.everything
        for place in SecretCapsule.places {
            let isName = ["fieldname", "nested", "unset", "newmember"].contains(place)
            if policy.names == nil, isName { continue }
            let secret = RedactionSecret(SecretCapsule.secret(place))
            #expect(secret.found(in: bytes) == nil, "\(place)")
            #expect(policy.names == nil || !secret.isPartlyFound(6, in: bytes), "\(place)")
        }
    }

    @Test func `are nowhere in the hashes that it holds`() throws {
        let redacted = try SecretCapsule.make().redactedByTool()
        let bytes = redacted.everything
        let old = BodyReference(to: SecretCapsule.longBody)
        let new = BodyReference(to: try #require(redacted.bodies.first))
        #expect(RedactionSecret(old.digits).found(in: bytes) == nil)
        #expect(RedactionSecret(new.digits).found(in: bytes) == "UTF-8")
        #expect(redacted.events.compactMap(\.namedBody) == [new])
    }

    @Test func `what refers to one another still does`() throws {
        let before = SecretCapsule.make()
        let after = try before.redactedByTool()
        let created = try #require(after.events.first { $0.kind == .localCreated }?.entity)

        #expect(created != SecretCapsule.secret("id"))
        #expect(created.utf8.count == SecretCapsule.secret("id").utf8.count)
        #expect(after.events.filter { $0.entity == created }.count == 11)
        let page = try #require(after.events.first { $0.kind == .pullPage })
        #expect(try ids(page.payload) == [created])
        for (old, new) in zip(before.events, after.events) {
            #expect(old.kind == new.kind && old.recordedAt == new.recordedAt)
            #expect(old.mutation == new.mutation && old.call == new.call)
            #expect(old.payload.isEmpty == new.payload.isEmpty)
        }
    }

    private func ids(_ payload: [UInt8]) throws -> [String] {
        try PullPage(reading: payload).named
    }
}
