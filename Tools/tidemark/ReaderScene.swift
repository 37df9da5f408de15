// ReaderScene.swift — `tidemark demo --story reader`: an app that shows articles, the newest first,
// with a server shaped like Kinto.

import Foundation
import Tidemark
import TidemarkHTTP
import TidemarkInspect
import TidemarkTesting

/// Server, network and the reader's replica.
struct ReaderScene: DemoStory {
    private static let model = SyncModel(
        name: "reader",
        collections: [
            CollectionModel(
                "articles", lastChangeField: "last_modified",
                feed: .init(
                    order: "releaseDate", change: "updatedAt", block: 5,
                    reconcileEvery: .days(7)))
        ])

    private let reader: DemoReplica
    private let network = DemoNetwork()
    private let server: KintoServer
    private let listener: LoopbackServer
    private let now = Dependencies.live.now()

    static let further = [
        "tidemark status reader", "tidemark history reader articles/a03",
        "tidemark dump reader -o verbose",
    ]

    init(_ folder: String) async throws {
        server = KintoServer(bucket: "press", model: Self.model)
        listener = try await LoopbackServer.start(server)
        reader = try DemoReplica(
            "reader", folder, Self.model,
            .kinto(origin: listener.origin, bucket: "press"), network)
        for number in 1...12 { put(number, hoursAgo: number * 24) }
    }

    func end() async throws {
        try reader.close()
        await listener.stop()
    }

    /// An article that was released so long ago, and changed a minute later or now.
    private func put(_ number: Int, hoursAgo: Int, text: String = "", changedNow: Bool = false) {
        let released = now.adding(seconds: Int64(-3600 * hoursAgo))
        let changed =
            changedNow ? Dependencies.live.now() : released.adding(seconds: 60)
        let id = "a" + (number < 10 ? "0" : "") + "\(number)"
        server.put(
            "articles/\(id)",
            #"{"title":"Article \#(number)\#(text)","releaseDate":"\#(released.toTheSecond)","#
                + #""updatedAt":"\#(changed.toTheSecond)"}"#)
    }

    func tell() async throws {
        try await Demo.chapter("1  The newest five at once, then older ones: the connection breaks")
        {
            server.faults = FaultPlan([
                FaultRule(.dropBeforeHandling, pathContains: "max_releaseDate", nth: 2)
            ])
            try await reader.sync()
        }
        try await Demo.chapter("2  What changed comes first; then the rest, where it broke off") {
            put(13, hoursAgo: 0, changedNow: true)
            try await reader.sync()
        }
        try await Demo.chapter("3  Nothing is new: one small event") { try await reader.sync() }
        try await Demo.chapter("4  Eight articles of one second: by their ids, then past it") {
            for number in 21...28 { put(number, hoursAgo: 30, changedNow: true) }
            try await reader.sync()
        }
        try await Demo.chapter("5  A notification names two: one is new, one is gone") {
            put(14, hoursAgo: -48, text: ", of the day after tomorrow", changedNow: true)
            server.delete("articles/a02")
            try await reader.sync(
                .fetch([EntityKey("articles", "a14"), EntityKey("articles", "a02")]))
        }
        try await Demo.chapter("6  One was deleted without a word: the ids of all tell it") {
            server.delete("articles/a03")
            try await reader.sync(full: true)
        }
    }
}
