// RedecideScenarioTests.swift — every scenario, recorded and decided once more: nothing differs.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport

@Suite struct `scenarios decided once more` {
    private static let folder = Checkout.scenarios.path

    static var files: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.hasSuffix(".json") }.sorted()
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: files) func `differ in nothing`(_ file: String)
        async throws
    {
        let bytes = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(file)"))
        for scenario in try ScenarioFile(parsing: Array(bytes), name: file).scenarios {
            let result = try await scenario.run { replica in
                let capsule = try await capsule(of: replica.journal)
                let server = try #require(try adapter(of: replica.journal))
                let report = try await decided(capsule, adapter: server)
                if let found = report.divergence { Issue.record("\(scenario.id): \(found.text)") }
                #expect(report.notDecided.map(\.why) == [], "\(scenario.id)")
            }
            #expect(result.isPassed, "\(result)")
        }
    }
}
