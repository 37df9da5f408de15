// ScenarioTests.swift — the scenarios of Tests/Scenarios, all of them.

import Foundation
import TestSupport
import Testing
import TidemarkTesting

@Suite struct `the scenarios` {
    private static let folder = Checkout.scenarios.path

    static var files: [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.hasSuffix(".json") }.sorted()
    }

    /// A run of all tests has the tool run them: what they log is looked at, too.
    private static let areRunByTool =
        ProcessInfo.processInfo.environment["TIDEMARK_ALL_TESTS"]?.isEmpty == false

    @Test(
        .disabled(if: areRunByTool, "the schema of scenarios has the tool run them"),
        arguments: files)
    func `hold`(file: String) async throws {
        let bytes = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(file)"))
        for scenario in try ScenarioFile(parsing: Array(bytes), name: file).scenarios {
            let result = try await scenario.run()
            #expect(result.isPassed, "\(result)")
        }
    }

    @Test func `are there, as many as are told, each with an id of its own`() throws {
        var ids: [String] = []
        for file in Self.files {
            let bytes = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(file)"))
            ids += try ScenarioFile(parsing: Array(bytes), name: file).scenarios.map(\.id)
        }

        let page = Checkout.root.appending(path: "Schemas/SCENARIOS.md")
        let told = try String(contentsOf: page, encoding: .utf8)
        #expect(told.contains("\n\(ids.count) passed, 0 failed\n"), "\(ids.count)")
        #expect(Set(ids).count == ids.count)
    }
}
