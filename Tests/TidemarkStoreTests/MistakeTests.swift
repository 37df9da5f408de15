// MistakeTests.swift — mistakes of the caller stop the process with a sentence, never a deadlock.

import Foundation
import Testing
import TidemarkStore

@Suite struct `mistakes` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func sentence(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `a blocking write inside a write`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.write { _ in
                try environment.store(environment.rows, [1], [1])
            }
        }
        #expect(sentence(result).contains("A blocking write was called on the writer thread"))
    }

    @Test func `a transaction inside a transaction`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.perform { writer in
                try writer.transaction { _ in
                    try writer.transaction { try $0.put(environment.rows, [1], [1]) }
                }
            }
        }
        #expect(sentence(result).contains("A write was begun inside a write"))
    }

    @Test func `a blocking write inside a read`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.read { _ in
                try environment.store(environment.rows, [1], [1])
            }
        }
        #expect(sentence(result).contains("A blocking write was called inside a read"))
    }

    @Test func `closing inside a write`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.write { _ in try environment.close() }
        }
        #expect(sentence(result).contains("close was called on the writer thread"))
    }

    @Test func `closing inside a read`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.read { _ in try environment.close() }
        }
        #expect(sentence(result).contains("close was called inside a read"))
    }

    @Test func `writing while bytes are lent`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.write { transaction in
                try transaction.put(environment.rows, [1], [1])
                try transaction.scan(environment.rows, from: nil, prefix: [], reversed: false) {
                    key, _ in
                    try transaction.put(environment.events, key.copied(), [2])
                    return true
                }
            }
        }
        #expect(sentence(result).contains("while its bytes are lent"))
    }

    @Test func `using a transaction on another thread`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.write { transaction in
                unsafe withUnsafePointer(to: transaction) { pointer in
                    let address = UInt(bitPattern: pointer)
                    let done = Monitored(false)
                    onNewThread {
                        let smuggled = unsafe UnsafePointer<WriteTransaction>(bitPattern: address)
                        try unsafe smuggled?.pointee.put(environment.rows, [1], [1])
                        done.set(true)
                    }
                    done.wait { $0 }
                }
            }
        }
        #expect(sentence(result).contains("used on another thread"))
    }

    @Test func `asking for a table that wasn't opened`() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [store = scratch.store as String] in
            _ = try Environment.open(at: store, .small).table("other")
        }
        #expect(sentence(result).contains("The table other is not among the tables"))
    }
}
