// OpeningTests.swift — making a store, finding it again, and sharing it within the process.

import Foundation
import Testing
import TidemarkStore

@Suite struct `opening` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func failure(_ path: String, _ options: Environment.Options = .small) -> StoreError? {
        Result { try Environment.open(at: path, options) }.failure
    }

    @Test func `a new store is private to its owner`() throws {
        let environment = try scratch.open()

        let manager = FileManager.default
        let directory = try manager.attributesOfItem(atPath: scratch.store)
        let file = try manager.attributesOfItem(atPath: scratch.dataFile)
        #expect(directory[.posixPermissions] as? Int == 0o700)
        #expect(file[.posixPermissions] as? Int == 0o600)
        let info = try environment.info()
        #expect(info.pageBytes >= 4096)
        #expect(info.fileBytes % info.pageBytes == 0)
        #expect(info.mapBytes == 64 << 20)
        #expect(info.readersMax == 126)
        #expect(info.lastTransaction >= 1)
    }

    @Test func `tables keep the order of the options and their names`() throws {
        let options = Environment.Options.small.with { $0.tables = ["c", "a", "b"] }
        let environment = try scratch.open(options)

        #expect(environment.tables.map(\.name) == ["c", "a", "b"])
        #expect(environment.table("a").name == "a")
        try environment.store(environment.table("a"), [1], [1])
        try environment.close()

        let turned = try scratch.open(options.with { $0.tables = ["b", "a", "d"] })
        #expect(try turned.value(turned.table("a"), [1]) == [1])
        #expect(try turned.value(turned.table("b"), [1]) == nil)
        #expect(try turned.value(turned.table("d"), [1]) == nil)
    }

    @Test func `no store where none is, unless one is to be made`() throws {
        #expect(failure(scratch.store, .small.with { $0.create = false })?.code == .missing)
        #expect(failure(scratch.store, .small.with { $0.readOnly = true })?.code == .missing)
        #expect(failure(scratch.path, .small.with { $0.create = false })?.code == .missing)
        let parentless = failure(scratch.path + "/no/parent")
        #expect(parentless?.code == .invalidPath)
        #expect(parentless?.detail == "the folder \(scratch.path)/no is not there; make it first")
        #expect(!FileManager.default.fileExists(atPath: scratch.store))
    }

    @Test func `what can't be a store's path is refused`() throws {
        let file = scratch.path + "/file"
        try Data([1]).write(to: URL(fileURLWithPath: file))

        #expect(failure("")?.code == .invalidPath)
        #expect(failure(file)?.code == .invalidPath)
        #expect(failure(file + "/store")?.code == .invalidPath)
        #expect(
            failure(scratch.path + "/" + String(repeating: "x", count: 300))?.code == .invalidPath)
    }

    @Test func `data that is a link or a directory is refused and not followed`() throws {
        try scratch.open().close()
        let other = scratch.path + "/other"
        try FileManager.default.createDirectory(
            atPath: other, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: other + "/data.mdb", withDestinationPath: scratch.dataFile)
        let third = scratch.path + "/third/data.mdb"
        try FileManager.default.createDirectory(atPath: third, withIntermediateDirectories: true)

        #expect(failure(other)?.code == .invalidPath)
        #expect(failure(scratch.path + "/third")?.code == .invalidPath)
        #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["data.mdb"])
    }

    @Test func `any path to the same file shares one environment`() throws {
        let first = try scratch.open()
        let link = scratch.path + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.store)
        let hard = scratch.path + "/hard"
        try FileManager.default.createDirectory(atPath: hard, withIntermediateDirectories: false)
        try FileManager.default.linkItem(atPath: scratch.dataFile, toPath: hard + "/data.mdb")
        let here = FileManager.default.currentDirectoryPath.split(separator: "/")
        let relative = String(repeating: "../", count: here.count) + scratch.store.dropFirst()

        for path in [scratch.store, link, hard, relative, scratch.store + "/../store/"] {
            let again = try Environment.open(at: path, .small)
            #expect(again === first, "\(path)")
            try again.close()
        }
        try first.store(first.rows, [1], [1])
        #expect(try first.value(first.rows, [1]) == [1], "still open: one opening is left")
        try first.close()
        #expect(Result { try first.value(first.rows, [1]) }.failure?.code == .closed)
        #expect(Result { try first.store(first.rows, [1], [1]) }.failure?.code == .closed)
        #expect(Result { try first.close() }.failure?.code == .closed)
    }

    @Test func `a second opening with options that don't fit is refused`() throws {
        let first = try scratch.open()
        let more = Environment.Options.small.with { $0.tables.append("more") }
        #expect(failure(scratch.store, more)?.code == .alreadyOpen)
        let reading = try scratch.open(.small.with { $0.readOnly = true })
        #expect(reading === first)
        try reading.close()
        try first.close()

        let readOnly = try scratch.open(.small.with { $0.readOnly = true })
        #expect(failure(scratch.store)?.code == .alreadyOpen)
        try readOnly.close()
        let writable = try scratch.open(more)
        try writable.close()
    }

    @Test func `an environment that nobody holds closes by itself`() throws {
        for round in 0..<50 {
            let environment = try scratch.open()
            #expect(try environment.read { try $0.count(environment.rows) } == round)
            try environment.store(environment.rows, bigEndian(round), [1])
        }
    }

    @Test func `many threads open and close the same store`() throws {
        let left = Monitored(8)
        let store = scratch.store
        for thread in 0..<8 {
            onNewThread {
                for round in 0..<20 {
                    let environment = try Environment.open(at: store, .small)
                    try environment.store(environment.rows, bigEndian(thread * 100 + round), [1])
                    try environment.close()
                }
                left.update { $0 -= 1 }
            }
        }
        left.wait { $0 == 0 }

        let environment = try scratch.open()
        #expect(try environment.read { try $0.count(environment.rows) } == 160)
    }

    @Test func `a data file deleted while open takes no more writes`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        try FileManager.default.removeItem(atPath: scratch.dataFile)

        for _ in 0..<2 {
            let error = Result { try environment.store(environment.rows, [2], [2]) }.failure
            #expect(error?.code == .lost)
        }
        #expect(try environment.value(environment.rows, [1]) == [1])
    }

    @Test func `a data file in whose place there is another one takes no more writes`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        let aside = scratch.path + "/aside"
        try FileManager.default.moveItem(atPath: scratch.store, toPath: aside)
        try environment.store(environment.rows, [1], [2])
        try FileManager.default.copyItem(atPath: aside, toPath: scratch.store)
        let copied = try scratch.dataBytes()

        for _ in 0..<2 {
            let error = Result { try environment.store(environment.rows, [2], [2]) }.failure
            #expect(error?.code == .lost)
        }
        #expect(try environment.value(environment.rows, [1]) == [2])
        #expect(try scratch.dataBytes() == copied)
    }

    @Test func `an error says what is wrong and what to do`() {
        let error = StoreError(.mapFull, number: -30792, during: "put", detail: "no space")
        #expect(
            error.description
                == "put failed, mapFull: no space (-30792). "
                + "Prune or compact the store, or raise the largest map size.")
        for code in StoreError.Code.allCases {
            #expect(code.advice.hasSuffix("."))
        }
    }

    @Test(arguments: [(EMFILE, "ulimit -n"), (ENFILE, "ulimit -n"), (EAGAIN, "ulimit -u")])
    func `a shortage of what the system gives is told as that`(
        _ number: Int32, _ advice: String
    ) {
        let error = StoreError(.io, number: number, during: "open", detail: "data.mdb")
        #expect(error.description.contains(advice))
        #expect(!error.description.contains("Check the disk"))
    }
}
