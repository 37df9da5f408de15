// FeedModelTests.swift — which servers a model with a feed can be synced with.

import Testing
import TidemarkEvents
import TidemarkHTTP

@Suite struct `models with a feed` {
    private func registration(
        _ remote: Remote, order: String = "released", change: String = "updated"
    ) -> ModelRegistration {
        let feed = CollectionModel.FeedRule(order: order, change: change)
        return ModelRegistration(
            model: SyncModel(
                name: "news",
                collections: [CollectionModel("tags"), CollectionModel("articles", feed: feed)]),
            remote: remote)
    }

    private static let kinto = Remote.kinto(origin: "https://kinto.test", bucket: "news")

    @Test func `go with a server that lists by fields`() throws {
        let registration = registration(Self.kinto)

        let whole = try registration.withAdapterDefaults()

        #expect(whole.model.collections.map(\.feed) == registration.model.collections.map(\.feed))
    }

    @Test(arguments: [
        Remote.caldav(origin: "https://dav.test", home: "/me/"),
        .carddav(origin: "https://dav.test", home: "/me/"), .toggl(origin: "https://toggl.test"),
    ])
    func `are refused for a server that does not, with what to do`(_ remote: Remote) {
        let error = #expect(throws: ModelError.self) {
            try registration(remote).withAdapterDefaults()
        }

        #expect(error?.path == "collections[1].feed")
        #expect(
            error?.problem == """
                the adapter "\(remote.adapter)" can't list articles by fields of its records; \
                leave feed out, or sync it with a server that can
                """)
    }

    @Test func `are refused where the server does not list by that field`() {
        for (order, change, member) in [("a.b", "updated", "order"), ("released", "x-y", "change")]
        {
            let error = #expect(throws: ModelError.self) {
                try registration(Self.kinto, order: order, change: change).withAdapterDefaults()
            }

            #expect(error?.path == "collections[1].feed.\(member)")
            #expect(error?.problem.contains("only letters, digits and _ (ASCII)") == true)
        }
    }
}
