// OldStoreTests.swift — a store that was made before there were indexes: read, queried, observed,
// and given indexes.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a store of before there were indexes` {
    private let byTitle = Errand.where(\.title >= "").order(by: \.title)
    private var model: SyncModel {
        get throws {
            var model = try Golden.small.withCopy { path in
                let journal = try Journal.open(at: path, readOnly: true)
                defer { try? journal.close() }
                return try journal.read { try $0.model() }
            }
            let place = model.collections.firstIndex { $0.name == "tasks" }
            model.collections[try #require(place)].indexes = [["title"], ["list", "title"]]
            return model
        }
    }

    @Test func `is queried without, and gets them when a model asks for them`() throws {
        let model = try model
        try Golden.small.withCopy { path in
            let reader = try Journal.open(at: path, readOnly: true)
            let titles = ["green tea", "long", "oat milk"]
            try reader.read { views in
                let query = try views.documentQuery(byTitle.terms, of: "tasks")
                #expect(try views.plan(query).access == .scan)
                #expect(try views.count(query) == titles.count)
            }
            try reader.close()

            let replica = try Replica.open(
                at: path, model: model, dependencies: .seeded(0, clock: ManualClock()))
            #expect(try replica.read { try $0.all(byTitle).map(\.title) } == titles)
            #expect(try replica.read { try $0.explain(byTitle).access } == .index(["title"]))
            try replica.put(Errand("t9", "apples"))
            try replica.close()

            let again = try Replica.open(existing: path)
            #expect(try again.read { try $0.explain(byTitle).access } == .index(["title"]))
            #expect(try again.read { try $0.all(byTitle).map(\.title) } == ["apples"] + titles)
            #expect(try again.journal.verify(.deep).findings == [])
            try again.close()
        }
    }
}
