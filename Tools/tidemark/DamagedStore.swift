// DamagedStore.swift — reads a store whose file is damaged: in any case the user gets a message,
// and no verb ends as if all were well.

import Foundation
import TidemarkInspect
import TidemarkViews

enum DamagedStore {
    private static let childVariable = "TIDEMARK_READS_DAMAGE"

    private static var isChild: Bool {
        ProcessInfo.processInfo.environment[childVariable] != nil
    }

    /// If branch pages of the file are damaged, runs this verb in a child process, which may crash
    /// on them, and ends with its exit code; otherwise returns.
    static func readInChild(_ store: String) throws {
        guard !isChild, let problem = Journal.brokenPage(at: store) else { return }
        Terminal.say(
            "tidemark: \(store)/data.mdb is damaged: \(problem). What can be read is read; "
                + "tidemark verify \(store.shellQuoted) lists what can't.")
        let words = Array(CommandLine.arguments.dropFirst())
        let end = try ChildProcess.run(words, variable: childVariable)
        switch end {
        case .exit(0): throw Exit.findings
        case .exit(let code): throw Exit(code: code)
        case .signal(SIGPIPE): throw Exit(code: 128 + SIGPIPE)
        case .signal(let signal):
            let word = end.isCrash ? "over it" : "from outside"
            Terminal.say("tidemark: reading was ended \(word), by signal \(signal)")
            throw Exit(code: end.isCrash ? 1 : 2)
        }
    }
}
