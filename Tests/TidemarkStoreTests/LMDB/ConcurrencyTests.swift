// ConcurrencyTests.swift — many readers, many writers, one writer thread.

import Foundation
import Testing
import TidemarkStore

@Suite struct `concurrency` {
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
    }

    @Test func `64 tasks write at once and none is lost`() async throws {
        let environment = environment
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<64 {
                group.addTask {
                    for round in 0..<10 {
                        try await environment.write { transaction in
                            let next = try transaction.count(environment.events) + 1
                            try transaction.append(
                                environment.events, bigEndian(next), [UInt8(writer), UInt8(round)])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }

        var rounds: [UInt8: [UInt8]] = [:]
        try environment.read { transaction in
            try transaction.scan(environment.events, from: nil, prefix: [], reversed: false) {
                _, value in
                rounds[value[0], default: []].append(value[1])
                return true
            }
        }
        #expect(rounds.count == 64)
        #expect(rounds.values.allSatisfy { $0 == Array(0..<10) }, "each writer's order is kept")
    }

    @Test func `200 readers at once wait for each other instead of failing`() throws {
        let environment = environment
        try environment.store(environment.rows, [1], pattern(100))
        let started = Monitored(0)
        let matching = Monitored(0)
        for _ in 0..<200 {
            onNewThread {
                started.update { $0 += 1 }
                started.wait { $0 == 200 }
                let isEqual = try environment.read { transaction in
                    try transaction.withValue(environment.rows, [1]) { $0.copied() }
                        == pattern(100)
                }
                matching.update { $0 += isEqual ? 1 : 1000 }
            }
        }
        matching.wait { $0 >= 200 }
        #expect(matching.update { $0 } == 200)
        #expect(try environment.info().readers <= 32)
    }

    @Test func `a read opens other stores while its own is being closed and opened again`() throws {
        let (environment, path, other) = (environment, scratch.store, scratch.path + "/other")
        let isReading = Monitored(false)
        let ended = Monitored(0)
        onNewThread {
            try environment.read { _ in
                isReading.set(true)
                for _ in 0..<100 { try Environment.open(at: other, .small).close() }
            }
            ended.update { $0 += 1 }
        }
        isReading.wait { $0 }
        onNewThread {
            try environment.close()
            ended.update { $0 += 1 }
        }
        onNewThread {
            try Environment.open(at: path, .small).close()
            ended.update { $0 += 1 }
        }

        ended.wait { $0 == 3 }
    }

    @Test func `a read that its own store's closing waits for is refused that store`() throws {
        let (environment, path) = (environment, scratch.store)
        let isReading = Monitored(false)
        let isClosing = Monitored(false)
        let refusal = Monitored<StoreError.Code?>(nil)
        let ended = Monitored(0)
        onNewThread {
            try environment.read { _ in
                isReading.set(true)
                isClosing.wait { $0 }
                let opened = Result { try Environment.open(at: path, .small) }
                refusal.set(opened.failure?.code)
            }
            ended.update { $0 += 1 }
        }
        isReading.wait { $0 }
        onNewThread {
            try environment.close()
            ended.update { $0 += 1 }
        }
        // Nobody is let in once it has begun.
        while Result(catching: { try environment.read { _ in } }).failure == nil {}
        isClosing.set(true)

        ended.wait { $0 == 2 }

        #expect(refusal.update { $0 } == .nested)
        try Environment.open(at: path, .small).close()
    }

    @Test func `the thirty-third reader waits for the first to leave`() throws {
        let environment = environment
        let inside = Monitored(0)
        let mayLeave = Monitored(false)
        let done = Monitored(0)
        for _ in 0..<40 {
            onNewThread {
                try environment.read { _ in
                    inside.update { $0 += 1 }
                    mayLeave.wait { $0 }
                    inside.update { $0 -= 1 }
                }
                done.update { $0 += 1 }
            }
        }
        inside.wait { $0 == 32 }
        // A write needs no reader's place.
        try environment.store(environment.rows, [1], [1])
        #expect(inside.update { $0 } == 32)
        mayLeave.set(true)
        done.wait { $0 == 40 }
    }

    @Test func `reads that ended leave slots to other processes`() async throws {
        let path = scratch.path + "/few"
        let few = try Environment.open(at: path, .small.with { $0.readersMax = 6 })
        try few.store(few.rows, [1], [1])
        let inside = Monitored(0)
        let done = Monitored(0)
        for _ in 0..<6 {
            onNewThread {
                try few.read { _ in
                    inside.update { $0 += 1 }
                    inside.wait { $0 == 6 }
                }
                done.update { $0 += 1 }
            }
        }
        done.wait { $0 == 6 }

        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try Environment.open(at: path, .small.with { $0.readOnly = true })
            #expect(try other.value(other.rows, [1]) == [1])
        }
        try few.close()
    }

    @Test func `several callers' changes can share one transaction`() async throws {
        let environment = environment
        let before = try environment.info().lastTransaction
        let requests = Monitored<[UInt8]>([])
        let transactions = Monitored(0)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in UInt8(0)..<64 {
                group.addTask {
                    requests.update { $0.append(number) }
                    try await environment.perform { writer in
                        let batch = requests.update { queued in
                            defer { queued = [] }
                            return queued
                        }
                        guard !batch.isEmpty else { return }
                        try writer.transaction { transaction in
                            for request in batch {
                                try transaction.put(environment.rows, [request], [request])
                            }
                        }
                        transactions.update { $0 += 1 }
                    }
                    #expect(try environment.value(environment.rows, [number]) == [number])
                }
            }
            try await group.waitForAll()
        }
        let commits = try environment.info().lastTransaction - before
        #expect(commits == UInt64(transactions.update { $0 }))
        #expect(commits <= 64)
        #expect(try environment.read { try $0.count(environment.rows) } == 64)
    }

    @Test func `one job may run several transactions, and an error ends only its own`() throws {
        struct Refused: Error {}
        try environment.perform { writer in
            try writer.transaction { try $0.put(environment.rows, [1], [1]) }
            #expect(throws: Refused.self) {
                try writer.transaction { transaction in
                    try transaction.put(environment.rows, [2], [2])
                    throw Refused()
                }
            }
            try writer.transaction { try $0.put(environment.rows, [3], [3]) }
        }
        #expect(try environment.value(environment.rows, [1]) == [1])
        #expect(try environment.value(environment.rows, [2]) == nil)
        #expect(try environment.value(environment.rows, [3]) == [3])
    }

    @Test func `closing finishes what is queued and waits for readers`() async throws {
        let environment = environment
        let reading = Monitored(false)
        let written = Monitored(false)
        onNewThread {
            try environment.read { transaction in
                reading.set(true)
                written.wait { $0 }
                _ = try transaction.count(environment.rows)
            }
        }
        reading.wait { $0 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await environment.write {
                        try $0.put(environment.rows, bigEndian(number), [1])
                    }
                }
            }
            try await group.waitForAll()
        }
        written.set(true)
        try environment.close()

        let again = try scratch.open()
        #expect(try again.read { try $0.count(again.rows) } == 20)
    }
}
