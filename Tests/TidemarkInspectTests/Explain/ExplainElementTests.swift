// ExplainElementTests.swift — what is said of the elements of keyed lists, each under its name.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite(.serialized) struct `explanations of keyed lists` {
    private let model = SyncModel(
        name: "surveys",
        collections: [
            CollectionModel(
                "surveys", lastChangeField: "last_modified", conflict: .mergeFields(.serverWins),
                keyed: [KeyedList("answers", by: "question")])
        ], settings: SyncSettings(batchSize: 1))

    private func withLostEdit(_ body: (SyncDevice) async throws -> Void) async throws {
        let world = SyncWorld(model: model)
        world.rivalPuts(
            "surveys/s", #"{"answers":[{"question":"a.b","n":1},{"question":"c","n":1}]}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch(
                "surveys/s",
                #"{"answers":[{"question":"a.b","n":2},{"question":"c","n":2}],"title":"T"}"#)
            world.rivalPuts(
                "surveys/s", #"{"answers":[{"question":"c","n":1},{"question":"a.b","n":3}]}"#)
            try await device.sync()
            try await body(device)
        }
    }

    @Test func `name who set each element`() async throws {
        try await withLostEdit { device in
            let lines = try device.blame("surveys/s").map { $0.split(separator: " ").prefix(2) }

            #expect(
                lines.map { $0.joined(separator: " ") }
                    == [
                        "/answers/c edit", "/answers/a.b pull", "title edit", "id pull",
                        "last_modified answer",
                    ])
        }
    }

    @Test func `name the elements in conflict, and what was given up of them`() async throws {
        try await withLostEdit { device in
            let why = try device.why("surveys/s").joined(separator: "\n")

            #expect(why.contains("mergeFields/8: serverWins on /answers/a.b"))
            #expect(why.contains(#"gave up /answers/a.b {"question":"a.b","n":2} of @"#))
            #expect(!why.contains("gave up /answers/c"))
            #expect(try device.why("surveys/s./answers/a.b").contains { $0.contains("gave up") })
            #expect(try device.why("surveys/s.answers").contains { $0.contains("gave up") })
            #expect(try !device.why("surveys/s./answers/c").contains { $0.contains("gave up") })
        }
    }

    @Test func `tell the history of one element, and of the list`() async throws {
        try await withLostEdit { device in
            let one = try device.history("surveys/s./answers/c").joined(separator: "\n")
            let all = try device.history("surveys/s").joined(separator: "\n")
            let list = try device.history("surveys/s.answers").joined(separator: "\n")

            #expect(one.contains(#"{"question":"c","n":1} → {"question":"c","n":2}"#))
            #expect(!one.contains("a.b"))
            #expect(all.contains(#"/answers/a.b"#))
            #expect(list.contains(#"[{"question":"a.b","n":1},{"question":"c","n":1}]"#))
        }
    }
}
