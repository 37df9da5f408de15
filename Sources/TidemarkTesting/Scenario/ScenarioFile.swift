// ScenarioFile.swift — a file of scenarios (Schemas/SCENARIOS.md), and the errors in one.

import TidemarkEvents

/// The scenarios of a file, in their order.
///
/// The format is described in `Schemas/SCENARIOS.md`.
public struct ScenarioFile: Sendable {
    public let scenarios: [Scenario]

    /// Reads a file: one scenario, or `{"scenarios":[…]}`.
    ///
    /// - Parameters:
    ///   - bytes: the file's bytes.
    ///   - name: the file's name, for errors.
    /// - Throws: ``ScenarioError`` naming the member that is wrong.
    public init(parsing bytes: [UInt8], name: String = "") throws(ScenarioError) {
        do throws(ScenarioError) {
            let value: JSONValue
            do { value = try JSONValue(parsing: bytes) } catch {
                throw ScenarioError("", "not a JSON document: \(error)")
            }
            guard value["scenarios"] != nil else {
                scenarios = [try Scenario(value, at: "")]
                return
            }
            let file = try ScenarioMembers(value, at: "", ["$schema", "scenarios"])
            var scenarios: [Scenario] = []
            for (path, item) in try file.list("scenarios") {
                let scenario = try Scenario(item, at: path)
                guard !scenarios.contains(where: { $0.id == scenario.id }) else {
                    throw ScenarioError("\(path).id", "\"\(scenario.id)\" is there twice")
                }
                scenarios.append(scenario)
            }
            guard !scenarios.isEmpty else {
                throw ScenarioError("scenarios", "at least one scenario is needed")
            }
            self.scenarios = scenarios
        } catch { throw error.inFile(name) }
    }
}

/// An error in a scenario file.
public struct ScenarioError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file's name; may be empty.
    public private(set) var file = ""
    /// The path in the document, as in `steps[2].advance`; empty for the whole document.
    public let path: String
    /// What is wrong, and what is needed.
    public let problem: String

    init(_ path: String, _ problem: String) {
        self.path = path
        self.problem = problem
    }

    func inFile(_ name: String) -> ScenarioError {
        var error = self
        error.file = name
        return error
    }

    /// File, path and problem in one line.
    public var description: String {
        [file, path, problem].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}
