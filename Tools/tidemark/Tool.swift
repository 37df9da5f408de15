// Tool.swift — the command `tidemark`: its verbs, and how errors become exit codes.
//
//   0 fine   1 findings or differences   2 usage or I/O   3 a format newer than this tool

import ArgumentParser
import Foundation
import Synchronization
public import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
public import TidemarkSync

struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "Makes, edits, syncs and audits Tidemark stores.",
        discussion: """
            A STORE is a directory. Data goes to standard output, everything else to
            standard error. Exit codes: 0 fine, 1 findings or differences, 2 usage or I/O,
            3 newer format.

            Begin with: tidemark demo
            """,
        version: Replica.version,
        subcommands: [
            Demo.self, Init.self, Put.self, PatchCommand.self, Delete.self, Get.self, List.self,
            Sync.self, Status.self, Outbox.self, Discard.self, Why.self, History.self, Issues.self,
            Answer.self,
            Wipe.self, Contents.self, Files.self, Dump.self, Show.self, AsOf.self, Diff.self,
            Verify.self,
            CheckpointCommand.self, Stats.self, Rebuild.self, Compact.self, Adopt.self,
            Salvage.self, CopyCommand.self,
            CapsuleCommand.self,
            ReplayCommand.self, BisectCommand.self, ShrinkCommand.self, ScenarioCommand.self,
        ])
}

/// Ends the tool with an exit code, after all output.
struct Exit: Error {
    static let findings = Exit(code: 1)
    static let newerFormat = Exit(code: 3)
    let code: Int32
}

/// Findings that were reported: the data shown is incomplete, or out of date.
enum Findings {
    private static let isNoted = Mutex(false)

    /// Reports a finding on standard error, and makes the tool end with code 1.
    static func say(_ message: String) {
        isNoted.withLock { $0 = true }
        Terminal.say(message)
    }

    /// Names files that were left out because they are damaged, by their digests.
    static func sayLeftOut(_ digests: [String]) {
        for digest in digests { say("tidemark: left out, as it is damaged: file \(digest)") }
    }

    /// Ends the tool if there were findings.
    static func exitIfAny() throws {
        if isNoted.withLock(\.self) { throw Exit.findings }
    }
}

/// A mistake in the arguments: reported on standard error, exit code 2.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The command line tool.
///
/// An app whose server needs an adapter of its own makes its own tool:
///
/// ```swift
/// @main enum Main {
///     static func main() async {
///         await CommandLineTool.run(adapters: ["mine": { MyAdapter(origin: $0.origin) }])
///     }
/// }
/// ```
public enum CommandLineTool {
    /// Makes an adapter for a remote that names it.
    ///
    /// - Throws: an error that tells in a sentence why the remote is not valid.
    public typealias MakeAdapter = @Sendable (Remote) throws -> any ServerAdapter

    /// Runs the command that the process was started with, and ends the process.
    ///
    /// - Parameter adapters: the app's adapters, by their names in models; each takes precedence
    ///   over one of the library with the same name.
    public static func run(adapters: [String: MakeAdapter] = [:]) async -> Never {
        StandardStream.openAll()
        Adapters.use(adapters)
        // If the reader of the output closes it, as `head` does, the tool ends silently.
        signal(SIGPIPE, SIG_DFL)
        do {
            if let index = Terminal.unreadableArgument {
                throw UsageError(
                    "argument \(index) is no UTF-8: \(CommandLine.arguments[index])")
            }
            var command = try Tool.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            try Findings.exitIfAny()
            Terminal.flush()
            exit(0)
        } catch {
            Terminal.flush()
            exit(code(for: error))
        }
    }

    private static func code(for error: any Error) -> Int32 {
        switch error {
        case let error as Exit:
            return error.code
        case let error as UsageError:
            Terminal.say(lines: "tidemark: \(error.message)")
            return 2
        case let error as TidemarkError:
            Terminal.say(lines: "tidemark: \(error.message)")
            return switch error.code {
            case .damaged, .notFound: 1
            case .newerFormat: 3
            default: 2
            }
        case let error as ModelError:
            Terminal.say("tidemark: \(error)")
            return 2
        default:
            let message = Tool.fullMessage(for: error)
            guard Tool.exitCode(for: error) != .success else {
                Terminal.writePlain(message)
                Terminal.flush()
                return 0
            }
            Terminal.say(lines: message)
            return 2
        }
    }
}
