// ManualClockTests.swift — a clock that stands still until a test moves it.

import Testing
import TidemarkTesting

@Suite struct `a clock in the test's hand` {
    @Test(arguments: [0, -1]) func `is not slept by for no time`(_ seconds: Int) async throws {
        let clock = ManualClock()

        try await clock.sleep(for: .seconds(seconds))

        #expect(clock.elapsed == 0 && clock.sleepsMade == 1)
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

    @Test func `ends a sleep that is called off with an error`() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(3)) }
        _ = await clock.firstSleep()

        sleeper.cancel()

        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
