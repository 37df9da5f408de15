// RedactionScenarioTests.swift — the logs of all scenarios, redacted: decided as before, and with
// nothing in them of what was in them.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `redacted scenarios` {
    @Test(.enabled(if: TestRun.isWhole), arguments: RedactionSupport.scenarios)
    func `are decided as before, also at another time`(file: String) async throws {
        try await RedactionSupport.capsules(file) { name, capsule in
            do {
                let redacted = try capsule.redactedByTool()
                #expect(redacted.provenance.isRedacted)
                #expect(redacted.commits.count == capsule.commits.count)
                #expect(try redacted.refolded() == redacted)
                // Of the last third also times in rows are shifted.
                guard !capsule.base.rows.isEmpty else { return }
                let shifted = try capsule.redactedByTool(Redaction(times: .shifted(days: -1461)))
                #expect(shifted.events.first?.recordedAt != capsule.events.first?.recordedAt)
            } catch { Issue.record("\(name): \(error)") }
        }
    }

    @Test(arguments: RedactionSupport.onlyKept.indices)
    func `are refused where a value's writing decides, but for a field that is kept`(
        _ index: Int
    ) async throws {
        let (file, fields) = RedactionSupport.onlyKept[index]
        let refused = Lock(0)
        try await RedactionSupport.capsules(file) { name, capsule in
            #expect(throws: Never.self, "\(name)") {
                try capsule.redactedByTool(Redaction(keep: fields))
            }
            guard capsule.base.rows.isEmpty else { return }
            let error = #expect(throws: RedactionError.self, "\(name)") {
                try capsule.redactedByTool()
            }
            #expect(error?.description.contains(": keep ") == true)
            refused.withLock { $0 += 1 }
        }
        #expect(refused.withLock(\.self) > 0)
    }
}
