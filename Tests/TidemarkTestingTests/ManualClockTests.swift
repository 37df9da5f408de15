// ManualClockTests.swift — a clock that stands still until a test moves it.

import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `a clock in the test's hand` {
    @Test(arguments: [0, -1]) func `is not slept by for no time`(_ seconds: Int) async throws {
        let clock = ManualClock()

        try await clock.sleep(for: .seconds(seconds))

        #expect(clock.elapsed == 0 && clock.sleepsMade == 1)
    }

    @Test func `runs since the device was restarted, whose clock goes on`() {
        let clock = ManualClock()
        let dependencies = Dependencies.seeded(1, clock: clock)
        clock.advance(by: .seconds(3))
        #expect(dependencies.uptime() == Uptime(bootID: "boot-1", microseconds: 3_000_000))

        clock.restart()
        clock.advance(by: .seconds(2))

        #expect(dependencies.uptime() == Uptime(bootID: "boot-1-1", microseconds: 2_000_000))
        #expect(dependencies.now() == clock.start.adding(seconds: 5))
    }

    @Test func `ends a sleep when it was moved on so far`() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(3)) }

        #expect(await clock.firstSleep() == .seconds(3))
        clock.advance(by: .seconds(2))
        #expect(await clock.firstSleep() == .seconds(1))
        clock.advance(by: .seconds(1))
        try await sleeper.value
    }

    @Test func `does not tell who sleeps beside something else, and wakes it, too`() async throws {
        let clock = ManualClock()
        let alarm = Dependencies.seeded(1, clock: clock, movesClock: false).alarm
        let aside = Task.immediate { try await alarm(.seconds(2)) }
        let sleeper = Task { try await clock.sleep(for: .seconds(3)) }

        #expect(await clock.firstSleep() == .seconds(3))
        #expect(clock.sleepsMade == 1)
        clock.advance(by: .seconds(2))
        try await aside.value
        #expect(await clock.firstSleep() == .seconds(1))
        clock.advance(by: .seconds(1))
        try await sleeper.value
    }

    @Test func `ends a sleep that is called off with an error`() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(3)) }
        _ = await clock.firstSleep()

        sleeper.cancel()

        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
