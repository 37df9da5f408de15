// Demo.swift — `tidemark demo`: two replicas, one server, and everything that can go wrong between.
//
// Nothing is claimed that is not in the stores: every line of the story is read back from them.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkTesting

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what Tidemark does, on two stores and a server of its own.",
        discussion: """
            Needs nothing but itself: the server runs in this process, on the loopback
            address. The stores stay, to be looked at with the other verbs.
            """)

    @Option(help: "Where to make the stores; a new folder among the temporary ones if not given.")
    var store: String?

    func run() async throws {
        let folder =
            store
            ?? FileManager.default.temporaryDirectory.path
            + "/tidemark-demo-\(ProcessInfo.processInfo.processIdentifier)"
        if try !isEmpty(folder) { throw UsageError("\(folder) is not empty; name another folder") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let scene = try await DemoScene(in: folder)
        do {
            try await tell(scene)
            try await scene.end()
        } catch {
            try await scene.end()
            throw error
        }
        try DemoReport(folder: folder).print(scene)
    }

    private func isEmpty(_ folder: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: folder) else { return true }
        return try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
    }

    private func tell(_ scene: DemoScene) async throws {
        try await scene.chapter("1  Edits made offline: each is one event in a log on disk") {
            try scene.phone.edit(put: "lists/home", #"{"title":"Home"}"#)
            try scene.phone.edit(put: "tasks/tea", #"{"title":"Buy tea","list":"home"}"#)
            try scene.phone.edit(patch: "tasks/tea", #"{"title":"Buy green tea"}"#)
            try scene.laptop.edit(put: "tasks/bike", #"{"title":"Mend the bike","effort":3}"#)
        }
        try await scene.chapter("2  Both sync: pull, then push, oldest first, parents first") {
            try await scene.phone.sync()
            try await scene.laptop.sync()
            try await scene.phone.sync()
        }
        try await scene.chapter("3  The same title changed on both: tasks are localWins") {
            try scene.phone.edit(patch: "tasks/bike", #"{"title":"Mend the old bike"}"#)
            try scene.laptop.edit(patch: "tasks/bike", #"{"title":"Sell the bike","effort":1}"#)
            try await scene.phone.sync()
            try await scene.laptop.sync()
        }
        try await scene.chapter("4  The same again on a list: lists are serverWins") {
            try scene.phone.edit(patch: "lists/home", #"{"title":"Cottage"}"#)
            try scene.laptop.edit(patch: "lists/home", #"{"title":"Flat"}"#)
            try await scene.phone.sync()
            try await scene.laptop.sync()
        }
        try await scene.chapter(
            "5  The network loses an answer: the next run asks, sends nothing twice"
        ) {
            try scene.phone.edit(put: "tasks/mail", #"{"title":"Post the letter"}"#)
            scene.network.loseNextAnswer(to: "PUT")
            try await scene.phone.sync()
            try await scene.phone.sync()
        }
        try await scene.chapter("6  The server says 429: nothing is sent until its pause is over") {
            try scene.phone.edit(patch: "tasks/mail", #"{"done":true}"#)
            scene.askForPause(seconds: 1)
            try await scene.phone.sync()
            try await scene.phone.sync()
            try await scene.wait(seconds: 1.1)
            try await scene.phone.sync()
        }
        try await scene.chapter(
            "7  One entity is refused: it waits with what needs it, the rest goes on"
        ) {
            try scene.laptop.edit(put: "lists/bad", #"{"title":"A list nobody wants"}"#)
            try scene.laptop.edit(put: "tasks/sub", #"{"title":"Inside it","list":"bad"}"#)
            try scene.laptop.edit(put: "tasks/ok", #"{"title":"Unharmed"}"#)
            scene.refuse(id: "bad")
            try await scene.laptop.sync()
            try await scene.phone.sync()
        }
    }
}
