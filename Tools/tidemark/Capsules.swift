// Capsules.swift — `tidemark capsule`: makes a capsule of a store, or describes one.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkSync
import TidemarkViews

struct CapsuleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capsule",
        abstract: "Makes one file of what is needed to replay a bug.",
        discussion: """
            With -o, a capsule of the STORE's last events: the model, the rows before the
            first of them, the events as they are, and what was made of each commit. The
            server's address, the account and the device are left out, but for the server's
            name in answers where a text or an id has it; what users and servers wrote is
            not, unless with --redact. A writer may go on meanwhile.

            Without -o, what is in a capsule. Verbs that read take one in the place of a
            STORE, too, and with -o a part of it is made a capsule of its own.

            With --contents the bytes of the files that entities name are in it, as far as
            they are here and have room, 60 MiB together: tidemark files export takes them
            out of it again. Not with --redact. Those that are damaged are left out and
            named, with exit code 1.

            tidemark capsule STORE -o bug.capsule --note "the tea came back"
            tidemark capsule STORE -o bug.capsule --redact --keep tasks.done
            tidemark dump bug.capsule
            """)

    @Argument(help: "The directory of the store; without -o, a capsule.")
    var store: String
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write.", valueName: "FILE"))
    var file: String?
    @Option(
        help: ArgumentHelp(
            "At least so many of the last events, in whole commits (default: 100000).",
            valueName: "N"))
    var last: Int?
    @Option(help: ArgumentHelp("What to say of it.", valueName: "TEXT"))
    var note: String?
    @Flag(help: "Leave the server's address, the account and the device in it.")
    var keepRemote = false
    @Flag(help: "Put the bytes of the files that entities name in it.")
    var contents = false
    @OptionGroup var redaction: RedactOption
    @Flag(help: "Replace the file if it is there.")
    var force = false

    func validate() throws {
        if let last, last < 1 { throw ValidationError("--last takes a number from 1 up") }
        let isMade =
            last != nil || note != nil || keepRemote || force || contents || redaction.redact
        guard file != nil || !isMade else {
            throw ValidationError("where to? name the file: -o bug.capsule")
        }
        guard !contents || !redaction.redact else {
            throw ValidationError("a redacted capsule has no bytes of files: without --contents")
        }
    }

    func run() throws {
        guard let file else {
            let argument = StoreArgument(path: store)
            guard argument.isFile else {
                guard argument.isThere else { throw UsageError("there is nothing at \(store)") }
                throw UsageError(
                    argument.isStore
                        ? "\(store) is a store; to make a capsule of it: tidemark capsule "
                            + "\(store.shellQuoted) -o bug.capsule"
                        : "\(store) is neither a capsule nor a store")
            }
            return describe(try argument.capsule(), at: store)
        }
        try expectPlace(for: file, replacing: force)
        do {
            let capsule = try make()
            try capsule.write(to: file)
            describe(capsule, at: file)
        } catch { throw TidemarkError.wrapping(error) }
    }

    private func make() throws -> Capsule {
        let argument = StoreArgument(path: store)
        defer { Terminal.endProgress() }
        var capsule = try argument.read { journal in
            try journal.capsule(
                last: last ?? Replica.capsuleEvents, note: note ?? "", namesRemote: keepRemote
            ) { progress in
                Terminal.progress("folding \(progress.done) of \(progress.last)")
            }
        }
        // A part of a capsule has the provenance of the whole.
        if argument.isFile {
            let whole = try argument.capsule()
            let before = whole.provenance
            capsule.takeRules(of: whole)
            capsule.provenance = before
            capsule.provenance.namesRemote = before.namesRemote && keepRemote
            if let note { capsule.provenance.note = Capsule.note(note) }
        }
        if contents { try takeContents(into: &capsule, argument) }
        capsule = try redaction.applied(to: capsule, random: Dependencies.live.random)
        if let note { capsule.provenance.note = Capsule.note(note) }
        return capsule
    }

    private func takeContents(into capsule: inout Capsule, _ argument: StoreArgument) throws {
        guard !argument.isFile else {
            let named = Set(capsule.namedContents)
            capsule.contents = try argument.capsule().contents.filter { named.contains($0.digest) }
            return
        }
        let (noRoom, damaged) = try capsule.takeContents(from: store)
        if noRoom > 0 { Terminal.say("\(noRoom) files had no room in it") }
        Findings.sayLeftOut(damaged)
    }

    private func describe(_ capsule: Capsule, at path: String) {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        if let size { Terminal.write("file       \(size) bytes") }
        for line in capsule.summary { Terminal.write(line) }
    }
}

extension Capsule {
    /// The capsule's contents, in lines.
    fileprivate var summary: [String] {
        let events = commits.reduce(0) { $0 + $1.entries.count }
        var lines: [String] = []
        if let first = commits.first?.first {
            lines.append("events     \(events) in \(commits.count) commits, \(first) to \(last)")
        } else {
            lines.append("events     none")
        }
        let times = commits.lazy.flatMap(\.entries).map(\.event.recordedAt)
        if let from = times.first, let to = commits.last?.entries.last?.event.recordedAt {
            lines.append("recorded   \(from) to \(to)")
        }
        lines.append(
            base.rows.isEmpty
                ? "base       none: it begins with nothing"
                : "base       \(base.rows.count) rows, as of \(base.position)")
        let bytes = bodies.reduce(0) { $0 + $1.count }
        lines.append("bodies     \(bodies.count)\(bodies.isEmpty ? "" : ", \(bytes) bytes")")
        let files = namedContents.count
        if files > 0 || !contents.isEmpty {
            let held = contents.reduce(0) { $0 + $1.bytes.count }
            lines.append(
                "files      \(files) are named, and "
                    + (contents.isEmpty
                        ? "no bytes of them are in it"
                        : "\(contents.count) are in it, \(held) bytes"))
        }
        lines.append("taken of   a log up to \(provenance.last)")
        if !provenance.root.isEmpty {
            lines.append("root       \(Hexadecimal.encode(provenance.root))")
        }
        lines.append("build      \(provenance.build)")
        lines.append(
            "remote     "
                + (provenance.namesRemote
                    ? "server, account and device as they were" : "not named"))
        lines.append(
            "redacted   "
                + (provenance.isRedacted
                    ? provenance.redaction.isEmpty ? "yes" : oneLine(provenance.redaction)
                    : "no: what users and servers wrote is in it"))
        if provenance.isShrunk { lines.append("shrunk     yes: events were left out") }
        for (index, line) in provenance.note.split(separator: "\n").enumerated() {
            lines.append((index == 0 ? "note       " : "           ") + line)
        }
        return lines
    }

    private func oneLine(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: "; ")
    }
}
