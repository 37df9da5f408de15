// ToolProcessTests.swift — several processes on one store, and a store from the future.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool and a store` {
    @Test func `edits of eight processes at once are all there, one event each`() async throws {
        try await SyncFolder.withStore { _, store in
            let positions = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let put = try await SyncTool.run(
                            "put", store, "tasks/t\(number)", #"{"n":\#(number)}"#, "--wait", "3600"
                        )
                        #expect(put.code == 0, "\(put.err)")
                        return String(put.out.prefix { $0 != " " })
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }

            #expect(positions == Set((3...10).map { "@\($0)" }))
            #expect(try await SyncTool.run("verify", store).code == 0)
            #expect(try await SyncTool.run("list", store).out.split(separator: "\n").count == 8)
        }
    }

    @Test func `written by a newer version ends it with 3, and what can be read is printed`()
        async throws
    {
        try await SyncFolder.withStore { _, store in
            #expect(try await SyncTool.run("put", store, "tasks/t1", "{}").code == 0)
            let journal = try Journal.open(at: store)
            let key = Position(2).bigEndianBytes
            try await journal.environment.write { transaction in
                var frame = try #require(try transaction.get(journal.log.log, key))
                frame[0] = 2
                let crc = CRC32C.checksum(of: Array(frame[0..<4] + frame[8...]))
                for index in 0..<4 {
                    frame[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index)))
                }
                try transaction.put(journal.log.log, key, frame)
            }
            try journal.close()

            for verb in ["dump $S", "verify $S", "show $S @2"] {
                let line = "$tidemark " + verb.replacing("$S", with: store)
                let result = try await SyncTool.bash(line)
                #expect(result.code == 3, "\(verb)")
                #expect((result.out + result.err).contains("format 2 is not known"))
            }
            let dump = try await SyncTool.run("dump", store)
            #expect(dump.out.split(separator: "\n").count == 2)
        }
    }
}
