// TransactionTests.swift — what a transaction stores, and what it leaves when it fails.

import TestSupport
import Testing
import TidemarkStore

@Suite struct `transactions` {
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
    }

    @Test func `what was put is read back, replaced and deleted`() throws {
        try environment.store(environment.rows, [1], [10])
        try environment.store(environment.rows, [2], [20])
        try environment.store(environment.rows, [1], [11, 12])

        #expect(try environment.value(environment.rows, [1]) == [11, 12])
        #expect(try environment.value(environment.rows, [3]) == nil)
        #expect(try environment.value(environment.events, [1]) == nil)

        let deleted = try environment.write { transaction in
            [
                try transaction.delete(environment.rows, [1]),
                try transaction.delete(environment.rows, [1]),
            ]
        }
        #expect(deleted == [true, false])
        #expect(try environment.value(environment.rows, [1]) == nil)
        #expect(try environment.value(environment.rows, [2]) == [20])
    }

    @Test func `a sorted writer stores and removes the same as one by one, in any order`() throws {
        let (one, other) = (environment.rows, environment.events)
        var random = SplitMix64(seed: 0x50F7_ED00)
        var keys: [[UInt8]] = []
        for round in 0..<12 {
            keys = (0..<600).map { _ in
                (0..<2).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            if round % 2 == 0 { keys.sort { $0.lexicographicallyPrecedes($1) } }
            let changes = keys.map { key in
                let count = Int.random(in: 0...900, using: &random)
                return (key, count < 300 ? nil : [UInt8](repeating: key[0], count: count))
            }
            try environment.write { transaction in
                for (key, value) in changes {
                    if let value {
                        try transaction.put(one, key, value)
                    } else {
                        try transaction.delete(one, key)
                    }
                }
                try transaction.withSorted(other) { writer in
                    for (key, value) in changes { try writer.write(key, value) }
                }
            }
        }

        func rows(_ table: Table) throws -> [[[UInt8]]] {
            try environment.read { transaction in
                var rows: [[[UInt8]]] = []
                try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, value in
                    rows.append([key.copied(), value.copied()])
                    return true
                }
                return rows
            }
        }
        #expect(try rows(one).count > 1000)
        #expect(try rows(one) == rows(other))
    }

    @Test func `a write sees its own changes, a read the last commit`() throws {
        try environment.store(environment.rows, [1], [1])

        try environment.write { transaction in
            try transaction.put(environment.rows, [1], [2])
            #expect(try transaction.get(environment.rows, [1]) == [2])
            #expect(try environment.value(environment.rows, [1]) == [1])
        }
        #expect(try environment.value(environment.rows, [1]) == [2])
    }

    @Test func `a read keeps its snapshot while another thread commits`() throws {
        let environment = environment
        try environment.store(environment.rows, [1], [1])

        let seen = try environment.read { snapshot in
            let done = Monitored(false)
            onNewThread {
                try environment.store(environment.rows, [1], [2])
                done.set(true)
            }
            done.wait { $0 }
            // A read inside a read sees the same snapshot.
            return [
                try snapshot.get(environment.rows, [1]),
                try environment.value(environment.rows, [1]),
            ]
        }
        #expect(seen == [[1], [1]])
        #expect(try environment.value(environment.rows, [1]) == [2])
    }

    @Test func `a throw aborts everything`() throws {
        struct Refused: Error {}
        try environment.store(environment.rows, [1], [1])

        #expect(throws: Refused.self) {
            try environment.write { transaction in
                try transaction.put(environment.rows, [1], [2])
                try transaction.put(environment.events, [1], [2])
                throw Refused()
            }
        }
        #expect(try environment.value(environment.rows, [1]) == [1])
        #expect(try environment.read { try $0.count(environment.events) } == 0)
    }

    @Test func `append takes greater keys only`() throws {
        try environment.write { transaction in
            for number in 1...500 {
                try transaction.append(environment.events, bigEndian(number), pattern(300))
            }
        }
        for number in [500, 499, 1] {
            let error = #expect(throws: StoreError.self) {
                try environment.write {
                    try $0.append(environment.events, bigEndian(number), [1])
                }
            }
            #expect(error?.code == .keyExists)
            #expect(error?.during == "append")
        }
        let last = try environment.read { try $0.last(environment.events) }
        #expect(last?.key == bigEndian(500))
        #expect(last?.value == pattern(300))
    }

    @Test func `after an error the transaction aborts even when the closure goes on`() throws {
        let error = #expect(throws: StoreError.self) {
            try environment.write { transaction in
                try transaction.append(environment.events, [5], [5])
                try? transaction.append(environment.events, [4], [4])
                try transaction.put(environment.rows, [1], [1])
            }
        }
        #expect(error?.code == .keyExists)
        #expect(try environment.read { try $0.count(environment.events) } == 0)
        #expect(try environment.value(environment.rows, [1]) == nil)
        try environment.store(environment.rows, [1], [1])
        #expect(try environment.value(environment.rows, [1]) == [1])
    }

    @Test func `clear empties one table and keeps it`() throws {
        try environment.write { transaction in
            for number in 0..<1000 {
                try transaction.put(environment.rows, bigEndian(number), pattern(100))
            }
            try transaction.put(environment.events, [1], [1])
        }

        try environment.write { try $0.clear(environment.rows) }

        #expect(try environment.read { try $0.count(environment.rows) } == 0)
        #expect(try environment.read { try $0.first(environment.rows) } == nil)
        #expect(try environment.value(environment.events, [1]) == [1])
        try environment.store(environment.rows, [2], [2])
        #expect(try environment.value(environment.rows, [2]) == [2])
    }

    @Test(arguments: [0, 1, 511, 512, 4096])
    func `a key has 1 to 511 bytes`(bytes: Int) throws {
        let key = [UInt8](repeating: 7, count: bytes)
        let write = Result { try environment.store(environment.rows, key, [1]) }
        let delete = Result { try environment.write { try $0.delete(environment.rows, key) } }
        let get = Result { try environment.value(environment.rows, key) }
        if (1...511).contains(bytes) {
            try write.get()
            #expect(try delete.get())
            #expect(try get.get() == nil)
        } else {
            for error in [write.failure, delete.failure, get.failure] {
                #expect(error?.code == .badKey)
            }
        }
    }

    @Test(arguments: [0, 1, 2020, 2030, 4080, 4081, 8176, 8177, 1 << 20])
    func `a value of any size comes back byte for byte`(bytes: Int) throws {
        let value = pattern(bytes, salt: bytes)

        try environment.store(environment.rows, bigEndian(bytes), value)

        #expect(try environment.value(environment.rows, bigEndian(bytes)) == value)
        let lent = try environment.read { transaction in
            try transaction.withValue(environment.rows, bigEndian(bytes)) { $0.copied() }
        }
        #expect(lent == value)
        try environment.close()
        let again = try scratch.open()
        #expect(try again.value(again.rows, bigEndian(bytes)) == value)
    }

    @Test func `withValue isn't called for a key that isn't there`() throws {
        let answer = try environment.read { transaction in
            try transaction.withValue(environment.rows, [9]) { _ in
                Issue.record("called")
                return 1
            }
        }
        #expect(answer == nil)
    }

    @Test func `everything survives closing and opening again`() throws {
        for number in 0..<200 {
            try environment.store(environment.rows, bigEndian(number), pattern(number, salt: 3))
        }
        try environment.flush()
        let before = try environment.info()
        try environment.close()

        let again = try scratch.open()
        #expect(try again.info().lastTransaction == before.lastTransaction)
        for number in 0..<200 {
            #expect(try again.value(again.rows, bigEndian(number)) == pattern(number, salt: 3))
        }
        try again.close()
    }
}

extension Result {
    /// The storage error behind a failure.
    var failure: StoreError? {
        if case .failure(let error) = self { return error as? StoreError }
        return nil
    }
}
