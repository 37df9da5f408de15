// Shrinking.swift — `tidemark shrink`: finds the smallest part of a log that still shows a failure.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkViews

struct ShrinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shrink",
        abstract: "Makes a capsule as short as it can be while it shows the same failure.",
        discussion: """
            FILE is a capsule, or a store; nothing in it changes. Left out are
            commits, then events, then fields of documents, then rows that it begins
            with. Positions stay, and what could not have happened is not tried: an
            answer without its request, an edit of what is not there. With --check the
            same failure is the same exit code.

            \(CheckOptions.help)

            --diverges: a commit's recorded rows are not those that today's code makes.

            Ctrl-C writes the shortest so far. In the end it prints a test to paste,
            with --check how to run that on it.
            Exit code 1 when FILE does not show the failure.

            For example: tidemark shrink bug.capsule --predicate 'refused > 0' \\
                           -o min.capsule
            """)

    @Argument(help: "A capsule, or the directory of a store.")
    var file: String
    @OptionGroup var checks: CheckOptions
    @Flag(help: "Look for rows that today's code makes otherwise than recorded.")
    var diverges = false
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write.", valueName: "FILE"))
    var output: String
    @Option(help: ArgumentHelp("Try at most so many logs.", valueName: "N"))
    var tries: Int?
    @Option(help: ArgumentHelp("Stop after so many seconds.", valueName: "SECONDS"))
    var seconds: Double?
    @Flag(help: "Replace the file if it is there.")
    var force = false

    func validate() throws {
        let asked = [checks.check != nil, checks.predicate != nil, diverges].filter(\.self).count
        guard asked == 1 else {
            throw ValidationError(
                "what is it to show? one of --predicate EXPR, --check CMD and --diverges")
        }
        if let tries, tries < 1 { throw ValidationError("--tries takes a number from 1 up") }
        if let seconds, !(seconds > 0 && seconds < 1e9) {
            throw ValidationError("--seconds takes more than 0, and less than a billion")
        }
    }

    func run() throws {
        try expectPlace(for: output, replacing: force)
        let predicate = try checks.statePredicate()
        let capsule = try capsule()
        guard !capsule.commits.isEmpty else { throw UsageError("\(file) has no events") }
        do {
            if let predicate { return try shrink(capsule, .holds(predicate)) }
            guard let command = checks.check else { return try shrink(capsule, .diverges()) }
            try CheckCommand.with(command, isVerbose: checks.verbose) { check in
                try shrink(
                    capsule,
                    .found { capsule in
                        guard case .fails(let code) = try check.ask(capsule) else { return nil }
                        return FailureSignature("exit code \(code)")
                    })
            }
        } catch let error as ShrinkError {
            Terminal.endProgress()
            throw advice(error)
        }
    }

    private func capsule() throws -> Capsule {
        let source = StoreArgument(path: file)
        return source.isFile
            ? try source.capsule()
            : try source.read { try $0.capsule(last: .max, note: "", namesRemote: false) }
    }

    private func shrink(_ capsule: Capsule, _ failure: ShrinkFailure) throws {
        Interruption.watch()
        let clock = ContinuousClock()
        let end = seconds.map { clock.now + .seconds($0) }
        let result = try capsule.shrunk(
            to: failure, triesMax: tries ?? .max,
            goesOn: { !Interruption.isAsked && (end.map { clock.now < $0 } ?? true) },
            progress: { Terminal.progress("\($0.words), \($0.tries.grouped) tries") })
        Terminal.endProgress()
        for phase in result.phases where phase.now < phase.before { Terminal.say(phase.words) }
        do { try result.capsule.write(to: output) } catch { throw TidemarkError.wrapping(error) }
        write(result, of: capsule)
    }

    private func write(_ result: ShrinkResult, of capsule: Capsule) {
        let before = capsule.commits.flatMap(\.entries).count
        let entries = result.capsule.commits.flatMap(\.entries)
        Terminal.write(
            "\(output): \(result.capsule.commits.count.grouped) of"
                + " \(capsule.commits.count.grouped) commits, \(entries.count.grouped) of"
                + " \(before.grouped) events, \(result.tries.grouped) tries")
        for entry in entries {
            Terminal.write(
                cut("  " + "\(entry.position)".padded(to: 6) + " " + EventText.line(entry.event)))
        }
        if !result.isMinimal {
            Terminal.say("tidemark: cut short; to go on: tidemark shrink \(output.shellQuoted) …")
        }
        Terminal.write("")
        for line in test(of: result.capsule) { Terminal.write(line) }
    }

    /// The source of a test that fails as long as the failure exists; for a shell, where a check
    /// says what the failure is.
    private func test(of capsule: Capsule) -> [String] {
        let name = URL(filePath: output).lastPathComponent
        if let check = checks.check {
            let lines = check.split(separator: "\n", omittingEmptySubsequences: false)
            let path = output.shellQuoted
            return ["export TIDEMARK_CAPSULE=\(path) TIDEMARK_POSITION=\(capsule.last)"]
                + lines.map(String.init)
        }
        guard let predicate = checks.predicate else {
            return [
                "@Test func `\(name) replays as it was recorded`() async throws {",
                "    try await Replay(.fixture(\"\(name)\"), mode: .fold).run()",
                "}",
            ]
        }
        // As many marks as end the literal nowhere but behind it.
        var marks = ""
        while predicate.contains("\"" + marks) || predicate.contains("\\" + marks) { marks += "#" }
        return [
            "@Test func `\(name) does not end as it did`() throws {",
            "    let replay = Replay(.fixture(\"\(name)\"))",
            "    #expect(try !replay.holds(\(marks)\"\(predicate)\"\(marks)))",
            "}",
        ]
    }

    private func advice(_ error: ShrinkError) -> any Error {
        let question = checks.predicate ?? (diverges ? "it diverges" : "the check fails")
        switch error {
        case .passes(let last):
            Terminal.say(
                lines: "tidemark: \(file) does not show it at its end, \(last): \(question)"
                    + (checks.predicate == nil
                        ? ""
                        : "\n  Where it does: tidemark bisect \(file.shellQuoted) --predicate …"))
        case .begins(let position):
            Terminal.say(
                lines: "tidemark: it is so at \(position), before the first event: \(question)\n"
                    + "  Make a longer capsule: tidemark capsule STORE -o FILE --last N")
        case .stopped: Terminal.say("tidemark: stopped before anything was found")
        }
        return Exit.findings
    }
}

extension ShrinkProgress {
    /// `commits 1,204 → 37`.
    fileprivate var words: String { "\(phase.rawValue) \(before.grouped) → \(now.grouped)" }
}

extension Int {
    /// With a comma between thousands.
    fileprivate var grouped: String {
        var digits = String(magnitude)
        var parts: [String] = []
        while digits.count > 3 {
            parts.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (self < 0 ? "-" : "") + ([digits] + parts).joined(separator: ",")
    }
}
