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

            --keep FOLDER leaves the store of each in a folder with its id, for `why`,
            `dump`, `diff` and the others: --only s --keep kept, then kept/s.
            """)

    @Argument(help: ArgumentHelp("Files or folders.", valueName: "FILE"))
    var files: [String]
    @Option(help: ArgumentHelp("Run only the scenario with this id.", valueName: "ID"))
    var only: String?
    @Option(
        help: ArgumentHelp("Keep each scenario's store in this folder.", valueName: "FOLDER"))
    var keep: String?
    @Flag(help: "Print those that fail, and the count.")
    var quiet = false

    func run() async throws {
        var scenarios: [Scenario] = []
        for path in try files.flatMap(Self.files) { scenarios += try Self.read(path) }
        if let only {
            scenarios.removeAll { $0.id != only }
            if scenarios.isEmpty { throw UsageError("no scenario has the id \(only)") }
        }
        let places = try keep.map { try Self.places(scenarios, in: $0) }
        var failed = 0
        for (index, scenario) in scenarios.enumerated() {
            Terminal.progress(scenario.id)
            let result = try await scenario.run(keepingStoreAt: places?[index])
            Terminal.endProgress()
            if !result.isPassed { failed += 1 }
            guard !quiet || !result.isPassed else { continue }
            for line in result.lines { Terminal.write(line) }
        }
        Terminal.write("\(scenarios.count - failed) passed, \(failed) failed")
        if failed > 0 { throw Exit.findings }
    }

    /// Where each store is kept; makes the folder.
    private static func places(_ scenarios: [Scenario], in folder: String) throws -> [String] {
        let folder = URL(filePath: folder)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch { throw UsageError("\(folder.path): no folder can be made there") }
        var taken: Set<String> = []
        return try scenarios.map { scenario in
            let name = scenario.id.replacing("/", with: "-")
            guard !name.hasPrefix("."), !name.utf8.contains(0) else {
                throw UsageError("the id \(scenario.id) is no name of a folder")
            }
            let path = folder.appending(path: name).path
            guard taken.insert(name.lowercased()).inserted else {
                throw UsageError("two scenarios would be kept at \(path); run one by --only")
            }
            guard !FileManager.default.fileExists(atPath: path) else {
                throw UsageError("\(path) is there already; remove it, or keep elsewhere")
            }
            return path
        }
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
