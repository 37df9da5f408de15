// Verifying.swift — `tidemark verify`, `checkpoint` and `rebuild`.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Proves that a store is what was written.",
        discussion: """
            Recomputes every checksum and the Merkle root of every commit, and compares
            every view row with what the commits recorded, snapshots of the views with
            their digests. Before that every page of the data file is looked at: each in
            use exactly once or free exactly once, all trees in order. --pages looks at
            nothing else; --quick besides at checksums and counts only; --deep also folds
            the log again, in a temporary directory, and compares every row with that,
            also those of snapshots. Of the files beside entities presence and length
            are looked at, with --deep all of their bytes. --checkpoint proves that an
            older `tidemark checkpoint` is a prefix of the log: only that shows a log that
            was cut or rolled back with everything it says about itself.

            A writer may go on meanwhile. Nothing in the store changes. Exit code 1 with a
            line for each finding when something differs.
            """)

    @OptionGroup var store: StoreArgument
    @Flag(help: "Only the pages of the data file.")
    var pages = false
    @Flag(help: "Only pages, counts, and the checksum of every event.")
    var quick = false
    @Flag(help: "Also fold the log again and compare every row.")
    var deep = false
    @Option(
        help: ArgumentHelp(
            "A file with an older checkpoint, or - for standard input; may be repeated.",
            valueName: "file"))
    var checkpoint: [String] = []
    @OptionGroup var sandbox: Sandbox

    func validate() throws {
        guard [pages, quick, deep].count(where: \.self) < 2 else {
            throw ValidationError("--pages, --quick and --deep exclude one another")
        }
        guard !quick && !pages || checkpoint.isEmpty else {
            throw ValidationError(
                "--checkpoint needs the whole check; leave --\(quick ? "quick" : "pages") out")
        }
    }

    func run() throws {
        try store.expectStore(
            "a capsule has no Merkle tree, and its own checksum is checked whenever it is read; "
                + "tidemark replay \(store.store.shellQuoted) folds it and compares")
        guard sandbox.inProcess else { return try Sandbox.run(on: store) }
        let level: VerifyLevel? = pages ? nil : quick ? .quick : deep ? .deep : .full
        let result: StoreVerification
        do {
            result = try Journal.verifyStore(
                at: store.store, level, against: try checkpoint.map(readCheckpoint),
                scratch: sandbox.scratch
            ) { progress in
                switch progress {
                case .pages(let done, let last): Terminal.progress("page \(done) of \(last)")
                case .events(let done, let last):
                    sandbox.note(done)
                    Terminal.progress("reading \(done) of \(last)")
                case .rows: Terminal.progress("comparing rows")
                case .folding(let done, let last):
                    Terminal.progress("folding \(done) of \(last)")
                case .files(let done, let all): Terminal.progress("file \(done) of \(all)")
                }
            }
        } catch { throw store.advised(error) }
        Terminal.endProgress()
        for note in result.notes { Terminal.say("tidemark: \(note)") }
        guard result.isFine else {
            for finding in result.findings { Terminal.write(finding) }
            if result.isSalvageable { Terminal.say(store.salvageAdvice) }
            throw result.isNewer ? Exit.newerFormat : Exit.findings
        }
        guard !pages else {
            let (used, free) = result.pageCounts
            return Terminal.write("fine: \(used) pages in use, \(free) free")
        }
        let count = result.files
        let files = count == 0 ? "" : count == 1 ? ", 1 file" : ", \(count) files"
        Terminal.write("fine: \(result.events) events in \(result.commits) commits\(files)")
        Terminal.write("root: \(result.root)")
    }
}

private func readCheckpoint(_ path: String) throws -> LogCheckpoint {
    let bytes: [UInt8]
    if path == "-" {
        bytes = try standardInput()
    } else {
        do { bytes = Array(try Data(contentsOf: URL(filePath: path))) } catch {
            throw UsageError("\(path) can't be read: \(error.localizedDescription)")
        }
    }
    do throws(LogCheckpoint.Mistake) { return try LogCheckpoint(parsing: bytes) } catch {
        throw UsageError("\(path) is no checkpoint: \(error)")
    }
}

struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract: "Prints the log's size and root, to be kept elsewhere.",
        discussion: """
            The text is the body of a C2SP tlog-checkpoint: which log, how many events,
            their Merkle root in base64, an empty line. `tidemark verify --checkpoint`
            proves later that the log still begins with these events.
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: "Of the commits up to this position, recomputed.")
    var at: String?

    func run() throws {
        try store.expectStore("a capsule has no Merkle tree; ask the store that it is from")
        let position = try at.map(Name.position)
        let checkpoint: LogCheckpoint
        do {
            checkpoint = try store.read { journal in
                let whole = try journal.checkpoint()
                guard let position else { return whole }
                try Past.expect(position, upTo: Position(whole.size))
                return try journal.checkpoint(at: position)
            }
        } catch let error as InsideCommit {
            throw UsageError(
                "no commit ends at \(error.position), which is in that of \(error.first) to "
                    + "\(error.last): name an end, \(error.ends)")
        }
        for line in checkpoint.text.split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
        { Terminal.write(String(line)) }
    }
}

struct Rebuild: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Folds the log again and replaces every view row.",
        discussion: """
            The log itself is not touched. The old rows are served until it is done.
            Snapshots of the views are removed; the log makes others in time.
            --check changes nothing: it folds in a temporary directory, compares every
            row, and ends with exit code 1 when one differs.
            """)

    @OptionGroup var store: StoreArgument
    @Flag(help: "Change nothing; only compare.")
    var check = false
    @OptionGroup var patience: WaitOption
    @OptionGroup var sandbox: Sandbox

    func run() throws {
        try store.expectStore(
            "of a capsule the rows are made whenever it is read; tidemark replay "
                + "\(store.store.shellQuoted) compares them")
        do {
            if check { try compare() } else { try rebuild() }
        } catch { throw store.advised(error) }
    }

    private func rebuild() throws {
        let replica = try store.open(patience)
        var last = Position.start
        try replica.journal.rebuild { progress in
            last = progress.last
            Terminal.progress("folding \(progress.done) of \(progress.last)")
        }
        Terminal.endProgress()
        try replica.close()
        Terminal.write("rebuilt from \(last.rawValue) events")
    }

    private func compare() throws {
        guard sandbox.inProcess else { return try Sandbox.run(on: store) }
        var last = Position.start
        let (problems, note) = try Journal.checkRebuild(
            at: store.store, scratch: sandbox.scratch
        ) { progress in
            last = progress.last
            sandbox.note(progress.done)
            Terminal.progress("folding \(progress.done) of \(progress.last)")
        }
        Terminal.endProgress()
        if let note { Terminal.say("tidemark: \(note)") }
        for problem in problems { Terminal.write("\(problem)") }
        if !problems.isEmpty {
            throw problems.areOfNewerFormat ? Exit.newerFormat : Exit.findings
        }
        guard note == nil else {
            return Terminal.write("folded: \(last.rawValue) events; no row was compared")
        }
        Terminal.write("equal: \(last.rawValue) events make the rows that are there")
    }
}

/// Runs a check in a child process, because a damaged store may end it by a signal.
struct Sandbox: ParsableArguments {
    @Flag(help: .hidden)
    var inProcess = false
    @Option(help: .hidden)
    var scratch: String?

    private static let progressName = "progress"

    /// Runs this verb with its arguments in a child process, and ends with its exit code.
    static func run(on store: StoreArgument) throws {
        try ScratchDirectory.with(nil) { temporary in
            try run(on: store, in: URL(filePath: temporary))
        }
    }

    private static func run(on store: StoreArgument, in temporary: URL) throws {
        var words = Array(CommandLine.arguments.dropFirst())
        words.insert(contentsOf: ["--in-process", "--scratch", temporary.path], at: 1)
        let end = try ChildProcess.run(words)
        switch end {
        case .exit(code: 0): return
        case .exit(let code): throw Exit(code: code)
        // The reader of the findings closed the output.
        case .signal(SIGPIPE): throw Exit(code: 128 + SIGPIPE)
        case .signal(let signal):
            Terminal.endProgress()
            guard end.isCrash else {
                throw UsageError("the check was ended by signal \(signal); run it again")
            }
            let done = try? String(
                contentsOf: temporary.appending(path: progressName), encoding: .utf8)
            Terminal.write(
                "\(done ?? "@0"): corruptTable: the store is damaged behind this position; reading "
                    + "it ended the check by signal \(signal)")
            Terminal.say(store.salvageAdvice)
            throw Exit.findings
        }
    }

    /// Records the progress of the check.
    func note(_ position: Position) {
        guard let scratch else { return }
        let file = URL(filePath: scratch).appending(path: Self.progressName)
        try? Data("\(position)".utf8).write(to: file)
    }
}
