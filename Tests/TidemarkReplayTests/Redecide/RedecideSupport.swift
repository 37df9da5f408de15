// RedecideSupport.swift — a store's capsule, decided once more.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkViews

@testable import CapsuleSupport

/// A folder for the time of a test.
func withScratch<R>(_ body: (String) async throws -> R) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder.path(percentEncoded: false))
}

/// Everything that a store holds, as a capsule.
func capsule(of journal: Journal, last: UInt64? = nil) async throws -> Capsule {
    try await withScratch { try Capsule(of: journal, last: last, build: "test", scratch: $0) }
}

/// Has today's engine decide a capsule.
func decided(
    _ capsule: Capsule, adapter: any ServerAdapter, rules: [ConflictRule] = [],
    mishaps: [RedecideMishap] = []
) async throws -> RedecideReport {
    try await withScratch {
        try await redecide(
            capsule, adapter: adapter, rules: rules, mishaps: mishaps, scratch: $0)
    }
}

/// The adapter of the server that a store is synced with.
func adapter(of journal: Journal) throws -> (any ServerAdapter)? {
    try journal.read { views in try views.registration()?.remote?.makeAdapter() }
}

extension Divergence {
    /// It on a few lines, for the reader of a failed test.
    var text: String {
        """
        \(position) \(kind.rawValue) \(field ?? "")
          recorded: \(recorded ?? "-")
          replayed: \(replayed ?? "-")
        """
    }
}
