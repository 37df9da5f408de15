// TogglWorld.swift — days of Toggl by chance from a seed: two devices, a third client, a bad
// network.

import Foundation
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// What went wrong in a simulation, with the seed and the last steps.
struct TogglFailure: Error, CustomStringConvertible {
    var description: String
}

/// Two devices on one server, on a clock that only the simulation moves.
///
///   TogglWorld+Steps.swift   what people and networks do
///   TogglWorld+Checks.swift  what must hold after each sync, and in the end
final class TogglWorld {
    let seed: UInt64
    let random: SyncRandom
    let clock = ManualClock()
    let server: TogglServer
    let ledger = TogglLedger()
    let devices: [TogglDevice]
    /// Whether long times pass often, and requests fail often.
    let isWild: Bool
    /// Whether one request is sent at a time.
    let isAlone: Bool
    /// Whether every workspace may get out of reach, and the default one may be unknown.
    let losesAll: Bool
    /// How far the server's clock is ahead of the devices', in milliseconds.
    let ahead: Int64
    /// Rows that vanished from the server without a trace, and projects that are archived.
    var vanished: Set<String> = []
    /// Workspaces that the user has no access to, with the rows they had.
    var lost: [String: String] = [:]
    var count = 0
    /// What was done, the last at the end.
    var story: [String] = []

    init(seed: UInt64) throws {
        self.seed = seed
        let random = SyncRandom(seed: seed)
        self.random = random
        let ahead: Int64 = random.chance(60) ? 0 : random.pick([7_200_000, -7_200_000, 40_000])
        self.ahead = ahead
        isWild = random.chance(40)
        let clock = clock
        var rows = TogglServerModel()
        rows.keepsUnknownMembers = true
        let server = TogglServer(
            rows, now: { Timestamp(milliseconds: clock.trueNow.milliseconds + ahead) })
        self.server = server
        server.put("workspaces/1", #"{"name":"Home"}"#)
        server.put("workspaces/2", #"{"name":"Work"}"#)
        server.put("user/1", #"{"fullname":"User","default_workspace_id":1}"#)
        var model = SyncModel.toggl
        // Those of an hour would hold the simulation for days.
        model.settings.limits =
            random.chance(20)
            ? [
                RequestLimit(requests: 60, within: .minutes(1), wholePulls: true),
                RequestLimit(requests: 3, within: .seconds(1)),
            ] : []
        if random.chance(20) { model.settings.cleanUp = .apart }
        isAlone = random.chance(30)
        if isAlone { model.settings.parallel = 1 }
        losesAll = random.chance(30)
        let (ledger, isAlone) = (ledger, isAlone)
        devices = try [1, 2].map { number in
            let wire = TogglWire(
                server, clock, ledger, seed: seed &* 31 &+ UInt64(number), isAlone: isAlone)
            return try TogglDevice(
                number == 1 ? "A" : "B", model, wire, clock, seed: seed &* 2 &+ UInt64(number))
        }
    }

    /// The server's time.
    var now: Timestamp { Timestamp(milliseconds: clock.trueNow.milliseconds + ahead) }

    func name() -> String {
        count += 1
        return "\(count)"
    }

    /// How much of the story a failure tells.
    private static let storyLines =
        ProcessInfo.processInfo.environment["TIDEMARK_TOGGL_STORY"].flatMap { Int($0) } ?? 40

    func tell(_ line: String) { story.append(line) }

    func fail(_ words: String) -> TogglFailure {
        let steps = story.suffix(Self.storyLines).map { "  " + $0 }.joined(separator: "\n")
        return TogglFailure(description: "seed \(seed): \(words)\n\(steps)")
    }

    /// Lets so many things happen, mends everything and compares.
    func run(steps: Int) async throws {
        do {
            for _ in 0..<steps {
                try await step()
                clock.advance(by: .milliseconds(50 + random.below(3000)))
            }
            try await settle()
        } catch let error as TogglFailure {
            throw error
        } catch {
            throw fail("\(error)")
        }
    }

    // MARK: Syncing

    @discardableResult
    func sync(
        _ device: TogglDevice, _ scope: SyncScope = .all, failing percent: Int = 0,
        full: Bool = false, meanwhile: TogglWire.Meanwhile? = nil
    ) async throws -> SyncOutcome {
        device.wire.begin(failing: percent, meanwhile)
        tell("\(device.name) \(clock.now) sync \(scope)\(full ? " full" : "") failing \(percent)%")
        let outcome = try await device.engine.sync(scope: scope, full: full)
        for line in device.wire.lines where !line.hasPrefix("GET") || line.contains("!") {
            tell("  " + line)
        }
        tell("  = \(outcome)")
        try check(device, outcome, scope)
        return outcome
    }

    /// Mends the network and syncs both devices until nothing is new.
    private func settle() async throws {
        tell("settle")
        if losesAll {
            for (id, row) in lost.sorted(by: { $0.key < $1.key }) {
                server.put("workspaces/\(id)", row)
            }
            lost = [:]
            server.put("user/1", #"{"fullname":"User","default_workspace_id":1}"#)
        }
        clock.advance(by: .seconds(7200))
        var isQuiet = false
        for _ in 0..<6 where !isQuiet {
            isQuiet = true
            for device in devices {
                let outcome = try await sync(device)
                if let failure = outcome.failure { throw fail("at rest: \(failure)") }
                if outcome.counts.hasNews { isQuiet = false }
            }
            clock.advance(by: .seconds(10))
        }
        guard isQuiet else { throw fail("not at rest after six rounds") }
        for device in devices {
            try checkAtRest(device)
            try await checkIdle(device)
        }
    }
}

extension ManualClock {
    /// The time that nobody has set.
    var trueNow: Timestamp { Timestamp(microseconds: start.rawValue + elapsed) }
}
