// Callgrind.swift — counts the instructions of a job: those of a process that opens a store and
// does it, less those of one that only opens the store.

import Foundation
import TestSupport

struct Callgrind {
    /// This program, without what valgrind can't read of it.
    let program: String
    /// Where stores and counts are made.
    let scratch: String
    /// Where what each function took is left.
    let profiles: String

    /// Makes the stores that the jobs work on.
    func prepare() throws {
        for store in ProbeJob.Store.allCases {
            try run(program, ["make", store.rawValue, "\(scratch)/\(store)"])
        }
    }

    func count(_ job: ProbeJob) throws -> Baseline.Job {
        let opening = try instructions(of: "open", job)
        let all = try instructions(of: "run", job)
        return Baseline.Job(
            instructions: max(0, all - opening), count: job.count, thing: job.things)
    }

    /// The instructions of a process, on a store that nobody else works on.
    private func instructions(of word: String, _ job: ProbeJob) throws -> Int {
        let store = "\(scratch)/store"
        try? FileManager.default.removeItem(atPath: store)
        try FileManager.default.copyItem(atPath: "\(scratch)/\(job.store)", toPath: store)
        let profile = "\(profiles)/\(job).\(word).callgrind"
        let said = try run(
            "valgrind",
            [
                "--tool=callgrind", "--callgrind-out-file=\(profile)", program, word, job.rawValue,
                store,
            ])
        guard let line = said.split(separator: "\n").first(where: { $0.contains("Collected :") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) })
        else { throw ProbeFailure("valgrind counted nothing: \(said)") }
        return count
    }

    /// - Returns: what it said to standard error.
    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> String {
        // Hashes are seeded by chance otherwise, and the order of dictionaries with them.
        let ended = try Command.run(
            program, arguments, environment: ["SWIFT_DETERMINISTIC_HASHING": "1", "TZ": "UTC"])
        guard ended.code == 0 else {
            throw ProbeFailure(
                "\(program) \(arguments.joined(separator: " ")): \(ended.complaints)")
        }
        return ended.complaints
    }
}
