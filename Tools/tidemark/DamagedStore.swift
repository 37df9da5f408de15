// DamagedStore.swift — reading a store whose file is damaged: whatever comes of it, a person is told
// by a sentence, and no verb ends as if all were well.

import Foundation
import TidemarkInspect
import TidemarkViews

enum DamagedStore {
    private static let childVariable = "TIDEMARK_READS_DAMAGE"

    private static var isChild: Bool {
        ProcessInfo.processInfo.environment[childVariable] != nil
    }

    /// Where pages that lead to all others are not in order, runs this verb in a process of its own,
    /// which may fall over them, and ends as it does; else returns.
    static func readInChild(_ store: String) throws {
        guard !isChild, let problem = Journal.brokenPage(at: store) else { return }
        Terminal.say(
            "tidemark: \(store)/data.mdb is damaged: \(problem). What can be read is read; "
                + "tidemark verify \(store) lists what can't.")
        unsafe setenv(childVariable, "1", 1)
        let end = try ChildProcess.run(Array(CommandLine.arguments.dropFirst()))
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

    /// From now on, a page over which LMDB falls ends the tool with a sentence.
    ///
    /// A file that may not grow further is an error like a full disk, not the end.
    static func watchForCrash() {
        signal(SIGXFSZ, SIG_IGN)
        for crash in [SIGABRT, SIGBUS, SIGSEGV] {
            signal(crash) { _ in
                // Nothing else is safe here.
                let words: StaticString = """
                    tidemark: reading the store ended by a signal: its file is damaged, or this is \
                    a bug. tidemark verify tells which; what was acknowledged is in the log, which \
                    tidemark salvage reads without LMDB.

                    """
                _ = unsafe write(2, words.utf8Start, words.utf8CodeUnitCount)
                _exit(1)
            }
        }
    }
}
