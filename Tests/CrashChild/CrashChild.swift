// CrashChild.swift — a process that dies in the middle of its work, for crash tests.
//
//   crash-child STORE CHECKPOINT               syncs, and dies at the checkpoint (SyncChild.swift)
//   crash-child pull STORE ANSWER …            syncs, and dies after an answer (PullChild.swift)
//   crash-child append STORE SEED …            appends and acknowledges (AppendChild.swift)
//   crash-child seal STORE SEED …              appends and seals (SealChild.swift)
//   crash-child drop STORE SEED …              appends, seals and drops (DropChild.swift)
//   crash-child shrink STORE SEED …            appends, makes the file smaller (ShrinkChild.swift)
//   crash-child rebuild STORE SEED …           folds the log again (RebuildChild.swift)
//   crash-child opening fault STORE            writes to a disk that fails (OpeningChild.swift)
//   crash-child opening quota STORE            writes over a quota (OpeningChild.swift)
//   crash-child opening meta STORE             commits without their last page (OpeningChild.swift)
//   crash-child files STORE FILE OTHER         takes files in and out (FilesChild.swift)
//   crash-child disk FOLDER ERRNO …            calls about files fail in turn (DiskChild.swift)
//   crash-child tree STORE SEED …              changes a tree and syncs it (TreeChild.swift)
//   crash-child once STORE FIRST …             writes under keys (OnceChild.swift)
//   crash-child pool STORE SEED …              takes reserved values (PoolChild.swift)
//   crash-child truncated STORE COMMITS …      its data file is cut off (TruncateChild.swift)
//   crash-child damaged STORE SEED …           reads damaged copies of a store (DamageChild.swift)
//   crash-child streams STORE FILE             has no standard streams (StreamsChild.swift)
//   crash-child chaos STORE NAME               edits and syncs in bad weather (ChaosChild.swift)

import Foundation

@main
struct CrashChild {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "append": try AppendChild.run(Array(words.dropFirst()))
        case "seal": try SealChild.run(Array(words.dropFirst()))
        case "drop": try DropChild.run(Array(words.dropFirst()))
        case "shrink": try ShrinkChild.run(Array(words.dropFirst()))
        case "rebuild": try RebuildChild.run(Array(words.dropFirst()))
        case "opening": try OpeningChild.run(Array(words.dropFirst()))
        case "files": FilesChild.run(Array(words.dropFirst()))
        case "disk": try await DiskChild.run(Array(words.dropFirst()))
        case "tree": try await TreeChild.run(Array(words.dropFirst()))
        case "once": try OnceChild.run(Array(words.dropFirst()))
        case "pool": try PoolChild.run(Array(words.dropFirst()))
        case "truncated": try TruncateChild.run(Array(words.dropFirst()))
        case "damaged": try DamageChild.run(Array(words.dropFirst()))
        case "pull": try await PullChild.run(Array(words.dropFirst()))
        case "streams": try StreamsChild.run(Array(words.dropFirst()))
        case "chaos": try await ChaosChild.run(Array(words.dropFirst()))
        default: try await SyncChild.run(words)
        }
    }

    /// Writes a line at once: what is buffered would die with the process.
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func fail(_ line: String) -> Never {
        say(line)
        exit(2)
    }

    /// Kills this process after so many microseconds: no clean-up, no flush, signal 9.
    static func die(after microseconds: Int) {
        Thread.detachNewThread {
            usleep(UInt32(microseconds))
            kill(getpid(), SIGKILL)
        }
    }
}

/// The arguments of a mode: a store, then numbers.
struct ChildArguments {
    let store: String
    let numbers: [Int]

    init(_ words: [String], _ names: String...) {
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard let store = words.first, numbers.count == names.count, words.count == names.count + 1
        else { CrashChild.fail("usage: STORE \(names.joined(separator: " "))") }
        self.store = store
        self.numbers = numbers
    }
}
