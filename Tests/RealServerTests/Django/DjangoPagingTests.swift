// DjangoPagingTests.swift — lists of a real server by Django REST framework in pages with numbers,
// and what changes on it between two pages.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real server by Django REST framework` {
    @Suite struct `its lists of several pages` {
        @Test func `bring 300 entities, a hundred at a time, and then what changed`() async throws {
            try await DjangoWorld.run { world in
                let a = try world.device("a")
                for number in 1...300 {
                    try await world.client.make("items", #"{"title":"\#(number)"}"#)
                }

                let outcome = try await a.sync()

                #expect(outcome.isSynced, "\(outcome)")
                #expect(a.wire.pages(of: "items") == ["1 200", "2 200", "3 200"])
                #expect(try a.documents("items").count == 300)
                try await world.expectSame(a)

                try await world.client.make("items", #"{"title":"301"}"#)
                try await world.settle(a)
                try await world.expectSame(a)
            }
        }

        @Test func `lose no change that is made between two of them`() async throws {
            try await DjangoWorld.run(pageSize: 4) { world in
                let (a, client) = (try world.device("a"), world.client)
                var ids: [String] = []
                for number in 1...13 {
                    ids.append(try await client.make("items", #"{"title":"\#(number)"}"#))
                }
                let all = ids
                a.wire.once(.answered, where: { $0.isPage(1, of: "items") }) {
                    // The newest comes first: the first one was to come last, the last has come.
                    try await client.patch("items/\(all[0])", #"{"title":"first"}"#)
                    try await client.patch("items/\(all[12])", #"{"title":"last"}"#)
                    try await client.delete("items/\(all[1])")
                    try await client.make("items", #"{"title":"new"}"#)
                }

                try await a.sync()
                try await world.settle(a)

                try await world.expectSame(a)
                #expect(try a.documents("items").count == 13)
            }
        }

        @Test func `begin again where the last one went meanwhile`() async throws {
            try await DjangoWorld.run(pageSize: 4) { world in
                let (a, client) = (try world.device("a"), world.client)
                var ids: [String] = []
                for number in 1...9 {
                    ids.append(try await client.make("projects", #"{"name":"\#(number)"}"#))
                }
                let all = ids
                a.wire.once(.answered, where: { $0.isPage(2, of: "projects") }) {
                    // Nothing is left of a project that was deleted; the third page had one.
                    try await client.delete("projects/\(all[8])")
                }

                let outcome = try await a.sync()

                #expect(outcome.isSynced, "\(outcome)")
                #expect(a.wire.pages(of: "projects").contains("3 404"))
                // What the first page had named is told by a list of everything alone.
                #expect(try await a.engine.sync(full: true).isSynced)
                try await world.expectSame(a)
            }
        }
    }
}

extension KintoTransport {
    /// The pages of a collection that were asked for, with the statuses of their answers.
    fileprivate func pages(of collection: String) -> [String] {
        lines.filter { $0.target == "api/\(collection)" && $0.page != nil }.map {
            "\($0.page ?? "") \($0.status ?? 0)"
        }
    }
}

extension KintoTransport.Line {
    /// The number of the page that is asked for; nil for no list.
    fileprivate var page: String? {
        query.split(separator: "&").first { $0.hasPrefix("page=") }.map {
            String($0.dropFirst("page=".count))
        }
    }

    fileprivate func isPage(_ number: Int, of collection: String) -> Bool {
        target == "api/\(collection)" && page == "\(number)"
    }
}
