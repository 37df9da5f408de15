// RealWorld.swift — one test's part of a real server, devices beside it, and what must hold of all
// of them when everything is synced.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// What a test has of a server to itself.
protocol RealWorld: Sendable {
    /// The folder of its devices' stores.
    var directory: String { get }
    var model: SyncModel { get }

    /// What the server has in a collection, by id, as devices are to hold it byte for byte.
    func contents(_ collection: CollectionName) async throws -> [String: String]
}

extension RealWorld {
    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Syncs in turn until nobody has anything new.
    func settle(_ devices: RealDevice..., note: String = "") async throws {
        var outcomes: [SyncOutcome] = []
        for _ in 0..<8 {
            outcomes = []
            for device in devices { outcomes.append(try await device.sync()) }
            if outcomes.allSatisfy({ $0.isSynced && !$0.counts.hasNews }) { return }
        }
        Issue.record("the replicas do not come to rest: \(outcomes) \(note)")
    }

    /// Every replica holds what the server has byte for byte, its outbox is empty, and its store is
    /// whole.
    func expectEqual(_ devices: RealDevice..., note: String = "") async throws {
        for collection in model.collections.map(\.name) {
            let expected = try await contents(collection)
            for device in devices {
                let documents = try device.documents(collection)
                for id in Set(expected.keys).union(documents.keys).sorted() {
                    #expect(
                        documents[id] == expected[id], "\(device.name) \(collection)/\(id) \(note)")
                }
            }
        }
        for device in devices {
            #expect(try device.outbox() == [], "\(device.name) \(note)")
            try expectWhole(device, note: note)
        }
    }

    /// The log is what was written, the views are what it says, and every mutation that left the
    /// outbox has one outcome and an event that proves it.
    func expectWhole(_ device: RealDevice, note: String = "") throws {
        #expect(try device.replica.journal.verify(.deep).findings == [], "\(device.name) \(note)")
        try device.replica.read { store in
            for entry in try store.views.outbox(all: true) {
                let what = "\(device.name) \(entry.position) \(entry.mutation) \(note)"
                guard let outcome = entry.mutation.outcome else { continue }
                let proof = try #require(entry.mutation.proof, "\(what)")
                #expect(try store.views.event(at: proof) != nil, "\(what)")
                #expect(entry.position <= proof, "\(what)")
                // A deletion that is found to have arrived is proved by what is not there any more.
                if outcome == .accepted, entry.mutation.kind != .localDeleted {
                    #expect(entry.mutation.revision != nil, "\(what)")
                }
            }
        }
    }
}
