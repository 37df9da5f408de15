// CheckCommand.swift — the user's check for bisect and shrink: a command that is given a capsule,
// and answers with its exit code, as for `git bisect run`.
//
//   0 passes   125 can't tell   1–127 fails   128 and up, or a signal: stop

import ArgumentParser
import Dispatch
import Foundation
import Synchronization
import Tidemark
import TidemarkCapsule
import TidemarkReplay

/// The condition that is searched for: a command's answer, or a predicate.
struct CheckOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A command for /bin/sh; TIDEMARK_CAPSULE names the file to check.", valueName: "CMD"))
    var check: String?
    @Option(
        help: ArgumentHelp(
            "What is to be true of the rows, as in 'tasks/1.done == true'.", valueName: "EXPR"))
    var predicate: String?
    @Flag(help: "Show what the check prints, on standard error.")
    var verbose = false

    static let help = """
        --predicate EXPR asks about the rows: tasks/1 exists, tasks/1 missing,
        tasks/1.done == true, tasks/1.due exists, tasks/1 is error (its status),
        count(tasks) > 3, pending > 0, refused > 0, outcome(@12) == superseded;
        joined with and, or, not and parentheses. Values are JSON; compared are
        == != < <= > >=.

        --check CMD runs a command with /bin/sh. TIDEMARK_CAPSULE names a capsule,
        which verbs that read rows or events take. Its exit code says what it finds:
        0 nothing, 1 to 124 and 126, 127 the failure, 125 that it can't tell; 128
        and up stop everything.
        """

    func statePredicate() throws -> StatePredicate? {
        guard let predicate else { return nil }
        do { return try StatePredicate(predicate) } catch {
            throw UsageError("--predicate, \(error)\n  \(predicate)\n  \(caret(error))")
        }
    }

    private func caret(_ error: StatePredicateError) -> String {
        String(repeating: " ", count: error.column - 1) + "^"
    }
}

/// A check in progress: its command, and the folder for its capsules.
struct CheckCommand {
    /// The answer of a check.
    enum Answer: Equatable {
        case passes, fails(code: Int32), skips
    }

    let command: String
    let isVerbose: Bool
    private let folder: String

    /// Runs `body` with a check whose folder is removed afterwards.
    static func with<R>(
        _ command: String, isVerbose: Bool, _ body: (CheckCommand) throws -> R
    ) throws -> R {
        try ScratchDirectory.with(nil) { folder in
            try body(CheckCommand(command: command, isVerbose: isVerbose, folder: folder))
        }
    }

    /// Checks a capsule.
    func ask(_ capsule: Capsule) throws -> Answer {
        let file = folder + "/check.capsule"
        try capsule.write(to: file)
        // Only the verb's own findings go to standard output.
        let output = isVerbose ? "1>&2" : ">/dev/null 2>&1"
        let script =
            "export TIDEMARK_CAPSULE=\"$1\" TIDEMARK_POSITION=\"$2\"; shift 2; "
            + "{ \(command)\n} \(output)"
        switch try ChildProcess.run("/bin/sh", ["-c", script, "sh", file, "\(capsule.last)"]) {
        case .exit(0): return .passes
        case .exit(125): return .skips
        case .exit(let code) where code < 128: return .fails(code: code)
        case .exit(let code):
            throw UsageError("the check ended with \(code) at \(capsule.last): stopped")
        case .signal(let signal):
            guard !Interruption.isAsked else { return .skips }
            throw UsageError("the check was ended by signal \(signal) at \(capsule.last)")
        }
    }
}

/// Whether the user asked to stop: the first Ctrl-C asks the verb, the second one ends it.
enum Interruption {
    private static let state = Mutex(false)

    static var isAsked: Bool { state.withLock { $0 } }

    /// From now on, the first Ctrl-C only asks to stop.
    static func watch() {
        signal(SIGINT, SIG_IGN)
        let watch = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        // The source keeps itself alive as long as the tool runs.
        watch.setEventHandler {
            _ = watch
            let isSecond = state.withLock { asked in
                defer { asked = true }
                return asked
            }
            guard isSecond else { return }
            ScratchDirectory.removeAll()
            exit(130)
        }
        watch.resume()
    }
}
