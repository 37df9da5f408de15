// MistakeTests.swift — mistakes of the caller are refused, or stop the process with a sentence;
// never a deadlock.

import Foundation
import Testing
import TidemarkStore

@Suite struct `mistakes` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func sentence(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test func `what would wait for itself inside a write is refused, and the write goes on`()
        throws
    {
        let environment = try Environment.open(at: scratch.store, .small)
        try environment.write { transaction in
            expectNested("write") { try environment.store(environment.rows, [1], [1]) }
            expectNested("write") { try environment.close() }
            try transaction.put(environment.rows, [2], [2])
        }
        #expect(try environment.read { try $0.get(environment.rows, [1]) } == nil)
        #expect(try environment.read { try $0.get(environment.rows, [2]) } == [2])
        try environment.close()
    }

    @Test func `what would wait for itself inside a read is refused, and the read goes on`()
        throws
    {
        let environment = try Environment.open(at: scratch.store, .small)
        try environment.store(environment.rows, [1], [1])
        try environment.read { transaction in
            expectNested("read") { try environment.store(environment.rows, [1], [2]) }
            expectNested("read") { try environment.close() }
            let value = try transaction.get(environment.rows, [1])
            #expect(value == [1])
        }
        try environment.store(environment.rows, [1], [3])
        try environment.close()
    }

    private func expectNested(
        _ inside: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        #expect(sourceLocation: sourceLocation) {
            try body()
        } throws: { error in
            guard let error = error as? StoreError else { return false }
            return error.code == .nested && error.detail.contains("inside a \(inside)")
        }
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
