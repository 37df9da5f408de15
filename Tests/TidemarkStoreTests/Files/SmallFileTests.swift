// SmallFileTests.swift — files beside the data, and the lock of a directory.

import Foundation
import Synchronization
import Testing
import TidemarkStore

@Suite struct `a small file` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `is replaced whole and is private`() throws {
        let file = SmallFile("a.json", in: scratch.path)
        #expect(try file.read() == nil)
        for bytes in [[], pattern(10), pattern(300_000), [1]] {
            try file.replace(with: bytes, isDurable: bytes.count == 10)
            #expect(try file.read() == bytes)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path + "/a.json")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.json"])
    }

    @Test func `takes the place of what a crash left`() throws {
        try Data("left".utf8).write(to: URL(filePath: scratch.path + "/a.json.new"))
        let file = SmallFile("a.json", in: scratch.path)
        #expect(try file.read() == nil)
        try file.replace(with: [1, 2], isDurable: true)
        #expect(try file.read() == [1, 2])
    }

    @Test func `that a user names leaves what is beside it alone`() throws {
        let path = scratch.path + "/mine"
        let others = ["mine.new", ".tidemark-\(ProcessInfo.processInfo.processIdentifier)-0"]
        for name in others {
            try Data("theirs".utf8).write(to: URL(filePath: scratch.path + "/" + name))
        }

        for bytes in [pattern(10), [1]] {
            try SmallFile(at: path).replace(with: bytes, isDurable: true)
            #expect(try SmallFile(at: path).read() == bytes)
        }

        for name in others {
            #expect(
                try Data(contentsOf: URL(filePath: scratch.path + "/" + name))
                    == Data("theirs".utf8))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(names.sorted() == (others + ["mine"]).sorted())
    }

    @Test func `that a user names needs its folder, which is no store that is missing`() {
        let file = SmallFile(at: scratch.path + "/none/mine")

        let failure = Result { try file.replace(with: [1], isDurable: true) }.failure
        #expect(failure?.code == .invalidPath)
        #expect(failure?.detail == "the folder \(scratch.path)/none is not there; make it first")
    }

    @Test func `does not follow links, neither to read nor to write`() throws {
        let target = scratch.path + "/target"
        try Data("mine".utf8).write(to: URL(filePath: target))
        for name in ["/a.json", "/a.json.new"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path + name, withDestinationPath: target)
        }
        let file = SmallFile("a.json", in: scratch.path)
        #expect(Result { try file.read() }.failure?.code == .invalidPath)
        try file.replace(with: [1], isDurable: true)
        #expect(try file.read() == [1])
        #expect(try Data(contentsOf: URL(filePath: target)) == Data("mine".utf8))
    }
}

@Suite struct `the lock of a directory` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `closes no file of another thread when it is refused`() throws {
        let lock = try DirectoryLock(scratch.path)
        let path = scratch.path
        let isEnd = Mutex(false)
        let lost = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 3) { part in
            guard part > 0 else {
                for _ in 0..<20_000 { _ = try? DirectoryLock(path) }
                return isEnd.withLock { $0 = true }
            }
            // A descriptor is given out again as soon as it is free.
            while !isEnd.withLock(\.self) {
                let descriptor = unsafe open("/dev/null", O_RDONLY)
                sched_yield()
                if close(descriptor) != 0 { lost.withLock { $0 += 1 } }
            }
        }
        #expect(lost.withLock(\.self) == 0)
        lock.release()
    }

    @Test func `is held once, and free when released or let go of`() throws {
        let first = try DirectoryLock(scratch.path)
        #expect(Result { try DirectoryLock(scratch.path) }.failure?.code == .busy)
        first.release()
        first.release()
        do {
            _ = try DirectoryLock(
                scratch.path + "/../" + URL(filePath: scratch.path).lastPathComponent)
        }
        let again = try DirectoryLock(scratch.path)
        #expect(again.identity == first.identity)
        again.release()
    }

    @Test func `is not handed to the programs that this process starts`() throws {
        let lock = try DirectoryLock(scratch.path)
        try expectOpenHereAlone(scratch.path)
        lock.release()
    }

    @Test func `needs a directory`() throws {
        #expect(Result { try DirectoryLock(scratch.path + "/none") }.failure?.code == .missing)
        try Data().write(to: URL(filePath: scratch.path + "/file"))
        #expect(
            Result { try DirectoryLock(scratch.path + "/file") }.failure?.code == .invalidPath)
    }
}
