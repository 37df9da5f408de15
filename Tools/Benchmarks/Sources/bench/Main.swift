// Main.swift — `bench [--scale N] [--rounds N] [--json FILE] [--only P1,P2] [--directory DIR]`.
//
// Every ratio is taken within one run: the peers take turns, and the median is printed.

import Foundation

struct Options {
    /// The fraction of the work that is done: 1 is the work of PERFORMANCE.md, 0.1 a tenth of it.
    var scale = 1.0
    var json: String?
    var only: Set<String> = []
    var directory = NSTemporaryDirectory()
    var rounds = 5
    /// What this process does while its memory is measured; nil for all that is to be printed.
    var memory: MemoryWork?

    init(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { Self.usage() }
            switch name {
            case "--scale":
                guard let number = Double(value), number > 0 else { Self.usage() }
                scale = number
            case "--rounds":
                guard let number = Int(value), number > 0 else { Self.usage() }
                rounds = number
            case "--json": json = value
            case "--only": only = Set(value.split(separator: ",").map(String.init))
            case "--directory": directory = value
            case "--memory":
                guard let work = MemoryWork(rawValue: value) else { Self.usage() }
                memory = work
            default: Self.usage()
            }
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(
            Data(
                """
                usage: bench [--scale 0.1] [--rounds 5] [--only P1,P2]
                             [--directory DIR] [--json FILE]

                """.utf8))
        exit(2)
    }

    func wants(_ id: String) -> Bool { only.isEmpty || only.contains(id) }
    func count(_ full: Int) -> Int { max(1000, Int(Double(full) * scale) / 1000 * 1000) }
}

@main
struct Bench {
    static func main() async throws {
        let options = Options(CommandLine.arguments)
        if let work = options.memory { return try await work.run(options) }
        let directory =
            options.directory + "/tidemark-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var run = Run(options: options, directory: directory)
        print(Report.header)
        if options.wants("P1") { try run.append() }
        if options.wants("P2") { try run.batches() }
        if options.wants("P3") { try run.latency() }
        if options.wants("P3b") { try await run.concurrency() }
        if ["P4", "P6", "P7", "P10"].contains(where: options.wants) { try run.large() }
        if options.wants("P5") { try await run.pulls() }
        if options.wants("P8") || options.wants("P14") { try run.age() }
        if options.wants("P9") { try run.typed() }
        if options.wants("P11") { try await run.observers() }
        if options.wants("P12") {
            try run.outbox()
            try run.treeOutbox()
        }
        if options.wants("P13") { try run.memory() }
        if options.wants("P15") { try await run.idleCycle() }
        if options.wants("soak") { try run.soak() }
        if options.wants("P16") { try await run.trees() }
        if options.wants("P17") || options.wants("P19") { try await run.leaves() }
        if options.wants("P18") { try await run.reports() }
        if options.wants("P20") { try await run.feed() }
        if options.wants("P21") { try run.sweep() }
        if options.wants("P22") {
            try await run.transfers()
            try await run.fileContent()
        }
        if options.wants("P23") || options.wants("P24") { try await run.fileLists() }
        if options.wants("P25") { try await run.fileUploads() }
        if options.wants("P26") { try run.folderRename() }
        if options.wants("P27") { try await run.kept() }
        if let path = options.json { try run.report.writeJSON(path) }
    }
}
