// Scenarios.swift — `tidemark scenario`: runs scenarios written as JSON.

import ArgumentParser
import Foundation
import TidemarkTesting

struct ScenarioCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scenario",
        abstract: "Runs scenarios: what happens between a store and a server, as JSON.",
        discussion: """
            Each runs on virtual time and a temporary store, through the real engine, log
            and views, against a server in memory; the format is in
            Schemas/SCENARIOS.md. Prints a line for each and, for one that fails, what was
            expected beside what was found. Exit code 0 when all passed, 1 when one
            failed, 2 for a file that can't be read. Of a folder all files *.json are
            run, those in folders in it too.
            """)

    @Argument(help: ArgumentHelp("Files or folders.", valueName: "FILE"))
    var files: [String]
    @Option(help: ArgumentHelp("Run only the scenario with this id.", valueName: "ID"))
    var only: String?
    @Flag(help: "Print those that fail, and the count.")
    var quiet = false

    func run() async throws {
        var scenarios: [Scenario] = []
        for path in try files.flatMap(Self.files) { scenarios += try Self.read(path) }
        if let only {
            scenarios.removeAll { $0.id != only }
            if scenarios.isEmpty { throw UsageError("no scenario has the id \(only)") }
        }
        var failed = 0
        for scenario in scenarios {
            Terminal.progress(scenario.id)
            let result = try await scenario.run()
            Terminal.endProgress()
            if !result.isPassed { failed += 1 }
            guard !quiet || !result.isPassed else { continue }
            for line in result.lines { Terminal.write(line) }
        }
        Terminal.write("\(scenarios.count - failed) passed, \(failed) failed")
        if failed > 0 { throw Exit.findings }
    }

    /// The file at a path, or the files in a folder.
    private static func files(_ path: String) throws -> [String] {
        // A file has no subpaths.
        guard let all = try? FileManager.default.subpathsOfDirectory(atPath: path), !all.isEmpty
        else { return [path] }
        let found = all.filter { $0.hasSuffix(".json") }.sorted()
        guard !found.isEmpty else { throw UsageError("there is no file *.json in \(path)") }
        return found.map { URL(filePath: path).appending(path: $0).path }
    }

    private static func read(_ path: String) throws -> [Scenario] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw UsageError("\(path) can't be read")
        }
        do throws(ScenarioError) {
            return try ScenarioFile(parsing: Array(bytes), name: path).scenarios
        } catch { throw UsageError("\(error)") }
    }
}
