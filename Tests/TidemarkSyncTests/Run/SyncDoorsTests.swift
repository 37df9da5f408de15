// SyncDoorsTests.swift — the clock, the ids and the stores that tests and previews use.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `doors for tests` {
    @Test func `the clock stands still until it is moved, both ways`() {
        let clock = ManualClock(start: Timestamp(milliseconds: 1000))
        #expect(clock.now == clock.start)

        clock.advance(by: .milliseconds(1500))
        clock.advance(by: .microseconds(-1))

        #expect(clock.now == Timestamp(microseconds: 2_499_999))
        #expect(clock.elapsed == 1_499_999)
    }

    @Test func `ids begin with the seed, count up and are the same in every run`() {
        let clock = ManualClock()
        let doors = Dependencies.seeded(7, clock: clock)

        #expect(doors.makeID() == "00000007-0000-4000-8000-000000000001")
        #expect(doors.makeID() == "00000007-0000-4000-8000-000000000002")
        #expect(
            Dependencies.seeded(0, clock: clock).makeID() == "00000000-0000-4000-8000-000000000001")
        #expect(
            Dependencies.seeded(0x1_0000_0007, clock: clock).makeID()
                == "00000007-0001-4000-8000-000000000001")
    }

    @Test func `a boot has the name that its system gives it, or none`() {
        #expect(Uptime.bootID(["a-b\n", nil]) == "a-b")
        #expect(Uptime.bootID([nil, "C-D"]) == "C-D")
        #expect(Uptime.bootID([" \n", "C-D"]) == "C-D")
        #expect(Uptime.bootID([nil, nil]) == "")
    }

    #if os(Linux)
        @Test func `a boot of Linux has the name that the kernel gives it`() throws {
            let said = try String(
                contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            let name = said.trimmingCharacters(in: .whitespacesAndNewlines)

            #expect(!name.isEmpty)
            #expect(Dependencies.live.uptime().bootID == name)
        }
    #endif

    @Test func `random numbers are those of SplitMix64`() {
        let doors = Dependencies.seeded(1_234_567, clock: ManualClock())

        #expect(
            (1...3).map { _ in doors.random() } == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
            ])
    }

    @Test func `time and uptime are the clock's, and waiting moves it`() async throws {
        let clock = ManualClock()
        let doors = Dependencies.seeded(1, clock: clock)

        try await doors.sleep(.seconds(3600))

        #expect(doors.now() == clock.start.adding(seconds: 3600))
        #expect(doors.uptime() == Uptime(bootID: "boot-1", microseconds: 3_600_000_000))
    }

    @Test func `waiting ends when the task is cancelled, and the clock stands`() async {
        let clock = ManualClock()
        let doors = Dependencies.seeded(1, clock: clock)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in released { break }
            try await doors.sleep(.seconds(1))
        }
        task.cancel()
        release.finish()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.elapsed == 0)
    }

    @Test func `who sleeps wakes when the clock was moved so far, the first one first`()
        async throws
    {
        let clock = ManualClock()
        let (woken, wake) = AsyncStream.makeStream(of: Int.self)
        for seconds in [30, 20, 10] {
            Task {
                try await clock.sleep(for: .seconds(seconds))
                wake.yield(seconds)
            }
            // Each begins to sleep when it likes, and is the first to wake then.
            while await clock.firstSleep() != .seconds(seconds) { await Task.yield() }
        }
        var order: [Int] = []
        var iterator = woken.makeAsyncIterator()
        while order.count < 3 {
            clock.advance(by: await clock.firstSleep())
            order.append(try #require(await iterator.next()))
        }

        #expect(order == [10, 20, 30])
    }

    @Test func `who sleeps wakes when the task is cancelled, and is forgotten`() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(10)) }
        #expect(await clock.firstSleep() == .seconds(10))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }

        let other = Task { try await clock.sleep(for: .seconds(20)) }
        #expect(await clock.firstSleep() == .seconds(20))
        clock.advance(by: .seconds(20))
        try await other.value
    }

    @Test func `the device's clock can be set while no time passes`() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        clock.adjust(by: .seconds(-3600))

        #expect(clock.now == clock.start.adding(seconds: -3595) && clock.elapsed == 5_000_000)
    }

    @Test func `temporary stores lie apart and are gone when they are deleted`() throws {
        let first = try Replica.temporary(model: SyncWorld.usualModel)
        let second = try Replica.temporary(model: SyncWorld.usualModel)
        #expect(first.directory != second.directory)

        for replica in [first, second] {
            #expect(FileManager.default.fileExists(atPath: replica.directory + "/data.mdb"))
            try replica.deleteTemporary()
            #expect(!FileManager.default.fileExists(atPath: replica.directory))
        }
    }
}
