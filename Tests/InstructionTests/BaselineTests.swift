// BaselineTests.swift — what counts of instructions mean beside those that were written down.

import Foundation
import Testing

@testable import instruction_probe

@Suite struct `counts of instructions` {
    private static let setting = ProbeSetting(swift: "6.3.1", libc: "2.36", processor: "x86_64")
    private static let baseline = Baseline(
        setting: setting,
        jobs: ["fold": .init(instructions: 1000, count: 10, thing: "event", tolerance: 0.03)])

    @Test(
        arguments: [
            (1000, .same), (1030, .same), (970, .same), (1031, .slower), (2000, .slower),
            (969, .faster),
        ] as [(Int, Baseline.Verdict)])
    func `are slower or faster by more than the tolerance`(
        _ instructions: Int, _ verdict: Baseline.Verdict
    ) {
        let job = Baseline.Job(instructions: instructions, count: 10, thing: "event")
        #expect(Self.baseline.verdict(on: "fold", job) == verdict)
    }

    @Test func `are compared with those of the same job only`() {
        let more = Baseline.Job(instructions: 1000, count: 20, thing: "event")
        #expect(Self.baseline.verdict(on: "fold", more) == .unknown)
        let same = Baseline.Job(instructions: 1000, count: 10, thing: "event")
        #expect(Self.baseline.verdict(on: "dump", same) == .unknown)
        #expect(Self.baseline.line(on: "dump", same) == "dump: 100 a event, for the first time")
    }

    @Test func `are told with what they are beside the old ones`() {
        let job = Baseline.Job(instructions: 1500, count: 10, thing: "event")
        #expect(Self.baseline.line(on: "fold", job) == "fold: 150 a event, +50.0 %, SLOWER")
    }

    @Test func `are read as they were written`() throws {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "baseline-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Self.baseline.write(to: path)
        #expect(try Baseline(contentsOf: path) == Self.baseline)
    }

    @Test func `are written down for all jobs`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Tools/Benchmarks/baseline.json")
        let written = try Baseline(contentsOf: url.path)
        #expect(Set(written.jobs.keys) == Set(ProbeJob.allCases.map(\.rawValue)))
        for job in ProbeJob.allCases {
            #expect(written.jobs[job.rawValue]?.count == job.count)
            #expect((written.jobs[job.rawValue]?.instructions ?? 0) > 1_000_000)
        }
    }
}
