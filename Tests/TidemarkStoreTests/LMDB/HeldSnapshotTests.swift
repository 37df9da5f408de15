// HeldSnapshotTests.swift — one moment of a store, read piece by piece.

import Testing
import TidemarkStore

@Suite struct `a held snapshot` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `is one moment, and who reads it may write in between`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        let held = try environment.hold()

        for number in 2..<100 {
            try environment.store(environment.rows, [1], pattern(5000, salt: number))
            #expect(try held.read { try $0.get(environment.rows, [1]) } == [1])
        }
        held.end()
        let error = #expect(throws: StoreError.self) { try held.read { _ in } }
        #expect(error?.code == .busy)
        #expect(try environment.value(environment.rows, [1]) == pattern(5000, salt: 99))
    }

    @Test func `is let go of where the map has to grow, which does not wait for it`() throws {
        let environment = try scratch.open(.small.with { $0.mapBytes = 1 << 20 })
        try environment.store(environment.rows, [1], [1])
        let held = try environment.hold()

        try environment.store(environment.rows, [2], pattern(8 << 20))

        let error = #expect(throws: StoreError.self) { try held.read { _ in } }
        #expect(error?.code == .busy)
        #expect(try environment.value(environment.rows, [1]) == [1])
    }

    @Test func `is let go of by closing`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        let held = try environment.hold()

        try environment.close()

        let error = #expect(throws: StoreError.self) { try held.read { _ in } }
        #expect(error?.code == .closed)
        held.end()
        let again = try scratch.open()
        #expect(try again.value(again.rows, [1]) == [1])
    }

    @Test func `is not begun inside a read`() throws {
        let environment = try scratch.open()

        let error = #expect(throws: StoreError.self) {
            try environment.read { _ in _ = try environment.hold() }
        }

        #expect(error?.code == .nested)
    }
}
