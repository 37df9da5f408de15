// Arguments.swift — arguments and options that several verbs share.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkStore
import TidemarkViews

/// The store that a verb works on, or a capsule in its place.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The directory of the store; to read, also a capsule.")
    var store: String

    init() {}

    init(path: String) { store = path }

    /// Opens the store for reading only; nothing on disk changes.
    ///
    /// A capsule is unpacked into a store in a temporary directory.
    func read<R>(_ body: (Journal) throws -> R) throws -> R {
        try read { journal, rollBack in
            if let rollBack { Findings.say("tidemark: \(store): \(rollBack); see tidemark verify") }
            return try body(journal)
        }
    }

    /// The same; `rollBack` tells if the store lost the end of its log, or is an older copy.
    ///
    /// A store whose data belongs to another store is refused.
    func read<R>(_ body: (Journal, _ rollBack: String?) throws -> R) throws -> R {
        if isFile { return try readCapsule { try body($0, nil) } }
        try DamagedStore.readInChild(store)
        ChildProcess.watchForCrash()
        do {
            let journal = try Journal.open(at: store, readOnly: true)
            let result = Result { try body(journal, try journal.rollBack(in: store)) }
            if let found = journal.foundDamage {
                Terminal.say(
                    "tidemark: \(found); the log was read instead, and the next opening for "
                        + "writing makes the tables anew")
            }
            let problem = try journal.passedOver ?? journal.brokenEnd()
            try journal.close()
            if let problem, (try? result.get()) != nil {
                Findings.say("tidemark: \(store): \(problem); see tidemark verify")
            }
            return try result.get()
        } catch let exit as Exit { throw exit } catch { throw advised(error) }
    }

    /// Whether something exists at the path.
    var isThere: Bool { FileManager.default.fileExists(atPath: store) }

    /// Whether a store's data is there.
    var isStore: Bool { FileManager.default.fileExists(atPath: store + "/data.mdb") }

    /// Whether both are one store, or one file.
    func isSame(as other: Self) -> Bool { resolved == other.resolved }

    /// The path without symbolic links.
    private var resolved: String {
        URL(filePath: store).resolvingSymlinksInPath().standardizedFileURL
            .path(percentEncoded: false)
    }

    /// Whether there is a file at the path, which can't be a store.
    var isFile: Bool {
        let path = resolved
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type]
        return type as? FileAttributeType == .typeRegular
    }

    /// Reads the capsule at the path.
    func capsule() throws -> Capsule {
        do { return try Capsule(file: store) } catch {
            let error = TidemarkError.wrapping(error)
            guard let told = error as? TidemarkError else { throw error }
            throw TidemarkError(told.code, "\(store): \(told.message)", position: told.position)
        }
    }

    private func readCapsule<R>(_ body: (Journal) throws -> R) throws -> R {
        let capsule = try capsule()
        do {
            return try ScratchDirectory.with(nil) { directory in
                let journal = try capsule.unpacked(in: directory)
                defer { try? journal.close() }
                return try body(journal)
            }
        } catch { throw TidemarkError.wrapping(error) }
    }

    /// Refuses a capsule, which can't be changed or verified.
    func expectStore(_ advice: String) throws {
        guard !isFile else { throw UsageError("\(store) is no store but a file; \(advice)") }
    }

    /// Opens the store for writing.
    func open(_ patience: WaitOption) throws -> Replica {
        try expectStore("a capsule is only read")
        do {
            defer { Terminal.endProgress() }
            ChildProcess.watchForCrash()
            return try Replica.open(existing: store, waiting: patience.waiting) { progress in
                switch progress {
                case .checking(let done, let last): Terminal.progress("page \(done) of \(last)")
                case .rebuilding(let done, let last):
                    Terminal.progress("folding \(done) of \(last)")
                }
            }
        } catch { throw advised(error) }
    }

    /// The advice for a damaged store.
    var salvageAdvice: String {
        "tidemark: what can be proven: tidemark salvage \(store.shellQuoted) -o NEW"
    }

    /// The error for the user; where there is no store, with advice how to make one.
    func advised(_ error: any Error) -> any Error {
        let error = TidemarkError.wrapping(error)
        guard let told = error as? TidemarkError else { return error }
        switch told.code {
        case .noStore:
            return UsageError(
                "there is no store at \(store); make one: tidemark init \(store.shellQuoted) "
                    + "--model MODEL.json")
        case .damaged:
            return TidemarkError(
                .damaged, "\(told.message)\n\(salvageAdvice)", key: told.key,
                position: told.position)
        default: return told
        }
    }
}

/// How long a verb that writes waits for the store.
struct WaitOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long to wait while another process has the store open for writing.",
            valueName: "SECONDS"))
    var wait: Double = 5

    /// The same, as far as a `Duration` goes.
    var waiting: Duration { .seconds(min(wait, 1e9)) }

    func validate() throws {
        guard wait >= 0 else { throw ValidationError("--wait takes seconds, from 0 up") }
    }
}

/// How a verb prints data.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

struct OutputOption: ParsableArguments {
    @Option(name: [.customShort("o"), .long], help: "How to print: text or json.")
    var output: OutputFormat = .text

    var isJSON: Bool { output == .json }
}

/// The name of an entity or a collection on the command line.
enum Name {
    static func entity(_ text: String) throws -> EntityKey {
        guard let key = EntityKey(text) else {
            throw UsageError("\"\(text)\" names no entity; write COLLECTION/ID, as in tasks/t1")
        }
        return key
    }

    static func position(_ text: String) throws -> Position {
        guard let position = Position(text) else {
            throw UsageError("\"\(text)\" is no position; write @12 or 12")
        }
        return position
    }

    /// A moment: `2026-11-21`, `2026-11-21T11:09:00Z`, or with a space for the T.
    static func time(_ text: String) throws -> Timestamp {
        let shape = /[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}Z?)?/
        let parts = text.split { !$0.isNumber }.compactMap { Int($0) } + [0, 0, 0]
        guard text.wholeMatch(of: shape) != nil,
            let time = Timestamp(
                year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
                second: parts[5])
        else {
            throw UsageError(
                "\"\(text)\" is no time; write 2026-11-21 or 2026-11-21T11:09:00Z, in UTC")
        }
        return time
    }
}

/// Refuses to write to a path where something is, unless that is a file which may be replaced.
///
/// A device, a pipe or a link would become a file.
func expectPlace(for file: String, replacing mayReplace: Bool) throws {
    // Of a link itself.
    let type = try? FileManager.default.attributesOfItem(atPath: file)[.type]
    guard let type else { return }
    guard type as? FileAttributeType == .typeRegular else {
        throw UsageError("\(file) is there already, and no regular file; name another one")
    }
    guard mayReplace else {
        throw UsageError("\(file) is there already; with --force it is replaced")
    }
}

/// All that standard input holds.
func standardInput() throws -> [UInt8] {
    do throws(StandardStream.Failure) { return try StandardStream.readInput() } catch {
        throw UsageError("standard input can't be read: \(error.words)")
    }
}

/// A document from the command line, or from standard input for `-`.
func document(_ text: String) throws -> [UInt8] {
    guard text == "-" else { return Array(text.utf8) }
    var bytes = try standardInput()
    while let last = bytes.last, [0x0A, 0x0D, 0x20, 0x09].contains(last) { bytes.removeLast() }
    return bytes
}
