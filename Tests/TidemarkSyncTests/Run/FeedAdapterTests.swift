// FeedAdapterTests.swift — a feed over an adapter that has none.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

@Suite struct `a run over an adapter without feeds` {
    @Test func `is refused before anything is asked or logged where the model has one`()
        async throws
    {
        let model = SyncModel(
            name: "news",
            collections: [
                CollectionModel("articles", feed: .init(order: "released", change: "updated"))
            ])
        try await SyncDevice.with(SyncWorld(model: model)) { device in
            let position = try device.position()
            let engine = SyncDevice.engine(
                device.replica, device.wire, adapter: HookedAdapter(takesSeveral: false))

            let error = await #expect(throws: TidemarkError.self) { try await engine.sync() }

            #expect(error?.code == .invalidModel)
            #expect(error?.message.hasPrefix("collections[0].feed: ") == true)
            #expect(error?.message.contains("leave feed out") == true)
            #expect(device.wire.count == 0)
            #expect(try device.position() == position)
        }
    }
}
