// SyncScheduleTests.swift — when the next sync run begins, and what it waits for.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

private let start: Int64 = 1_000_000_000

/// So many seconds after the tests began, by both clocks.
private func at(_ seconds: Double, set: Double = 0, boot: String = "b") -> Moment {
    let microseconds = Int64(seconds * 1_000_000)
    return Moment(
        now: Timestamp(microseconds: start + microseconds + Int64(set * 1_000_000)), bootID: boot,
        uptime: microseconds)
}

private func time(_ seconds: Double) -> Timestamp { at(seconds).now }

private func gate(_ seconds: Double, failures: Int = 0, reason: String = "") -> SyncGate {
    SyncGate(
        since: at(0), microseconds: Int64(seconds * 1_000_000), failures: failures, reason: reason,
        position: Position(7))
}

@Suite struct `the schedule` {
    private var schedule: SyncSchedule

    init() {
        schedule = SyncSchedule()
        schedule.automatic = SyncSchedule.Automatic(
            localChanges: true, every: nil, quiet: 1_000_000, quietMax: 5_000_000)
    }

    @Test func `is idle while nothing is asked for`() {
        #expect(schedule.next(at(0)) == .idle)
    }

    @Test func `takes no time from clocks that a stranger made up`() {
        let now = Moment(now: Timestamp(rawValue: .max), bootID: "b", uptime: .max)
        let then = Moment(now: Timestamp(rawValue: .min), bootID: "b", uptime: .min)
        let gate = SyncGate(since: at(0), microseconds: .min, position: Position(7))

        #expect(now.microseconds(since: then) == nil)
        #expect(now.microseconds(since: at(5)) == Int64.max - 5_000_000)
        #expect(gate.left(at: now) == 0)
    }

    @Test func `makes one run of everything that was asked for, the highest first`() {
        var schedule = schedule
        for trigger in SyncTrigger.allCases.reversed() { schedule.ask(trigger, at: at(0)) }
        for trigger in SyncTrigger.allCases { schedule.ask(trigger, at: at(0)) }

        #expect(schedule.next(at(0)) == .run(SyncTrigger.allCases))

        schedule.begin()
        #expect(schedule.next(at(0)) == .idle)
    }

    @Test func `lists folders where nothing else was asked for, each once`() {
        var schedule = schedule
        let (one, root) = (SyncScope.Folder("files", "F1"), SyncScope.Folder("files"))
        schedule.ask(.remoteChange, in: one, at: at(0))
        schedule.ask(.userRequested, in: root, at: at(0))
        schedule.ask(.remoteChange, in: root, at: at(0))
        schedule.ask(.remoteChange, in: one, at: at(0))
        #expect(schedule.next(at(0)) == .list([.userRequested, .remoteChange], [root, one]))

        schedule.begin(.folders([root]))
        #expect(schedule.next(at(0)) == .list([.remoteChange], [one]))
        schedule.begin(.folders([one]))
        #expect(schedule.next(at(0)) == .idle)
    }

    @Test func `takes folders along in a run of everything`() {
        var schedule = schedule
        schedule.ask(.userRequested, in: SyncScope.Folder("files"), at: at(0))
        schedule.ask(.reachability, at: at(0))
        #expect(schedule.next(at(0)) == .run([.userRequested, .reachability]))
        schedule.begin()
        #expect(schedule.next(at(0)) == .idle)
    }

    @Test func `lists a folder while an edit waits for quiet, which waits on`() {
        var schedule = schedule
        let folder = SyncScope.Folder("files", "F1")
        schedule.ask(.localChange, at: at(0))
        schedule.ask(.remoteChange, in: folder, at: at(0))
        #expect(schedule.next(at(0)) == .list([.remoteChange], [folder]))
        schedule.begin(.folders([folder]))
        #expect(schedule.next(at(0)) == .wait(until: time(1), .quiet))
    }

    @Test func `waits for quiet after an edit, but not for ever`() {
        var schedule = schedule
        schedule.ask(.localChange, at: at(0))
        #expect(schedule.next(at(0)) == .wait(until: time(1), .quiet))

        schedule.ask(.localChange, at: at(0.9))
        #expect(schedule.next(at(1)) == .wait(until: time(1.9), .quiet))
        #expect(schedule.next(at(1.9)) == .run([.localChange]))

        for tenth in 10...48 { schedule.ask(.localChange, at: at(Double(tenth) / 10)) }
        #expect(schedule.next(at(4.9)) == .wait(until: time(5), .quiet))
        #expect(schedule.next(at(5)) == .run([.localChange]))
    }

    @Test func `takes an edit along that is not quiet yet`() {
        var schedule = schedule
        schedule.ask(.localChange, at: at(0))
        schedule.ask(.reachability, at: at(0.1))

        #expect(schedule.next(at(0.1)) == .run([.localChange, .reachability]))
    }

    @Test func `begins a clean-up at each local midnight, when nothing else is due`() {
        var schedule = schedule
        let day: Int64 = 86_400_000_000
        // Local time is two hours ahead.
        schedule.automatic?.midnight = 7_200_000_000
        let now = Moment(now: Timestamp(rawValue: 10 * day), bootID: "b", uptime: 0)
        schedule.planCleanUp(after: now.now)
        let midnight = Timestamp(rawValue: 11 * day - 7_200_000_000)
        #expect(schedule.next(now) == .wait(until: midnight, .timer))

        let then = Moment(now: midnight, bootID: "b", uptime: 5)
        #expect(schedule.next(then) == .cleanUp)
        schedule.ask(.reachability, at: then)
        #expect(schedule.next(then) == .run([.reachability]))

        schedule.begin()
        schedule.planCleanUp(after: midnight)
        let next = Timestamp(rawValue: midnight.rawValue + day)
        #expect(schedule.next(then) == .wait(until: next, .timer))
    }

    @Test func `begins a regular run so long after the last one`() {
        var schedule = schedule
        schedule.automatic?.every = 600_000_000
        #expect(schedule.next(at(0)) == .run([.timer]))

        schedule.lastRuns = [.init(at: time(0), begun: Position(1))]
        #expect(schedule.next(at(1)) == .wait(until: time(600), .timer))
        #expect(schedule.next(at(600)) == .run([.timer]))
    }

    @Test func `begins a regular run at once when the clock was set back behind the last one`() {
        var schedule = schedule
        schedule.automatic?.every = 600_000_000
        schedule.lastRuns = [.init(at: time(0), begun: Position(1))]

        #expect(schedule.next(at(1, set: -3600)) == .run([.timer]))
    }

    @Test func `never begins more than one regular run a second`() {
        var schedule = schedule
        schedule.automatic = SyncSchedule.Automatic(
            localChanges: false, every: 0, quiet: 0, quietMax: 0)
        schedule.lastRuns = [.init(at: time(0), begun: Position(1))]

        #expect(schedule.next(at(0)) == .wait(until: time(1), .timer))
    }

    @Test func `tries again by itself when the wait after failures is over`() {
        var schedule = schedule
        schedule.gates.backoff = gate(8, failures: 3)

        #expect(schedule.next(at(0)) == .wait(until: time(8), .failures(3)))
        #expect(schedule.next(at(8)) == .run([.retry]))
    }

    @Test func `waits as long once more where the last run could not try again what was due`() {
        for isCall in [true, false] {
            var schedule = schedule
            if isCall {
                schedule.gates.failing = [gate(8)]
            } else {
                schedule.gates.backoff = gate(8)
            }
            schedule.lastRuns = [.init(at: time(9), begun: Position(8))]
            #expect(schedule.next(at(9)) == .wait(until: time(17), isCall ? .failures(0) : .timer))
            #expect(schedule.next(at(17)) == .run([.retry]))

            // The clock was set back by ten minutes, by which the run began before what failed.
            schedule.lastRuns = [.init(at: time(9 - 600), begun: Position(8))]
            let wait = schedule.next(at(9, set: -600))
            #expect(wait == .wait(until: time(17 - 600), isCall ? .failures(0) : .timer))
            #expect(schedule.next(at(17, set: -600)) == .run([.retry]))
            schedule.lastRuns = [.init(at: time(-600), begun: Position(1))]
            #expect(schedule.next(at(9, set: -600)) == .run([.retry]))
        }
    }

    @Test func `waits as long once more also where the clock was set back within the wait`() {
        for isCall in [true, false] {
            var schedule = schedule
            if isCall {
                schedule.gates.failing = [gate(3600)]
            } else {
                schedule.gates.backoff = gate(3600)
            }
            #expect(schedule.next(at(3600, set: -600)) == .run([.retry]))

            schedule.lastRuns = [.init(at: time(3001), begun: Position(9))]
            let wait = schedule.next(at(3601, set: -600))
            #expect(wait == .wait(until: time(6601), isCall ? .failures(0) : .timer))
            #expect(schedule.next(at(7201, set: -600)) == .run([.retry]))
        }
    }

    @Test func `counts no run that came before it was due, where the clock was set ahead`() {
        var schedule = schedule
        schedule.gates.failing = [gate(3600)]
        schedule.lastRuns = [.init(at: time(7300), begun: Position(9))]

        #expect(schedule.next(at(3600, set: 7200)) == .run([.retry]))
    }

    @Test func `waits twice as long after each run that could not try again what was due`() {
        var schedule = schedule
        schedule.gates.failing = [gate(8)]
        let runs: [(at: Double, next: Double)] = [(8, 16), (16, 24), (24, 40), (40, 72), (72, 136)]
        for (index, run) in runs.enumerated() {
            schedule.lastRuns.insert(
                .init(at: time(run.at), begun: Position(UInt64(8 + index))), at: 0)
            #expect(schedule.next(at(run.at)) == .wait(until: time(run.next), .failures(0)))
        }
        #expect(schedule.next(at(136)) == .run([.retry]))
    }

    @Test func `counts no time in which nothing ran for a longer wait`() {
        var schedule = schedule
        schedule.gates.failing = [gate(8)]
        schedule.lastRuns = [.init(at: time(36_000), begun: Position(9))]
        #expect(schedule.next(at(36_000)) == .wait(until: time(36_008), .failures(0)))

        schedule.lastRuns.insert(.init(at: time(36_008), begun: Position(10)), at: 0)
        #expect(schedule.next(at(36_008)) == .wait(until: time(36_024), .failures(0)))
    }

    @Test func `waits no longer than it was due where many runs came in a short time`() {
        var schedule = schedule
        schedule.gates.failing = [gate(8)]
        schedule.lastRuns = (0..<12).map { index in
            SyncGates.LastRun(at: time(32 - Double(index)), begun: Position(UInt64(30 - index)))
        }
        #expect(schedule.next(at(32)) == .wait(until: time(56), .failures(0)))
    }

    @Test func `waits an hour at most for what can't be tried`() {
        var schedule = schedule
        schedule.gates.failing = [gate(8)]
        schedule.lastRuns = (0..<SyncGates.runsMax).map { index in
            SyncGates.LastRun(
                at: time(900_000 - Double(index) * 3600), begun: Position(UInt64(30 - index)))
        }
        #expect(schedule.next(at(900_000)) == .wait(until: time(903_600), .failures(0)))
    }

    @Test func `plans the clean-up anew after the clock was set back`() {
        var schedule = schedule
        let day: Int64 = 86_400_000_000
        schedule.automatic?.midnight = 0
        schedule.planCleanUp(after: Timestamp(rawValue: 400 * day))
        let now = Moment(now: Timestamp(rawValue: 10 * day + 5), bootID: "b", uptime: 0)
        schedule.planCleanUpAgain(at: now.now)
        #expect(schedule.next(now) == .wait(until: Timestamp(rawValue: 11 * day), .timer))
        schedule.planCleanUpAgain(at: now.now)
        #expect(schedule.next(now) == .wait(until: Timestamp(rawValue: 11 * day), .timer))
    }

    @Test func `tries nothing again while no run begins by itself`() {
        var schedule = schedule
        schedule.automatic = nil
        schedule.gates.backoff = gate(8, failures: 3)

        #expect(schedule.next(at(9)) == .idle)
    }

    @Test(arguments: SyncTrigger.allCases)
    func `holds everything until the server may be called again`(_ trigger: SyncTrigger) {
        var schedule = schedule
        schedule.gates.server = gate(30)
        schedule.ask(trigger, at: at(0))

        #expect(schedule.next(at(29)) == .wait(until: time(30), .serverAsked))
        #expect(schedule.next(at(30)) == .run([trigger]))
    }

    @Test(arguments: SyncTrigger.allCases)
    func `lets only urgent runs begin after failures and while the server is busy`(
        _ trigger: SyncTrigger
    ) {
        var schedule = schedule
        schedule.gates.backoff = gate(8, failures: 1)
        schedule.gates.busy = gate(20)
        schedule.ask(trigger, at: at(-9))

        let decision = schedule.next(at(1))

        let urgent: Set<SyncTrigger> = [.userRequested, .credentialsChanged]
        #expect(
            decision
                == (urgent.contains(trigger)
                    ? .run([trigger]) : .wait(until: time(20), .serverBusy)))
    }

    @Test func `is paused when the credentials were refused, until the user asks`() {
        var schedule = schedule
        schedule.automatic?.every = 600_000_000
        schedule.gates.frozen = gate(0, reason: "unauthorized")
        schedule.ask(.localChange, at: at(0))
        #expect(schedule.next(at(9)) == .paused(.unauthorized))

        schedule.ask(.userRequested, at: at(9))
        #expect(schedule.next(at(9)) == .run([.userRequested, .localChange]))
    }

    @Test(arguments: [nil, Int64(0)])
    func `is paused when the credentials were refused, also where nothing is asked for`(
        _ midnight: Int64?
    ) {
        var schedule = schedule
        schedule.automatic?.midnight = midnight
        schedule.planCleanUp(after: time(0))
        schedule.gates.frozen = gate(0, reason: "unauthorized")
        #expect(schedule.next(at(9)) == .paused(.unauthorized))

        #expect((schedule.cleanUpAt == nil) == (midnight == nil))
        if midnight != nil { #expect(schedule.next(at(86_400)) == .cleanUp) }
    }

    @Test func `waits longer and longer after runs of which the log tells no wait`() {
        var schedule = schedule
        let backoff = BackoffSpan(min: .seconds(5), max: .seconds(15))
        for (failures, seconds) in [(1, 5.0), (2, 10), (3, 15), (4, 15)] {
            schedule.begin()
            schedule.noteUnlogged(.server, at: at(0), backoff)
            schedule.ask(.timer, at: at(0))
            #expect(schedule.next(at(0)) == .wait(until: time(seconds), .failures(failures)))
            #expect(schedule.next(at(seconds)) == .run([.timer]))
        }
        schedule.ask(.userRequested, at: at(0))
        #expect(schedule.next(at(0)) == .run([.userRequested, .timer]))
        schedule.forgetUnlogged()
        schedule.begin()
        schedule.ask(.timer, at: at(0))
        #expect(schedule.next(at(0)) == .run([.timer]))
    }

    @Test func `does not wait where the network failed and is there again`() {
        var schedule = schedule
        let backoff = BackoffSpan(min: .seconds(5), max: .seconds(15))
        let reasons: [FailureKind?] = [.server, nil, .offline]
        for reason in reasons {
            schedule.noteUnlogged(reason, at: at(0), backoff)
            schedule.begin()
            schedule.ask(.timer, at: at(0))
            schedule.ask(.reachability, at: at(0))
            let isRun = schedule.next(at(0)) == .run([.reachability, .timer])
            #expect(isRun == (reason == .offline))
        }
    }

    @Test func `is paused by the app, also for the user`() {
        var schedule = schedule
        schedule.isPaused = true
        schedule.ask(.userRequested, at: at(0))
        #expect(schedule.next(at(0)) == .paused(.byApp))

        schedule.isPaused = false
        #expect(schedule.next(at(0)) == .run([.userRequested]))
    }
}

@Suite struct `gates` {
    @Test func `hold to the microsecond, by the clock that nobody sets`() {
        #expect(gate(30).left(at: at(0)) == 30_000_000)
        #expect(gate(30).left(at: at(29.999999)) == 1)
        #expect(gate(30).left(at: at(30)) == 0)
        #expect(gate(30).left(at: at(10, set: 100_000_000)) == 20_000_000)
        #expect(gate(30).left(at: at(10, set: -100_000_000)) == 20_000_000)
    }

    @Test func `hold by the device's clock after a new boot, and never longer than was asked`() {
        #expect(gate(30).left(at: at(10, boot: "c")) == 20_000_000)
        #expect(gate(30).left(at: at(10, set: 21, boot: "c")) == 0)
        #expect(gate(30).left(at: at(10, set: -11, boot: "c")) == 0)
        #expect(gate(30).left(at: at(10, set: -10, boot: "c")) == 30_000_000)
    }

    @Test func `hold for the longest of them`() {
        var gates = SyncGates()
        gates.server = gate(3)
        gates.backoff = gate(9, failures: 2)

        #expect(gates.hold(.timer, at: at(0)) == .wait(9_000_000, .failures(2)))
        #expect(gates.hold(.userRequested, at: at(0)) == .wait(3_000_000, .serverAsked))
        #expect(gates.hold(.userRequested, at: at(3)) == nil)
    }

    @Test(arguments: FailureKind.allCases)
    func `let a network that is there again pass where it failed, whoever else asks`(
        _ kind: FailureKind
    ) {
        var gates = SyncGates()
        gates.backoff = gate(9, failures: 2, reason: kind.rawValue)
        let isOfNetwork = [FailureKind.offline, .timeout, .foreign].contains(kind)
        let held = SyncGates.Hold.wait(9_000_000, .failures(2))
        let busy = SyncGates.Hold.wait(3_000_000, .serverBusy)

        #expect(gates.hold([.localChange, .timer], at: at(0)) == held)
        let several = gates.hold([.localChange, .reachability], at: at(0))
        #expect(several == (isOfNetwork ? nil : held))

        gates.busy = gate(3)
        let besideBusy = gates.hold([.localChange, .reachability], at: at(0))
        #expect(besideBusy == (isOfNetwork ? busy : held))
        gates.frozen = gate(0, reason: "unauthorized")
        #expect(gates.hold([.reachability], at: at(0)) == .frozen(.unauthorized))
    }
}

@Suite struct `the wait after failures` {
    private func seconds(_ failures: Int, _ seed: UInt64, max: Int = 3600) -> Double {
        let wait = BackoffRule.microseconds(
            failures: failures, seed: seed, secondsMin: 5, secondsMax: max)
        return Double(wait) / 1_000_000
    }

    @Test func `doubles up to its bound`() {
        #expect((1...4).map { seconds($0, 0) } == [2.5, 5, 10, 20])
        #expect(
            [10, 11, 12, 1000, Int.max].map { seconds($0, 0) } == [1280, 1800, 1800, 1800, 1800])
    }

    @Test func `is spread between half of it and all of it by the seed`() {
        #expect(seconds(1, .max) > 4.99 && seconds(1, .max) < 5)
        #expect(seconds(1, 1 << 63) == 3.75)
    }

    @Test func `has sense with settings that have none`() {
        #expect(BackoffRule.microseconds(failures: 3, seed: 9, secondsMin: 0, secondsMax: 9) == 0)
        #expect(BackoffRule.microseconds(failures: 3, seed: 9, secondsMin: 5, secondsMax: -1) == 0)
        let year: Int64 = 31_536_000_000_000
        let wait = BackoffRule.microseconds(
            failures: .max, seed: .max, secondsMin: .max, secondsMax: .max)
        #expect(wait > year / 2 && wait <= year)
    }
}
