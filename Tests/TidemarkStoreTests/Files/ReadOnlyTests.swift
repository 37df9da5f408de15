// ReadOnlyTests.swift — reading without leaving a trace.

import Foundation
import Testing
import TidemarkStore

@Suite struct `read-only stores` {
    let scratch: Scratch
    let options = Environment.Options.small.with { $0.readOnly = true }

    init() throws {
        scratch = try Scratch()
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], pattern(3000))
        try environment.close()
    }

    private struct Trace: Equatable {
        var bytes: [UInt8]
        var changes: [Date?]
        var names: [String]
    }

    private func trace() throws -> Trace {
        let manager = FileManager.default
        return Trace(
            bytes: try scratch.dataBytes(),
            changes: try [scratch.dataFile, scratch.store].map {
                try manager.attributesOfItem(atPath: $0)[.modificationDate] as? Date
            },
            names: try manager.contentsOfDirectory(atPath: scratch.store).sorted())
    }

    @Test func `reading changes no byte and no date`() throws {
        let before = try trace()

        let environment = try scratch.open(options)
        #expect(environment.isReadOnly)
        #expect(try environment.value(environment.rows, [1]) == pattern(3000))
        try environment.close()

        #expect(try trace() == before)
    }

    @Test func `without a lock file none is made`() throws {
        try FileManager.default.removeItem(atPath: scratch.lockFile)
        let before = try trace()

        let environment = try scratch.open(options)
        #expect(try environment.value(environment.rows, [1]) == pattern(3000))
        try environment.close()

        #expect(try trace() == before)
        #expect(before.names == ["data.mdb"])
    }

    @Test func `without a lock file a read counts only where no writer used pages again`()
        async throws
    {
        try FileManager.default.removeItem(atPath: scratch.lockFile)
        let environment = try scratch.open(options)
        let rows = environment.rows
        let isReading = Monitored(false)
        let isWritten = Monitored(false)
        let refusal = Monitored<StoreError.Code?>(nil)
        let hasEnded = Monitored(false)
        onNewThread {
            let read = Result {
                try environment.read { transaction in
                    _ = try transaction.get(rows, [1])
                    isReading.set(true)
                    isWritten.wait { $0 }
                }
            }
            refusal.set(read.failure?.code)
            hasEnded.set(true)
        }
        isReading.wait { $0 }

        let store = scratch.store
        await #expect(processExitsWith: .success) { [store = store as String] in
            let writer = try Environment.open(at: store, .small)
            for number in UInt8(1)...3 { try writer.store(writer.rows, [2], [number]) }
            try writer.close()
        }
        isWritten.set(true)
        hasEnded.wait { $0 }

        #expect(refusal.update { $0 } == .busy)
        #expect(try environment.value(rows, [2]) == [3])
        try environment.close()
    }

    @Test func `a user who may only read can read`() async throws {
        let store = scratch.store
        let manager = FileManager.default
        for (path, mode) in [
            (scratch.path, 0o755), (store, 0o555), (scratch.dataFile, 0o444),
            (scratch.lockFile, 0o444),
        ] {
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        let before = try trace()

        await #expect(processExitsWith: .success) { [store = store as String] in
            if geteuid() == 0 { try #require(seteuid(65534) == 0) }
            let refused = Result { try Environment.open(at: store, .small) }.failure
            #expect(refused?.code == .notPermitted)
            let environment = try Environment.open(at: store, .small.with { $0.readOnly = true })
            #expect(try environment.value(environment.rows, [1]) == pattern(3000))
        }
        #expect(try trace() == before)
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store)
    }

    @Test func `every write is refused`() async throws {
        let environment = try scratch.open(options)

        #expect(
            Result { try environment.store(environment.rows, [2], [2]) }.failure?.code == .readOnly)
        #expect(Result { try environment.flush() }.failure?.code == .readOnly)
        let rows = environment.rows
        await #expect(throws: StoreError.self) {
            try await environment.write { try $0.put(rows, [2], [2]) }
        }
        #expect(try environment.value(environment.rows, [2]) == nil)
    }

    @Test func `a table that doesn't exist reads as empty`() throws {
        let environment = try scratch.open(options.with { $0.tables = ["nothing", "rows"] })
        let nothing = environment.table("nothing")

        try environment.read { transaction in
            let found = try transaction.get(nothing, [1])
            let ends = [try transaction.first(nothing), try transaction.last(nothing)]
            let count = try transaction.count(nothing)
            try transaction.scan(nothing, from: nil, prefix: [], reversed: true) { _, _ in
                Issue.record("a key in a table that doesn't exist")
                return true
            }
            #expect(found == nil && count == 0)
            #expect(ends.allSatisfy { $0 == nil })
        }
        #expect(try environment.value(environment.rows, [1]) == pattern(3000))
    }

    /// Leaves the store as a process does that is killed before the last step of making it smaller.
    private func cutOffShrinking() throws {
        let environment = try scratch.open()
        let folder = try StoreFiles.beginShrinking(scratch.store)
        let copy = try Environment.open(at: folder, .small)
        _ = try environment.copyRecords(to: copy) { _ in }
        try copy.close()
        try environment.close()
        let manager = FileManager.default
        let shrunk = scratch.store + "/shrunk"
        try manager.moveItem(atPath: folder, toPath: shrunk)
        try manager.removeItem(atPath: scratch.dataFile)
        try manager.moveItem(atPath: shrunk + "/data.mdb", toPath: scratch.dataFile)
    }

    @Test func `one whose shrinking was cut off is read, and lost once a writer ends that`()
        throws
    {
        try cutOffShrinking()
        let environment = try scratch.open(options)
        let rows = environment.rows
        #expect(try environment.value(rows, [1]) == pattern(3000))

        // As the next opening for writing does before all else.
        let read = Result {
            try environment.read { transaction in
                _ = try transaction.get(rows, [1])
                try StoreFiles.settleShrinking(scratch.store)
            }
        }
        #expect(read.failure?.code == .lost, "that writer did not know of it")
        #expect(Result { try environment.value(rows, [1]) }.failure?.code == .lost)
        try environment.close()

        let again = try scratch.open(options)
        #expect(try again.value(again.rows, [1]) == pattern(3000))
        try again.close()
    }

    @Test func `who reads while another file takes the place of this one is to open it again`()
        throws
    {
        let environment = try scratch.open(options)
        let rows = environment.rows
        let manager = FileManager.default
        let copy = scratch.path + "/copy"
        try manager.copyItem(atPath: scratch.dataFile, toPath: copy)
        try manager.removeItem(atPath: scratch.dataFile)
        let gone = Result { try environment.value(rows, [1]) }.failure
        #expect(gone?.code == .lost && gone?.advice == StoreError.Code.lost.advice)

        try manager.moveItem(atPath: copy, toPath: scratch.dataFile)
        let replaced = Result { try environment.value(rows, [1]) }.failure
        #expect(replaced?.code == .lost && replaced?.advice == "Open the store again.")
        try environment.close()

        let again = try scratch.open(options)
        #expect(try again.value(again.rows, [1]) == pattern(3000))
        try again.close()
    }

    @Test func `a reader sees what another process commits`() async throws {
        let environment = try scratch.open(options)
        #expect(try environment.value(environment.rows, [2]) == nil)

        let store = scratch.store
        await #expect(processExitsWith: .success) { [store = store as String] in
            let writer = try Environment.open(at: store, .small)
            try writer.store(writer.rows, [2], [22])
            try writer.close()
        }
        #expect(try environment.value(environment.rows, [2]) == [22])
    }
}
