// ShrinkingTests.swift — the folders in which a smaller data file is made, and what else lies
// there.

import Foundation
import Testing
import TidemarkStore

@Suite struct `a data file that is made smaller` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Puts a copy of the store's records in the place of its data file.
    private func shrink(_ environment: Environment) throws {
        let folder = try StoreFiles.beginShrinking(scratch.store)
        let copy = try Environment.open(at: folder, .small)
        _ = try environment.copyRecords(to: copy) { _ in }
        try StoreFiles.endShrinking(scratch.store)
        environment.endReplaced("data.mdb was replaced by a smaller one")
        try copy.close()
    }

    @Test func `is one, however often, beside what somebody else put into its folders`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [0], [0])
        try environment.close()
        let manager = FileManager.default
        let folders = ["shrinking", "shrunk"].map { scratch.store + "/" + $0 }
        for folder in folders {
            try manager.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/x"))
        }
        // Of processes that were killed: one that copied, and one before its last step.
        try Data().write(to: URL(fileURLWithPath: folders[0] + "/data.mdb.probe"))
        try manager.copyItem(atPath: scratch.lockFile, toPath: folders[1] + "/lock.mdb")

        for round in 1...2 as ClosedRange<UInt8> {
            try StoreFiles.settleShrinking(scratch.store)
            let opened = try scratch.open()
            try opened.store(opened.rows, [round], [round])
            try shrink(opened)
            try opened.close()
            for folder in folders {
                #expect(try manager.contentsOfDirectory(atPath: folder) == ["x"])
            }
        }
        let reader = try scratch.open(.small.with { $0.readOnly = true })
        for round in 0...2 as ClosedRange<UInt8> {
            #expect(try reader.value(reader.rows, [round]) == [round])
        }
        try reader.close()
    }

    @Test(arguments: ["shrinking", "shrunk"], [false, true])
    func `is none beside what is no folder and has the name of one, and that bars no opening`(
        _ name: String, _ isLink: Bool
    ) throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        try environment.close()
        let manager = FileManager.default
        let path = scratch.store + "/" + name
        if isLink {
            // What is in a folder of somebody else's is not the store's.
            let elsewhere = scratch.store + "/elsewhere"
            try manager.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
            try Data("x".utf8).write(to: URL(fileURLWithPath: elsewhere + "/lock.mdb"))
            try manager.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
        } else {
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        }

        try StoreFiles.settleShrinking(scratch.store)
        let error = #expect(throws: StoreError.self) {
            _ = try StoreFiles.beginShrinking(scratch.store)
        }

        #expect(error?.code == .unfitFile)
        #expect(error?.detail.contains("\(path) is no folder") == true)
        let text = try String(contentsOfFile: isLink ? path + "/lock.mdb" : path, encoding: .utf8)
        #expect(text == "x")
        let opened = try scratch.open()
        #expect(try opened.value(opened.rows, [1]) == [1])
        try opened.close()
    }

    @Test(.enabled(if: geteuid() == 0, "only user 0 may give files away"))
    func `by user 0 is of who owns the folder of the store`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        try environment.close()
        let code = unsafe lchown(scratch.store, 4711, 4712)
        #expect(code == 0)
        try FileManager.default.removeItem(atPath: scratch.lockFile)

        let opened = try scratch.open()
        try expectOwner(4711, 4712, scratch.lockFile)
        let folder = try StoreFiles.beginShrinking(scratch.store)
        let copy = try Environment.open(at: folder, .small)
        try copy.store(copy.rows, [1], [1])
        for name in ["", "/data.mdb", "/lock.mdb"] { try expectOwner(4711, 4712, folder + name) }
        try copy.close()
        try opened.close()
    }

    private func expectOwner(_ user: UInt32, _ group: UInt32, _ path: String) throws {
        var status = stat()
        let code = unsafe lstat(path, &status)
        #expect(code == 0 && status.st_uid == user && status.st_gid == group, "\(path)")
    }

    @Test func `leaves no folder behind where nobody else put anything there`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        try shrink(environment)
        try environment.close()

        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
        #expect(names.sorted() == ["data.mdb", "lock.mdb"])
    }
}
