// ToolDiscardTests.swift — `tidemark discard`: what is pending is given up, alone or with what was
// built on it.

import Testing
import Tidemark
import TidemarkEvents

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's discard` {
    @Test func `names what would go along, and takes it with a flag`() async throws {
        try await SyncFolder.withStore(model: SyncWorld.treeModel) { _, store in
            func put(_ key: String, _ document: String) async throws {
                #expect(try await SyncTool.run("put", store, key, document).code == 0)
            }
            try await put("files/Z", #"{"kind":"folder","name":"Trips"}"#)
            try await put("files/X", #"{"kind":"file","name":"x.jpg","parent":"Z"}"#)

            let refused = try await SyncTool.run("discard", store, "files/Z")
            #expect(refused.code == 2)
            #expect(refused.err.contains("files/X"))
            #expect(refused.err.contains("--with-built-on"))
            let done = try await SyncTool.run("discard", store, "files/Z", "--with-built-on")
            #expect(done.code == 0 && done.out.contains("files/Z"))
            #expect(done.out.contains("with files/X"))
            let place = String(done.out.prefix { $0 != " " })
            let event = try await SyncTool.run("show", store, place)
            #expect(event.lines.first == "\(place) local.discarded")
            #expect(event.lines.contains("  entity      Z"))
            #expect(try await SyncTool.run("outbox", store).out.contains("files/") == false)
            #expect(try await SyncTool.run("discard", store, "files/Z").code == 1)
        }
    }
}
