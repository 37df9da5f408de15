// RemotePlaceTests.swift — what of a remote says where the data lies: a store stays with that.

import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `the place of a remote` {
    private func differing(_ one: Remote, _ other: Remote) throws -> String? {
        try one.placeMember(differingFrom: other, place: other.makeAdapter().place)
    }

    @Test(arguments: [
        ("2.41.0", "2.41.1", nil), ("2.40", "2.42-SNAPSHOT", nil), ("2.37.9", "2.39", nil),
        ("2.39", "2.40", "version"),
    ])
    func `is the same where DHIS2 is updated, unless names are others`(
        _ before: String, _ after: String, _ member: String?
    ) throws {
        let server = "https://x.test"
        #expect(
            try differing(
                .dhis2(origin: server, version: before), .dhis2(origin: server, version: after))
                == member)
    }

    @Test func `is the same where an app is renamed, or preconditions are heeded`() throws {
        let server = "https://x.test"
        #expect(
            try differing(
                .toggl(origin: server), .toggl(origin: server, createdWith: "clock")) == nil)
        #expect(
            try differing(
                .webdav(origin: server, home: "/a/"),
                .webdav(origin: server, home: "/a/", heedsPreconditions: true)) == nil)
    }

    @Test func `is another one by another server, or what is called otherwise there`() throws {
        let server = "https://x.test"
        #expect(
            try differing(
                .webdav(origin: server, home: "/a/"), .webdav(origin: server, home: "/b/"))
                == "home")
        #expect(
            try differing(
                .kinto(origin: server, bucket: "a"),
                .kinto(origin: "https://y.test", bucket: "a")) == "origin")
    }
}
