// RadicaleContractTests.swift — the adapter alone against a real Radicale: each call, each answer.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@testable import SyncSupport

extension `with a real CalDAV server` {
    @Suite struct `the adapter's calls` {
        @Test func `each call is answered as the adapter says`() async throws {
            try await RadicaleWorld.run { world in
                let dav = Caller(world)
                let tea = RadicaleItem(uid: "u", summary: "tea & <b> é").document
                let beer = RadicaleItem(uid: "u", summary: "beer").document

                let empty = try await dav.page(nil)
                #expect(empty.references == [] && empty.records == [])
                let made = try await dav.ask(.create(dav.tasks, id: "t", body: Array(tea.utf8)))
                guard case .stored("t", let etag?, _) = made else { throw Unexpected(made) }
                #expect(
                    try await dav.ask(.create(dav.tasks, id: "t", body: Array(beer.utf8)))
                        == .conflictUnknown)

                let page = try await dav.page(empty.cursor)
                #expect(page.references == [ServerReference(id: "t", revision: etag)])
                let read = try await dav.ask(.read(dav.tasks, id: "t"))
                guard case .record(let record) = read else { throw Unexpected(read) }
                #expect(record.revision == etag)
                // Of several nothing is known before each was asked for by itself.
                let several = try await dav.ask(.fetch(dav.tasks, ids: ["t", "x"]))
                guard case .failure(.malformed) = several else { throw Unexpected(several) }
                #expect(try await dav.ask(.fetch(dav.tasks, ids: ["t"])) == .records([record]))
                // One 404 may be that of a router.
                let one = try await dav.ask(.fetch(dav.tasks, ids: ["x"]))
                guard case .failure(.client(404, _)) = one else { throw Unexpected(one) }
                #expect(try await dav.ask(.read(dav.tasks, id: "x")) == .absent)

                let stale = Revision("\"stale\"")
                let body = Array(beer.utf8)
                #expect(
                    try await dav.ask(.update(dav.tasks, id: "t", body: body, revision: stale))
                        == .conflictUnknown)
                let update = ServerCall.update(dav.tasks, id: "t", body: body, revision: etag)
                let updated = try await dav.ask(update)
                guard case .stored("t", let newer?, _) = updated else { throw Unexpected(updated) }
                #expect(newer != etag)
                #expect(
                    try await dav.ask(.delete(dav.tasks, id: "t", revision: etag))
                        == .conflictUnknown)
                let gone = ServerRecord(id: "t", revision: nil, document: nil)
                let delete = ServerCall.delete(dav.tasks, id: "t", revision: newer)
                #expect(try await dav.ask(delete) == .deleted(gone))
                #expect(try await dav.ask(delete) == .absent)

                #expect(try await dav.page(page.cursor).records == [gone])
                #expect(
                    try await dav.ask(.list(dav.tasks, after: Revision("no"), page: nil))
                        == .cursorExpired)
                let nowhere = try await dav.ask(
                    .list(CollectionModel("nowhere"), after: nil, page: nil))
                guard case .failure(.client(404, _)) = nowhere else { throw Unexpected(nowhere) }
            }
        }

        @Test func `an address book is spoken to in its own words`() async throws {
            try await RadicaleWorld.run { world in
                let people = CollectionModel("people")
                let dav = Caller(world, .contacts)
                try await world.client.send("MKCOL", "people/", Self.addressBook)
                let ann =
                    #"{"id":"ann","data":"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:ann\r\nFN:Ann\r\n"#
                    + #"N:;Ann;;;\r\nEND:VCARD\r\n"}"#

                let made = try await dav.ask(.create(people, id: "ann", body: Array(ann.utf8)))
                guard case .stored("ann", let etag?, _) = made else { throw Unexpected(made) }
                let list = try await dav.ask(.list(people, after: nil, page: nil))
                guard case .page(let page) = list else { throw Unexpected(list) }
                #expect(page.references == [ServerReference(id: "ann", revision: etag)])
                let read = try await dav.ask(.read(people, id: "ann"))
                guard case .record(let record) = read else { throw Unexpected(read) }
                #expect(try await dav.ask(.fetch(people, ids: ["ann"])) == .records([record]))
                let bob = try await dav.ask(.fetch(people, ids: ["bob"]))
                guard case .failure(.client(404, _)) = bob else { throw Unexpected(bob) }
            }
        }

        private static let addressBook =
            #"<mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"><set><prop>"#
            + "<resourcetype><collection/><C:addressbook/></resourcetype></prop></set></mkcol>"
    }
}

private struct Unexpected: Error {
    var answer: ServerAnswer

    init(_ answer: ServerAnswer) { self.answer = answer }
}

/// The adapter with a network.
private struct Caller {
    let tasks = CollectionModel("tasks")
    let adapter: CalDAVAdapter
    let origin: String

    init(_ world: RadicaleWorld, _ content: CalDAVAdapter.Content = .events) {
        origin = world.client.origin
        adapter = CalDAVAdapter(
            origin: origin, home: "/\(world.client.user)/", content: content)
    }

    func ask(_ call: ServerCall) async throws -> ServerAnswer {
        let request = try adapter.request(for: call)
        var head = HTTPRequest(
            method: request.method, scheme: "http",
            authority: String(origin.dropFirst("http://".count)), path: request.path,
            headerFields: request.headers)
        head.headerFields[.authorization] = "Basic cGxhaW46c2VjcmV0"
        let answer = try await URLSessionTransport.urlSession.send(
            head, body: request.body, limits: KintoClient.limits)
        return adapter.answer(to: call, answer.response, body: answer.body)
    }

    func page(_ after: Revision?) async throws -> ListPage {
        let answer = try await ask(.list(tasks, after: after, page: nil))
        guard case .page(let page) = answer else { throw Unexpected(answer) }
        return page
    }
}
