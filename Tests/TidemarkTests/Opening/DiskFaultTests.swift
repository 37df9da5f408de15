// DiskFaultTests.swift — a device with a tree of files on a disk that fails at one call: a full
// one, and one that can't be read.

import Foundation
import TestSupport
import Testing

@testable import SyncSupport

@Suite(
    .enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"),
    .enabled(if: FaultShim.isPossible, FaultShim.missing))
struct `when the n-th call about a file of a tree fails` {
    /// `TIDEMARK_DISK_STRIDE=1-1` for each call.
    private static let stride = TestSeeds.named("TIDEMARK_DISK_STRIDE", else: 17...17).lowerBound

    @Test(arguments: [FaultShim.Fault.noSpace, .inputOutput])
    func `nothing that was acknowledged is lost, and in the end both sides are equal`(
        _ fault: FaultShim.Fault
    ) async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let shim = try #require(try FaultShim(in: folder))
        let first = fault == .noSpace ? 1 : 1 + Self.stride / 2

        let ended = try await shim.run(
            try #require(BuiltProgram.crashChild.path),
            ["disk", folder / "days", "\(fault.rawValue)", "\(first)", "\(Self.stride)"])

        let lines = ended.text.split(separator: "\n").map(String.init)
        #expect(ended.code == 0, "\(ended.complaints)")
        #expect(lines.dropLast() == [])
        let words = try #require(lines.last).split(separator: " ")
        let calls = try #require(words.last.flatMap { Int($0) }, "\(lines.last ?? "")")
        #expect(calls > 300, "\(lines.last ?? "")")
    }
}
