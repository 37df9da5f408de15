// ChaosChild.swift — a replica in a process of its own that edits and syncs in bad weather, as it
// is told line by line, and kills itself at random moments.
//
//   play SEED SECONDS      edits and syncs, in bad weather → done, or dying PLACE
//   settle SECONDS         syncs in fine weather           → settled news|quiet OUTCOME
//   deliver SECONDS        what was delayed arrives        → done
//
// SECONDS is where the replica's clock stands; nothing waits for real. Meanwhile it may say
// `yield RECORD`, and waits for a line: others do something while a request about it is under way.
// Everything that it chooses follows from the seed.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

enum ChaosChild {
    /// A command that takes longer hangs: the process is ended by a signal.
    private static let secondsMax: UInt32 = 1800

    /// `STORE NAME`: the store's remote says where the server is.
    static func run(_ words: [String]) async throws {
        guard words.count == 2 else { CrashChild.fail("usage: chaos STORE NAME") }
        let replica = try ChaosReplica(words[0], user: words[1])
        while let line = readLine() {
            alarm(secondsMax)
            do { try await replica.obey(line.split(separator: " ").map(String.init)) } catch {
                CrashChild.fail("failed: \(error)")
            }
        }
        try await replica.replica.close()
    }
}

/// The open store and its engine.
struct ChaosReplica {
    let replica: Replica
    private let engine: SyncEngine
    private let transport: ChaosTransport
    private let fate: ChaosFate
    private let form: ChaosEdit.Form

    init(_ store: String, user: String) throws {
        let fate = ChaosFate()
        self.fate = fate
        replica = try Replica.open(existing: store, dependencies: .fated(fate, user))
        guard let remote = try replica.registration?.remote else {
            CrashChild.fail("the store names no remote")
        }
        form = remote.adapter == "caldav" ? .items : .fields
        transport = ChaosTransport(fate, store, replica, user: user, form)
        engine = try SyncEngine(replica, remote: remote, transport: transport) {
            .basic(user: user, password: "secret")
        }
    }

    func obey(_ words: [String]) async throws {
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        switch (words.first, numbers.count) {
        case ("play", 2):
            fate.begin(seed: numbers[0], seconds: numbers[1])
            try await play()
            fate.say("done")
        case ("settle", 1):
            fate.calm(seconds: numbers[0])
            // What nobody may write is sent again by those who got access.
            for issue in try replica.issues() where issue.kind == .rejected {
                try await replica.answer(issue.id, .retry)
            }
            let outcome = try await engine.sync()
            let isQuiet = outcome.isSynced && !outcome.counts.hasNews
            fate.say("settled \(isQuiet ? "quiet" : "news") \(outcome)")
        case ("deliver", 1):
            fate.calm(seconds: numbers[0])
            while try await transport.deliverDelayed() {}
            fate.say("done")
        default: CrashChild.fail("unknown command \(words)")
        }
    }

    /// Some edits and some sync runs.
    private func play() async throws {
        try edit(times: fate.below(4))
        for _ in 0...fate.below(2) {
            let outcome = try await engine.sync()
            // While the server's pause lasts nothing is sent: the transport sees to it.
            if outcome.failure?.retryAfterSeconds != nil { _ = try await engine.sync() }
            fate.advance(by: .seconds(300))
            try edit(times: fate.below(2))
            fate.reach(.betweenRuns)
        }
    }

    private func edit(times: Int) throws {
        for _ in 0..<times { try fate.edit(replica, form) }
    }
}

extension Dependencies {
    /// Clock, ids, chance and death by the child's fate.
    fileprivate static func fated(_ fate: ChaosFate, _ user: String) -> Dependencies {
        var doors = Dependencies(
            now: { fate.now },
            makeID: { "\(user)-\(fate.next())" },
            random: { fate.next() },
            uptime: { Uptime(bootID: "chaos", microseconds: fate.now.rawValue) },
            sleep: { fate.advance(by: $0) })
        doors.reach = { fate.reach(ChaosPlace($0)) }
        return doors
    }
}
