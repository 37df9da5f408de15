// RedactionSupport.swift — stores of scenarios as capsules, and everything that a capsule holds.

import Foundation
import TestSupport
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkSync
import TidemarkTesting
import TidemarkViews

enum RedactionSupport {
    /// A key like any other.
    static let key = [UInt8](repeating: 7, count: 32)

    static let scenarios: [String] = {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: scenarioFolder)) ?? []
        let others = Set(onlyKept.map(\.file))
        return all.filter { $0.hasSuffix(".json") && !others.contains($0) }.sorted()
    }()

    /// The scenarios in which a value's writing decides, which no other text can stand for, with
    /// the fields that are to be kept.
    static let onlyKept: [(file: String, fields: [String])] =
        [("kinto/writing.json", ["tasks.mail"])]

    private static let scenarioFolder = Checkout.scenarios.path

    static func scratch() -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        return folder.path(percentEncoded: false)
    }

    /// Hands over the capsules of a file's scenarios: whole, and of the last third of their events.
    static func capsules(
        _ file: String, _ body: @Sendable @escaping (String, Capsule) async throws -> Void
    ) async throws {
        let bytes = FileManager.default.contents(atPath: "\(scenarioFolder)/\(file)") ?? Data()
        try await capsules(of: Array(bytes), file, body)
    }

    static func capsules(
        of scenarios: [UInt8], _ file: String,
        _ body: @Sendable @escaping (String, Capsule) async throws -> Void
    ) async throws {
        for scenario in try ScenarioFile(parsing: scenarios, name: file).scenarios {
            _ = try await scenario.run { replica in
                let whole = try Capsule(of: replica.journal, build: "test", scratch: scratch())
                try await body(scenario.id, whole)
                let last = try Capsule(
                    of: replica.journal, last: whole.last.rawValue / 3, build: "test",
                    scratch: scratch())
                try await body("\(scenario.id), the last of it", last)
            }
        }
    }
}

extension Capsule {
    /// All texts and bytes that it holds, but for what is known to be kept.
    var everything: [UInt8] {
        var bytes: [UInt8] = []
        for row in base.rows { bytes += row.key.bytes + [0] + row.value + [0] }
        for commit in commits {
            for entry in commit.entries {
                bytes += entry.event.headerBytes + [0] + entry.event.payload + [0]
            }
            for view in commit.views { bytes += view.digest + view.rows + [0] }
        }
        for body in bodies { bytes += body + [0] }
        return bytes
    }

    var events: [Event] { commits.flatMap { $0.entries.map(\.event) } }
}

extension Capsule {
    /// Redacted as the tool does it: with the words of the server that the model names.
    func redactedByTool(_ policy: Redaction = Redaction()) throws -> Capsule {
        var policy = policy
        if policy.words == ServerWords(), let remote = try remote() { policy.words = remote.words }
        return try redacted(policy, key: RedactionSupport.key)
    }
}
