// GoldenTests.swift — stores that format v1 wrote are read as they were, and their damaged twins
// are found to be damaged, by every later version.

import Foundation
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite struct `a golden store` {
    /// The SHA-256 of Tests/Fixtures/v1/SHA256SUMS, which has those of all other files.
    private static let sums = "ec5a03eb24fe414205cb2cd2b137f7d444f0d95b080567196080528dbd7e691c"

    @Test func `is never changed`() throws {
        let sums = try String(
            contentsOf: Golden.folder.appending(path: "SHA256SUMS"), encoding: .utf8)

        #expect(try Golden.folder.goldenSums() == sums)
        #expect(BodyReference(to: Array(sums.utf8)).digits == Self.sums)
    }

    @Test(arguments: Golden.sound)
    func `is dumped and verified as it was, and has the same rows`(_ golden: Golden) throws {
        try golden.withCopy { path in
            let journal = try Journal.open(at: path)

            #expect(try journal.goldenDump() == golden.text("dump.jsonl"))
            #expect(try journal.goldenState() == golden.text("state.txt"))
            try journal.close()
        }
    }

    @Test(arguments: Golden.sound)
    func `can be written to, and rebuilt to the same`(_ golden: Golden) throws {
        try golden.withCopy { path in
            let journal = try Journal.open(at: path)
            try journal.rebuild()
            #expect(try journal.goldenState() == golden.text("state.txt"))

            try journal.write(at: Timestamp(microseconds: 5)) { draft in
                _ = try draft.append(
                    Event(
                        .localCreated, recordedAt: draft.now, key: EntityKey("tasks", "new"),
                        json: Array("{}".utf8)))
            }

            #expect(try journal.goldenDump().hasPrefix(golden.text("dump.jsonl")))
            #expect(try journal.verify().findings == [])
            try journal.close()
        }
    }

    @Test func `has every kind of event that is written, and what newer versions may write`() throws
    {
        var kinds: Set<EventKind> = []
        var bodies = 0
        try Golden(name: "whole").withCopy { path in
            let journal = try Journal.open(at: path, readOnly: true)
            try journal.environment.read { transaction in
                try journal.log.forEachFrame(transaction) { _, frame in
                    let frame = try frame.get()
                    let event = try Event(header: frame.header, payload: [])
                    kinds.insert(event.kind)
                    if case .body = frame.payload { bodies += 1 }
                    if event.kind.rawValue == 110 { #expect(frame.header != event.headerBytes) }
                    return true
                }
            }
            try journal.close()
        }
        let written: [EventKind] = [
            .storeOpened, .modelRegistered, .localCreated, .localUpdated, .localDeleted,
            .localDiscarded, .localRetried, .syncStarted, .syncFinished, .requestSent,
            .requestAnswered, .requestFailed, .serverUpserted, .serverDeleted, .pullPage,
            .pullCompleted, .pushAccepted, .pushRejected,
        ]

        #expect(kinds == Set(written + [110, 9999].map { EventKind(rawValue: $0) }))
        #expect(bodies >= 4)
        for mark in ["bodySHA256", "idempotencyKey", "\"schemaVersion\":7", "kind-9999"] {
            #expect(try Golden(name: "whole").text("dump.jsonl").contains(mark))
        }
    }

    @Test(arguments: GoldenTwins.names.map { Golden(name: $0) })
    func `is known by its damage`(_ twin: Golden) throws {
        let manifest = try JSONDecoder().decode(
            Manifest.self,
            from: Data(contentsOf: Golden.folder.appending(path: "manifest.json")))

        let found = try twin.withCopy { path in try Finding(of: path) }

        #expect(found == manifest[twin.name])
        #expect(found.open != nil || !found.verify.isEmpty)
        #expect(Set(manifest.keys) == Set(GoldenTwins.names))
    }
}

@Suite(.enabled(if: Maker.folder != nil, "only to make the golden stores anew"))
struct `the maker of golden stores` {
    @Test func `makes golden stores`() async throws {
        let folder = try #require(Maker.folder)
        try? FileManager.default.removeItem(at: folder.appending(path: "manifest.json"))
        for name in Golden.sound.map(\.name) + GoldenTwins.names {
            try? FileManager.default.removeItem(at: folder.appending(path: name))
        }

        try GoldenStores.makeEmpty(in: folder)
        try GoldenStores.makeSmall(in: folder)
        try await GoldenStores.makeWhole(in: folder)
        try GoldenTwins.make(in: folder)

        let sums = try folder.goldenSums()
        try sums.write(
            to: folder.appending(path: "SHA256SUMS"), atomically: false, encoding: .utf8)
        print("GoldenTests.sums is now \(BodyReference(to: Array(sums.utf8)).digits)")
    }
}

private enum Maker {
    static let folder = ProcessInfo.processInfo.environment["TIDEMARK_MAKE_GOLDEN"].map {
        URL(filePath: $0)
    }
}
