// FilesFaultTests.swift — files beside entities, and system calls that fail or kill the process.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(
    .serialized,
    .enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"),
    .enabled(if: FaultShim.isPossible, FaultShim.missing))
struct `when the n-th call fails while files come and go` {
    private static let calls = FaultShim.allCalls + " fchmod mkdir unlink"
    private static let callsMax = 200
    private static let kept = Array(repeating: UInt8(ascii: "k"), count: 600_000)

    @Test(arguments: FaultShim.Fault.allCases)
    func `nothing half is visible, and nothing acknowledged is lost`(
        _ fault: FaultShim.Fault
    ) async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let shim = try #require(try FaultShim(in: folder))
        let child = try #require(BuiltProgram.crashChild.path)
        try Data(Self.kept).write(to: URL(filePath: folder / "file"))
        try Data("gone".utf8).write(to: URL(filePath: folder / "other"))
        var (number, isReached) = (0, true)
        while isReached, number < Self.callsMax {
            number += 1
            let store = folder / "store-\(number)"
            try make(store)
            let run = try await shim.run(
                child, ["files", store, folder / "file", folder / "other"], fault, at: number,
                calls: Self.calls)
            isReached = run.isReached
            #expect(
                run.ended.signal == nil || fault == .killed, "\(fault) \(number)")
            try expectWhole(store, run.ended.text, "\(fault) \(number)")
            try FileManager.default.removeItem(atPath: store)
        }
        #expect((30..<Self.callsMax).contains(number), "\(number) calls were tried")
    }

    private func make(_ store: String) throws {
        var tasks = CollectionModel("tasks")
        tasks.contents = [ContentRule("photo", grace: .zero)]
        try Replica.open(at: store, model: SyncModel(name: "m", collections: [tasks])).close()
    }

    /// Opens the store again: files and log tell the same.
    private func expectWhole(_ store: String, _ said: String, _ place: Comment) throws {
        let replica = try Replica.open(existing: store)
        let files = ContentFiles(of: store)
        var named: [String] = []
        try replica.journal.read { views in
            try views.forEachContent { digest, row in
                if row.stored != nil { named.append(digest) }
            }
        }
        #expect(try files.digests() == named, place)
        #expect(try files.partNames() == [], place)
        for id in ["kept", "gone"] {
            let key = EntityKey("tasks", id)
            let (document, found) = try replica.read { views in
                (try views.document(key), try views.files(of: key))
            }
            if id == "kept", said.contains(id) { #expect(document != nil, place) }
            guard document != nil else { continue }
            let path = try #require(found.first?.stored?.path, place)
            let bytes = try Data(contentsOf: URL(filePath: path))
            #expect(bytes == (id == "kept" ? Data(Self.kept) : Data("gone".utf8)), place)
        }
        #expect(try replica.journal.verify().findings == [], place)
        try replica.close()
        #expect(try Journal.verifyStore(at: store, .deep).findings == [], place)
    }
}
