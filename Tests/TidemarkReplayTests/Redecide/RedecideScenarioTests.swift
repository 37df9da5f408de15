// RedecideScenarioTests.swift — every scenario, recorded and decided once more: nothing differs.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
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
        try await expectSame(file)
    }

    /// Waits for limits within which the device's clock is set, an edit is refused unsent, or no
    /// commit tells the time.
    @Test(arguments: ["toggl/limits-within.json"])
    func `go by the clock that nobody sets`(_ file: String) async throws {
        try await expectSame(file)
    }

    /// The commit of the first folder had no events, as the wipe was known by then.
    @Test(arguments: ["files/webdav-wiped-amid.json"])
    func `know what was written before a commit that had no events`(_ file: String) async throws {
        try await expectSame(file)
    }

    /// Decides each scenario of a file once more: nothing differs.
    private func expectSame(_ file: String) async throws {
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

    /// The answers of a quiet run name the server, and have other names where that is taken out.
    @Test(arguments: ["essentials/wipe.json"])
    func `differ in nothing without the server's address`(_ file: String) async throws {
        let bytes = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(file)"))
        for scenario in try ScenarioFile(parsing: Array(bytes), name: file).scenarios {
            _ = try await scenario.run { replica in
                let server = try #require(try adapter(of: replica.journal))
                let nameless = try await capsule(of: replica.journal).withoutRemote()
                let report = try await decided(nameless, adapter: server)
                if let found = report.divergence { Issue.record("\(scenario.id): \(found.text)") }
                #expect(report.notDecided.map(\.why) == [], "\(scenario.id)")
            }
        }
    }

    /// A promise, a deletion or a write before the first event is only told of by events.
    @Test(arguments: [
        ("dhis2/UP17.json", true), ("files/webdav-circle-out-of-deleted.json", true),
        // What a move sent is told by what waits.
        ("files/webdav-content-lost-name.json", false),
    ])
    func `differ in nothing from any commit on, or are left where an event before it is asked for`(
        _ file: String, _ isAskedFor: Bool
    ) async throws {
        let bytes = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(file)"))
        for scenario in try ScenarioFile(parsing: Array(bytes), name: file).scenarios {
            _ = try await scenario.run { replica in
                let server = try #require(try adapter(of: replica.journal))
                let whole = try await capsule(of: replica.journal)
                var whys: [String] = []
                for commit in whole.commits.dropFirst() {
                    let last = whole.last.rawValue - commit.first.rawValue + 1
                    let cut = try await capsule(of: replica.journal, last: last)
                    let report = try await decided(cut, adapter: server)
                    if let found = report.divergence {
                        Issue.record("\(scenario.id) from \(commit.first): \(found.text)")
                    }
                    whys += report.notDecided.map(\.why)
                }
                let missed = "it depends on events before the capsule's first one"
                #expect(whys.contains(missed) == isAskedFor, "\(scenario.id)")
            }
        }
    }
}
