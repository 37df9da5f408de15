// DamagedStore.swift — reading a store whose file is damaged: whatever comes of it, a person is
// told by a sentence, and no verb ends as if all were well.

import Foundation
import TidemarkInspect
import TidemarkViews

enum DamagedStore {
    private static let childVariable = "TIDEMARK_READS_DAMAGE"

    private static var isChild: Bool {
        ProcessInfo.processInfo.environment[childVariable] != nil
    }

    /// Where pages that lead to all others are not in order, runs this verb in a process of its
    /// own, which may fall over them, and ends as it does; else returns.
    static func readInChild(_ store: String) throws {
        guard !isChild, let problem = Journal.brokenPage(at: store) else { return }
        Terminal.say(
            "tidemark: \(store)/data.mdb is damaged: \(problem). What can be read is read; "
                + "tidemark verify \(store) lists what can't.")
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
