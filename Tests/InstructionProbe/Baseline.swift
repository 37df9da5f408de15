// Baseline.swift — the counts that were written down, and what new ones mean beside them.

import Foundation

/// What the counts of a machine depend on, besides the code.
struct ProbeSetting: Codable, Equatable, CustomStringConvertible {
    /// The compiler's version.
    var swift: String
    /// The C library's version.
    var libc: String
    /// The architecture, and what of it the libraries choose their code by.
    var processor: String

    var description: String { "Swift \(swift), glibc \(libc), \(processor)" }
}

/// The instructions of each job, as they were written down.
struct Baseline: Codable, Equatable {
    struct Job: Codable, Equatable {
        /// All instructions of the job.
        var instructions: Int
        /// How many things it did, and what they are.
        var count: Int
        var thing: String
        /// By which part it may be more or less before it is told.
        var tolerance: Double

        init(instructions: Int, count: Int, thing: String, tolerance: Double = 0.03) {
            self.instructions = instructions
            self.count = count
            self.thing = thing
            self.tolerance = tolerance
        }
    }

    var setting: ProbeSetting
    var jobs: [String: Job]

    init(setting: ProbeSetting, jobs: [String: Job]) {
        self.setting = setting
        self.jobs = jobs
    }

    init(contentsOf path: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(filePath: path)))
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: URL(filePath: path))
    }

    /// What a new count of a job is.
    enum Verdict: Equatable {
        case same
        case slower
        case faster
        /// It was never written down, or did something else then.
        case unknown
    }

    func verdict(on name: String, _ job: Job) -> Verdict {
        guard let old = jobs[name], old.count == job.count, old.thing == job.thing else {
            return .unknown
        }
        let ratio = Double(job.instructions) / Double(max(1, old.instructions))
        if ratio > 1 + old.tolerance { return .slower }
        return ratio < 1 - old.tolerance ? .faster : .same
    }

    /// A line about a job.
    func line(on name: String, _ job: Job) -> String {
        let each = "\(job.instructions / max(1, job.count)) a \(job.thing)"
        guard let old = jobs[name] else { return "\(name): \(each), for the first time" }
        let change = Double(job.instructions) / Double(max(1, old.instructions)) - 1
        let percent = String(format: "%+.1f %%", change * 100)
        let word =
            switch verdict(on: name, job) {
            case .same: "as before"
            case .slower: "SLOWER"
            case .faster: "faster"
            case .unknown: "another job than before"
            }
        return "\(name): \(each), \(percent), \(word)"
    }
}
