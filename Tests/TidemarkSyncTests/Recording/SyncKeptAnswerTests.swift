// SyncKeptAnswerTests.swift — which answers of a run are kept beside the log, and for how long.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `answers of a sync run` {
    private func world(_ answers: SyncSettings.KeptAnswers) -> SyncWorld {
        var model = SyncWorld.usualModel
        model.settings.answers = answers
        return SyncWorld(model: model)
    }

    /// What is kept, by the event that names it.
    private func kept(_ device: SyncDevice) throws -> [Position: [KeptAnswer]] {
        let capsule = try device.replica.journal.capsule(last: 10_000, note: "", namesRemote: true)
        return Dictionary(uniqueKeysWithValues: capsule.answers.map { ($0.position, $0.answers) })
    }

    @Test func `are kept of a run with news, each under the event that it is logged with`()
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("tasks/a", #"{"title":"theirs"}"#)
        try await SyncDevice.with(world) { device in
            try device.put("lists/l", #"{"title":"mine"}"#)

            try await device.sync()

            let kept = try kept(device)
            let answered = try device.events().filter { $0.event.kind == .requestAnswered }
            #expect(!answered.isEmpty)
            for entry in answered {
                let own = try #require(kept[entry.position], "\(entry.position)")
                #expect(own.count == 1 && own[0].request == nil)
                #expect(own[0].status == 200 || own[0].status == 201)
                #expect(own[0].fields.contains { $0.name.lowercased() == "etag" })
            }
            let page = kept.values.joined().first { $0.body.contains("theirs") }
            #expect(page != nil)
            try device.verify()
        }
    }

    @Test func `that no event tells of are kept with the run's end`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            let position = try device.position()
            // Of the lists that follow the second one nothing is logged.
            device.world.rivalPuts("lists/l", "{}")

            try await device.sync()

            let end = try #require(
                try device.events(after: position).last { $0.event.kind == .syncFinished })
            let quiet = try #require(try kept(device)[end.position])
            #expect(quiet.allSatisfy { $0.request != nil && $0.status == 304 })
            let logged = try device.events(after: position).count {
                $0.event.kind == .requestAnswered
            }
            let requests = end.event.read(SyncFinished.self)?.requests ?? 0
            #expect(logged + quiet.count == Int(requests))
        }
    }

    @Test func `are not kept of a run that brought nothing new`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            let before = try kept(device)
            try await device.sync()
            #expect(try kept(device) == before)
        }
    }

    @Test func `are kept of the last runs`() async throws {
        try await SyncDevice.with(world(.init(runs: 2))) { device in
            var starts: [Position] = []
            for number in 0..<4 {
                try device.put("lists/\(number)", "{}")
                starts.append(try device.position().next)
                try await device.sync()
            }
            let capsule = try device.replica.journal.capsule(
                last: 10_000, note: "", namesRemote: true)
            let runs = Set(
                capsule.answers.compactMap { kept in
                    capsule.commits.flatMap(\.entries).first { $0.position == kept.position }?
                        .event.sync
                })
            #expect(runs == Set(starts.suffix(2)))
            try device.verify()
        }
    }

    @Test(arguments: [SyncSettings.KeptAnswers.none, .init(bytes: 0), .init(bytes: 100)])
    func `are not kept where the model says so`(_ answers: SyncSettings.KeptAnswers) async throws {
        let world = world(answers)
        world.rivalPuts("tasks/a", #"{"title":"theirs"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            #expect(try kept(device).isEmpty)
            try device.verify()
        }
    }

    @Test func `have no header fields but those that the adapter was handed`() async throws {
        let world = SyncWorld()
        world.rivalPuts("tasks/a", "{}")
        try await SyncDevice.with(world) { device in
            device.wire.tap { _, _, pass in
                await pass().map { answer in
                    var answer = answer
                    answer.response.headerFields[.setCookie] = "session=of-nobody-else"
                    answer.response.headerFields[.server] = "nginx"
                    return answer
                }
            }
            try await device.sync()
            let names = Set(
                try kept(device).values.joined().flatMap(\.fields).map { $0.name.lowercased() })
            #expect(names.isSubset(of: ["date", "etag", "content-type", "last-modified"]))
            #expect(names.contains("etag"))
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool {
        String(decoding: self, as: UTF8.self).contains(text)
    }
}
