// FaultTests.swift — commits that fail are errors with a name, and the store stays usable.

import Foundation
import TestSupport
import Testing
import TidemarkStore

@Suite struct `faults` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `a file size limit fails the write and nothing else`() async {
        await #expect(processExitsWith: .success) { [store = scratch.store as String] in
            let environment = try Environment.open(at: store, .small)
            try environment.store(environment.rows, [1], pattern(1000))
            let bytes = try environment.info().fileBytes
            let unlimited = limitFiles(to: UInt64(bytes + 4096))

            let error = Result {
                try environment.store(environment.rows, [2], pattern(1 << 20))
            }.failure

            let kept = Result { try environment.value(environment.rows, [1]) }
            let absent = Result { try environment.value(environment.rows, [2]) }
            limitFiles(to: unlimited)
            #expect(error?.code == .fileTooLarge)
            #expect(error?.during == "commit")
            #expect(try kept.get() == pattern(1000))
            #expect(try absent.get() == nil)
            try environment.store(environment.rows, [2], pattern(1 << 20))
            try environment.close()
            let again = try Environment.open(at: store, .small)
            #expect(try again.value(again.rows, [2]) == pattern(1 << 20))
        }
    }

    @Test(.enabled(if: BtrfsDisk.isPossible, "\(BtrfsDisk.reason)"))
    func `both files are written in place also where others are not`() throws {
        let disk = try #require(try BtrfsDisk())
        defer { withExtendedLifetime(disk) {} }
        let store = disk.path + "/store"
        let environment = try Environment.open(at: store, .small)
        try environment.store(environment.rows, [1], [1])
        try environment.close()

        for name in ["data.mdb", "lock.mdb"] {
            let listed = try Command.run("env", ["lsattr", store + "/" + name])
            let attributes = listed.text.prefix { $0 != " " }
            #expect(attributes.contains("C"), "\(name): \(listed.text)")
        }
    }

    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `a full disk fails the write and nothing else`() throws {
        let disk = try #require(try TinyDisk())
        defer { withExtendedLifetime(disk) {} }
        let environment = try Environment.open(at: disk.path + "/store", .small)
        var stored = 0
        var error: StoreError?
        while error == nil, stored < 100 {
            let result = Result {
                try environment.store(environment.rows, bigEndian(stored), pattern(50_000))
            }
            error = result.failure
            if error == nil { stored += 1 }
        }
        #expect(error?.code == .diskFull)
        #expect((5..<25).contains(stored))
        #expect(try environment.read { try $0.count(environment.rows) } == stored)

        #expect(disk.grow())
        try environment.store(environment.rows, bigEndian(stored), pattern(50_000))
        try environment.close()
        let again = try Environment.open(at: disk.path + "/store", .small)
        #expect(try again.read { try $0.count(again.rows) } == stored + 1)
        for number in 0...stored {
            #expect(try again.value(again.rows, bigEndian(number)) == pattern(50_000))
        }
        try again.close()
    }

    @Test func `no descriptor of the data file is handed to child processes`() throws {
        let environment = try scratch.open()

        try expectOpenHereAlone(scratch.dataFile)
        try environment.close()
    }
}
