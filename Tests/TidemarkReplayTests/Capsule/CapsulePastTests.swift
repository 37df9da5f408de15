// CapsulePastTests.swift — going back in time in a capsule: as far as it reaches, as in the store.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `the past of a capsule` {
    @Test func `begins with its base, and is that of the store`() async throws {
        let model = SyncModel(name: "notes", collections: [CollectionModel("notes")])
        try await Replica.withTemporary(model: model) { replica in
            for number in 1...20 {
                let document = Array(#"{"n":\#(number)}"#.utf8)
                try await replica.write { tx in
                    _ = try tx.put(EntityKey("notes", "n\(number % 4)"), document)
                }
            }
            try ScratchDirectory.withLazily { folder in
                let capsule = try Capsule(
                    of: replica.journal, last: 8, build: "test", scratch: folder())
                let unpacked = try capsule.unpacked(in: folder())
                defer { try? unpacked.close() }
                let base = capsule.base.position
                #expect(base > Position(10) && base < capsule.last)

                for number in base.rawValue...capsule.last.rawValue {
                    let position = Position(number)
                    let difference = try replica.read(asOf: position) { store in
                        try unpacked.read(asOf: position, in: folder) {
                            try ViewsDifference(before: store.views, after: $0)
                        }
                    }
                    #expect(difference.isEmpty && difference.rows.isEmpty, "\(position)")
                }
                let error = #expect(throws: LogError.self) {
                    try unpacked.read(asOf: Position(base.rawValue - 1), in: folder) { _ in }
                }
                #expect(error?.code == .missingEvent)
                #expect(error?.detail.contains("the log begins at \(base.next)") == true)
            }
        }
    }
}
