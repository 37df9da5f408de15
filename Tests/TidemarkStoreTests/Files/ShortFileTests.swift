// ShortFileTests.swift — LMDB may leave free pages at the end unwritten; such a file is whole.

import Foundation
import TestSupport
import Testing
import TidemarkStore

@Suite struct `short files` {
    /// Commits random changes until LMDB leaves the file shorter than its last page says.
    private func makeShort(_ scratch: Scratch, seed: UInt64) throws -> [[UInt8]: [UInt8]]? {
        var random = SplitMix64(seed: seed)
        var model: [[UInt8]: [UInt8]] = [:]
        let environment = try scratch.open()
        defer { try? environment.close() }
        for _ in 0..<120 {
            // The closure only reads these, so that it may run again.
            let isLarge = Int.random(in: 0..<3, using: &random) == 0
            let changes = (0..<Int.random(in: 1...(isLarge ? 400 : 20), using: &random)).map { _ in
                let bytes = Int.random(in: 0..<8, using: &random) == 0 ? 15_000 : 300
                return (
                    key: bigEndian(Int.random(in: 0..<500, using: &random)),
                    value: Bool.random(using: &random)
                        ? pattern(Int.random(in: 0..<bytes, using: &random)) : nil
                )
            }
            try environment.write { transaction in
                for change in changes {
                    if let value = change.value {
                        try transaction.put(environment.rows, change.key, value)
                    } else {
                        try transaction.delete(environment.rows, change.key)
                    }
                }
            }
            for change in changes { model[change.key] = change.value }
            let info = try environment.info()
            if info.fileBytes < (info.lastPage + 1) * info.pageBytes { return model }
        }
        return nil
    }

    @Test func `a file that lacks only free pages opens, one cut further does not`() throws {
        // About every third seed leaves one with pages of 4,096 bytes; the first does.
        var shortFiles = 0
        for seed in UInt64(1)...60 where shortFiles < 1 {
            let scratch = try Scratch()
            guard let model = try makeShort(scratch, seed: seed) else { continue }
            shortFiles += 1

            let again = try scratch.open()
            let stored = try again.read { try $0.count(again.rows) }
            #expect(stored == model.count, "seed \(seed)")
            for (key, value) in model {
                #expect(try again.value(again.rows, key) == value, "seed \(seed)")
            }
            let info = try again.info()
            try again.close()

            try scratch.setDataLength(info.fileBytes / 2)
            #expect(Result { try scratch.open() }.failure?.code == .damaged, "seed \(seed)")
        }
        #expect(shortFiles > 0, "no seed left a short file")
    }
}
