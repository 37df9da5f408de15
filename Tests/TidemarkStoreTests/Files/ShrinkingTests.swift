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

    @Test func `leaves no folder behind where nobody else put anything there`() throws {
        let environment = try scratch.open()
        try environment.store(environment.rows, [1], [1])
        try shrink(environment)
        try environment.close()

        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.store)
        #expect(names.sorted() == ["data.mdb", "lock.mdb"])
    }
}
