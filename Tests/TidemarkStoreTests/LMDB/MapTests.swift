// MapTests.swift — a map that becomes too small grows, and every write is stored exactly once.

import Foundation
import Testing
import TidemarkStore

@Suite struct `the map` {
    let scratch: Scratch
    let tight = Environment.Options(tables: ["events", "rows"], mapBytes: 1 << 20)

    init() throws { scratch = try Scratch() }

    @Test func `many writes outgrow it`() throws {
        let environment = try scratch.open(tight)

        for number in 1...400 {
            try environment.write { transaction in
                let next = try transaction.count(environment.events) + 1
                try transaction.append(
                    environment.events, bigEndian(next), pattern(20_000, salt: next))
            }
            if number % 100 == 0 {
                #expect(try environment.read { try $0.count(environment.events) } == number)
            }
        }
        let info = try environment.info()
        #expect(info.mapBytes >= 8 << 20)
        #expect(info.lastTransaction >= 400)
        for number in 1...400 {
            let value = try environment.value(environment.events, bigEndian(number))
            #expect(value == pattern(20_000, salt: number))
        }
    }

    @Test func `one write of five thousand puts runs again until it fits`() throws {
        let environment = try scratch.open(tight)
        var runs = 0

        let stored = try environment.write { transaction in
            runs += 1
            for number in 1...5000 {
                try transaction.append(
                    environment.events, bigEndian(number), pattern(1500, salt: number))
            }
            return try transaction.count(environment.events)
        }
        #expect(stored == 5000)
        #expect(runs > 2)
        #expect(try environment.read { try $0.count(environment.events) } == 5000)
        #expect(try environment.value(environment.events, bigEndian(77)) == pattern(1500, salt: 77))
    }

    @Test func `a closure that hides the full map is run again all the same`() throws {
        struct Wrapped: Error {}
        let environment = try scratch.open(tight)

        try environment.write { transaction in
            do {
                for number in 1...200 {
                    try transaction.put(environment.rows, bigEndian(number), pattern(20_000))
                }
            } catch {
                throw Wrapped()
            }
        }
        #expect(try environment.read { try $0.count(environment.rows) } == 200)
    }

    @Test func `at its bound the write fails whole and the store goes on`() throws {
        let environment = try scratch.open(tight.with { $0.mapBytesMax = 2 << 20 })
        try environment.store(environment.rows, [1], [1])

        let error = Result {
            try environment.write { transaction in
                for number in 1...5000 {
                    try transaction.put(environment.events, bigEndian(number), pattern(1000))
                }
            }
        }.failure

        #expect(error?.code == .mapFull)
        #expect(error?.number == -30792)
        #expect(try environment.read { try $0.count(environment.events) } == 0)
        try environment.store(environment.rows, [2], [2])
        #expect(try environment.value(environment.rows, [1]) == [1])
        #expect(try environment.value(environment.rows, [2]) == [2])
    }

    @Test func `it grows under concurrent readers, who never notice`() throws {
        let environment = try scratch.open(tight)
        try environment.store(environment.rows, [0], pattern(9000))
        let left = Monitored(4)
        for _ in 0..<4 {
            onNewThread {
                var seen = 0
                while seen < 300 {
                    seen = try environment.read { transaction in
                        guard try transaction.get(environment.rows, [0]) == pattern(9000) else {
                            throw StoreError(.damaged, during: "test", detail: "other bytes")
                        }
                        let count = try transaction.count(environment.events)
                        let last = try transaction.last(environment.events)?.value
                        guard count == 0 || last == pattern(20_000, salt: count) else {
                            throw StoreError(.damaged, during: "test", detail: "not a snapshot")
                        }
                        return count
                    }
                }
                left.update { $0 -= 1 }
            }
        }
        for number in 1...300 {
            try environment.write { transaction in
                try transaction.append(
                    environment.events, bigEndian(number), pattern(20_000, salt: number))
            }
        }
        left.wait { $0 == 0 }
        #expect(try environment.info().mapBytes >= 8 << 20)
    }

    @Test func `growth by another process is taken over`() async throws {
        let environment = try scratch.open(tight)
        try environment.store(environment.rows, [1], [1])
        let store = scratch.store

        for round in 1...2 {
            await #expect(processExitsWith: .success) {
                [store = store as String, round = round as Int] in
                let options = Environment.Options(tables: ["events", "rows"], mapBytes: 64 << 20)
                let other = try Environment.open(at: store, options)
                try other.write { transaction in
                    for number in 1...150 {
                        try transaction.put(
                            other.events, bigEndian(round * 1000 + number), pattern(20_000))
                    }
                }
                try other.close()
            }
            if round == 1 {
                // The first to notice is a reader,
                #expect(try environment.read { try $0.count(environment.events) } == 150)
            } else {
                // then the writer.
                try environment.store(environment.rows, [2], [2])
                #expect(try environment.read { try $0.count(environment.events) } == 300)
            }
        }
        #expect(try environment.value(environment.rows, [1]) == [1])
    }
}
