// RedecideReferenceTests.swift — lists that only name entities, so that they are fetched one by
// one: decided once more, they are the same.

import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

/// Kinto, whose lists name entities and versions only, as those of CalDAV do.
private struct NamingAdapter: ServerAdapter {
    let base = KintoAdapter(origin: "http://kinto.test", bucket: "b")

    var traits: ServerTraits {
        var traits = base.traits
        traits.cursorIsState = true
        return traits
    }

    var words: ServerWords { base.words }

    private func known(_ call: ServerCall) -> ServerCall {
        guard case .fetch(let collection, let ids) = call, let id = ids.first else { return call }
        return .read(collection, id: id)
    }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        try base.request(for: known(call))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        let answer = base.answer(to: known(call), response, body: body)
        switch (call, answer) {
        case (.list, .page(var page)):
            page.references = page.records.filter { !$0.isDeleted }.map {
                ServerReference(id: $0.id, revision: $0.revision)
            }
            page.records.removeAll { !$0.isDeleted }
            page.movesCursor = true
            page.cursor = page.cursor.map { Revision("token " + $0.description) }
            return .page(page)
        case (.list(_, let after?, _), .unchanged): return .page(empty(after))
        case (.fetch, .record(let record)): return .records([record])
        case (.fetch, .absent): return .records([])
        default: return answer
        }
    }

    private func empty(_ cursor: Revision) -> ListPage {
        ListPage(records: [], next: nil, cursor: cursor, movesCursor: true)
    }
}

@Suite struct `a server that only names entities, decided once more` {
    @Test func `is the same`() async throws {
        let capsule = try await SyncDevice.capsule(adapter: NamingAdapter()) { recording in
            for id in ["a", "b", "c"] {
                recording.world.server.put("lists/\(id)", #"{"title":"x"}"#)
            }
            try await recording.mustSync()
            recording.world.server.put("lists/b", #"{"title":"y"}"#)
            recording.world.server.delete("lists/c")
            try await recording.mustSync()
            try recording.patch("lists/a", #"{"title":"mine"}"#)
            try recording.create("tasks/t", #"{"list":"a"}"#)
            try await recording.mustSync()
            recording.world.server.put("tasks/u", #"{"list":"b"}"#)
            _ = try await recording.engine.sync(.userRequested, full: true)
            try await recording.mustSync()
        }
        #expect(!capsule.answers.isEmpty)
        let report = try await decided(capsule, adapter: NamingAdapter())
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.notDecided.map(\.why) == [])
        #expect(report.runs == 5)
    }
}
