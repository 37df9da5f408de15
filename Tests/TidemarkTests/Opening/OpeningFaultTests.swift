// OpeningFaultTests.swift — system calls that fail, and processes that die at them.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

@Suite(
    .serialized, .enabled(if: SyncTool.isThere, SyncTool.missing),
    .enabled(if: FaultShim.isPossible, FaultShim.missing))
struct `when the n-th system call` {
    private static let callsMax = 200

    @Test(arguments: FaultShim.Fault.allCases)
    func `of making a store goes wrong, it is made or begun anew`(
        _ fault: FaultShim.Fault
    ) async throws {
        try await SyncFolder.withStore { folder, _ in
            func store(_ number: Int) -> String { folder / "store-\(number)" }
            try await atEachCall(fault, in: folder, callsMin: 20) { number in
                ["init", store(number), "--model", folder / "model.json"]
            } check: { number, _ in
                // What died after the store was made left it to be used; else it is made now.
                let replica = try Replica.open(at: store(number), model: SyncWorld.usualModel)
                try expectWhole(replica, put: "t", "\(fault) \(number)")
            }
        }
    }

    @Test(arguments: FaultShim.Fault.allCases)
    func `of an edit goes wrong, what was acknowledged is there`(
        _ fault: FaultShim.Fault
    ) async throws {
        try await SyncFolder.withStore { folder, store in
            var acknowledged: Set<String> = []
            try await atEachCall(fault, in: folder, callsMin: 10) { number in
                ["put", store, "tasks/t\(number)", "{}"]
            } check: { number, ended in
                if ended.text.contains("tasks/t\(number)") {
                    acknowledged.insert("tasks/t\(number)")
                }

                // Also takes back the mark of an opening that died.
                let replica = try Replica.open(existing: store)
                try expectWhole(replica, put: "t\(number)", "\(fault) \(number)")
                acknowledged.insert("tasks/t\(number)")
            }
            let list = try await SyncTool.run("list", store).lines
            #expect(acknowledged.isSubset(of: list.map { String($0.prefix { $0 != " " }) }))
        }
    }

    @Test(arguments: FaultShim.Fault.allCases)
    func `of making the file smaller goes wrong, nothing is gone`(
        _ fault: FaultShim.Fault
    ) async throws {
        try await SyncFolder.withStore { folder, store in
            var last = Position.start
            try await atEachCall(fault, in: folder, callsMin: 40) { number in
                last = try fill(try Replica.open(existing: store), with: "t\(number)")
                return ["compact", store, "--shrink", "--keep-events", "1000"]
            } check: { number, _ in
                let opened = try Replica.open(existing: store)
                #expect(try opened.read { $0.position } == last, "\(fault) \(number)")
                try expectWhole(opened, put: "t", "\(fault) \(number)")
                let files = try FileManager.default.contentsOfDirectory(atPath: store).sorted()
                #expect(files == ["data.mdb", "identity.json", "lock.mdb"], "\(fault) \(number)")
            }
        }
    }

    @Test func `of an opening kills it twice, it is refused until it was adopted`() async throws {
        try await SyncFolder.withStore { folder, store in
            let shim = try #require(try FaultShim(in: folder))
            let words = ["put", store, "tasks/t", "{}"]
            for _ in 0..<2 {
                let run = try await shim.run(
                    try #require(SyncTool.path), words, .killed, at: 1, calls: "mmap")
                #expect(run.ended.signal == SIGKILL && run.isReached)
            }
            for _ in 0..<2 {
                let refused = try await SyncTool.run(words)
                #expect(refused.code == 2)
                #expect(refused.err.contains("the last 2 processes that opened the store died"))
                #expect(try await SyncTool.run("verify", store).code == 0)
            }
            #expect(try await SyncTool.run("adopt", store, "--force").code == 0)
            #expect(try await SyncTool.run(words).code == 0)
        }
    }

    /// Runs the tool, of which the first call goes wrong, then the second, until all of its calls
    /// were reached.
    ///
    /// - Parameters:
    ///   - callsMin: how many there are at least.
    ///   - words: of the tool, made before each run.
    ///   - check: told how the run ended.
    private func atEachCall(
        _ fault: FaultShim.Fault, in folder: SyncFolder, callsMin: Int,
        _ words: (_ number: Int) throws -> [String],
        check: (_ number: Int, _ ended: Command) throws -> Void
    ) async throws {
        let shim = try #require(try FaultShim(in: folder))
        let tool = try #require(SyncTool.path)
        var number = 0
        var isReached = true
        while isReached, number < Self.callsMax {
            number += 1
            let run = try await shim.run(tool, try words(number), fault, at: number)
            isReached = run.isReached
            expectEnd(run.ended, fault, number)
            try check(number, run.ended)
        }
        #expect((callsMin..<Self.callsMax).contains(number), "\(number) calls were tried")
    }

    /// Writes some commits, which leave free pages, and closes the store.
    ///
    /// - Returns: the last position.
    private func fill(_ replica: Replica, with id: String) throws -> Position {
        for _ in 0..<6 {
            try replica.write { tx in
                _ = try tx.put(EntityKey("tasks", id), Array("{}".utf8))
            }
        }
        let last = try replica.read { $0.position }
        try replica.close()
        return last
    }

    /// Writes to a store that was opened after a fault, verifies it and closes it.
    private func expectWhole(_ replica: Replica, put id: String, _ place: Comment) throws {
        try replica.write { tx in
            _ = try tx.put(EntityKey("tasks", id), Array(#"{"a":1}"#.utf8))
        }
        #expect(try replica.journal.verify().findings == [], place)
        try replica.close()
    }

    private func expectEnd(_ ended: Command, _ fault: FaultShim.Fault, _ number: Int) {
        switch (ended.code, fault) {
        case (0, _): break
        case (nil, .killed): #expect(ended.signal == SIGKILL, "\(number)")
        case (2, .inputOutput), (2, .noSpace):
            #expect(
                ended.complaints.contains(" failed, "), "\(fault) \(number): \(ended.complaints)")
        default:
            Issue.record(
                "\(fault) \(number): \(String(describing: ended.code)) \(ended.complaints)")
        }
    }

    @Test(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    func `that syncs fails once, writes are refused until the store was opened again`()
        async throws
    {
        try await SyncFolder.withStore { folder, store in
            let shim = try #require(try FaultShim(in: folder))
            let child = try #require(BuiltProgram.crashChild.path)
            let ended = try await shim.run(child, ["opening", "fault", store])
            #expect(ended.code == 0, "\(ended.complaints)")
            #expect(
                ended.text.split(separator: "\n").map(String.init) == [
                    "written @3", "failed storage", "failed poisoned", "read @3", "reopened @3",
                    "written @4",
                ], "\(ended.text)")
            #expect(try await SyncTool.run("verify", store).code == 0)
        }
    }

    @Test(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    func `that writes has no room for a commit's last page, all is refused until all was closed`()
        async throws
    {
        try await SyncFolder.withStore { folder, store in
            let shim = try #require(try FaultShim(in: folder))
            let child = try #require(BuiltProgram.crashChild.path)
            let ended = try await shim.run(child, ["opening", "meta", store])
            #expect(ended.code == 0, "\(ended.complaints)")
            var lines = ended.text.split(separator: "\n").map(String.init)
            // As many as a commit has calls that write; the last of them is the one.
            lines.removeAll { $0 == "failed diskFull" }
            // That commit, a read and a write of each replica, and the opening beside one.
            let refused = Array(repeating: "failed poisoned", count: 6)
            #expect(
                lines == ["written @3"] + refused + ["reopened @3", "written @4"], "\(ended.text)")
            #expect(try await SyncTool.run("verify", store).code == 0)
        }
    }

    @Test(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    func `that writes has no room for all of it, the disk is full until there is`() async throws {
        try await SyncFolder.withStore { folder, store in
            let shim = try #require(try FaultShim(in: folder))
            let child = try #require(BuiltProgram.crashChild.path)
            let ended = try await shim.run(child, ["opening", "quota", store])
            #expect(ended.code == 0, "\(ended.complaints)")
            #expect(
                ended.text.split(separator: "\n").map(String.init) == [
                    "written @3", "failed diskFull", "failed diskFull", "written @4",
                ], "\(ended.text)")
            #expect(try await SyncTool.run("verify", store).code == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: store).sorted()
            #expect(names == ["data.mdb", "identity.json", "lock.mdb"])
        }
    }
}
