// Demo.swift — `tidemark demo`: a day of time tracking on a phone and a laptop, with a server
// between them that behaves like Toggl, and with everything that can go wrong; or a reader's
// articles, a feed in blocks; or a clinic's tablet, with a server that behaves like DHIS2; or the
// files of a trip, with a file server.
//
// Every line of the story is read back from the stores.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting

/// A story with a server in this process and stores in a folder.
protocol DemoStory {
    /// The commands by which its stores are looked at.
    static var further: [String] { get }

    init(_ folder: String) async throws
    func tell() async throws
    func end() async throws
}

extension DemoStory {
    static func tell(in folder: String) async throws {
        let story = try await Self(folder)
        do {
            try await story.tell()
            try await story.end()
        } catch {
            try await story.end()
            throw error
        }
        Terminal.write("")
        Terminal.write("Look further")
        for line in ["cd \(URL(filePath: folder).path.shellQuoted)"] + further {
            Terminal.write("   " + line)
        }
        Terminal.flush()
    }
}

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what Tidemark does: a day of a phone, a laptop and a server between them.",
        discussion: """
            Time is tracked on both, offline as well, with a server shaped like Toggl;
            the story reader is a feed of articles instead, and clinic a tablet with
            patients, offline for a day, with a server shaped like DHIS2, and files
            the folder of a trip on two devices, with a file server.
            Needs nothing but itself: the server runs in this process, on the loopback
            address. The stores stay, to be looked at with the other verbs.
            """)

    /// What is told.
    enum Story: String, ExpressibleByArgument, CaseIterable {
        case day, reader, clinic, files
    }

    @Option(
        help: "What to show: day, reader (a feed in blocks), clinic (a register), or files.")
    var story = Story.day

    @Option(help: "Where to make the stores; a new folder among the temporary ones if not given.")
    var store: String?

    func run() async throws {
        let folder = try store ?? Self.newFolder()
        if try !isEmpty(folder) { throw UsageError("\(folder) is not empty; name another folder") }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        switch story {
        case .day: break
        case .reader: return try await ReaderScene.tell(in: folder)
        case .clinic: return try await ClinicScene.tell(in: folder)
        case .files: return try await FilesScene.tell(in: folder)
        }
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

    /// Prints one part of a story.
    static func chapter(_ title: String, _ body: () async throws -> Void) async throws {
        Terminal.progress(title)
        Terminal.endProgress()
        Terminal.write("")
        Terminal.write(title)
        try await body()
        Terminal.flush()
    }

    /// Makes a folder among the temporary ones, for its owner alone: others may write there, so its
    /// name is one that nobody can have taken before.
    private static func newFolder() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        let path = "\(parent)/tidemark-demo-\(Dependencies.live.makeID())"
        guard let lock = try DirectoryLock.making(path) else {
            throw UsageError("no folder can be made in \(parent); name one with --store")
        }
        lock.release()
        return path
    }

    private func isEmpty(_ folder: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: folder) else { return true }
        return try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty
    }

    private func tell(_ scene: DemoScene) async throws {
        let (phone, laptop, network) = (scene.phone, scene.laptop, scene.network)
        try await scene.chapter("1  Both sign in: nine lists, three at a time, stored in one order")
        {
            try await phone.sync()
            try await laptop.sync()
        }
        try await scene.chapter("2  On the train, no network: each edit is one event on disk") {
            network.isDown = true
            try phone.edit(
                put: "projects/office", #"{"name":"New office","active":true,"workspace_id":1}"#)
            try phone.edit(
                put: "time_entries/plan",
                scene.entry("Floor plan", project: #""office""#, minutesAgo: 180, minutes: 60))
            try phone.edit(put: "time_entries/call", scene.entry("Call", minutesAgo: 40))
            try await phone.sync()
            network.isDown = false
        }
        try await scene.chapter("3  Back again: the server numbers what was made, projects first") {
            try await phone.sync()
        }
        try await scene.chapter("4  A timer runs on the laptop, too: one stays, the other stops") {
            // The server's times are exact to the second only.
            scene.wait(seconds: 1.1)
            try laptop.edit(put: "time_entries/mail", scene.entry("Mail", minutesAgo: 10))
            try await laptop.sync()
            try await phone.sync()
        }
        try await scene.chapter(
            "5  The same entry renamed on both: the newer one, within 5 seconds"
        ) {
            try phone.edit(patch: "time_entries/plan", #"{"description":"Floor plan, draft"}"#)
            try await phone.sync()
            try laptop.edit(patch: "time_entries/101", #"{"description":"Floor plan, final"}"#)
            try await laptop.sync()
        }
        try await scene.chapter("6  A project is archived, one is out of reach: stand-ins") {
            scene.server.archive("projects/11")
            scene.server.put(
                "time_entries/50", scene.entry("Print", project: "11", minutesAgo: 300, minutes: 9))
            scene.server.put(
                "time_entries/51", scene.entry("Fold", project: "12", minutesAgo: 290, minutes: 9))
            try await phone.sync()
        }
        try await scene.chapter("7  The answer to a creation is lost: it is found, not sent again")
        {
            try phone.edit(
                put: "time_entries/tea", scene.entry("Tea", minutesAgo: 200, minutes: 5))
            network.loseNextAnswer(to: "POST")
            try await phone.sync()
            try await phone.sync()
            scene.count("Tea")
        }
        try await scene.chapter("8  A project is refused: what needs it waits, the rest goes on") {
            scene.refuseProjects()
            try laptop.edit(put: "projects/yacht", #"{"name":"Yacht","workspace_id":1}"#)
            try laptop.edit(
                put: "time_entries/sail",
                scene.entry("Sail", project: #""yacht""#, minutesAgo: 90, minutes: 30))
            try laptop.edit(
                put: "time_entries/lunch", scene.entry("Lunch", minutesAgo: 55, minutes: 30))
            try await laptop.sync()
            try await phone.sync()
        }
    }
}
