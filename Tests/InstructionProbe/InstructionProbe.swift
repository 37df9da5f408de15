// InstructionProbe.swift — counts the instructions of fixed jobs, and compares them with those that
// were written down. Tools/instructions builds it as a release and runs it.
//
//   check BASELINE SCRATCH PROFILES   fails where a job takes more than was written down
//   write BASELINE SCRATCH PROFILES   writes down what the jobs take now
//   make STORE DIRECTORY              makes a store that jobs work on
//   open JOB DIRECTORY                opens such a store, and does nothing
//   run JOB DIRECTORY                 opens it, and does the job

import Foundation

@main
enum InstructionProbe {
    static func main() {
        do {
            exit(try run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("instruction-probe: \(error)\n".utf8))
            exit(2)
        }
    }

    /// - Returns: whether no job is slower.
    private static func run(_ words: [String]) throws -> Bool {
        switch words.first {
        case "make" where words.count == 3:
            guard let store = ProbeJob.Store(rawValue: words[1]) else { break }
            try ProbeJob.make(store, at: words[2])
            return true
        case "open" where words.count == 3, "run" where words.count == 3:
            guard let job = ProbeJob(rawValue: words[1]) else { break }
            try job.run(at: words[2], doesJob: words[0] == "run")
            return true
        case "check" where words.count == 4, "write" where words.count == 4:
            let callgrind = Callgrind(
                program: CommandLine.arguments[0], scratch: words[2], profiles: words[3])
            return try words[0] == "write"
                ? write(words[1], callgrind) : check(words[1], callgrind)
        default: break
        }
        throw ProbeFailure("Tools/instructions says how it is called")
    }

    private static func check(_ path: String, _ callgrind: Callgrind) throws -> Bool {
        let baseline = try Baseline(contentsOf: path)
        let setting = ProbeSetting.current()
        guard setting == baseline.setting else {
            print("The counts are of \(baseline.setting), and this is \(setting): not compared.")
            print("Tools/instructions --write writes down those of this machine.")
            return true
        }
        try callgrind.prepare()
        var verdicts: [Baseline.Verdict] = []
        for job in ProbeJob.allCases {
            let count = try callgrind.count(job)
            verdicts.append(baseline.verdict(on: job.rawValue, count))
            print(baseline.line(on: job.rawValue, count))
        }
        if verdicts.contains(.slower) {
            print("Something takes more instructions than it did. Where they go:")
            print("  callgrind_annotate \(callgrind.profiles)/JOB.run.callgrind")
            print("If it has to be so, Tools/instructions --write writes it down.")
            return false
        }
        if verdicts.contains(.unknown) {
            print("A job is not written down: Tools/instructions --write does.")
            return false
        }
        if verdicts.contains(.faster) {
            print("Something takes fewer: Tools/instructions --write writes it down.")
        }
        return true
    }

    private static func write(_ path: String, _ callgrind: Callgrind) throws -> Bool {
        let old = try? Baseline(contentsOf: path)
        var new = Baseline(setting: .current(), jobs: [:])
        try callgrind.prepare()
        for job in ProbeJob.allCases {
            var count = try callgrind.count(job)
            // A tolerance that somebody set stays.
            if let tolerance = old?.jobs[job.rawValue]?.tolerance { count.tolerance = tolerance }
            new.jobs[job.rawValue] = count
            print((old ?? new).line(on: job.rawValue, count))
        }
        try new.write(to: path)
        return true
    }
}

extension ProbeSetting {
    /// This machine's, as far as it can be told.
    static func current() -> ProbeSetting {
        let variables = ProcessInfo.processInfo.environment
        return ProbeSetting(
            swift: variables["PROBE_SWIFT"] ?? "?", libc: variables["PROBE_LIBC"] ?? "?",
            processor: variables["PROBE_PROCESSOR"] ?? "?")
    }
}
