// TriggerGateTests.swift — how often a trigger of the app may begin a run, by a log of attempts.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `the gate of a trigger` {
    private let second: Int64 = 1_000_000

    /// A log with gates, and the moments of a device.
    private final class Store {
        let memory = MemoryFold()
        let gates: [TriggerGate]

        init(_ gates: TriggerGate...) throws {
            self.gates = gates
            var model = SyncModel(name: "m", collections: [CollectionModel("a")])
            model.settings.gates = gates
            try memory.apply([.registered(model)])
        }

        func admission(_ triggers: [SyncTrigger], _ now: Moment) throws -> TriggerAdmission {
            try memory.fold.admission(of: triggers, gates, at: now)
        }

        /// Logs what a run does before it begins; nil where it may begin, else for how long it
        /// may not.
        func begin(_ triggers: SyncTrigger..., at now: Moment) throws -> Int64? {
            let admission = try admission(triggers, now)
            for trigger in admission.attempts {
                let event = Event(
                    .triggerReceived, recordedAt: now.now, uptime: now.uptime,
                    bootID: try memory.fold.unnamed(now.bootID),
                    json: TriggerReceived(trigger).encoded)
                try memory.apply([event])
            }
            return admission.admitted.isEmpty ? admission.wait : nil
        }
    }

    private let show = SyncTrigger.named("discover")
    private let twice = TriggerGate("discover", count: 2, window: .minutes(10))

    /// So many seconds after noon and after the boot.
    private func at(_ seconds: Int64, boot: String = "b", uptime: Int64? = nil) -> Moment {
        Moment(
            now: Timestamp(rawValue: 1_795_262_400_000_000 + seconds * second), bootID: boot,
            uptime: (uptime ?? seconds + 5000) * second)
    }

    @Test func `lets so many begin in its window, and says when the next one may`() throws {
        let store = try Store(twice)

        #expect(try store.begin(show, at: at(0)) == nil)
        #expect(try store.begin(show, at: at(60)) == nil)
        #expect(try store.begin(show, at: at(120)) == 480 * second)
        #expect(try store.begin(show, at: at(599)) == second)
        #expect(try store.begin(show, at: at(600)) == nil)
        #expect(try store.begin(show, at: at(601)) == 59 * second)
    }

    @Test func `never holds the user, whose request counts for every gate`() throws {
        let other = TriggerGate("other", count: 1, window: .minutes(1))
        let store = try Store(twice, other)

        for seconds in 0..<5 {
            #expect(try store.begin(.userRequested, at: at(Int64(seconds))) == nil)
        }
        #expect(try store.begin(show, at: at(10)) == 593 * second)
        #expect(try store.begin(.named("other"), at: at(10)) == 54 * second)
        #expect(try store.begin(.named("other"), at: at(64)) == nil)
    }

    @Test func `counts a run once, and holds nobody else`() throws {
        let store = try Store(twice)

        let both = try store.admission([.userRequested, show], at(0))
        #expect(both.admitted == [.userRequested, show] && both.attempts == [.userRequested])
        for trigger in SyncTrigger.allCases where trigger != .userRequested {
            let own = try store.admission([trigger], at(0))
            #expect(own.admitted == [trigger] && own.attempts == [])
        }
        #expect(try store.admission([.named("unknown")], at(0)).attempts == [])
        for _ in 1...2 { #expect(try store.begin(show, at: at(0)) == nil) }
        let rest = try store.admission([show, .timer], at(1))
        #expect(rest.admitted == [.timer] && rest.attempts == [] && rest.wait == 599 * second)
    }

    @Test(arguments: [-86_400, -3600, -1, 1, 3600, 86_400 * 365] as [Int64])
    func `goes by the time since the boot, wherever the clock is set`(_ seconds: Int64) throws {
        let store = try Store(twice)
        for _ in 1...2 { #expect(try store.begin(show, at: at(0)) == nil) }

        #expect(try store.begin(show, at: at(seconds, uptime: 5060)) == 540 * second)
        #expect(try store.begin(show, at: at(-seconds, uptime: 5599)) == second)
        #expect(try store.begin(show, at: at(seconds, uptime: 5600)) == nil)
    }

    @Test(arguments: [-86_400, 0, 120, 86_400] as [Int64])
    func `takes attempts before a restart of the device for made at it`(_ seconds: Int64) throws {
        let store = try Store(twice)
        for _ in 1...2 { #expect(try store.begin(show, at: at(0)) == nil) }

        #expect(try store.begin(show, at: at(seconds, boot: "c", uptime: 20)) == 580 * second)
        #expect(try store.begin(show, at: at(seconds + 579, boot: "c", uptime: 599)) == second)
        #expect(try store.begin(show, at: at(seconds + 580, boot: "c", uptime: 600)) == nil)
        // Those of before are forgotten with the window, that one is not.
        #expect(try store.begin(show, at: at(seconds + 581, boot: "c", uptime: 601)) == nil)
        #expect(try store.begin(show, at: at(seconds + 582, boot: "c", uptime: 602)) != nil)
    }

    @Test func `goes by the device's clock where the boot is not known, and forgets nothing`()
        throws
    {
        let store = try Store(twice)

        // The device has been running for longer than the window.
        for seconds in [0, 60] as [Int64] {
            #expect(try store.begin(show, at: at(seconds, boot: "")) == nil)
        }
        #expect(try store.begin(show, at: at(120, boot: "")) == 480 * second)
        #expect(try store.begin(show, at: at(599, boot: "")) == second)
        #expect(try store.begin(show, at: at(600, boot: "")) == nil)
    }

    @Test func `counts one that was logged with no time since the boot`() throws {
        let store = try Store(twice)

        for _ in 1...2 { #expect(try store.begin(show, at: at(0, uptime: 0)) == nil) }
        #expect(try store.begin(show, at: at(1, uptime: 1)) == 599 * second)
    }

    @Test func `forgets nothing where a model changes it, and nothing is left of one that is gone`()
        throws
    {
        let store = try Store(twice)
        for _ in 1...2 { #expect(try store.begin(show, at: at(0)) == nil) }

        var narrow = twice
        narrow.window = .minutes(1)
        #expect(try store.memory.fold.admission(of: [show], [narrow], at: at(59)).wait == second)
        #expect(try store.memory.fold.admission(of: [show], [narrow], at: at(60)).wait == nil)
        let none = try store.memory.fold.admission(of: [show, .userRequested], [], at: at(1))
        #expect(none.admitted == [show, .userRequested] && none.attempts == [])
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `lets never more begin within its window of true time, and never holds longer than it`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let gate = TriggerGate(
            "discover", count: 1 + random.below(4), window: .seconds(1 + random.below(900)))
        let window = Int64(gate.window.seconds) * second
        let store = try Store(gate)
        var (time, ahead, booted, boots) = (Int64(0), Int64(0), -Int64(random.below(10_000)), 1)
        var begun: [Int64] = []
        // Until when it holds, by the time since the current boot, and what it last said.
        var said: (uptime: Int64, boot: Int)?
        func below(_ bound: Int64) -> Int64 { Int64(random.below(Int(bound))) }

        for step in 0..<150 {
            time += random.once(in: 3) ? below(window) : below(10 * second)
            if random.once(in: 8) { ahead += below(4 * window) - 2 * window }
            if random.once(in: 20) { (booted, boots) = (time - below(second), boots + 1) }
            let now = Moment(
                now: Timestamp(rawValue: 1_795_262_400_000_000 + time + ahead),
                bootID: "boot-\(boots)", uptime: time - booted)
            let isUsers = random.once(in: 12)
            let held = try store.begin(isUsers ? .userRequested : show, at: now)

            let place = "seed \(seed), step \(step)"
            if let held {
                #expect(!isUsers && held > 0 && held <= window, "\(place)")
                if let said, said.boot == boots {
                    #expect(now.uptime < said.uptime, "\(place): held longer than it said")
                    #expect(now.uptime + held == said.uptime, "\(place)")
                }
                said = (now.uptime + held, boots)
            } else {
                if !isUsers {
                    let within = begun.count { $0 > time - window }
                    #expect(within < gate.count, "\(place): \(within + 1) in the window")
                }
                begun.append(time)
                said = nil
            }
        }
        #expect(begun.count > 10, "seed \(seed)")
    }
}
