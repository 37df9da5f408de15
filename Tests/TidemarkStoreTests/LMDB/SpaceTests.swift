// SpaceTests.swift — the quota, readers that hold pages back, and file systems of other machines.

import Foundation
import Testing
import TidemarkStore

@Suite struct `space` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `at the quota writes are refused before anything is stored, and freeing goes on`()
        throws
    {
        let quota = 2 << 20
        let environment = try scratch.open(.small.with { $0.quotaBytes = quota })
        var stored = 0
        var error: StoreError?
        while error == nil, stored < 1000 {
            error =
                Result {
                    try environment.store(environment.rows, bigEndian(stored), pattern(20_000))
                }.failure
            if error == nil { stored += 1 }
        }
        #expect(error?.code == .storeFull)
        #expect(error?.during == "begin")
        #expect((90..<110).contains(stored))
        var calls = 0
        let refused = Result { try environment.write { _ in calls += 1 } }.failure
        #expect(refused?.code == .storeFull && calls == 0)
        #expect(try environment.read { try $0.count(environment.rows) } == stored)

        // What frees pages is let through, and when enough are free others are again, though the
        // file gets no shorter.
        try environment.write(freeing: true) { transaction in
            for number in 0..<30 { try transaction.delete(environment.rows, bigEndian(number)) }
        }
        for number in 0..<10 {
            try environment.store(environment.rows, bigEndian(number), pattern(20_000))
        }
        #expect(try environment.info().fileBytes > quota)
        try environment.close()
    }

    @Test func `the quota is nine tenths of the largest map unless said otherwise`() {
        let options = Environment.Options(tables: ["a"], mapBytes: 1000, mapBytesMax: 5000)
        #expect(options.quotaBytes == 4500)
        #expect(Environment.Options(tables: ["a"]).quotaBytes == (1 << 40) / 10 * 9)
    }

    @Test func `the pages of a table have room for what is in it, and for little more`() throws {
        let environment = try scratch.open()
        #expect(try environment.read { try $0.pageBytes(environment.rows) } == 0)
        for number in 0..<100 {
            try environment.store(environment.rows, bigEndian(number), pattern(1_000))
        }
        for number in 100..<110 {
            try environment.store(environment.rows, bigEndian(number), pattern(50_000))
        }
        let bytes = try environment.read { try $0.pageBytes(environment.rows) }
        #expect((600_000..<1_200_000).contains(bytes))
        try environment.close()
    }

    @Test func `a reader's lag is told in commits`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        #expect(try environment.info().oldestReaderLag == 0)

        let isReading = Monitored(false)
        let mayEnd = Monitored(false)
        let hasEnded = Monitored(false)
        Thread.detachNewThread {
            try? environment.read { _ in
                isReading.update { $0 = true }
                mayEnd.wait { $0 }
            }
            hasEnded.update { $0 = true }
        }
        isReading.wait { $0 }
        for number in 0..<7 {
            try environment.store(environment.rows, [2], [UInt8(number)])
        }
        #expect(try environment.info().oldestReaderLag == 7)

        mayEnd.update { $0 = true }
        hasEnded.wait { $0 }
        #expect(try environment.info().oldestReaderLag == 0)
        try environment.close()
    }

    @Test func `a reader that was killed holds nothing back`() async throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [0], pattern(500))
        await #expect(processExitsWith: .signal(SIGKILL)) { [store = scratch.store as String] in
            let options = Environment.Options.small.with { $0.readOnly = true }
            let reader = try Environment.open(at: store, options)
            try reader.read { transaction in
                _ = try transaction.get(reader.rows, [0])
                kill(getpid(), SIGKILL)
            }
        }
        try environment.close()
        let again = try scratch.open()
        let before = try again.info().fileBytes
        for number in 0..<3000 {
            try again.store(again.rows, [UInt8(number % 100)], pattern(500, salt: number))
        }
        #expect(try again.info().oldestReaderLag == 0)
        #expect(try again.info().fileBytes - before < 2 << 20)
        try again.close()
    }

    @Test func `a reader that was killed beside an open writer holds nothing back for long`()
        async throws
    {
        let environment = try scratch.open()
        try environment.store(environment.rows, [0], pattern(500))
        await #expect(processExitsWith: .signal(SIGKILL)) { [store = scratch.store as String] in
            let options = Environment.Options.small.with { $0.readOnly = true }
            let reader = try Environment.open(at: store, options)
            try reader.read { _ in _ = kill(getpid(), SIGKILL) }
        }
        let before = try environment.info().fileBytes
        for number in 0..<3000 {
            try environment.store(
                environment.rows, [UInt8(number % 100)], pattern(500, salt: number))
        }
        #expect(try environment.info().fileBytes - before < 2 << 20)
        try environment.close()
    }

    @Test func `file systems of other machines are known by their numbers`() {
        let remote: [UInt64] = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546]
        let local: [UInt64] = [0xEF53, 0x0102_1994, 0x9123_683E, 0x5846_5342, 0x794C_7630, 0]
        #expect(remote.allSatisfy(StoreFiles.isRemote))
        #expect(!local.contains(where: StoreFiles.isRemote))
    }
}
