// FeedPageSizeTests.swift — a server that lists fewer at once than a block of a feed has.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `a feed of a server with small pages` {
    @Test(arguments: [1, 2, 3])
    func `is here whole, and so is a list of its ids`(_ pageSize: Int) async throws {
        let model = SyncModel(
            name: "news",
            collections: [
                CollectionModel(
                    "articles", feed: .init(order: "released", change: "updated", block: 4))
            ])
        let world = SyncWorld(model: model)
        world.server.withModel { $0.pageRowsMax = pageSize }
        for number in 1...9 {
            // Of the nine, five have one day.
            let day = number < 6 ? 3 : number
            world.server.put(
                "articles/a\(number)",
                #"{"released":"2026-01-0\#(day)T00:00:00Z","updated":"2026-01-10T00:00:00Z"}"#)
        }
        try await SyncDevice.with(world) { device in
            let outcome = try await device.sync()

            #expect(outcome.isSynced, "\(outcome)")
            #expect(try device.keys("articles").sorted() == (1...9).map { "a\($0)" })
            world.server.delete("articles/a4")
            let full = try await device.engine.sync(full: true)
            #expect(full.isSynced, "\(full)")
            #expect(try device.keys("articles").count == 8)
        }
    }
}
